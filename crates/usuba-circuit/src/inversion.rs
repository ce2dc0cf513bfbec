//! Circuits for S-boxes that are inversion in the field of 256 elements between two affine maps.
//!
//! ```text
//! S(x) = M(1 / L(x ^ a)) ^ b        AES, Camellia, SM4, and whatever is made like them
//! ```
//!
//! `L` and `M` are linear, and `1 / 0` is 0. Guess and propagate finds them (Biryukov, De Cannière,
//! Braeken, Preneel, Eurocrypt 2003): `L` on two points gives `M` on three, which gives `L` on
//! more, until all is known or two answers differ.
//!
//! The network of inversion has three parts: XORs of inputs, a middle, XORs of products. `L`
//! becomes part of the first and `M` of the last, and each finds common subexpressions anew
//! (`straight.rs`). As `1 / (c x^(2^j)) = (1 / x)^(2^j) / c`, an S-box has 8 * 255 pairs of `L` and
//! `M`; the cheapest is taken.
//!
//! A byte is a vector of eight bits, 128 being bit `i_0`; a linear map is its 256 values.

use crate::{
    Circuit, Profile, Table,
    linear::Random,
    network::{Lit, Network},
    polish,
    straight::{Straight, straight},
    text,
};

/// The sums of inputs that the middle reads, as masks of input bits (J. Boyar, R. Peralta, A small
/// depth-16 circuit for the AES S-box, 2012).
const TOP: [u8; 22] = [
    0x96, 0x9a, 0xe7, 0x9b, 0x71, 0x01, 0x82, 0x2e, 0x63, 0x61, 0xe1, 0x4f, 0x90, 0x4e, 0x14, 0xb4,
    0x84, 0xfa, 0xde, 0x7e, 0xac, 0xae,
];

/// From these sums to the products, by the same authors.
const MIDDLE: &str = "22 bits:
0&1 2&3 23^22 4&5 25^22 6&7 8&9 28^27 10&11 30^27 12&13 14&15 33^32 16&17 35^32 24^34 26^36 29^34
31^36 37^18 38^19 39^20 40^21 41^42 41&43 44^46 45&47 48^42 43^44 42^46 51&50 52^44 43^53 47^53
44&55 56^54 47^56 49&58 45^59 60^57 49^53 49^60 53^57 62^61 64&1 57&3 53&5 63&7 60&9 49&11 62&13
65&15 61&17 64&0 57&2 53&4 63&6 60&8 49&10 62&12 65&14 61&16 ->
66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83";

/// The products whose sum is each bit of the inverse, `o_0` first; 1 is the first product. They
/// follow from the two above, with the modulus `x^8 + x^4 + x^3 + x + 1`.
const BOTTOM: [u32; 8] = [0x1b168, 0x2e75e, 0x1dd5e, 0x1b145, 0x2bcf5, 0x1b173, 0x1b0d8, 0x28a00];

/// Values of a partial map that may be entered while it is searched.
const LIMIT: usize = 30_000_000;

/// Pairs of `L` and `M` whose sums are shared in earnest.
const CANDIDATES: usize = 64;

type Map = [u8; 256];

fn times(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0, |sum: u8, i| {
        let doubled = sum << 1 ^ if sum >> 7 == 1 { 0x1b } else { 0 };
        doubled ^ if b >> i & 1 == 1 { a } else { 0 }
    })
}

/// `x` to the power of 254: the inverse, and 0 for 0.
fn inverse(x: u8) -> u8 {
    let square = times(x, x);
    (0..6)
        .fold((square, square), |(power, product), _| {
            let power = times(power, power);
            (power, times(product, power))
        })
        .1
}

/// The way from inversion to a box: `S(x) = back(1 / front(x ^ before)) ^ after`, modulo
/// x^8 + x^4 + x^3 + x + 1.
#[derive(Clone, Debug)]
pub struct Maps {
    pub before: u8,
    /// The values of a linear map, and so are the values in `back`.
    pub front: [u8; 256],
    pub back: [u8; 256],
    pub after: u8,
}

