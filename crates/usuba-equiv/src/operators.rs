//! The operators of Usuba0 as nodes of the DAG, simplified to normal form.
//!
//! ```text
//! x << 3        (x <<< 3) & 1...1000
//! x - y         ~(~x + y)
//! Lut3(f)       two operators, or the XOR of the products in the algebraic normal form of f
//! ```
//!
//! *Soundness:* each rule is an identity of words modulo 2^m. The tests compare every operator with
//! `Op::eval` on random words, by evaluating the DAG.

use usuba::ir::Op;
use usuba::ir::op::mask;

use crate::bit_maps::{IDENTITY, MapId};
use crate::dag::{Edge, Kind};
use crate::truth_table::{self, VARIABLES};
use crate::value_numbering::Graph;

/// The most nodes that are examined to find a function of three edges.
const MOST_MADE: usize = 16;

impl Graph {
    /// The result of `bits` bits of an operator.
    pub fn op(&mut self, op: &Op, bits: u8, args: &[Edge]) -> Edge {
        let mut words = [0; 3];
        let known = args.iter().zip(&mut words).all(|(&arg, word)| {
            self.value(arg).is_some_and(|value| {
                *word = value;
                true
            })
        });
        if known {
            return self.constant(bits, op.eval(bits, &words[..args.len()]));
        }
        let edge = self.word(op, bits, args);
        if bits == 8 { self.bytes.unified(&mut self.dag, edge) } else { edge }
    }

