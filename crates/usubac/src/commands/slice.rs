//! From a checked program to Usuba0 on a target, with all passes.

use usuba::circuit::Profile;
use usuba::ir::{self, Op, Program, Slicing};
use usuba::passes::pipeline::run_pipeline;
use usuba::target::{self, ANY, Inst, Target, word_lane};
use usuba::{Slice, to_usuba0};

use super::front::{Input, reported};
use crate::args::{Codegen, Language};
use crate::output::to_stderr;
use crate::report::Reporter;
use crate::{Failure, fault};

/// Slices a program for `target`; vertically unless something else was asked for or written.
pub fn slice(
    input: &Input,
    language: &Language,
    target: &'static Target,
    reporter: Reporter,
) -> Result<Program, Failure> {
    fault::stage("slicing the program");
    let slice = Slice {
        slicing: language.slicing().unwrap_or(Slicing::V),
        word: language.word,
        profile: gates(target),
    };
    let lacks = |slicing, op: &Op, bits| target::lacks(target, slicing, op, bits, word_lane(bits));
    to_usuba0(&input.checked.program, slice, &lacks)
        .map_err(|findings| reported(&input.sources, &findings, reporter))
}

/// As [`slice`], then all passes that were asked for.
pub fn optimise(
    input: &Input,
    language: &Language,
    codegen: &Codegen,
    reporter: Reporter,
) -> Result<(Program, &'static Target), Failure> {
    let target = codegen.target()?;
    let mut program = slice(input, language, target, reporter)?;
    fault::stage("running the passes");
    run_pipeline(&mut program, &codegen.pipeline(), &mut |pass, program| {
        if codegen.print_after.iter().any(|wanted| wanted == pass || wanted == "all") {
            to_stderr(&format!("# after {pass}\n{}\n", ir::print::program(program)));
        }
    });
    Ok((program, target))
}

/// The gates that cost one instruction.
fn gates(target: &Target) -> Profile {
    if target.row(Inst::Lut3, ANY).is_some() {
        Profile::Lut3
    } else if target.row(Inst::Andn, ANY).is_some() {
        Profile::Andn
    } else {
        Profile::Basic
    }
}
