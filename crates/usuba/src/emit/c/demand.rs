//! Liveness of a node: which values reach its results, and how often each is read.
//!
//! Dead equations are not printed, since C compilers warn about unused variables; passes may
//! leave some behind.

use crate::ir::{Call, Carried, Eqn, Node, OpEqn, Val};

/// Answers for one node, indexed by [`Val`].
pub struct Demand {
    pub live: Vec<bool>,
    /// Reads by live equations: operands, call arguments, initial values of loops and members of
    /// lists. Neither results of the node nor values handed to the next iteration count.
    pub reads: Vec<u32>,
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Param,
    Op(&'a OpEqn),
    Call(&'a Call),
    Carried(&'a Carried),
    List(&'a [Val]),
    Collected(Val),
}

/// Marks the values that the results of `node` depend on.
pub fn demand(node: &Node) -> Demand {
    let mut origins = vec![Origin::Param; node.bits.len()];
    find_origins(&node.body, &mut origins);
    let mut live = vec![false; node.bits.len()];
    let mut open: Vec<Val> = node.outs.clone();
    while let Some(v) = open.pop() {
        if std::mem::replace(&mut live[v.0 as usize], true) {
            continue;
        }
        match origins[v.0 as usize] {
            Origin::Param => {}
            Origin::Op(eqn) => open.extend(eqn.args.iter().copied()),
            Origin::Call(call) => {
                // One live result makes all arguments live; the others need not repeat that.
                if !call.args.iter().all(|a| live[a.0 as usize]) {
                    open.extend(call.args.iter().copied());
                }
            }
            Origin::Carried(c) => open.extend([c.init, c.next, c.param]),
            Origin::List(list) => open.extend(list.iter().copied()),
            Origin::Collected(value) => open.push(value),
        }
    }
    let mut reads = vec![0; node.bits.len()];
    count_reads(&node.body, &live, &mut reads);
    Demand { live, reads }
}

fn find_origins<'a>(body: &'a [Eqn], origins: &mut [Origin<'a>]) {
    for eqn in body {
        match eqn {
            Eqn::Op(op) => origins[op.dst.0 as usize] = Origin::Op(op),
            Eqn::Call(call) => {
                for dst in &call.dsts {
                    origins[dst.0 as usize] = Origin::Call(call);
                }
            }
            Eqn::Loop(l) => {
                for c in &l.carried {
                    origins[c.param.0 as usize] = Origin::Carried(c);
                    origins[c.result.0 as usize] = Origin::Carried(c);
                }
                for read in &l.reads {
                    origins[read.dst.0 as usize] = Origin::List(&read.list);
                }
                find_origins(&l.body, origins);
                for collect in &l.collects {
                    for result in &collect.results {
                        origins[result.0 as usize] = Origin::Collected(collect.value);
                    }
                }
            }
        }
    }
}

fn count_reads(body: &[Eqn], live: &[bool], reads: &mut [u32]) {
    let is_live = |v: &Val| live[v.0 as usize];
    let add = |reads: &mut [u32], list: &[Val]| {
        list.iter().for_each(|v| reads[v.0 as usize] += 1);
    };
    for eqn in body {
        match eqn {
            Eqn::Op(op) if is_live(&op.dst) => add(reads, &op.args),
            Eqn::Call(call) if call.dsts.iter().any(is_live) => add(reads, &call.args),
            Eqn::Op(_) | Eqn::Call(_) => {}
            Eqn::Loop(l) => {
                for c in l.carried.iter().filter(|c| is_live(&c.param)) {
                    add(reads, &[c.init]);
                }
                for read in l.reads.iter().filter(|r| is_live(&r.dst)) {
                    add(reads, &read.list);
                }
                count_reads(&l.body, live, reads);
            }
        }
    }
}
