//! Bit-blasting: translates a program of words to a program of their bits.
//!
//! ```text
//! y = x & 6;           y[0] = 0; y[1] = x[1]; y[2] = x[2]; y[3] = 0      (words of four bits)
//! y = x <<< 1;         y[0] = x[1]; y[1] = x[2]; ...
//! y = a + b;           a ripple-carry adder
//! ```
//!
//! A node that acts on all bits of a word alike, and is not the entry, becomes a node of single
//! bits that is called once for each bit.
//!
//! Engines on words treat all bits of a word alike. Programs that are equal for a reason that
//! differs from bit to bit (masks, combined shifts, additions of parts) are compared on bits by the
//! same engines. Bits count from the most significant one, as the values of a bitsliced port do.
//!
//! *Limits:* programs of more than `LONGEST` equations on bits are not translated.
//!
//! *Reference:* Kroening and Strichman, Decision Procedures, chapter on bit vectors.

use rustc_hash::FxHashMap;
use usuba::ir::carryless::{self, Gate};
use usuba::ir::op::mask;
use usuba::ir::{
    Call, Carried, Collect, Eqn, Loop, Node, NodeId, Op, OpEqn, Program, Read, Slicing, Val, lanes,
};

/// The most equations of the bit-blasted program.
const LONGEST: usize = 2_000_000;

/// A bit-blasted addition: its operands and its result, the most significant bits first.
pub type Sum = [Vec<Val>; 3];

/// The positions of additions in a bit-blasted program.
#[derive(Default)]
pub struct Places {
    /// The additions, by the bit of the result that is written last.
    sums: FxHashMap<(NodeId, Val), Sum>,
    /// For each node, the values that are bits or carries of additions.
    parts: Vec<Vec<bool>>,
}

impl Places {
    /// Whether a value of a node is a bit or a carry of an addition.
    pub fn is_part(&self, node: NodeId, value: Val) -> bool {
        self.parts[node.0 as usize].get(value.0 as usize).is_some_and(|&part| part)
    }

    /// The addition with this bit of its result, if this bit is written last.
    pub fn sum(&self, node: NodeId, value: Val) -> Option<&Sum> {
        self.sums.get(&(node, value))
    }

    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }
}

/// The circuit of a carry c: all compute one function, and a proof is short where both sides have
/// one structure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    /// a ^ (a ^ b) & (a ^ c) in a sum and c ^ (a ^ b) & (b ^ c) in a difference, as lowering to bits
    /// has them.
    Multiplexed,
    /// a & b ^ (a ^ b) & c, which is symmetric in the operands; a - b is ~(~a + b).
    Symmetric,
}

/// A bitsliced program that computes the same function as `program`; `None` if it would be too
/// long.
pub fn apart(program: &Program) -> Option<Program> {
    apart_by(program, Carries::Multiplexed).map(|(program, _)| program)
}

/// As `apart` with symmetric carries, and returns the additions as well.
pub fn apart_with_sums(program: &Program) -> Option<(Program, Places)> {
    apart_by(program, Carries::Symmetric)
}

fn apart_by(program: &Program, carries: Carries) -> Option<(Program, Places)> {
    if program.slicing == Slicing::W {
        return apart_by(&lanes::apart(program), carries);
    }
    let mut places = Places::default();
    let mut left = LONGEST;
    let mut columns: Vec<bool> = Vec::with_capacity(program.nodes.len());
    let mut nodes = Vec::with_capacity(program.nodes.len());
    for (id, node) in program.nodes.iter().enumerate() {
        let column = id != program.entry.0 as usize && is_column(node, &node.body, &columns);
        nodes.push(match column {
            true => {
                places.parts.push(Vec::new());
                one_column(node)
            }
            false => {
                let (made, sums, parts) = Apart::node(node, &columns, carries, &mut left)?;
                let at = |sum: Sum| ((NodeId(id as u32), sum[2][0]), sum);
                places.sums.extend(sums.into_iter().map(at));
                places.parts.push(parts);
                made
            }
        });
        columns.push(column);
    }
    let notes = Vec::new();
    let program = Program {
        nodes,
        entry: program.entry,
        slicing: Slicing::B,
        copies: program.copies,
        vector: 1,
        packed: false,
        notes,
    };
    Some((program, places))
}

