//! Reference interpreter: runs one instance of a program and defines the semantics of Usuba0.
//!
//! The interpreter knows nothing of registers or lanes; every other way to run a program must
//! agree with it. It keeps its own stack, so neither long call chains nor deep loops exhaust the
//! stack of the machine.

use super::op::mask;
use super::{Call, Eqn, Loop, Node, Op, Port, Program, Slicing, Val};

/// Why a program could not be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunError {
    /// The entry takes `wanted` values.
    InputCount { wanted: usize, given: usize },
    /// Input number `index` is not below 2^bits.
    InputTooLarge { index: usize, bits: u8 },
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::InputCount { wanted, given } => {
                write!(f, "the entry takes {wanted} values, not {given}")
            }
            RunError::InputTooLarge { index, bits } => {
                write!(f, "input {index} does not fit in {bits} bits")
            }
        }
    }
}

impl std::error::Error for RunError {}

/// Runs the entry of a program that `verify` accepts.
///
/// `inputs` are the flattened values of the parameters (under B one bit each, most significant
/// first: see [`words_to_values`], and under W one for each word of a vector); so are the results.
pub fn run(program: &Program, inputs: &[u64]) -> Result<Vec<u64>, RunError> {
    let words;
    let program = match program.slicing {
        Slicing::W => {
            words = super::lanes::apart(program);
            &words
        }
        _ => program,
    };
    let entry = program.entry();
    let wanted = entry.arity(program.slicing);
    if inputs.len() != wanted {
        return Err(RunError::InputCount { wanted, given: inputs.len() });
    }
    for (index, (&input, &bits)) in inputs.iter().zip(&entry.bits).enumerate() {
        if input & !mask(bits) != 0 {
            return Err(RunError::InputTooLarge { index, bits });
        }
    }
    Ok(run_on(program, inputs, |op, bits, args| op.eval(bits, args)))
}

/// Runs the entry of a program on values of another kind than words, one for each atom: `eval` gives
/// the result of an operator, which has that many bits, on its operands. There is no vector in the
/// program, and each value of the parameters has an input.
pub fn run_on<V: Copy + Default>(
    program: &Program,
    inputs: &[V],
    eval: impl FnMut(&Op, u8, &[V]) -> V,
) -> Vec<V> {
    Machine { program, calls: Vec::new(), blocks: Vec::new(), eval }.run(program.entry(), inputs)
}

struct Machine<'a, V, E> {
    program: &'a Program,
    /// The values of each active node, callers first.
    calls: Vec<Activation<'a, V>>,
    /// The blocks being run, outer ones first.
    blocks: Vec<Block<'a>>,
    /// The operators.
    eval: E,
}

struct Activation<'a, V> {
    node: &'a Node,
    values: Vec<V>,
}

struct Block<'a> {
    eqns: &'a [Eqn],
    next: usize,
    kind: BlockKind<'a>,
}

