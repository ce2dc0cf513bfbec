//! Lowering from the typed program to Usuba0: one sliced node per instance, loops rolled if
//! possible.
//!
//! Lowering is an abstract interpretation of the program (see `typed::walk`) that records the
//! equations. So `:=`, selections, list shifts and perms cost nothing: they only move values
//! around. Loops are unrolled and re-rolled by `roll`.
//!
//! - `slice`: the domain of the run; the lowering of an operator under each slicing.
//! - `arith`: carry circuits for bitslicing.
//! - `bytes`: look-ups by a whole word.
//! - `double_words`: words of 128 bits as two of 64.
//! - `word_vectors`: the domain of W, where values are vectors.
//! - `scope`: the node under construction.
//! - `linear_layer`: nodes that are linear maps.
//! - `roll`: loop rerolling.

mod arith;
mod bytes;
mod double_words;
mod linear_layer;
mod roll;
mod scope;
mod slice;
mod word_vectors;

use crate::circuit::Profile;
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::{Op, Program, Slicing};
use crate::typed::{self, Instance, VarType};

/// The facts about the target that lowering needs.
pub struct Options<'a> {
    pub slicing: Slicing,
    /// All words are single bits, so that the program is bitsliced in V and H, too.
    pub single_bits: bool,
    /// The gates that tables become.
    pub profile: Profile,
    /// Why the target lacks an operator on words of a number of bits, in the user's words.
    pub lacks: &'a dyn Fn(&Op, u8) -> Option<String>,
    /// Whether the target has an instruction for a node of a standard include, on vectors of words of a
    /// number of bits: the node, the bits, the words.
    pub has_instruction: &'a dyn Fn(&str, u8, u8) -> bool,
}

/// Lowers the entry `instance` and everything that it calls.
pub fn lower(
    program: &typed::Program,
    instance: &Instance,
    options: &Options<'_>,
) -> Result<Program, Vec<Diagnostic>> {
    if options.slicing == Slicing::W {
        return in_vectors(program, instance, options);
    }
    one_word_size(program, instance, options)?;
    let mut walker = typed::walk::Walker::new(program, slice::Lower::new(program, options));
    let result = slice::node(&mut walker, instance, true);
    let mut diags = walker.diags;
    diags.retain(Diagnostic::is_error);
    match result {
        Ok(Some(entry)) if diags.is_empty() => {
            let nodes = walker.domain.finish();
            let mut sizes = nodes.iter().flat_map(|node| node.bits.iter().copied());
            let first = sizes.next();
            if options.slicing == Slicing::H && sizes.any(|bits| Some(bits) != first) {
                return Err(vec![mixed_sizes(program.decls[instance.decl].name_span)]);
            }
            Ok(Program::new(nodes, entry, options.slicing))
        }
        _ => Err(diags),
    }
}

/// The same for W.
fn in_vectors(
    program: &typed::Program,
    instance: &Instance,
    options: &Options<'_>,
) -> Result<Program, Vec<Diagnostic>> {
    let vector = word_vectors::vector(program, instance, options).map_err(|diag| vec![diag])?;
    let domain = word_vectors::Words::new(program, options, vector);
    let mut walker = typed::walk::Walker::new(program, domain);
    let result = word_vectors::node(&mut walker, instance, true);
    let mut diags = walker.diags;
    diags.retain(Diagnostic::is_error);
    match result {
        Ok(entry) if diags.is_empty() => {
            let nodes = walker.domain.finish();
            Ok(Program { vector, ..Program::new(nodes, entry, Slicing::W) })
        }
        _ => Err(diags),
    }
}

/// In H every word spreads over all positions of a register, so all words have one size, and the
/// registers of the target can be cut into that many elements.
fn one_word_size(
    program: &typed::Program,
    instance: &Instance,
    options: &Options<'_>,
) -> Result<(), Vec<Diagnostic>> {
    if options.slicing != Slicing::H {
        return Ok(());
    }
    let decl = &program.decls[instance.decl];
    let mut first = None;
    for var in decl.params.iter().chain(&decl.results) {
        let VarType::Words { atom, .. } = &var.ty else { continue };
        let Some(bits) = instance.apply(atom).bits() else { continue };
        if *first.get_or_insert(bits) != bits {
            return Err(vec![mixed_sizes(var.span)]);
        }
        // A program that only copies has no operator that could be refused.
        if let Some(why) = (options.lacks)(&Op::Xor, bits) {
            return Err(vec![
                Diagnostic::error(Code::NoSuchWordSize, var.span, why)
                    .help("use -V or -B, or another word size"),
            ]);
        }
    }
    Ok(())
}

fn mixed_sizes(span: Span) -> Diagnostic {
    let text = "words of different sizes in horizontal slicing";
    Diagnostic::error(Code::NoSuchWordSize, span, text)
        .help("in H all words of a program have one size; use -V or -B")
}
