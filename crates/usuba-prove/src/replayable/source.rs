//! The trace of a source, by the interpreter of the language: a second writer beside `usuba-witness`,
//! with which it shares no code but the shape of traces.

use usuba::diag::{Code, Span};
use usuba::ir::Op;
use usuba::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use usuba::typed::{Atom, Instance, Program, VarType};
use usuba_replay::trace::{ARGUMENTS, Id, Trace, Writer};

use super::words::operator;

/// The trace of some copies of an instance of a program: its inputs are the words of the parameters, its
/// outputs the words of the results, each once for each copy. A constant parameter is one for all copies.
///
/// # Errors
/// The program has words above 64 bits, or an operator that traces lack.
pub fn of_source(program: &Program, instance: &Instance, copies: u32) -> Result<Trace, String> {
    let decl = &program.decls[instance.decl];
    let mut domain = Words(Writer::default());
    let mut inputs = vec![Vec::new(); copies as usize];
    for var in &decl.params {
        let VarType::Words { atom, .. } = &var.ty else { continue };
        let bits = width(&instance.apply(atom))?;
        let shared: Vec<Id> = match var.constant {
            true => (0..var.ty.atoms()).map(|_| domain.0.input(bits)).collect(),
            false => Vec::new(),
        };
        for own in &mut inputs {
            match var.constant {
                true => own.extend(&shared),
                false => own.extend((0..var.ty.atoms()).map(|_| domain.0.input(bits))),
            }
        }
    }
    let mut walker = Walker::new(program, domain);
    let results = inputs.into_iter().map(|own| walker.run(instance, own));
    let Ok(results) = results.collect::<Result<Vec<_>, _>>() else {
        let faults = walker.diags.iter().filter(|diag| diag.is_error());
        return Err(faults.map(|diag| diag.message.as_str()).collect::<Vec<_>>().join("; "));
    };
    let (mut outputs, mut first) = (Vec::new(), 0);
    for var in &decl.results {
        let end = first + var.ty.atoms();
        outputs.extend(results.iter().flat_map(|own| &own[first..end]));
        first = end;
    }
    Ok(walker.domain.0.finish(&outputs))
}

/// The domain of words of a trace.
struct Words(Writer);

/// The width of the word of an atom.
fn width(atom: &Atom) -> Result<u8, String> {
    let bits = atom.bits().filter(|&bits| bits <= 64);
    bits.ok_or_else(|| format!("a word of type {atom} has no trace"))
}

/// The reason why a program has no trace.
fn refusal(message: String) -> Refusal {
    Refusal { code: Code::BadArithmetic, message, help: None }
}

impl Domain for Words {
    type V = Id;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Id]) -> Result<Id, Refusal> {
        let args: Vec<Id> = args.iter().map(|&&id| id).collect();
        let bits = width(ty).map_err(refusal)?;
        operator(&mut self.0, op, bits, &args).map_err(refusal)
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Id],
    ) -> Result<Vec<Id>, Refusal> {
        let bits = width(ty).map_err(refusal)?;
        if args.len() > ARGUMENTS {
            return Err(refusal(format!("a table of {} arguments has no trace", args.len())));
        }
        let column = |at: usize| {
            let bit = |entry: &u64| entry >> (outputs - 1 - at) & 1 == 1;
            self.0.lut(bits, &entries.iter().map(bit).collect::<Vec<bool>>(), args)
        };
        Ok((0..outputs).map(column).collect())
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Id>>,
        _: &[Atom],
        _: Span,
    ) -> Result<Vec<Id>, Stop> {
        walker.run(instance, args.into_iter().map(|(_, word)| word).collect())
    }
}
