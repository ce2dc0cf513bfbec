//! Reference semantics: evaluates one instance of a program on concrete values.
//!
//! Direction-free: an atom is a number of m bits, in every slicing.

use super::types::*;
use super::walk::{Domain, Refusal, Stop, Typed, Walker};
use crate::diag::{Code, Diagnostic, Span};
use crate::op::Op;

/// Runs an instance on its flattened input atoms (each below 2^m); gives its flattened results.
pub fn eval(
    program: &Program,
    instance: &Instance,
    inputs: &[u64],
) -> Result<Vec<u64>, Vec<Diagnostic>> {
    let decl = &program.decls[instance.decl];
    let mut want = Vec::new();
    for var in &decl.params {
        if let VarType::Words { atom, .. } = &var.ty {
            want.extend(std::iter::repeat_n(instance.apply(atom), var.ty.atoms()));
        }
    }
    let fits = |(ty, value): (&Atom, &u64)| match ty.bits() {
        Some(bits) => bits == 64 || bits < 64 && value >> bits == 0,
        None => false,
    };
    if want.len() != inputs.len() || !want.iter().zip(inputs).all(fits) {
        let sizes: Vec<String> = want.iter().take(12).map(Atom::to_string).collect();
        let dots = if want.len() > 12 { ", ..." } else { "" };
        let text = format!("the inputs of `{}` do not fit its parameters", decl.name);
        return Err(vec![Diagnostic::error(Code::LengthMismatch, decl.name_span, text).help(
            format!("give {} numbers, one for each atom: {}{dots}", want.len(), sizes.join(", ")),
        )]);
    }
    let mut walker = Walker::new(program, Numbers);
    let result = walker.run(instance, inputs.iter().map(|&word| word as u128).collect());
    walker.diags.retain(Diagnostic::is_error);
    let words = result.map_err(|_| walker.diags)?;
    let narrow: Result<Vec<u64>, _> = words.into_iter().map(u64::try_from).collect();
    narrow.map_err(|_| vec![super::check::wide_port(decl, instance)])
}

/// The domain of numbers; other interpreters use its operators.
pub struct Numbers;

fn bits(ty: &Atom) -> u8 {
    ty.bits().expect("an evaluated instance has no open sizes")
}

impl Domain for Numbers {
    type V = u128;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&u128]) -> Result<u128, Refusal> {
        let args: smallvec::SmallVec<[u128; 3]> = args.iter().map(|&&a| a).collect();
        op.eval_wide(bits(ty), &args).ok_or_else(|| Refusal::wide(op))
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[u128],
    ) -> Result<Vec<u128>, Refusal> {
        let mut outs = vec![0; outputs];
        for bit in 0..bits(ty) {
            let index = args.iter().fold(0, |sum, a| sum << 1 | (a >> bit & 1) as usize);
            for (at, out) in outs.iter_mut().enumerate() {
                *out |= (entries[index] as u128 >> (outputs - 1 - at) & 1) << bit;
            }
        }
        Ok(outs)
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<u128>>,
        _: &[Atom],
        _: Span,
    ) -> Result<Vec<u128>, Stop> {
        walker.run(instance, args.into_iter().map(|(_, value)| value).collect())
    }
}
