//! Complemented keys: constant words of which callers pass the complement.
//!
//! ```text
//! f(x, k)  { q = ~k; y = x ^ q; }         f(x, q)  { y = x ^ q; }         called as f(x, ~k)
//! ```
//!
//! The kernel need not complement a word of a constant port of the entry if equations outside of
//! loops read only its complement: the byte interface complements it, once for any number of
//! blocks. The program stays as it is; only its C differs.

use crate::ir::{Eqn, Node, Op, Port, Program, Val};

/// For each flattened parameter of the entry whether it is handed over as its complement.
pub fn complemented(program: &Program) -> Vec<bool> {
    let entry = program.entry();
    let constant = constants(program);
    let mut all = vec![0u32; constant.len()];
    let mut count = |v: Val| {
        if let Some(uses) = all.get_mut(v.0 as usize) {
            *uses += 1;
        }
    };
    uses(&entry.body, &mut count);
    entry.outs.iter().for_each(|&v| count(v));
    let mut turned = vec![0u32; constant.len()];
    for v in complements(entry) {
        if let Some(uses) = turned.get_mut(v.0 as usize) {
            *uses += 1;
        }
    }
    let counts = turned.into_iter().zip(all);
    constant
        .into_iter()
        .zip(counts)
        .map(|(c, (turned, all))| c && turned > 0 && turned == all)
        .collect()
}

/// As [`complemented`], of constant ports alone: kernels with one key must agree in these.
pub fn of_constants(program: &Program) -> Vec<bool> {
    let all = complemented(program).into_iter().zip(constants(program));
    all.filter(|&(_, constant)| constant).map(|(turned, _)| turned).collect()
}

/// For each flattened parameter of the entry whether an equation or a result reads it.
pub fn read(program: &Program) -> Vec<bool> {
    let entry = program.entry();
    let mut read = vec![false; constants(program).len()];
    let mut note = |v: Val| {
        if let Some(read) = read.get_mut(v.0 as usize) {
            *read = true;
        }
    };
    uses(&entry.body, &mut note);
    entry.outs.iter().for_each(|&v| note(v));
    read
}

fn constants(program: &Program) -> Vec<bool> {
    let ports = &program.entry().params;
    let of = |port: &Port| std::iter::repeat_n(port.constant, port.values(program.slicing));
    ports.iter().flat_map(of).collect()
}

/// The program that computes, on complemented words, the results of `program` on the words
/// themselves.
pub fn without_complements(program: &Program) -> Program {
    let keys = complemented(program);
    let mut program = program.clone();
    let entry = &mut program.nodes[program.entry.0 as usize];
    for eqn in &mut entry.body {
        if let Eqn::Op(e) = eqn
            && e.op == Op::Not
            && keys.get(e.args[0].0 as usize) == Some(&true)
        {
            e.op = Op::Copy;
        }
    }
    program
}

/// The values that equations outside of loops complement.
fn complements(node: &Node) -> impl Iterator<Item = Val> {
    node.body.iter().filter_map(|eqn| match eqn {
        Eqn::Op(e) if e.op == Op::Not => Some(e.args[0]),
        _ => None,
    })
}

/// Visits every value that equations read.
fn uses(eqns: &[Eqn], visit: &mut dyn FnMut(Val)) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => e.args.iter().for_each(|&v| visit(v)),
            Eqn::Call(call) => call.args.iter().for_each(|&v| visit(v)),
            Eqn::Loop(lp) => {
                for c in &lp.carried {
                    visit(c.init);
                    visit(c.next);
                }
                lp.reads.iter().flat_map(|read| &read.list).for_each(|&v| visit(v));
                lp.collects.iter().for_each(|c| visit(c.value));
                uses(&lp.body, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{NodeId, Slicing, interp};

    fn key(name: &str, words: u32) -> Port {
        Port { constant: true, ..Port::new(name, 8, &[words]) }
    }

    #[test]
    fn what_is_read_only_as_its_complement_is_handed_over_so() {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[1]));
        let k = b.param(key("k", 4));
        let mut y = x[0];
        for (at, &word) in k.iter().enumerate() {
            // The third as itself, too; the fourth not at all.
            if at < 3 {
                let not = b.op(Op::Not, &[word]);
                y = b.op(Op::And, &[y, not]);
            }
            if at == 2 {
                y = b.op(Op::Xor, &[y, word]);
            }
        }
        let node = b.finish(vec![(Port::new("y", 8, &[1]), vec![y])]);
        let program = Program::new(vec![node], NodeId(0), Slicing::V);
        assert_eq!(complemented(&program), [false, true, true, false, false]);
        let other = without_complements(&program);
        let (x, k) = (0xe7, [0x11, 0x22, 0x44, 0x88]);
        let inputs = [x, k[0], k[1], k[2], k[3]];
        let turned = [x, k[0] ^ 0xff, k[1] ^ 0xff, k[2], k[3]];
        assert_eq!(interp::run(&program, &inputs), interp::run(&other, &turned));
    }
}