/// Whether differences spread as they do in inversion: for each of the input, one of the output
/// comes four times, and no other more than twice. Affine maps do not change this.
fn spreads(entries: &Map) -> bool {
    (1..256).all(|d| {
        let mut counts = [0u8; 256];
        (0..256).for_each(|x| {
            let spot = &mut counts[(entries[x] ^ entries[x ^ d]) as usize];
            *spot = spot.saturating_add(1);
        });
        let often = |times: u8| counts.iter().filter(|&&count| count == times).count();
        often(4) == 1 && often(2) == 126
    })
}

/// A linear map that is known on a subspace.
#[derive(Clone)]
struct Partial {
    values: [Option<u8>; 256],
    points: Vec<u8>,
}

impl Partial {
    fn new() -> Partial {
        let mut values = [None; 256];
        values[0] = Some(0);
        Partial { values, points: vec![0] }
    }

    /// Enters one value and all that follow from it; whether none contradicts.
    fn insert(&mut self, x: u8, y: u8, spent: &mut usize) -> bool {
        *spent += 1;
        if let Some(known) = self.values[x as usize] {
            return known == y;
        }
        *spent += self.points.len();
        for i in 0..self.points.len() {
            let point = self.points[i];
            let value = self.values[point as usize].expect("points are those with a value");
            if value == y {
                return false; // The new point would go to 0.
            }
            self.values[(point ^ x) as usize] = Some(value ^ y);
            self.points.push(point ^ x);
        }
        true
    }
}

struct Search {
    /// The box, moved so that 0 goes to 0, and its inverse.
    forth: Map,
    back: Map,
    inverses: Map,
    spent: usize,
}

impl Search {
    /// Linear `front` and `undo` such that `undo(forth(x)) = 1 / front(x)`, as far as the known
    /// points determine them.
    fn complete(&mut self, mut front: Partial, mut undo: Partial) -> Option<(Map, Map)> {
        let (mut seen, mut undone) = (0, 0);
        while seen < front.points.len() || undone < undo.points.len() {
            if let Some(&x) = front.points.get(seen) {
                seen += 1;
                let value = front.values[x as usize].expect("points are those with a value");
                let inverse = self.inverses[value as usize];
                if !undo.insert(self.forth[x as usize], inverse, &mut self.spent) {
                    return None;
                }
            } else {
                let y = undo.points[undone];
                undone += 1;
                let value = undo.values[y as usize].expect("points are those with a value");
                let inverse = self.inverses[value as usize];
                if !front.insert(self.back[y as usize], inverse, &mut self.spent) {
                    return None;
                }
            }
        }
        let Some(x) = front.values.iter().position(Option::is_none) else {
            let all = |partial: &Partial| partial.values.map(|v| v.expect("the map is complete"));
            return Some((all(&front), all(&undo)));
        };
        // `front` may be multiplied by a constant, so 1 may go to 1.
        let most = if x == 1 { 1 } else { 255 };
        for value in 1..=most {
            if self.spent > LIMIT {
                return None;
            }
            let mut guess = front.clone();
            if guess.insert(x as u8, value, &mut self.spent)
                && let Some(found) = self.complete(guess, undo.clone())
            {
                return Some(found);
            }
        }
        None
    }
}

/// The maps of a table, if it is inversion between two of them.
pub fn maps(table: &Table) -> Option<Maps> {
    if (table.inputs, table.outputs) != (8, 8) {
        return None;
    }
    let entries: Map = std::array::from_fn(|x| table.entries[x] as u8);
    let mut hit = [false; 256];
    entries.iter().for_each(|&y| hit[y as usize] = true);
    if hit.contains(&false) || !spreads(&entries) {
        return None;
    }
    let inverses: Map = std::array::from_fn(|x| inverse(x as u8));
    let mut spent = 0;
    for before in 0..=255u8 {
        let after = entries[before as usize];
        let forth: Map = std::array::from_fn(|x| entries[x ^ before as usize] ^ after);
        let mut back = [0; 256];
        (0..256).for_each(|x| back[forth[x] as usize] = x as u8);
        let mut search = Search { forth, back, inverses, spent };
        if let Some((front, undo)) = search.complete(Partial::new(), Partial::new()) {
            let mut back = [0; 256];
            (0..256).for_each(|y| back[undo[y] as usize] = y as u8);
            return Some(Maps { before, front, back, after });
        }
        spent = search.spent;
    }
    None
}