    fn word(&mut self, op: &Op, bits: u8, args: &[Edge]) -> Edge {
        match (op, args) {
            (Op::Copy, &[a]) => a,
            (Op::Not, &[a]) => !a,
            (Op::And, &[a, b]) => self.and(a, b),
            (Op::Or, &[a, b]) => self.or(a, b),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Andn, &[a, b]) => self.and(!a, b),
            (Op::Lut3(_), &[a, b, c]) if self.constants(&[a, b, c]) == 2 => {
                self.affine(op, bits, args)
            }
            (Op::Lut3(rows), &[a, b, c]) => self.function(*rows, [c, b, a]),
            (Op::Add, &[a, b]) => self.add(a, b),
            (Op::Sub, &[a, b]) => !self.add(!a, b),
            (Op::Mul, &[a, b]) => self.mul(a, b),
            (Op::MulHigh, &[a, b]) if bits > 1 => self.sorted(Kind::MulHigh, a, b),
            (Op::MulHigh, _) => self.constant(bits, 0),
            (Op::Clmul, &[a, b]) => self.sorted(Kind::Clmul, a, b),
            (Op::ClmulHigh, &[a, b]) => self.sorted(Kind::ClmulHigh, a, b),
            (Op::MulAdd(k) | Op::MulAddHigh(k), &[a, b, c]) => {
                let product = if matches!(op, Op::MulAdd(_)) { Op::Mul } else { Op::MulHigh };
                let [x, y] = [b, c].map(|factor| self.op(&Op::Resize(bits), *k, &[factor]));
                let product = self.op(&product, *k, &[x, y]);
                let product = self.op(&Op::Resize(*k), bits, &[product]);
                self.add(a, product)
            }
            (Op::Less, &[a, b]) if bits == 1 => self.and(!a, b),
            (Op::Less, &[a, b]) if a == b => self.constant(bits, 0),
            (Op::Less, &[a, b]) => {
                let depth = self.depth(a).max(self.depth(b));
                self.intern(Kind::Less, bits, depth, a.raw(), b.raw())
            }
            (Op::Resize(_), &[a]) => {
                let depth = self.depth(a);
                self.intern(Kind::Resize, bits, depth, a.raw(), 0)
            }
            (Op::Shl(k), &[a]) => self.shifted(a, *k, mask(bits) << k & mask(bits)),
            (Op::Shr(k), &[a]) => self.shifted(a, bits - k, mask(bits) >> k),
            (Op::Sar(k), &[a]) => {
                let map = self.maps.arithmetic_shift(bits, *k);
                self.moved(map, a)
            }
            (Op::Rotl(k), &[a]) => {
                let map = self.maps.rotation(bits, *k);
                self.permute(map, a)
            }
            (Op::Shuffle(pattern), &[a]) => {
                let map = self.shuffle(bits, pattern);
                self.moved(map, a)
            }
            (Op::Bitmask(k), &[a]) => {
                let map = self.maps.spread(bits, *k);
                self.moved(map, a)
            }
            (Op::Pack, &[a, b]) => {
                // Both halves of a complement are complements.
                let (x, y) = (a.plain(), b.flipped(a.is_complement()));
                let depth = self.depth(a).max(self.depth(b));
                let packed = self.intern(Kind::Pack, bits, depth, x.raw(), y.raw());
                packed.flipped(a.is_complement())
            }
            (Op::Lookup(rows), &[a]) => self.looked_up(rows, bits, a),
            (Op::Affine(..) | Op::AffineInverse(..), &[a]) => {
                let rows: Vec<u64> = (0..256).map(|x| op.eval(bits, &[x])).collect();
                self.looked_up(&rows, bits, a)
            }
            _ => unreachable!("{op:?} of {} operands is not well-formed", args.len()),
        }
    }

    fn looked_up(&mut self, rows: &[u64], bits: u8, a: Edge) -> Edge {
        let (list, depth) = (self.list(rows), self.depth(a));
        self.intern(Kind::Lookup, bits, depth, a.raw(), list as u64)
    }

    /// `a` rotated to the left by `k` where `kept` is set, and zero elsewhere.
    fn shifted(&mut self, a: Edge, k: u8, kept: u64) -> Edge {
        let bits = self.bits(a);
        let (map, kept) = (self.maps.rotation(bits, k), self.constant(bits, kept));
        let rotated = self.permute(map, a);
        self.and(kept, rotated)
    }

    fn shuffle(&mut self, bits: u8, pattern: &[u8]) -> MapId {
        let group = bits / pattern.len() as u8;
        let sources = (0..bits).map(|i| pattern[(i / group) as usize] * group + i % group);
        let sources: Vec<u8> = sources.collect();
        self.maps.intern(&sources)
    }

    fn add(&mut self, a: Edge, b: Edge) -> Edge {
        let bits = self.bits(a);
        if bits == 1 {
            return self.xor(a, b);
        }
        if a == !b {
            return self.constant(bits, mask(bits));
        }
        match (self.value(a), self.value(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.sum(a, b),
        }
    }

    fn mul(&mut self, a: Edge, b: Edge) -> Edge {
        if self.bits(a) == 1 {
            return self.and(a, b);
        }
        match (self.value(a), self.value(b)) {
            (Some(0), _) | (_, Some(1)) => a,
            (Some(1), _) | (_, Some(0)) => b,
            _ => self.sorted(Kind::Mul, a, b),
        }
    }

    /// A sum that is not trivial.
    fn sum(&mut self, a: Edge, b: Edge) -> Edge {
        match self.known_sum(a, b) {
            Ok(edge) => edge,
            Err(combination) => {
                let edge = self.sorted(Kind::Add, a, b);
                self.learn_sum(edge, combination);
                edge
            }
        }
    }

    fn sorted(&mut self, kind: Kind, a: Edge, b: Edge) -> Edge {
        let (low, high) = (a.min(b), a.max(b));
        let (bits, depth) = (self.bits(a), self.depth(a).max(self.depth(b)));
        self.intern(kind, bits, depth, low.raw(), high.raw())
    }

    fn constants(&self, args: &[Edge]) -> usize {
        args.iter().filter(|&&arg| self.value(arg).is_some()).count()
    }

    /// An operator that acts on each bit alone, on constants and one other operand z: it is a where
    /// z is zero and b elsewhere, which is a ^ ((a ^ b) & z).
    fn affine(&mut self, op: &Op, bits: u8, args: &[Edge]) -> Edge {
        let open = args.iter().find(|&&arg| self.value(arg).is_none());
        let open = *open.expect("one operand is not constant");
        let with = |z: u64| {
            let words: Vec<u64> = args.iter().map(|&arg| self.value(arg).unwrap_or(z)).collect();
            op.eval(bits, &words)
        };
        let (a, b) = (with(0), with(mask(bits)));
        let (start, change) = (self.constant(bits, a), self.constant(bits, a ^ b));
        let changed = self.and(change, open);
        self.xor(start, changed)
    }

    /// The function of three operands, bit by bit, whose value is bit i of `rows` where operand v
    /// is bit v of i.
    fn function(&mut self, rows: u8, operands: [Edge; 3]) -> Edge {
        let mut leaves = [Edge::NONE; 3];
        let mut count = 0;
        for operand in operands {
            let plain = operand.plain();
            let at = leaves[..count].partition_point(|&leaf| leaf < plain);
            if !self.is_uniform(plain) && leaves[at] != plain {
                leaves.copy_within(at..count, at + 1);
                leaves[at] = plain;
                count += 1;
            }
        }
        let variables = operands.map(|operand| {
            let plain = operand.plain();
            let table = match leaves[..count].iter().position(|&leaf| leaf == plain) {
                Some(at) => VARIABLES[at],
                None if self.value(plain) == Some(0) => 0,
                None => u32::MAX,
            };
            if operand.is_complement() { !table } else { table }
        });
        let mut table = truth_table::compose(rows as u32, &variables);
        // The result must not depend on operands that the function does not depend on.
        if (0..count).any(|v| !truth_table::depends(table, v)) {
            let (mut left, mut places) = (0, [0; 3]);
            for v in 0..count {
                if truth_table::depends(table, v) {
                    places[v] = VARIABLES[left];
                    leaves[left] = leaves[v];
                    left += 1;
                }
            }
            table = truth_table::compose(table, &places[..count]);
            count = left;
        }
        let bits = self.bits(operands[0]);
        match leaves[..count] {
            [] => self.constant(bits, 0).flipped(table & 1 == 1),
            [only] => only.flipped(table & 1 == 1),
            [x, y] => self.of_two(table as u8 & 15, x, y),
            _ => self.of_three(table, leaves),
        }
    }

    /// Whether all bits of a plain edge are known to be equal.
    fn is_uniform(&self, edge: Edge) -> bool {
        self.value(edge).is_some_and(|word| word == 0 || word == mask(self.bits(edge)))
    }

    /// The function of two edges whose value is bit x + 2y of `rows`; it depends on both.
    fn of_two(&mut self, rows: u8, x: Edge, y: Edge) -> Edge {
        match Two::of(rows) {
            Two::Xor { flip } => self.xor(x, y).flipped(flip),
            Two::And { x: a, y: b, flip } => self.and(x.flipped(a), y.flipped(b)).flipped(flip),
        }
    }

    /// The function of three different plain edges, in ascending order, all of which matter.
    ///
    /// One function of the same edges is one node, for all sequences of operators that compute it:
    /// it is made of existing operators if possible, else of two operators, else as the XOR of its
    /// products.
    fn of_three(&mut self, table: u32, leaves: [Edge; 3]) -> Edge {
        if let Some(rewrites) = &mut self.rewrites
            && let Some(edge) = rewrites.function(&mut self.dag, table, &leaves)
        {
            return edge;
        }
        let (pivot, name, flip) = self.function_name(table as u8, leaves);
        let edge = match self.functions.get(&name) {
            Some(&known) => self.permute(pivot, known).flipped(flip),
            None => {
                let edge = self
                    .made_of(table as u8, leaves)
                    .or_else(|| self.split(table as u8, leaves))
                    .unwrap_or_else(|| self.sum_of_products(self.bits(leaves[0]), table, &leaves));
                let back = self.maps.inverse(pivot).expect("edges have permutations");
                let bare = self.permute(back, edge).flipped(flip);
                self.functions.insert(name, bare);
                edge
            }
        };
        if let Some(rewrites) = &mut self.rewrites {
            rewrites.learn_function(&mut self.dag, table, &leaves, edge);
        }
        edge
    }

    /// The function without the permutation and the complement that the normal form factors out;
    /// and both.
    fn function_name(&mut self, rows: u8, leaves: [Edge; 3]) -> (MapId, (u8, [Edge; 3]), bool) {
        let pivot = self.pivot(&leaves);
        let (mut rows, mut moved) = (rows, leaves);
        if pivot != IDENTITY {
            let back = self.maps.inverse(pivot).expect("edges have permutations");
            moved = leaves.map(|leaf| self.permute(back, leaf));
            let mut order = [0, 1, 2];
            order.sort_unstable_by_key(|&v| moved[v].plain());
            let mut places = [0; 3];
            for (to, &from) in order.iter().enumerate() {
                // Moving a constant may have made it odd.
                let flip = 0u32.wrapping_sub(moved[from].is_complement() as u32);
                places[from] = VARIABLES[to] ^ flip;
            }
            rows = truth_table::compose(rows as u32, &places) as u8;
            moved = order.map(|v| moved[v].plain());
        }
        let flip = rows & 1 == 1;
        (pivot, (if flip { !rows } else { rows }, moved), flip)
    }

    /// An edge that computes the function from existing operators on the three edges.
    ///
    /// Starts with the edges, and adds every existing node that is an operator on two members, with
    /// its table.
    fn made_of(&mut self, rows: u8, leaves: [Edge; 3]) -> Option<Edge> {
        let mut known: Vec<(Edge, u8)> = Vec::with_capacity(MOST_MADE);
        known.extend((0..3).map(|v| (leaves[v], VARIABLES[v] as u8)));
        let (mut next, mut made) = (1, Vec::with_capacity(5));
        while next < known.len() {
            for before in 0..next {
                let [(x, f), (y, g)] = [known[before], known[next]];
                self.made(x, y, &mut made);
                for &(kind, a, b, edge) in &made {
                    let (f, g) = (if a { !f } else { f }, if b { !g } else { g });
                    let table = if kind == Kind::And { f & g } else { f ^ g };
                    let table = if edge.is_complement() { !table } else { table };
                    let edge = edge.plain();
                    if table == rows || table == !rows {
                        return Some(edge.flipped(table != rows));
                    }
                    if known.len() < MOST_MADE && known.iter().all(|(other, _)| *other != edge) {
                        known.push((edge, table));
                    }
                }
            }
            next += 1;
        }
        None
    }

    /// The function as an operator on one edge and a function of the two others, if it decomposes:
    /// x ^ (y & ~z) and x & (y ^ z) do, the majority of three does not.
    fn split(&mut self, rows: u8, leaves: [Edge; 3]) -> Option<Edge> {
        for (v, x, y) in [(0, 1, 2), (1, 0, 2), (2, 0, 1)] {
            // The functions of the others where this one is 0, and where it is 1.
            let [low, high] = [0, 1].map(|bit: usize| {
                let row = |i: usize| bit << v | (i & 1) << x | (i >> 1) << y;
                (0..4).fold(0, |half, i| half | (rows >> row(i) & 1) << i)
            });
            // The operator, whether it takes the complement of this edge, and the function of the
            // others.
            let (kind, not, rest, flip) = match (low, high) {
                _ if low ^ high == 15 => (Kind::Xor, false, low, false),
                (0, _) => (Kind::And, false, high, false),
                (15, _) => (Kind::And, false, high ^ 15, true),
                (_, 0) => (Kind::And, true, low, false),
                (_, 15) => (Kind::And, true, low ^ 15, true),
                _ => continue,
            };
            let rest = self.of_two(rest, leaves[x], leaves[y]);
            let edge = match kind {
                Kind::Xor => self.xor(leaves[v], rest),
                _ => self.and(leaves[v].flipped(not), rest),
            };
            return Some(edge.flipped(flip));
        }
        None
    }

    fn sum_of_products(&mut self, bits: u8, table: u32, leaves: &[Edge]) -> Edge {
        let form = truth_table::algebraic(table);
        let mut sum = self.constant(bits, 0).flipped(form & 1 == 1);
        for product in (1..8usize).filter(|p| form >> p & 1 == 1) {
            let factors = (0..leaves.len()).filter(|v| product >> v & 1 == 1);
            let factors: Vec<Edge> = factors.map(|v| leaves[v]).collect();
            let first = factors[0];
            let term = factors[1..].iter().fold(first, |term, &factor| self.and(term, factor));
            sum = self.xor(sum, term);
        }
        sum
    }
}

/// A function of two bits that depends on both.
enum Two {
    Xor {
        flip: bool,
    },
    /// The operands that are complemented, and whether the product is.
    And {
        x: bool,
        y: bool,
        flip: bool,
    },
}

impl Two {
    /// Its value is bit x + 2y of `rows`.
    fn of(rows: u8) -> Two {
        match rows.count_ones() {
            2 => Two::Xor { flip: rows & 1 == 1 },
            ones => {
                let flip = ones == 3;
                // The one row that differs from the others.
                let row = if flip { !rows & 15 } else { rows }.trailing_zeros();
                Two::And { x: row & 1 == 0, y: row & 2 == 0, flip }
            }
        }
    }
}
