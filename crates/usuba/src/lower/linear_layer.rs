//! Linear layers: nodes that are linear maps, for which the database may have a shorter program.
//!
//! ```text
//! node mix_column ... 108 xors     ─forms─►  matrix  ─circuit::for_matrix─►     91 xors
//! ```
//!
//! In bitslicing a node is linear if it only moves bits and XORs them, itself or through linear
//! nodes. Its matrix determines its function, so another program for the same matrix may replace
//! it. The lowering only looks matrices up in the database: a compilation never searches.

use super::scope::{Item, Scope};
use crate::circuit;
use crate::ir::{Eqn, Op, Val};

/// The matrix of a node: for each output bit the inputs that it XORs, bit `j` for input `j`.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub inputs: usize,
    pub rows: Vec<u128>,
}

/// The matrix of an emitted node with these outputs, if it is linear with at most 128 inputs;
/// `callee` gives the matrices of nodes that it may call.
pub(super) fn matrix<'a>(
    scope: &Scope,
    inputs: usize,
    outs: &[Val],
    callee: &impl Fn(u32) -> Option<&'a Matrix>,
) -> Option<Matrix> {
    if inputs == 0 || inputs > circuit::MAX_MATRIX {
        return None;
    }
    let mut forms: Vec<Option<u128>> = vec![None; scope.node.bits.len()];
    (0..inputs).for_each(|j| forms[j] = Some(1 << j));
    for eqn in &scope.constants {
        equation(eqn, &mut forms, callee)?;
    }
    items(&scope.items, &mut forms, callee)?;
    let rows = outs.iter().map(|out| forms[out.0 as usize]).collect::<Option<_>>()?;
    Some(Matrix { inputs, rows })
}

fn items<'a>(
    list: &[Item],
    forms: &mut [Option<u128>],
    callee: &impl Fn(u32) -> Option<&'a Matrix>,
) -> Option<()> {
    for item in list {
        match item {
            Item::Eqn(eqn) => equation(eqn, forms, callee)?,
            Item::Loop(unrolled) => {
                for iteration in &unrolled.iterations {
                    items(&iteration.items, forms, callee)?;
                }
            }
        }
    }
    Some(())
}

/// `None` if the equation is not linear.
fn equation<'a>(
    eqn: &Eqn,
    forms: &mut [Option<u128>],
    callee: &impl Fn(u32) -> Option<&'a Matrix>,
) -> Option<()> {
    match eqn {
        Eqn::Op(eqn) => {
            let form = |i: usize| forms[eqn.args[i].0 as usize];
            let sum = match eqn.op {
                Op::Const(0) => 0,
                Op::Copy => form(0)?,
                Op::Xor => form(0)? ^ form(1)?,
                _ => return None,
            };
            forms[eqn.dst.0 as usize] = Some(sum);
        }
        Eqn::Call(call) => {
            let matrix = callee(call.node.0)?;
            let args: Option<Vec<u128>> =
                call.args.iter().map(|arg| forms[arg.0 as usize]).collect();
            let args = args?;
            for (dst, row) in call.dsts.iter().zip(&matrix.rows) {
                let chosen = args.iter().enumerate().filter(|(j, _)| row >> j & 1 == 1);
                forms[dst.0 as usize] = Some(chosen.fold(0, |sum, (_, form)| sum ^ form));
            }
        }
        Eqn::Loop(_) => return None,
    }
    Some(())
}
