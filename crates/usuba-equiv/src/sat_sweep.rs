//! Engine E4: SAT sweeping. Random signatures propose equal nodes; windows with truth tables, or a
//! SAT solver, decide.
//!
//! ```text
//! t = a ^ b;  u = t & c;   ...        before: an S-box of ands and xors
//! v = Lut3(a, b, c);       ...        after: the same S-box of other operators
//! ```
//!
//! Every node has a *signature*, its values on random inputs. A new node with the signature of a
//! known node, or with its complement, is probably equal to it: their XOR is zero. The proof is
//! local. The XOR is expanded, the leaf that adds the fewest nodes first, until few nodes remain,
//! the leaves of a *window*, over which its truth table is zero. If there is no such window, XORs
//! in the XOR are expanded, the youngest first, so that equal terms cancel, and the rest is tried
//! again.
//!
//! *Soundness:* signatures decide only which pairs are tried. The leaves are permuted nodes, and
//! one table holds for all bits of a word, as in `cut_matching`.
//!
//! *Limits:* the sizes of windows, and the numbers of failures below.
//!
//! *Reference:* Kuehlmann, Paruthi, Krohm, Ganai 2002; Mishchenko, Chatterjee, Jiang, Brayton 2005
//! (FRAIGs).

use rustc_hash::FxHashMap;

use usuba::ir::op::mask;

use crate::bit_maps::IDENTITY;
use crate::dag::{Dag, Edge, Gate, Kind};
use crate::miter;
use crate::truth_table::VARIABLES;

/// Values on random inputs: each word holds as many words of the program as fit.
type Signature = [u64; 4];

/// A truth table over the leaves of a window.
type Table = [u64; 4];

/// The most leaves of a window whose tables are compared: the tables have 256 rows.
const MOST: usize = 8;

/// The most leaves of a window while it is being expanded.
const WIDEST: usize = 32;

/// The most nodes in a window.
const LARGEST: usize = 200;

/// The most XORs that are expanded for one comparison.
const SUMS: usize = 2000;

/// The most nodes that are kept for one signature; more are hardly ever different.
const ALIKE: usize = 3;

/// The number of failed windows after which no more are opened.
const PATIENCE: u32 = 3000;

/// The same limit for nodes that are zero, or one, on nearly all random inputs: products of many
/// factors, such as the carries of a counter. Their signatures are often equal, and the nodes are
/// not.
const FAINT_PATIENCE: u32 = 200;

/// The fewest zeros and ones of other signatures.
const FAINT: u32 = 8;

/// The number of failed queries to the SAT solver after which no more are made.
const TRUST: u32 = 1000;

pub struct Sweep {
    /// Signatures of the nodes that are operators.
    signatures: FxHashMap<u32, Signature>,
    /// Nodes by width and signature, complemented if its first bit would be set.
    alike: FxHashMap<(u8, Signature), Vec<Edge>>,
    failures: u32,
    /// Failed windows for nodes with few zeros or few ones on random inputs.
    faint_failures: u32,
    /// The number of queries to the SAT solver that may still fail.
    questions: u32,
}

impl Sweep {
    /// With `solver`, a SAT solver decides the pairs that windows leave open.
    pub fn new(solver: bool) -> Sweep {
        let (signatures, alike) = (FxHashMap::default(), FxHashMap::default());
        let questions = if solver { TRUST } else { 0 };
        Sweep { signatures, alike, failures: 0, faint_failures: 0, questions }
    }

    /// Resets the counts of failures.
    pub fn renew(&mut self) {
        (self.failures, self.faint_failures) = (0, 0);
    }

    /// An edge that is `kind` of two edges, or the signature of a new node.
    pub fn known(&mut self, g: &mut Dag, kind: Kind, a: Edge, b: Edge) -> Result<Edge, Signature> {
        let (x, y) = (self.signature(g, a), self.signature(g, b));
        let own = both(kind, x, y);
        let bits = g.bits(a);
        let (name, flip) = normal(own, bits);
        let faint = is_faint(name, bits);
        if name == [0; 4] {
            let constant = g.constant(bits, 0).flipped(flip);
            if self.is(g, kind, [a, b, constant], faint) {
                return Ok(constant);
            }
        }
        for candidate in self.alike.get(&(bits, name)).cloned().unwrap_or_default() {
            let candidate = candidate.flipped(flip);
            if self.is(g, kind, [a, b, candidate], faint) {
                return Ok(candidate);
            }
        }
        Err(own)
    }

