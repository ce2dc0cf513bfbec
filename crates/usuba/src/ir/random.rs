//! Random Usuba0 programs, for tests of passes and translations.
//!
//! The same seed gives the same program. Programs are sound and small, and full of difficult cases
//! for passes: zeros and all-ones, equal operands, loops in loops, calls in loops, results that are
//! parameters, words of several sizes.

use super::build::{Builder, Shift};
use super::op::mask;
use super::{Inline, Node, NodeId, Op, Port, Program, Slicing, Val};

/// A small generator of random numbers (xorshift*), with nothing cryptographic about it.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // Nearby seeds must give unrelated streams, and the state must not be zero.
        Random((seed.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Any 64-bit word.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.word() >> 32) as usize) % n
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// The features that programs may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub slicing: Slicing,
    /// Word sizes in use; under H one, under B 1 only.
    pub words: &'static [u8],
    /// Equations per node, about.
    pub size: usize,
    /// Nodes, at most.
    pub nodes: usize,
    pub loops: bool,
    /// `Lut3`, which only targets with such an instruction produce.
    pub lut3: bool,
}

impl Shape {
    /// Every word size, operator and construction that V has.
    pub const WORDS: Shape = Shape {
        slicing: Slicing::V,
        words: &[1, 4, 8, 11, 16, 32, 64],
        size: 24,
        nodes: 4,
        loops: true,
        lut3: true,
    };

    /// Bitslicing.
    pub const BITS: Shape = Shape { slicing: Slicing::B, words: &[1], ..Shape::WORDS };

    /// Horizontal slicing of 16-bit words: logic and shuffles.
    pub const ROWS: Shape = Shape { slicing: Slicing::H, words: &[16], ..Shape::WORDS };
}

/// A sound random program.
pub fn program(seed: u64, shape: Shape) -> Program {
    let mut random = Random::new(seed);
    let mut nodes: Vec<Node> = Vec::new();
    for id in 0..1 + random.below(shape.nodes) {
        let node = Maker { random: &mut random, shape, callees: &nodes }.node(id);
        nodes.push(node);
    }
    let entry = NodeId(nodes.len() as u32 - 1);
    Program::new(nodes, entry, shape.slicing)
}

/// Random inputs for the entry of `program`.
pub fn inputs(random: &mut Random, program: &Program) -> Vec<u64> {
    let entry = program.entry();
    let values = entry.bits[..entry.arity(program.slicing)].iter();
    values
        .map(|&bits| match random.below(6) {
            0 => 0,
            1 => mask(bits),
            _ => random.word() & mask(bits),
        })
        .collect()
}

struct Maker<'a> {
    random: &'a mut Random,
    shape: Shape,
    callees: &'a [Node],
}