/// The targets of both sums for `front` followed by multiplication with `c` after `j` squarings.
fn targets(maps: &Maps, c: u8, j: usize) -> ([u8; 22], [u8; 18]) {
    let power = |x: u8| (0..j).fold(x, |x, _| times(x, x));
    let front: [u8; 8] = std::array::from_fn(|i| times(c, power(maps.front[1 << i])));
    let top = TOP.map(|form| {
        (0..8).fold(0, |mask, i| mask | ((form & front[i]).count_ones() as u8 & 1) << i)
    });
    // 1 / (c x^(2^j)) is multiplied by c, then the rest of the eight squarings undoes the j.
    let rest = |x: u8| (0..(8 - j) % 8).fold(x, |x, _| times(x, x));
    let bottom = std::array::from_fn(|term| {
        let bit = |k: usize| ((BOTTOM[k] >> term & 1) as u8) << (7 - k);
        let vector = (0..8).fold(0, |vector, k| vector | bit(k));
        maps.back[rest(times(c, vector)) as usize]
    });
    (top, bottom)
}

/// The smallest networks for a table, each with sums shared anew `tries` times, at most `most`.
pub(crate) fn networks(table: &Table, most: usize, tries: usize, seed: u64) -> Vec<Network> {
    let Some(maps) = maps(table) else { return Vec::new() };
    let mut pairs: Vec<([u8; 22], [u8; 18])> = (0..8)
        .flat_map(|j| (1..=255).map(move |c| (c, j)))
        .map(|(c, j)| targets(&maps, c, j))
        .collect();
    // Sparse sums promise few xors.
    let ones = |masks: &[u8]| masks.iter().map(|mask| mask.count_ones()).sum::<u32>();
    pairs.sort_by_cached_key(|(top, bottom)| ones(top) + ones(bottom));
    pairs.truncate(CANDIDATES * tries);
    let mut random = Random::new(seed);
    let mut found = Vec::new();
    for (top, bottom) in &pairs {
        for _ in 0..tries {
            let (front, back) = (straight(top, &mut random), straight(bottom, &mut random));
            found.push((front.cost() + back.cost(), front, back));
        }
    }
    found.sort_by_key(|(cost, _, _)| *cost);
    found.truncate(most);
    let middle = text::parse(MIDDLE).expect("internal error: the middle does not parse");
    let build = |(_, front, back): &(usize, _, _)| build(&maps, &middle, front, back);
    found.iter().map(build).collect()
}

fn build(maps: &Maps, middle: &Circuit, front: &Straight, back: &Straight) -> Network {
    let mut net = Network::new(8);
    let sign = |i: u8| maps.before >> i & 1 == 1;
    let inputs: Vec<Lit> = (0..8).map(|i| net.input(7 - i).flipped_if(sign(i))).collect();
    let sums = front.build(&mut net, &inputs);
    let products =
        net.append(middle, &sums).expect("internal error: the middle has three-input gates");
    let bits = back.build_transposed(&mut net, &products);
    let output = |i: usize| bits[i].flipped_if(maps.after >> i & 1 == 1);
    net.outputs = (0..8).rev().map(output).collect();
    net
}

/// A circuit for a table that is inversion between two affine maps, else `None`: the cheapest of
/// the pairs, made smaller by about `effort` visits of nodes.
pub(crate) fn synthesise(table: &Table, profile: Profile, effort: usize) -> Option<Circuit> {
    let net = networks(table, 1, 1, 1).pop()?;
    Some(polish::circuits(&net, &[profile], effort / net.size().max(1), 1).swap_remove(0))
}