/// Whether a node has words of one size only, and acts on their bits alike.
fn is_column(node: &Node, eqns: &[Eqn], columns: &[bool]) -> bool {
    let width = node.bits.first().copied().unwrap_or(0);
    // Words of one bit need no translation.
    width > 1
        && node.bits.iter().all(|&bits| bits == width)
        && eqns.iter().all(|eqn| match eqn {
            Eqn::Op(e) => match e.op {
                Op::Const(word) => word == 0 || word == mask(width),
                _ => e.op.is_bitwise(),
            },
            Eqn::Call(call) => columns[call.node.0 as usize],
            Eqn::Loop(lp) => is_column(node, &lp.body, columns),
        })
}

/// The node on one bit of each word.
fn one_column(node: &Node) -> Node {
    fn block(eqns: &mut [Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(OpEqn { op: Op::Const(word), .. }) => *word &= 1,
                Eqn::Op(_) | Eqn::Call(_) => {}
                Eqn::Loop(lp) => block(&mut lp.body),
            }
        }
    }
    let mut node = node.clone();
    node.bits.iter_mut().for_each(|bits| *bits = 1);
    node.params.iter_mut().chain(&mut node.results).for_each(|port| port.word = 1);
    block(&mut node.body);
    node
}

struct Apart<'a> {
    /// The earlier nodes that are nodes of single bits.
    columns: &'a [bool],
    carries: Carries,
    /// The node of words.
    old: &'a Node,
    /// The first bit of each of its values.
    first: Vec<u32>,
    /// The word size of each new value, which is 1.
    sizes: Vec<u8>,
    /// The number of equations that may still be written.
    left: &'a mut usize,
    sums: Vec<Sum>,
    /// The values that are bits or carries of additions; values beyond its end are not.
    parts: Vec<bool>,
}