impl Maker<'_> {
    fn node(mut self, id: usize) -> Node {
        let mut b = Builder::new(format!("f{id}"), self.shape.slicing);
        b.set_inline(self.random.pick(&[
            Inline::Auto,
            Inline::Auto,
            Inline::Always,
            Inline::Never,
        ]));
        let mut visible = Vec::new();
        for p in 0..1 + self.random.below(3) {
            let mut port = self.port(format!("x{p}"));
            port.constant = self.random.once_in(4);
            visible.extend(b.param(port));
        }
        let size = self.shape.size;
        self.block(&mut b, &mut visible, size, 0);
        let mut results = Vec::new();
        for r in 0..1 + self.random.below(3) {
            let port = self.port(format!("y{r}"));
            let bits = port.value_bits(self.shape.slicing);
            let values =
                (0..port.values(self.shape.slicing)).map(|_| self.value(&mut b, &visible, bits));
            let values = values.collect();
            results.push((port, values));
        }
        b.finish(results)
    }

    fn port(&mut self, name: String) -> Port {
        let dims: &[u32] = self.random.pick(&[&[][..], &[3], &[2, 2]]);
        let bitsliced = self.shape.slicing == Slicing::B;
        let words = if bitsliced { &[1, 4][..] } else { self.shape.words };
        Port::new(name, self.random.pick(words), dims)
    }

    /// Adds about `size` equations; `visible` grows by the values that they define.
    fn block(&mut self, b: &mut Builder, visible: &mut Vec<Val>, size: usize, depth: usize) {
        for _ in 0..size {
            match self.random.below(12) {
                0 if !self.callees.is_empty() => self.call(b, visible),
                1 if self.shape.loops && depth < 2 => self.lp(b, visible, size / 3, depth),
                2 => {
                    let v = self.constant(b);
                    visible.push(v);
                }
                _ => self.op(b, visible),
            }
        }
    }

    fn call(&mut self, b: &mut Builder, visible: &mut Vec<Val>) {
        let id = self.random.below(self.callees.len());
        let callee = &self.callees[id];
        let arity = callee.arity(self.shape.slicing);
        let args: Vec<Val> =
            callee.bits[..arity].iter().map(|&bits| self.value(b, visible, bits)).collect();
        visible.extend(b.call(NodeId(id as u32), callee, &args));
        if self.random.once_in(4) {
            visible.extend(b.call(NodeId(id as u32), callee, &args));
        }
    }

    fn lp(&mut self, b: &mut Builder, visible: &mut Vec<Val>, size: usize, depth: usize) {
        let count = 1 + self.random.below(4) as u32;
        let outside = visible.len();
        let carried_bits: Vec<u8> =
            (0..self.random.below(4)).map(|_| self.random.pick(self.shape.words)).collect();
        let inits: Vec<Val> =
            carried_bits.iter().map(|&bits| self.value(b, visible, bits)).collect();
        let mut lists: Vec<Vec<Val>> = Vec::new();
        for _ in 0..self.random.below(3) {
            let bits = self.random.pick(self.shape.words);
            lists.push((0..count).map(|_| self.value(b, visible, bits)).collect());
        }
        b.begin_loop(count, self.random.once_in(3));
        let params: Vec<Val> = inits.into_iter().map(|init| b.carry(init)).collect();
        let reads: Vec<Val> = lists.into_iter().map(|list| b.read(list)).collect();
        visible.extend(params.iter().chain(&reads));
        self.block(b, visible, size, depth + 1);
        // Feistel ciphers swap: the next value of one is another one.
        let nexts: Vec<Val> = carried_bits
            .iter()
            .zip(&params)
            .map(|(&bits, &param)| match self.random.below(6) {
                0 => param,
                1 | 2 => self.value(b, &params, bits),
                _ => self.value(b, visible, bits),
            })
            .collect();
        let collects: Vec<Val> =
            (0..self.random.below(3)).map(|_| self.random.pick(visible)).collect();
        let done = b.end_loop(&nexts, &collects);
        visible.truncate(outside);
        visible.extend(done.carried);
        visible.extend(done.collects.into_iter().flatten());
    }

    fn op(&mut self, b: &mut Builder, visible: &mut Vec<Val>) {
        let bits = self.random.pick(self.shape.words);
        let x = self.value(b, visible, bits);
        let y = if self.random.once_in(8) { x } else { self.value(b, visible, bits) };
        let amount = self.random.word() % (bits as u64 + 1);
        let words = self.shape.slicing == Slicing::V;
        let arithmetic = [8, 16, 32, 64].contains(&bits);
        let v = match self.random.below(20) {
            0 => b.op(Op::Copy, &[x]),
            1 | 2 => b.op(Op::Not, &[x]),
            3..=5 => b.op(Op::And, &[x, y]),
            6..=7 => b.op(Op::Or, &[x, y]),
            8..=10 => b.op(Op::Xor, &[x, y]),
            11 => b.op(Op::Andn, &[x, y]),
            12 if self.shape.lut3 => {
                let z = self.value(b, visible, bits);
                b.op(Op::Lut3(self.random.word() as u8), &[x, y, z])
            }
            13 => {
                let kinds = [Shift::Left, Shift::Right, Shift::RightArith];
                b.shift(self.random.pick(&kinds), x, amount)
            }
            14 => b.shift(self.random.pick(&[Shift::RotLeft, Shift::RotRight]), x, amount),
            15 => {
                let sizes: Vec<u8> =
                    (1..=bits).filter(|groups| bits.is_multiple_of(*groups)).collect();
                let groups = self.random.pick(&sizes);
                let pattern: Vec<u8> =
                    (0..groups).map(|_| self.random.below(groups as usize) as u8).collect();
                b.op(Op::Shuffle(pattern.into()), &[x])
            }
            16 if words && arithmetic => b.op(Op::Add, &[x, y]),
            17 if words && arithmetic => {
                let op = [Op::Sub, Op::Mul, Op::MulHigh, Op::Less][self.random.below(4)].clone();
                b.op(op, &[x, y])
            }
            18 if words => b.op(Op::Bitmask(self.random.below(bits as usize) as u8), &[x]),
            19 if words && self.random.once_in(2) => {
                let other = self.random.pick(self.shape.words);
                b.resize(other, x)
            }
            19 if self.shape.words.contains(&(bits * 2)) => b.op(Op::Pack, &[x, y]),
            _ => b.op(Op::Xor, &[x, y]),
        };
        visible.push(v);
    }

    fn constant(&mut self, b: &mut Builder) -> Val {
        let bits = self.random.pick(self.shape.words);
        self.constant_of(b, bits)
    }

    fn constant_of(&mut self, b: &mut Builder, bits: u8) -> Val {
        let any = self.random.word();
        let value = self.random.pick(&[0, 1, u64::MAX, any]);
        b.constant(bits, value)
    }

    /// A visible value of `bits` bits, recent ones preferred; a new constant if there is none.
    fn value(&mut self, b: &mut Builder, visible: &[Val], bits: u8) -> Val {
        let fitting: Vec<Val> = visible.iter().copied().filter(|&v| b.bits_of(v) == bits).collect();
        match fitting.len() {
            0 => self.constant_of(b, bits),
            n if self.random.once_in(2) => fitting[n - 1 - self.random.below(n.min(4))],
            n => fitting[self.random.below(n)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{interp, verify};
    use super::*;
    use crate::dump;

    #[test]
    fn programs_are_sound_and_run() {
        for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
            for seed in 0..200 {
                let made = program(seed, shape);
                assert_eq!(verify::verify(&made), Ok(()), "seed {seed} of {shape:?}");
                assert_eq!(made, program(seed, shape));
                let inputs = inputs(&mut Random::new(seed), &made);
                interp::run(&made, &inputs).expect("inputs that fit");
                assert_eq!(dump::program(&made), dump::program(&program(seed, shape)));
            }
        }
    }
}
