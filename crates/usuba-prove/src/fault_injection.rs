//! Fault injection into IR programs: a deliberate defect that the prover must refute.
//!
//! ```text
//! usubac prove f.ua --plant gate@lower              f.ua, f in V on gp64: REFUTED
//! usubac prove f.ua --binary --plant gate@object    the same of each object
//! ```

use usuba::ir::{Eqn, Op, OpEqn, Program};

/// The kind of fault. It changes the first possible place; the entry's own equations come last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// `&` and `|` change places, as in a table with a wrong entry
    Gate,
    /// A rotation by one bit more
    Rotation,
    /// The operands of a subtraction, shift pair or call change places
    Operands,
    /// Two results change places
    Ports,
    /// An equation is removed
    Equation,
    /// A memory access of an object is 128 bytes too low
    Address,
}

/// A fault and the pass whose output it changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plant {
    pub fault: Fault,
    pub pass: String,
}

/// The name of the step after all passes, which produces objects.
pub const OBJECT: &str = "object";

/// Injects the fault into a function of an object; `None` if the function has no place for it.
pub fn in_object(fault: Fault, file: &[u8], symbol: &str) -> Option<Vec<u8>> {
    let fault = match fault {
        Fault::Gate => crate::machine_faults::Fault::Gate,
        Fault::Address => crate::machine_faults::Fault::Address,
        _ => return None,
    };
    crate::machine_faults::planted(file, symbol, fault)
}

/// The faults by their command-line names.
const NAMES: [(&str, Fault); 6] = [
    ("gate", Fault::Gate),
    ("rotation", Fault::Rotation),
    ("operands", Fault::Operands),
    ("ports", Fault::Ports),
    ("equation", Fault::Equation),
    ("address", Fault::Address),
];

/// Parses `FAULT@PASS`.
///
/// # Errors
/// The fault or the pass is unknown; the message lists the faults.
pub fn parse(text: &str) -> Result<Plant, String> {
    let (name, pass) = text.split_once('@').ok_or("write FAULT@PASS, as in gate@lower")?;
    let fault = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let (_, fault) = fault
        .ok_or_else(|| format!("the faults are {}", NAMES.map(|(name, _)| name).join(", ")))?;
    Ok(Plant { fault: *fault, pass: pass.to_string() })
}

impl Fault {
    /// Injects the fault into a program; `None` if the program has no place for it.
    pub fn put(self, program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let entry = program.entry.0 as usize;
        let changed = match self {
            Fault::Ports => {
                let outs = &mut program.nodes[entry].outs;
                let first = *outs.first()?;
                let other = outs.iter().position(|&out| out != first)?;
                outs.swap(0, other);
                true
            }
            Fault::Equation => program.nodes[entry].body.pop().is_some(),
            Fault::Address => false,
            _ => program.nodes.iter_mut().any(|node| {
                let bits = node.bits.clone();
                self.block(&mut node.body, &bits)
            }),
        };
        changed.then_some(program)
    }

    fn block(self, eqns: &mut [Eqn], bits: &[u8]) -> bool {
        eqns.iter_mut().any(|eqn| match eqn {
            Eqn::Op(e) => self.op(e, bits[e.dst.0 as usize]),
            Eqn::Loop(lp) => self.block(&mut lp.body, bits),
            Eqn::Call(call) => {
                let both = call.args.first().zip(call.args.get(1));
                let sizes = both.map(|(a, b)| [a, b].map(|v| bits[v.0 as usize]));
                let swapped = self == Fault::Operands
                    && both.is_some_and(|(a, b)| a != b)
                    && sizes.is_some_and(|[a, b]| a == b);
                if swapped {
                    call.args.swap(0, 1);
                }
                swapped
            }
        })
    }

    fn op(self, e: &mut OpEqn, bits: u8) -> bool {
        match (self, &mut e.op) {
            (Fault::Gate, op @ Op::And) => *op = Op::Or,
            (Fault::Gate, op @ Op::Or) => *op = Op::And,
            (Fault::Gate, Op::Lut3(rows)) => *rows ^= 0x10,
            (Fault::Rotation, Op::Rotl(k)) if *k + 1 < bits => *k += 1,
            (Fault::Operands, Op::Sub | Op::Andn) if e.args[0] != e.args[1] => e.args.swap(0, 1),
            _ => return false,
        }
        true
    }
}
