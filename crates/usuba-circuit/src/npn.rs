//! NPN classes: tables that are equal up to the order and the complement of their bits.
//!
//! ```text
//! table T ──(order and complement inputs, complement and order outputs)──► key of its class
//! ```
//!
//! With up to five inputs all orders and complements of the inputs are tried; with more, only the
//! rotations of the order as written and of its reverse (the other reading of the bit order).
//! Outputs are always complemented to be 0 on input 0, and sorted. The least list of outputs is the
//! class.
//!
//! Within this file inputs are index bits: 0 is the least significant bit of the index, which is
//! wire `inputs - 1`.

use crate::simulate::Truth;

/// A bit of a list, and whether it is complemented.
pub(crate) type Signed = (u8, bool);

/// How a table becomes the representative of its class: output `s` of the representative is
/// output `outputs[s]` of the table, and input `i` of the table is input `inputs[i]` of the
/// representative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    pub inputs: Vec<Signed>,
    pub outputs: Vec<Signed>,
}

/// The class of a table, and the ways to its representative.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// A digest of the representative. Equal for all tables of a class.
    pub key: u64,
    pub representative: Vec<Truth>,
    /// At least one; more if the table looks the same from several sides, `MOST_WAYS` at most.
    pub ways: Vec<Way>,
}

/// The most inputs for which all orders are tried.
pub(crate) const MOST_FREE_INPUTS: u8 = 5;
/// The most outputs of a table that has a class.
pub(crate) const MOST_OUTPUTS: usize = 8;
const MOST_WAYS: usize = 16;

/// A table seen from one side.
#[derive(Clone)]
struct View {
    truths: Vec<Truth>,
    inputs: Vec<Signed>,
}

impl View {
    /// Exchanges inputs `a` and `b`, where `a < b`, of a table of at most five inputs.
    fn swap(&mut self, a: u8, b: u8) {
        const BIT: [u64; 5] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];
        let shift = (1 << b) - (1 << a);
        let moved = BIT[b as usize] & !BIT[a as usize];
        for truth in &mut self.truths {
            let word = truth[0];
            let delta = (word ^ word << shift) & moved;
            truth[0] = word ^ delta ^ delta >> shift;
        }
        for (input, _) in &mut self.inputs {
            *input = if *input == a {
                b
            } else if *input == b {
                a
            } else {
                *input
            };
        }
    }

    /// Complements input `a` of a table of at most five inputs.
    fn flip(&mut self, a: u8) {
        const BIT: [u64; 5] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];
        let (high, shift) = (BIT[a as usize], 1 << a);
        for truth in &mut self.truths {
            truth[0] = (truth[0] & high) >> shift | (truth[0] << shift) & high;
        }
        self.inputs.iter_mut().filter(|(input, _)| *input == a).for_each(|(_, sign)| *sign ^= true);
    }

    /// The same table where input `i` has moved to `place(i)`.
    fn moved(&self, place: impl Fn(u8) -> u8) -> View {
        let n = self.inputs.len() as u8;
        let places: Vec<u8> = (0..n).map(place).collect();
        let old = |new: usize| {
            places.iter().enumerate().fold(0, |old, (i, place)| old | (new >> place & 1) << i)
        };
        let size = 1usize << n;
        let order: Vec<usize> = (0..256).map(|x| old(x & (size - 1))).collect();
        let turn = |truth: &Truth| {
            let mut turned = [0; 4];
            for (x, &old) in order.iter().enumerate() {
                turned[x / 64] |= (truth[old / 64] >> (old % 64) & 1) << (x % 64);
            }
            turned
        };
        let inputs = self.inputs.iter().map(|&(i, sign)| (places[i as usize], sign)).collect();
        View { truths: self.truths.iter().map(turn).collect(), inputs }
    }
}

/// Collects the least of the views that it is shown.
struct Least {
    size: u32,
    sorted: Vec<(Truth, Signed)>,
    best: Vec<Truth>,
    ways: Vec<Way>,
}

impl Least {
    fn see(&mut self, view: &View) {
        // A table of at most five inputs is only kept in its first word.
        let keep = if self.size >= 64 { [u64::MAX; 4] } else { [(1 << self.size) - 1, 0, 0, 0] };
        self.sorted.clear();
        for (k, truth) in view.truths.iter().enumerate() {
            let sign = truth[0] & 1 == 1;
            let flip = if sign { u64::MAX } else { 0 };
            let plain = std::array::from_fn(|i| (truth[i] ^ flip) & keep[i]);
            self.sorted.push((plain, (k as u8, sign)));
        }
        self.sorted.sort_unstable();
        let order = self.sorted.iter().map(|(truth, _)| truth).cmp(self.best.iter());
        let first = self.ways.is_empty();
        if !first && (order.is_gt() || order.is_eq() && self.ways.len() == MOST_WAYS) {
            return;
        }
        if order.is_ne() {
            self.best.clear();
            self.best.extend(self.sorted.iter().map(|(truth, _)| truth));
            self.ways.clear();
        }
        let outputs = self.sorted.iter().map(|(_, signed)| *signed).collect();
        self.ways.push(Way { inputs: view.inputs.clone(), outputs });
    }
}

/// The class of the table with these outputs; `None` if it has too many of them.
pub(crate) fn class(inputs: u8, truths: &[Truth]) -> Option<Class> {
    if truths.len() > MOST_OUTPUTS {
        return None;
    }
    let mut view =
        View { truths: truths.to_vec(), inputs: (0..inputs).map(|i| (i, false)).collect() };
    let mut least =
        Least { size: 1 << inputs, sorted: Vec::new(), best: Vec::new(), ways: Vec::new() };
    if inputs > MOST_FREE_INPUTS {
        for by in 0..inputs {
            least.see(&view.moved(|i| (i + by) % inputs));
            least.see(&view.moved(|i| (2 * inputs - 1 - i - by) % inputs));
        }
    } else {
        // Each exchange or complement changes one thing only: orders by Heap's method, signs in
        // the order of the Gray code, after which only the last is left complemented.
        let mut count = [0u8; MOST_FREE_INPUTS as usize];
        let mut i = 0;
        signs(&mut view, inputs, &mut least);
        while i < inputs as usize {
            if count[i] < i as u8 {
                let other = if i % 2 == 0 { 0 } else { count[i] };
                view.swap(other, i as u8);
                signs(&mut view, inputs, &mut least);
                count[i] += 1;
                i = 0;
            } else {
                count[i] = 0;
                i += 1;
            }
        }
    }
    let Least { best: representative, ways, .. } = least;
    let key = digest(inputs, &representative);
    Some(Class { key, representative, ways })
}

/// Shows a view with all signs of its inputs.
fn signs(view: &mut View, inputs: u8, least: &mut Least) {
    for step in 1..=1u32 << inputs {
        least.see(view);
        let changed = (step.trailing_zeros() as u8).min(inputs - 1);
        view.flip(changed);
    }
}

/// The 64-bit FNV-1a hash of the sizes and the truth tables.
fn digest(inputs: u8, truths: &[Truth]) -> u64 {
    let words = truths.iter().flatten().flat_map(|word| word.to_le_bytes());
    [inputs, truths.len() as u8]
        .into_iter()
        .chain(words)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)
        })
}