    /// Records the node that was made.
    pub fn learn(&mut self, g: &Dag, edge: Edge, signature: Signature) {
        self.signatures.insert(edge.node(), signature);
        self.remember(g.bits(edge), edge, signature);
    }

    fn remember(&mut self, bits: u8, edge: Edge, signature: Signature) {
        let (name, flip) = normal(signature, bits);
        let list = self.alike.entry((bits, name)).or_default();
        if list.len() < ALIKE {
            list.push(edge.flipped(flip));
        }
    }

    fn signature(&mut self, g: &Dag, edge: Edge) -> Signature {
        let node = g.node(edge);
        let bits = node.bits;
        let bare = match self.signatures.get(&edge.node()) {
            Some(known) => *known,
            None if node.kind == Kind::Const => [repeated(bits, |_| node.a); 4],
            None => {
                // Parameters, and other nodes that are not expanded: any values will do.
                let seed = (edge.node() as u64) << 3;
                let any = |i| sample(seed, i) & used(bits);
                let signature = std::array::from_fn(any);
                self.signatures.insert(edge.node(), signature);
                self.remember(bits, edge.bare(), signature);
                signature
            }
        };
        let moved = match edge.map() {
            IDENTITY => bare,
            map => bare.map(|word| {
                repeated(bits, |at| g.maps.apply(map, word >> (at * bits) & mask(bits)))
            }),
        };
        if edge.is_complement() { complement(moved, bits) } else { moved }
    }

    /// Whether a third edge provably equals the result of `kind` on two edges.
    fn is(&mut self, g: &mut Dag, kind: Kind, [a, b, c]: [Edge; 3], faint: bool) -> bool {
        let (failures, patience) = match faint {
            true => (&mut self.faint_failures, FAINT_PATIENCE),
            false => (&mut self.failures, PATIENCE),
        };
        if *failures > patience {
            return self.is_by_solver(g, kind, [a, b, c]);
        }
        let shown = shown(g, kind, [a, b, c]).is_some();
        *failures += !shown as u32;
        shown || self.is_by_solver(g, kind, [a, b, c])
    }

    fn is_by_solver(&mut self, g: &mut Dag, kind: Kind, edges: [Edge; 3]) -> bool {
        let shown = self.questions > 0 && miter::is(g, kind, edges, miter::INSIDE);
        self.questions -= (self.questions > 0 && !shown) as u32;
        shown
    }
}

/// The window that shows an equality, by its leaves.
pub enum Shown {
    Window(Vec<Edge>),
    /// For the XOR of both sides, after the XORs in it were expanded.
    Parity(Vec<Edge>),
}

/// Whether `kind` of two edges is a third edge.
pub fn shown(g: &mut Dag, kind: Kind, [a, b, c]: [Edge; 3]) -> Option<Shown> {
    if kind != Kind::Xor {
        return window(g, &[a, b], &[c], false).map(Shown::Window);
    }
    if let Some(leaves) = window(g, &[], &[a, b, c], false) {
        return Some(Shown::Window(leaves));
    }
    let (terms, flip) = written_out(g, [a, b, c])?;
    window(g, &[], &terms, flip).map(Shown::Parity)
}