#[derive(Clone, Copy)]
enum BlockKind<'a> {
    /// The body of a node, entered by this call; `None` for the entry.
    Node(Option<&'a Call>),
    /// Iteration k of a loop.
    Loop(&'a Loop, u32),
}

impl<'a, V: Copy + Default, E: FnMut(&Op, u8, &[V]) -> V> Machine<'a, V, E> {
    fn run(mut self, entry: &'a Node, inputs: &[V]) -> Vec<V> {
        self.enter(entry, inputs, None);
        loop {
            let block = self.blocks.last_mut().expect("the entry ends the run");
            let Some(eqn) = block.eqns.get(block.next) else {
                if let Some(results) = self.leave() {
                    return results;
                }
                continue;
            };
            block.next += 1;
            match eqn {
                Eqn::Op(e) => {
                    let Activation { node, values } = self.calls.last_mut().expect("a node runs");
                    let mut args = [V::default(); 3];
                    for (arg, v) in args.iter_mut().zip(&e.args) {
                        *arg = values[v.0 as usize];
                    }
                    let bits = node.bits_of(e.dst);
                    values[e.dst.0 as usize] = (self.eval)(&e.op, bits, &args[..e.args.len()]);
                }
                Eqn::Call(call) => {
                    let args: Vec<V> = call.args.iter().map(|&v| self.get(v)).collect();
                    self.enter(self.program.node(call.node), &args, Some(call));
                }
                Eqn::Loop(lp) => {
                    for c in &lp.carried {
                        self.set(c.param, self.get(c.init));
                    }
                    self.start_iteration(lp, 0);
                    let kind = BlockKind::Loop(lp, 0);
                    self.blocks.push(Block { eqns: &lp.body, next: 0, kind });
                }
            }
        }
    }

    fn enter(&mut self, node: &'a Node, args: &[V], call: Option<&'a Call>) {
        let mut values = vec![V::default(); node.bits.len()];
        values[..args.len()].copy_from_slice(args);
        self.calls.push(Activation { node, values });
        self.blocks.push(Block { eqns: &node.body, next: 0, kind: BlockKind::Node(call) });
    }

    /// Ends the innermost block; returns the results when that was the entry.
    fn leave(&mut self) -> Option<Vec<V>> {
        let block = self.blocks.last_mut().expect("a block to leave");
        match block.kind {
            BlockKind::Node(call) => {
                self.blocks.pop();
                let Activation { node, values } = self.calls.pop().expect("a node runs");
                let results: Vec<V> = node.outs.iter().map(|v| values[v.0 as usize]).collect();
                let Some(call) = call else {
                    return Some(results);
                };
                for (&dst, word) in call.dsts.iter().zip(results) {
                    self.set(dst, word);
                }
            }
            BlockKind::Loop(lp, k) => {
                let last = k + 1 == lp.count;
                if last {
                    self.blocks.pop();
                } else {
                    block.next = 0;
                    block.kind = BlockKind::Loop(lp, k + 1);
                }
                for collect in &lp.collects {
                    self.set(collect.results[k as usize], self.get(collect.value));
                }
                // All next values are read before any is written: they may be each other's.
                let nexts: Vec<V> = lp.carried.iter().map(|c| self.get(c.next)).collect();
                for (c, word) in lp.carried.iter().zip(nexts) {
                    self.set(if last { c.result } else { c.param }, word);
                }
                if !last {
                    self.start_iteration(lp, k + 1);
                }
            }
        }
        None
    }

    fn start_iteration(&mut self, lp: &Loop, k: u32) {
        for read in &lp.reads {
            self.set(read.dst, self.get(read.list[k as usize]));
        }
    }

    fn get(&self, v: Val) -> V {
        self.calls.last().expect("a node runs").values[v.0 as usize]
    }

    fn set(&mut self, v: Val, word: V) {
        self.calls.last_mut().expect("a node runs").values[v.0 as usize] = word;
    }
}

/// The values of `ports` from their source words: under B each word becomes its bits, most
/// significant first; otherwise words are values. `words` has one entry per word of the ports.
pub fn words_to_values(ports: &[Port], slicing: Slicing, words: &[u64]) -> Vec<u64> {
    if slicing != Slicing::B {
        return words.to_vec();
    }
    let sizes = ports.iter().flat_map(|p| std::iter::repeat_n(p.word, p.words()));
    sizes.zip(words).flat_map(|(m, &word)| (0..m).rev().map(move |i| word >> i & 1)).collect()
}

/// The inverse of [`words_to_values`].
pub fn values_to_words(ports: &[Port], slicing: Slicing, values: &[u64]) -> Vec<u64> {
    if slicing != Slicing::B {
        return values.to_vec();
    }
    let mut rest = values;
    let mut words = Vec::new();
    for port in ports {
        for _ in 0..port.words() {
            let (bits, tail) = rest.split_at(port.word as usize);
            words.push(bits.iter().fold(0, |word, bit| word << 1 | bit));
            rest = tail;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::{NodeId, verify};
    use super::*;

    fn single(node: Node, slicing: Slicing) -> Program {
        let program = Program::new(vec![node], NodeId(0), slicing);
        verify::verify(&program).expect("a sound program");
        program
    }

    #[test]
    fn fibonacci_by_a_loop() {
        let mut b = Builder::new("fib", Slicing::V);
        let x = b.param(Port::new("x", 16, &[2]));
        b.begin_loop(5, false);
        let (p, q) = (b.carry(x[0]), b.carry(x[1]));
        let sum = b.op(Op::Add, &[p, q]);
        let done = b.end_loop(&[q, sum], &[sum]);
        let outs = vec![
            (Port::new("last", 16, &[2]), done.carried),
            (Port::new("all", 16, &[5]), done.collects[0].clone()),
        ];
        let program = single(b.finish(outs), Slicing::V);
        assert_eq!(run(&program, &[1, 1]), Ok(vec![8, 13, 2, 3, 5, 8, 13]));
    }

    #[test]
    fn reads_walk_their_list() {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[]))[0];
        let k = b.param(Port::new("k", 8, &[3]).constant());
        b.begin_loop(3, false);
        let s = b.carry(x);
        let key = b.read(vec![k[2], k[1], k[0]]);
        let rotated = b.op(Op::Rotl(1), &[s]);
        let next = b.op(Op::Xor, &[rotated, key]);
        let done = b.end_loop(&[next], &[]);
        let program = single(b.finish(vec![(Port::new("y", 8, &[]), done.carried)]), Slicing::V);
        let expect = ((0x81u8.rotate_left(1) ^ 3).rotate_left(1) ^ 2).rotate_left(1) ^ 1;
        assert_eq!(run(&program, &[0x81, 1, 2, 3]), Ok(vec![expect as u64]));
    }

    #[test]
    fn calls_return_flattened_results() {
        let mut b = Builder::new("swap", Slicing::V);
        let x = b.param(Port::new("x", 4, &[2]));
        let swap = b.finish(vec![(Port::new("y", 4, &[2]), vec![x[1], x[0]])]);
        let mut b = Builder::new("main", Slicing::V);
        let x = b.param(Port::new("x", 4, &[2]));
        let y = b.call(NodeId(0), &swap, &x);
        let main = b.finish(vec![(Port::new("y", 4, &[2]), y)]);
        let program = Program::new(vec![swap, main], NodeId(1), Slicing::V);
        assert_eq!(run(&program, &[3, 9]), Ok(vec![9, 3]));
        assert_eq!(run(&program, &[3]), Err(RunError::InputCount { wanted: 2, given: 1 }));
        assert_eq!(run(&program, &[3, 16]), Err(RunError::InputTooLarge { index: 1, bits: 4 }));
    }

    #[test]
    fn long_call_chains_do_not_exhaust_the_stack() {
        let mut nodes: Vec<Node> = Vec::new();
        for i in 0..20_000u32 {
            let mut b = Builder::new(format!("f{i}"), Slicing::V);
            let x = b.param(Port::new("x", 16, &[]));
            let one = b.constant(16, 1);
            let mut y = b.op(Op::Add, &[x[0], one]);
            if let Some(callee) = nodes.last() {
                y = b.call(NodeId(i - 1), callee, &[y])[0];
            }
            nodes.push(b.finish(vec![(Port::new("y", 16, &[]), vec![y])]));
        }
        let program = Program::new(nodes, NodeId(19_999), Slicing::V);
        assert_eq!(run(&program, &[5]), Ok(vec![20_005]));
    }

    #[test]
    fn words_become_bits_and_back() {
        let ports = [Port::new("a", 4, &[2]), Port::new("b", 1, &[])];
        let values = words_to_values(&ports, Slicing::B, &[0b1010, 0b0001, 1]);
        assert_eq!(values, [1, 0, 1, 0, 0, 0, 0, 1, 1]);
        assert_eq!(values_to_words(&ports, Slicing::B, &values), [0b1010, 0b0001, 1]);
        assert_eq!(words_to_values(&ports, Slicing::V, &[1, 2, 3]), [1, 2, 3]);
    }
}
