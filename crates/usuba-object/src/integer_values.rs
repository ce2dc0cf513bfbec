//! The final IR over the integer abstraction: the reference for functions of arithmetic.
//!
//! ```text
//! %7 = mulhigh %3 %5      bits 64 to 127 of the product
//! %8 = less %6 %4         the borrow of a difference
//! ```
//!
//! The operators are the operations of instructions, in `cell` and `integers`, so equal
//! computations are equal polynomials. Loops are executed, calls are entered.

use usuba::ir::{Call, Eqn, Loop, Node, Program, Val};

use super::calls::Calls;
use usuba_bits::cell::Bits;
use usuba_bits::operators::{Word, operated};

/// The results of the entry for its parameters, one word for each of the flattened values. `calls`
/// gives the results of other kernels.
///
/// # Errors
/// The program has an operator outside the model, is run for more than `longest` equations, or
/// calls another kernel outside of its precondition.
pub fn run(
    program: &Program,
    bits: &mut Bits,
    calls: &mut Calls,
    params: &[Word],
    longest: u64,
) -> Result<(Vec<Word>, u64), String> {
    let mut runner = Runner { program, bits, calls, steps: 0, longest };
    let outs = runner.node(program.entry(), params)?;
    Ok((outs, runner.steps))
}

struct Runner<'a> {
    program: &'a Program,
    bits: &'a mut Bits,
    calls: &'a mut Calls,
    steps: u64,
    longest: u64,
}

struct Values<'a> {
    node: &'a Node,
    all: Vec<Word>,
}

impl Values<'_> {
    fn get(&self, v: Val) -> &Word {
        &self.all[v.0 as usize]
    }

    fn set(&mut self, v: Val, word: Word) {
        self.all[v.0 as usize] = word;
    }
}

impl Runner<'_> {
    fn node(&mut self, node: &Node, args: &[Word]) -> Result<Vec<Word>, String> {
        let mut values = Values { node, all: vec![Word::new(); node.bits.len()] };
        values.all[..args.len()].clone_from_slice(args);
        self.block(&node.body, &mut values)?;
        Ok(node.outs.iter().map(|&v| values.get(v).clone()).collect())
    }

    fn block(&mut self, eqns: &[Eqn], values: &mut Values) -> Result<(), String> {
        for eqn in eqns {
            self.steps += 1;
            if self.steps > self.longest {
                return Err("the program is too long".into());
            }
            match eqn {
                Eqn::Op(e) => {
                    let args: Vec<&Word> = e.args.iter().map(|&v| values.get(v)).collect();
                    let word = operated(self.bits, &e.op, values.node.bits_of(e.dst), &args)?;
                    values.set(e.dst, word);
                }
                Eqn::Call(call) => self.call(call, values)?,
                Eqn::Loop(lp) => self.turns(lp, values)?,
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call, values: &mut Values) -> Result<(), String> {
        let args: Vec<Word> = call.args.iter().map(|&v| values.get(v).clone()).collect();
        let node = self.program.node(call.node);
        let outs = match self.calls.of_node(call.node) {
            None => self.node(node, &args)?,
            Some(kernel) => {
                let sizes = node.outs.iter().map(|&out| node.bits_of(out) as usize);
                self.calls.made(self.bits, kernel, &args, sizes)?
            }
        };
        call.dsts.iter().zip(outs).for_each(|(&dst, word)| values.set(dst, word));
        Ok(())
    }

    fn turns(&mut self, lp: &Loop, values: &mut Values) -> Result<(), String> {
        for carried in &lp.carried {
            values.set(carried.param, values.get(carried.init).clone());
        }
        for k in 0..lp.count as usize {
            for read in &lp.reads {
                values.set(read.dst, values.get(read.list[k]).clone());
            }
            self.block(&lp.body, values)?;
            for collect in &lp.collects {
                values.set(collect.results[k], values.get(collect.value).clone());
            }
            // All next values are read before any is written: they may be each other's.
            let next: Vec<Word> = lp.carried.iter().map(|c| values.get(c.next).clone()).collect();
            for (carried, word) in lp.carried.iter().zip(next) {
                values.set(carried.param, word.clone());
                values.set(carried.result, word);
            }
        }
        Ok(())
    }
}