/// The terms of the XOR of three edges, without XORs and without terms that cancel, and whether the
/// XOR is the complement of theirs; `None` if it is too long.
fn written_out(g: &mut Dag, edges: [Edge; 3]) -> Option<(Vec<Edge>, bool)> {
    let mut flip = false;
    let (mut sums, mut terms) = (Sorted(Vec::new()), Sorted(Vec::new()));
    let mut more = edges.to_vec();
    for _ in 0..SUMS {
        for edge in more.drain(..) {
            flip ^= edge.is_complement();
            let plain = edge.plain();
            let set = if g.node(plain).kind == Kind::Xor { &mut sums } else { &mut terms };
            if g.value(plain) != Some(0) {
                set.toggle(plain);
            }
        }
        // An XOR is younger than its terms, so this one does not come again.
        let Some((youngest, ())) = sums.0.pop() else {
            return Some((terms.0.into_iter().map(|(term, ())| term).collect(), flip));
        };
        let operands = g.gate(youngest).expect("a sum").operands;
        more.extend(operands);
    }
    None
}

/// The leaves of a window that shows that the XOR of `terms`, of the product of `factors` if there are
/// any, and of all ones if `flip` is set, is zero.
fn window(g: &mut Dag, factors: &[Edge], terms: &[Edge], flip: bool) -> Option<Vec<Edge>> {
    let mut leaves: Leaves = Sorted(Vec::with_capacity(WIDEST + 2));
    let mut inside: Sorted<Gate> = Sorted(Vec::with_capacity(WIDEST));
    for root in factors.iter().chain(terms) {
        leaves.add(g, &inside, root.plain());
    }
    let total = |tables: &Tables| {
        let product = factors.iter().map(|&e| tables.of(e)).reduce(|x, y| both(Kind::And, x, y));
        let start = both(Kind::Xor, product.unwrap_or([0; 4]), [0u64.wrapping_sub(flip as u64); 4]);
        terms.iter().fold(start, |sum, &term| both(Kind::Xor, sum, tables.of(term)))
    };
    loop {
        // The leaf that adds the fewest others, and the youngest of those.
        let operators = leaves.0.iter().enumerate().rev();
        let operators = operators.filter_map(|(at, (_, leaf))| Some((leaf.as_ref()?.adds, at)));
        let next = operators.min_by_key(|(adds, _)| *adds);
        // A larger window shows all equalities of a smaller one inside, so only the last ones are
        // checked.
        let grows = next.is_none_or(|(adds, _)| adds > 1);
        if grows && leaves.0.len() <= MOST && total(&Tables::new(g, &leaves, &inside)) == [0; 4] {
            return Some(leaves.0.into_iter().map(|(leaf, _)| leaf).collect());
        }
        let (_, at) = next?;
        let (edge, leaf) = leaves.0.remove(at);
        let Leaf { inner, .. } = leaf.expect("an operator");
        let operands = inner.operands.map(Edge::plain);
        inside.insert_with(edge, || inner);
        for operand in operands {
            leaves.add(g, &inside, operand);
        }
        if leaves.0.len() > WIDEST || inside.0.len() > LARGEST {
            return None;
        }
    }
}

/// A short map from edges to values, sorted by edge.
struct Sorted<T>(Vec<(Edge, T)>);

impl<T> Sorted<T> {
    /// Where an edge is, or should be.
    fn place(&self, edge: Edge) -> Result<usize, usize> {
        self.0.binary_search_by_key(&edge, |(other, _)| *other)
    }

    /// Inserts an edge unless it is there.
    fn insert_with(&mut self, edge: Edge, value: impl FnOnce() -> T) {
        if let Err(at) = self.place(edge) {
            self.0.insert(at, (edge, value()));
        }
    }
}

impl Sorted<()> {
    /// Inserts an edge, or removes it if it is there.
    fn toggle(&mut self, edge: Edge) {
        match self.place(edge) {
            Ok(at) => {
                self.0.remove(at);
            }
            Err(at) => self.0.insert(at, (edge, ())),
        }
    }
}

/// The leaves of a window; leaves that are operators may be expanded.
type Leaves = Sorted<Option<Leaf>>;

struct Leaf {
    inner: Gate,
    /// The number of its operands that are not in the window.
    adds: usize,
}