impl Apart<'_> {
    fn node(
        old: &Node,
        columns: &[bool],
        carries: Carries,
        left: &mut usize,
    ) -> Option<(Node, Vec<Sum>, Vec<bool>)> {
        let mut first = Vec::with_capacity(old.bits.len());
        let mut count = 0u32;
        for &bits in &old.bits {
            first.push(count);
            count = count.checked_add(bits as u32)?;
        }
        if count as usize > LONGEST {
            return None;
        }
        let (sizes, sums, parts) = (vec![1; count as usize], Vec::new(), Vec::new());
        let mut state = Apart { columns, carries, old, first, sizes, left, sums, parts };
        let body = state.block(&old.body)?;
        let outs = state.all(&old.outs);
        let Apart { sizes, sums, parts, .. } = state;
        let node = Node {
            name: old.name.clone(),
            params: old.params.clone(),
            results: old.results.clone(),
            bits: sizes,
            origins: Default::default(),
            body,
            outs,
            inline: old.inline,
        };
        Some((node, sums, parts))
    }

    /// The bits of a word, most significant first.
    fn bits(&self, v: Val) -> Vec<Val> {
        let first = self.first[v.0 as usize];
        (first..first + self.old.bits_of(v) as u32).map(Val).collect()
    }

    fn all(&self, words: &[Val]) -> Vec<Val> {
        words.iter().flat_map(|&v| self.bits(v)).collect()
    }

    fn block(&mut self, eqns: &[Eqn]) -> Option<Vec<Eqn>> {
        let mut out = Vec::new();
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.op(e, &mut out)?,
                Eqn::Call(call) => {
                    let (dsts, args) = (self.all(&call.dsts), self.all(&call.args));
                    self.spend(dsts.len() + args.len())?;
                    self.call(call.node, dsts, args, call, &mut out);
                }
                Eqn::Loop(lp) => {
                    let lp = self.repeat(lp)?;
                    out.push(Eqn::Loop(Box::new(lp)));
                }
            }
        }
        Some(out)
    }

    /// A call on bits: one call, or one for each bit of the words.
    fn call(&self, node: NodeId, dsts: Vec<Val>, args: Vec<Val>, old: &Call, out: &mut Vec<Eqn>) {
        let words = old.dsts.iter().chain(&old.args);
        let Some(width) = words.map(|&v| self.old.bits_of(v) as usize).next() else { return };
        if !self.columns[node.0 as usize] {
            out.push(Eqn::Call(Call { dsts, node, args }));
            return;
        }
        // All words of such a call have one size.
        for bit in 0..width {
            let of = |all: &[Val]| all.iter().skip(bit).step_by(width).copied().collect();
            out.push(Eqn::Call(Call { dsts: of(&dsts), node, args: of(&args) }));
        }
    }

    fn spend(&mut self, equations: usize) -> Option<()> {
        *self.left = self.left.checked_sub(equations)?;
        Some(())
    }

    fn repeat(&mut self, lp: &Loop) -> Option<Loop> {
        let (mut carried, mut reads, mut collects) = (Vec::new(), Vec::new(), Vec::new());
        for c in &lp.carried {
            let [params, inits] = [c.param, c.init].map(|v| self.bits(v));
            let [nexts, results] = [c.next, c.result].map(|v| self.bits(v));
            for i in 0..params.len() {
                let (param, init) = (params[i], inits[i]);
                carried.push(Carried { param, init, next: nexts[i], result: results[i] });
            }
        }
        for read in &lp.reads {
            for (i, dst) in self.bits(read.dst).into_iter().enumerate() {
                let list = read.list.iter().map(|&v| Val(self.first[v.0 as usize] + i as u32));
                reads.push(Read { dst, list: list.collect() });
            }
            self.spend(read.list.len() * self.old.bits_of(read.dst) as usize)?;
        }
        for collect in &lp.collects {
            for (i, value) in self.bits(collect.value).into_iter().enumerate() {
                let results = collect.results.iter();
                let results = results.map(|&v| Val(self.first[v.0 as usize] + i as u32)).collect();
                collects.push(Collect { value, results });
            }
            self.spend(collect.results.len() * self.old.bits_of(collect.value) as usize)?;
        }
        let body = self.block(&lp.body)?;
        Some(Loop { count: lp.count, carried, reads, body, collects, keep: lp.keep })
    }

    fn op(&mut self, e: &OpEqn, out: &mut Vec<Eqn>) -> Option<()> {
        let dst = self.bits(e.dst);
        let args: Vec<Vec<Val>> = e.args.iter().map(|&v| self.bits(v)).collect();
        let (width, start) = (dst.len(), out.len());
        let moved = |from: &dyn Fn(usize) -> Option<usize>, out: &mut Vec<Eqn>| {
            for (i, &bit) in dst.iter().enumerate() {
                match from(i) {
                    Some(j) => write(out, bit, Op::Copy, &[args[0][j]]),
                    None => write(out, bit, Op::Const(0), &[]),
                }
            }
        };
        match &e.op {
            Op::Const(word) => {
                for (i, &bit) in dst.iter().enumerate() {
                    write(out, bit, Op::Const(word >> (width - 1 - i) & 1), &[]);
                }
            }
            op if op.is_bitwise() => {
                for (i, &bit) in dst.iter().enumerate() {
                    let operands: Vec<Val> = args.iter().map(|arg| arg[i]).collect();
                    write(out, bit, op.clone(), &operands);
                }
            }
            Op::Shl(k) => moved(&|i| Some(i + *k as usize).filter(|&j| j < width), out),
            Op::Shr(k) => moved(&|i| i.checked_sub(*k as usize), out),
            Op::Sar(k) => moved(&|i| Some(i.saturating_sub(*k as usize)), out),
            Op::Rotl(k) => moved(&|i| Some((i + *k as usize) % width), out),
            Op::Bitmask(k) => moved(&|_| Some(width - 1 - *k as usize), out),
            Op::Shuffle(pattern) => {
                let group = width / pattern.len();
                moved(&|i| Some(pattern[i / group] as usize * group + i % group), out);
            }
            Op::Pack => {
                for (&bit, &from) in dst.iter().zip(args[0].iter().chain(&args[1])) {
                    write(out, bit, Op::Copy, &[from]);
                }
            }
            Op::Add => self.sum(&dst, &args[0], &args[1], out),
            Op::Sub if self.carries == Carries::Multiplexed => {
                let mut borrow = self.written(out, Op::Const(0), &[]);
                for i in (0..width).rev() {
                    let (a, b) = (args[0][i], args[1][i]);
                    let half = self.written(out, Op::Xor, &[a, b]);
                    write(out, dst[i], Op::Xor, &[half, borrow]);
                    borrow = self.chosen(half, borrow, b, out);
                }
            }
            Op::Sub => {
                // a - b is ~(~a + b).
                let flipped: Vec<Val> =
                    args[0].iter().map(|&bit| self.written(out, Op::Not, &[bit])).collect();
                let sums: Vec<Val> = dst.iter().map(|_| self.fresh()).collect();
                self.sum(&sums, &flipped, &args[1], out);
                for (&bit, sum) in dst.iter().zip(sums) {
                    write(out, bit, Op::Not, &[sum]);
                }
            }
            Op::Mul => self.product(&dst, &args[0], &args[1], out),
            Op::Lookup(table) => self.looked_up(&dst, table, &args[0], out),
            Op::AffineInverse(..) => {
                let table: Vec<u64> = (0..256).map(|x| e.op.eval(8, &[x])).collect();
                self.looked_up(&dst, &table, &args[0], out);
            }
            Op::MulHigh => {
                let zero = self.written(out, Op::Const(0), &[]);
                let zeros = || std::iter::repeat_n(zero, width);
                let [a, b] = [0, 1].map(|i| zeros().chain(args[i].iter().copied()).collect());
                let (a, b): (Vec<Val>, Vec<Val>) = (a, b);
                let low: Vec<Val> = (0..width).map(|_| self.fresh()).collect();
                let all: Vec<Val> = dst.iter().copied().chain(low).collect();
                self.product(&all, &a, &b, out);
            }
            Op::Clmul | Op::ClmulHigh => {
                let mut product = vec![self.written(out, Op::Const(0), &[])];
                let (a, b, carries) = (&args[0], &args[1], self.carries);
                let mut made = |gate, x, y| {
                    let op = if gate == Gate::And { Op::And } else { Op::Xor };
                    self.written(out, op, &[x, y])
                };
                // Bitslicing takes products of halves; instructions add up the terms.
                product.extend(match carries {
                    Carries::Multiplexed => carryless::product(a, b, &mut made),
                    Carries::Symmetric => carryless::term_by_term(a, b, &mut made),
                });
                let start = if e.op == Op::Clmul { width } else { 0 };
                for (&bit, &from) in dst.iter().zip(&product[start..]) {
                    write(out, bit, Op::Copy, &[from]);
                }
            }
            Op::MulAdd(k) | Op::MulAddHigh(k) => {
                let (k, high) = (*k as usize, matches!(e.op, Op::MulAddHigh(_)));
                let zero = self.written(out, Op::Const(0), &[]);
                let wide = |arg: &[Val]| -> Vec<Val> {
                    std::iter::repeat_n(zero, k).chain(arg[width - k..].iter().copied()).collect()
                };
                let product: Vec<Val> = (0..2 * k).map(|_| self.fresh()).collect();
                self.product(&product, &wide(&args[1]), &wide(&args[2]), out);
                let part = if high { &product[..k] } else { &product[k..] };
                let part: Vec<Val> =
                    std::iter::repeat_n(zero, width - k).chain(part.iter().copied()).collect();
                self.sum(&dst, &args[0], &part, out);
            }
            Op::Less => {
                // The carry out of ~a + b.
                let mut carry = self.written(out, Op::Const(0), &[]);
                for i in (0..width).rev() {
                    let (a, b) = (args[0][i], args[1][i]);
                    let half = self.written(out, Op::Xor, &[a, b]);
                    let below = self.written(out, Op::Andn, &[a, b]);
                    let kept = self.written(out, Op::Andn, &[half, carry]);
                    carry = self.written(out, Op::Xor, &[below, kept]);
                }
                for (i, &bit) in dst.iter().enumerate() {
                    match i + 1 == width {
                        true => write(out, bit, Op::Copy, &[carry]),
                        false => write(out, bit, Op::Const(0), &[]),
                    }
                }
            }
            Op::Resize(from) => {
                let (from, width) = (*from as usize, width);
                moved(&|i| (i + from).checked_sub(width), out);
            }
            Op::Affine(matrix, c) => {
                for (i, &bit) in dst.iter().enumerate() {
                    let mut sum = self.written(out, Op::Const((c >> (7 - i) & 1) as u64), &[]);
                    // Row i of the matrix, most significant first, is byte i.
                    for (j, &operand) in args[0].iter().enumerate() {
                        if matrix >> (8 * i + 7 - j) & 1 == 1 {
                            sum = self.written(out, Op::Xor, &[sum, operand]);
                        }
                    }
                    write(out, bit, Op::Copy, &[sum]);
                }
            }
            _ => unreachable!("all operators are named"),
        }
        self.spend(out.len() - start)
    }

    /// A look-up, bit by bit.
    fn looked_up(&mut self, dst: &[Val], table: &[u64], arg: &[Val], out: &mut Vec<Eqn>) {
        for (i, &bit) in dst.iter().enumerate() {
            let column = table.iter().map(|row| row >> (dst.len() - 1 - i) & 1);
            let column: Vec<u64> = column.collect();
            let picked = self.picked(&column, arg, out);
            write(out, bit, Op::Copy, &[picked]);
        }
    }

    fn fresh(&mut self) -> Val {
        self.sizes.push(1);
        Val(self.sizes.len() as u32 - 1)
    }

    /// A new bit that is an operator of others.
    fn written(&mut self, out: &mut Vec<Eqn>, op: Op, args: &[Val]) -> Val {
        let dst = self.fresh();
        write(out, dst, op, args);
        dst
    }

    /// A ripple-carry adder; the carry goes from each bit to the next more significant one.
    fn sum(&mut self, dst: &[Val], a: &[Val], b: &[Val], out: &mut Vec<Eqn>) {
        let mut carry = self.written(out, Op::Const(0), &[]);
        let first = carry.0 as usize;
        for i in (0..dst.len()).rev() {
            let half = self.written(out, Op::Xor, &[a[i], b[i]]);
            write(out, dst[i], Op::Xor, &[half, carry]);
            carry = match self.carries {
                Carries::Multiplexed => self.chosen(half, a[i], carry, out),
                Carries::Symmetric => {
                    let both = self.written(out, Op::And, &[a[i], b[i]]);
                    let kept = self.written(out, Op::And, &[half, carry]);
                    self.written(out, Op::Xor, &[both, kept])
                }
            };
        }
        // The new values are partial sums and carries.
        self.parts.resize(self.sizes.len(), false);
        self.parts[first..].fill(true);
        dst.iter().for_each(|bit| self.parts[bit.0 as usize] = true);
        self.sums.push([a.to_vec(), b.to_vec(), dst.to_vec()]);
    }

    /// A multiplexer: `there` where the condition holds, and `otherwise` elsewhere.
    fn chosen(&mut self, condition: Val, otherwise: Val, there: Val, out: &mut Vec<Eqn>) -> Val {
        let differ = self.written(out, Op::Xor, &[otherwise, there]);
        let change = self.written(out, Op::And, &[condition, differ]);
        self.written(out, Op::Xor, &[otherwise, change])
    }

    /// A shift-and-add multiplier: the sum of `a` shifted to each position where `b` has a one.
    fn product(&mut self, dst: &[Val], a: &[Val], b: &[Val], out: &mut Vec<Eqn>) {
        let width = dst.len();
        let zero = self.written(out, Op::Const(0), &[]);
        let mut sum = vec![zero; width];
        for place in 0..width {
            let factor = b[width - 1 - place];
            let term: Vec<Val> = (0..width)
                .map(|i| match a.get(i + place) {
                    Some(&bit) => self.written(out, Op::And, &[bit, factor]),
                    None => zero,
                })
                .collect();
            let next: Vec<Val> = dst.iter().map(|_| self.fresh()).collect();
            self.sum(&next, &sum, &term, out);
            sum = next;
        }
        for (&bit, last) in dst.iter().zip(sum) {
            write(out, bit, Op::Copy, &[last]);
        }
    }

    /// The entry of a column at `index`; zero beyond its end.
    fn picked(&mut self, column: &[u64], index: &[Val], out: &mut Vec<Eqn>) -> Val {
        let Some((top, rest)) = index.split_first() else {
            return self.written(out, Op::Const(column.first().copied().unwrap_or(0)), &[]);
        };
        if column.iter().all(|&bit| bit == 0) {
            return self.written(out, Op::Const(0), &[]);
        }
        let half = 1usize.checked_shl(rest.len() as u32).unwrap_or(usize::MAX);
        let (low, high) = column.split_at(half.min(column.len()));
        let (low, high) = (self.picked(low, rest, out), self.picked(high, rest, out));
        self.chosen(*top, low, high, out)
    }
}

fn write(out: &mut Vec<Eqn>, dst: Val, op: Op, args: &[Val]) {
    out.push(Eqn::Op(OpEqn { dst, op, args: args.iter().copied().collect() }));
}

#[cfg(test)]
mod tests;
