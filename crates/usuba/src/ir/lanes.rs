//! Vectors of words: the additions of W to V, and their semantics.
//!
//! ```text
//! t = move [1,0] x             t_0 = x_1;            t_1 = x_0;
//! y = each [<<< 14, <<< 16] t  y_0 = t_0 <<< 14;     y_1 = t_1 <<< 16;
//! z = x + y                    z_0 = x_0 + y_0;      z_1 = x_1 + y_1;
//! ```
//!
//! In W a value is a vector of `Program::vector` words of one instance. Every operator except for
//! [`Lanes`] acts on each lane alike, so passes need not know of vectors. [`apart`] writes a
//! program with a value for each word; that defines the semantics of a program in W, for the
//! interpreter and for proofs.

use super::op::Lanes;
use super::{
    Args, Call, Carried, Collect, Eqn, Loop, Node, Op, OpEqn, Program, Read, Slicing, Val,
};

/// A program in W as one in V, with a value for each word; any other as it is.
pub fn apart(program: &Program) -> Program {
    if program.slicing != Slicing::W {
        return program.clone();
    }
    let vector = program.vector as u32;
    let nodes = program.nodes.iter().map(|node| Apart { vector, node }.run()).collect();
    Program { nodes, slicing: Slicing::V, vector: 1, ..program.clone() }
}

struct Apart<'a> {
    vector: u32,
    node: &'a Node,
}

impl Apart<'_> {
    /// Word `lane` of vector v is value `v * vector + lane`.
    fn word(&self, v: Val, lane: u32) -> Val {
        Val(v.0 * self.vector + lane)
    }

    fn words(&self, values: &[Val]) -> Vec<Val> {
        values
            .iter()
            .flat_map(|&v| (0..self.vector).map(move |lane| (v, lane)))
            .map(|(v, lane)| self.word(v, lane))
            .collect()
    }

    fn run(&self) -> Node {
        let node = self.node;
        let each = |&bits: &u8| std::iter::repeat_n(bits, self.vector as usize);
        Node {
            name: node.name.clone(),
            params: node.params.clone(),
            results: node.results.clone(),
            bits: node.bits.iter().flat_map(each).collect(),
            origins: Default::default(),
            body: self.block(&node.body),
            outs: self.words(&node.outs),
            inline: node.inline,
        }
    }

    fn block(&self, eqns: &[Eqn]) -> Vec<Eqn> {
        let mut out = Vec::with_capacity(eqns.len() * self.vector as usize);
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => out.extend((0..self.vector).map(|lane| Eqn::Op(self.op(e, lane)))),
                Eqn::Call(call) => out.push(Eqn::Call(Call {
                    dsts: self.words(&call.dsts),
                    node: call.node,
                    args: self.words(&call.args),
                })),
                Eqn::Loop(lp) => out.push(Eqn::Loop(Box::new(self.lp(lp)))),
            }
        }
        out
    }

    fn op(&self, e: &OpEqn, lane: u32) -> OpEqn {
        let own = |v: &Val| self.word(*v, lane);
        let at = lane as usize;
        let (op, args): (Op, Args) = match &e.op {
            Op::Lanes(Lanes::Const(words)) => (Op::Const(words[at]), Args::new()),
            Op::Lanes(Lanes::Each(ops)) => match &ops[at] {
                op @ Op::Const(_) => (op.clone(), Args::new()),
                op => (op.clone(), e.args.iter().map(own).collect()),
            },
            Op::Lanes(Lanes::Move(pattern) | Lanes::Join(pattern)) => {
                let from = pattern[at] as u32;
                let source = e.args[(from / self.vector) as usize];
                (Op::Copy, Args::from_slice(&[self.word(source, from % self.vector)]))
            }
            op => (op.clone(), e.args.iter().map(own).collect()),
        };
        OpEqn { dst: self.word(e.dst, lane), op, args }
    }

    fn lp(&self, lp: &Loop) -> Loop {
        let lanes = || 0..self.vector;
        let list = |values: &[Val], lane| values.iter().map(|&v| self.word(v, lane)).collect();
        Loop {
            count: lp.count,
            carried: (lp.carried.iter().flat_map(|c| lanes().map(move |lane| (c, lane))))
                .map(|(c, lane)| Carried {
                    param: self.word(c.param, lane),
                    init: self.word(c.init, lane),
                    next: self.word(c.next, lane),
                    result: self.word(c.result, lane),
                })
                .collect(),
            reads: (lp.reads.iter().flat_map(|r| lanes().map(move |lane| (r, lane))))
                .map(|(r, lane)| Read { dst: self.word(r.dst, lane), list: list(&r.list, lane) })
                .collect(),
            body: self.block(&lp.body),
            collects: (lp.collects.iter().flat_map(|c| lanes().map(move |lane| (c, lane))))
                .map(|(c, lane)| Collect {
                    value: self.word(c.value, lane),
                    results: list(&c.results, lane),
                })
                .collect(),
            keep: lp.keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::{NodeId, Port, interp, verify};
    use super::*;

    #[test]
    fn vectors_mean_their_words() {
        let mut b = Builder::new("f", Slicing::W);
        let x = b.param(Port::new("x", 8, &[2]))[0];
        let y = b.param(Port::new("y", 8, &[2]))[0];
        let c = b.constant(8, 1);
        let sum = b.op(Op::Add, &[x, c]);
        let swapped = b.op(Op::Lanes(Lanes::Move([1, 0].into())), &[sum]);
        let turned = [Op::Rotl(4), Op::Copy];
        let turned = b.op(Op::Lanes(Lanes::Each(turned.into())), &[swapped]);
        let joined = b.op(Op::Lanes(Lanes::Join([3, 0].into())), &[turned, y]);
        let outs =
            vec![(Port::new("z", 8, &[2]), vec![turned]), (Port::new("j", 8, &[2]), vec![joined])];
        let mut program = Program::new(vec![b.finish(outs)], NodeId(0), Slicing::W);
        program.vector = 2;
        verify::verify(&program).expect("a sound program");
        verify::verify(&apart(&program)).expect("and so are its words");
        let run = interp::run(&program, &[0x10, 0x20, 3, 4]);
        assert_eq!(run, Ok(vec![0x12, 0x11, 4, 0x12]));
        program.vector = 4;
        assert!(verify::verify(&program).is_err());
    }
}