impl Leaves {
    /// Makes a plain edge a leaf if the window does not have it.
    fn add(&mut self, g: &mut Dag, inside: &Sorted<Gate>, edge: Edge) {
        let Err(place) = self.place(edge) else { return };
        if inside.place(edge).is_ok() {
            return;
        }
        for leaf in self.0.iter_mut().filter_map(|(_, leaf)| leaf.as_mut()) {
            let uses = leaf.inner.operands.iter().any(|operand| operand.plain() == edge);
            leaf.adds -= uses as usize;
        }
        let leaf = g.gate(edge).map(|inner| {
            let [x, y] = inner.operands.map(Edge::plain);
            let new = |e: Edge| self.place(e).is_err() && inside.place(e).is_err();
            let adds = new(x) as usize + (x != y && new(y)) as usize;
            Leaf { inner, adds }
        });
        self.0.insert(place, (edge, leaf));
    }
}

/// A word of 64 bits with as many words of this width as fit, by their number.
fn repeated(bits: u8, word: impl Fn(u8) -> u64) -> u64 {
    (0..64 / bits).fold(0, |sum, at| sum | word(at) << (at * bits))
}

/// The bits of a signature that are in use.
fn used(bits: u8) -> u64 {
    mask(64 / bits * bits)
}

fn complement(signature: Signature, bits: u8) -> Signature {
    signature.map(|word| !word & used(bits))
}

/// Whether a signature has hardly any ones, or hardly any zeros.
fn is_faint(signature: Signature, bits: u8) -> bool {
    let ones: u32 = signature.iter().map(|word| word.count_ones()).sum();
    ones.min(4 * used(bits).count_ones() - ones) < FAINT
}

/// The signature or its complement, so that the first bit is zero.
fn normal(signature: Signature, bits: u8) -> (Signature, bool) {
    let flip = signature[0] & 1 == 1;
    (if flip { complement(signature, bits) } else { signature }, flip)
}

/// Word `i` of the signature of a parameter: half of the bits are ones in two words, a quarter in
/// one, and three quarters in another, so that long products and carries have both values.
fn sample(seed: u64, i: usize) -> u64 {
    let any = |number: u64| scrambled(seed | number);
    match i {
        2 => any(2) & any(4),
        3 => any(3) | any(5),
        _ => any(i as u64),
    }
}

/// Bits that look random (the finalizer of Stafford's variant 13).
fn scrambled(seed: u64) -> u64 {
    let z = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The truth tables of the nodes in a window.
struct Tables(Sorted<Table>);

impl Tables {
    /// `inside` holds the operators between leaves and roots.
    fn new<T>(g: &Dag, leaves: &Sorted<T>, inside: &Sorted<Gate>) -> Tables {
        let mut tables = Sorted(Vec::with_capacity(leaves.0.len() + inside.0.len()));
        for (at, &(leaf, _)) in leaves.0.iter().enumerate() {
            // Zero is known; other constants are free variables, which is sound for any value.
            let table = if g.value(leaf) == Some(0) { [0; 4] } else { variable(at) };
            tables.0.push((leaf, table));
        }
        let mut tables = Tables(tables);
        // Operands are older than the nodes made of them.
        for (edge, inner) in &inside.0 {
            let [x, y] = inner.operands.map(|edge| tables.of(edge));
            tables.0.insert_with(*edge, || both(inner.kind, x, y));
        }
        tables
    }

    fn of(&self, edge: Edge) -> Table {
        let at = self.0.place(edge.plain()).expect("an edge of the window");
        let plain = self.0.0[at].1;
        if edge.is_complement() { plain.map(|word| !word) } else { plain }
    }
}

fn both(kind: Kind, x: Table, y: Table) -> Table {
    std::array::from_fn(|i| if kind == Kind::And { x[i] & y[i] } else { x[i] ^ y[i] })
}

/// The table of a variable among eight.
fn variable(at: usize) -> Table {
    match VARIABLES.get(at) {
        Some(&low) => [(low as u64) << 32 | low as u64; 4],
        None if at == 5 => [0xffff_ffff_0000_0000; 4],
        None => std::array::from_fn(|i| if i >> (at - 6) & 1 == 1 { u64::MAX } else { 0 }),
    }
}
