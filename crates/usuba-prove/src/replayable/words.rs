//! Programs as traces: each operator of the final IR, and of the language, on words of a trace.
//!
//! ```text
//! andn(a, b)         w2 = not w0;  w3 = and w2, w1
//! pack(a, b)         w2 = join w1, w0
//! lookup T (a)       a field and a table for each bit, and their join
//! ```

use usuba::ir::{Op, Program, Slicing, interp, lanes};
use usuba_replay::trace::{self, ARGUMENTS, Id, Trace, Writer};

use trace::Op::{Add, Extend, Field, Join, Mul, MulHigh, Not};

/// The trace of the final IR of a source, on inputs of these widths.
///
/// # Errors
/// The program is of several instances, or it has an operator that traces lack.
pub fn of_program(program: &Program, inputs: &[u8]) -> Result<Trace, String> {
    let scalar = lanes::apart(program);
    let mut writer = Writer::default();
    let mut values = Vec::new();
    for &bits in inputs {
        let word = writer.input(bits);
        match scalar.slicing {
            Slicing::B => {
                let bit = |bit: u8| writer.op(Field, 1, u64::from(bit), &[word]);
                values.extend((0..bits).rev().map(bit));
            }
            _ => values.push(word),
        }
    }
    let widths: Vec<u8> = values.iter().map(|&value| writer.bits(value)).collect();
    if !scalar.entry().bits.starts_with(&widths)
        || scalar.entry().arity(scalar.slicing) != widths.len()
    {
        return Err("the program has other inputs than its source".into());
    }
    let mut refused = None;
    let outputs = interp::run_on(&scalar, &values, |op, bits, of| {
        operator(&mut writer, op, bits, of).unwrap_or_else(|why| {
            refused.get_or_insert(why);
            writer.number(bits, 0)
        })
    });
    match refused {
        Some(why) => Err(why),
        None => Ok(writer.finish(&outputs)),
    }
}

/// The word that an operator makes of others.
///
/// # Errors
/// Traces have no such operator.
pub fn operator(writer: &mut Writer, op: &Op, bits: u8, of: &[Id]) -> Result<Id, String> {
    let simple = match op {
        Op::Const(number) => return Ok(writer.number(bits, *number)),
        Op::Copy => return Ok(of[0]),
        Op::Not => Not,
        Op::And => trace::Op::And,
        Op::Or => trace::Op::Or,
        Op::Xor => trace::Op::Xor,
        Op::Add => Add,
        Op::Sub => trace::Op::Sub,
        Op::Mul => Mul,
        Op::MulHigh => MulHigh,
        Op::Clmul => trace::Op::Clmul,
        Op::ClmulHigh => trace::Op::ClmulHigh,
        Op::Less => trace::Op::Less,
        Op::Shl(by) => return Ok(writer.op(trace::Op::Shl, bits, u64::from(*by), of)),
        Op::Shr(by) => return Ok(writer.op(trace::Op::Shr, bits, u64::from(*by), of)),
        Op::Sar(by) => return Ok(writer.op(trace::Op::Sar, bits, u64::from(*by), of)),
        Op::Rotl(by) => return Ok(writer.op(trace::Op::Rotl, bits, u64::from(*by), of)),
        Op::Resize(_) => {
            let op = if writer.bits(of[0]) < bits { Extend } else { Field };
            return Ok(writer.op(op, bits, 0, of));
        }
        Op::Pack => return Ok(writer.op(Join, bits, 0, &[of[1], of[0]])),
        Op::Andn => {
            let inverse = writer.op(Not, bits, 0, &of[..1]);
            return Ok(writer.op(trace::Op::And, bits, 0, &[inverse, of[1]]));
        }
        Op::Lut3(table) => {
            let table: Vec<bool> = (0..8).map(|row| table >> row & 1 == 1).collect();
            return Ok(writer.lut(bits, &table, of));
        }
        Op::MulAdd(size) | Op::MulAddHigh(size) => {
            let factors = [of[1], of[2]].map(|factor| writer.op(Field, *size, 0, &[factor]));
            let half = if matches!(op, Op::MulAdd(_)) { Mul } else { MulHigh };
            let product = writer.op(half, *size, 0, &factors);
            let product = writer.op(Extend, bits, 0, &[product]);
            return Ok(writer.op(Add, bits, 0, &[of[0], product]));
        }
        Op::Shuffle(pattern) => {
            let size = bits / pattern.len() as u8;
            let groups = pattern.iter().rev();
            let wiring: Vec<u8> = groups
                .flat_map(|&from| {
                    let low = bits - (from + 1) * size;
                    low..low + size
                })
                .collect();
            return Ok(wired(writer, &wiring, of[0]));
        }
        Op::Bitmask(bit) => return Ok(wired(writer, &vec![*bit; usize::from(bits)], of[0])),
        Op::Lookup(entries) => return looked_up(writer, entries, bits, of[0]),
        Op::Affine(..) | Op::AffineInverse(..) => {
            let entries: Vec<u64> = (0..256).map(|byte| op.eval(8, &[byte])).collect();
            return looked_up(writer, &entries, bits, of[0]);
        }
        Op::Lanes(_) => return Err("an operator of vectors has no trace".into()),
    };
    Ok(writer.op(simple, bits, 0, of))
}

/// A wiring that moves no bit is the word itself.
fn wired(writer: &mut Writer, wiring: &[u8], word: Id) -> Id {
    let is_same = (0..writer.bits(word)).eq(wiring.iter().copied());
    if is_same { word } else { writer.wire(wiring, word) }
}

/// The entry whose number is a word, zero beyond the last one: a table for each bit.
fn looked_up(writer: &mut Writer, entries: &[u64], bits: u8, word: Id) -> Result<Id, String> {
    let index = writer.bits(word);
    if usize::from(index) > ARGUMENTS {
        return Err(format!("a look-up by a word of {index} bits has no trace"));
    }
    let bit = |bit: u8| writer.op(Field, 1, u64::from(bit), &[word]);
    let arguments: Vec<Id> = (0..index).rev().map(bit).collect();
    let column = |bit: u8| {
        let entry = |row: usize| entries.get(row).is_some_and(|entry| entry >> bit & 1 == 1);
        let table: Vec<bool> = (0..1 << index).map(entry).collect();
        writer.lut(1, &table, &arguments)
    };
    let parts: Vec<Id> = (0..bits).map(column).collect();
    Ok(writer.op(Join, bits, 0, &parts))
}
