//! Random programs with loops and calls give the same answers natively as in the interpreter, for
//! every form of the loops, and compile without a warning as C and as C++ with every compiler
//! family of the machine.

mod support;

use support::{Case, STRICT, check_all, on_every_machine};
use usuba::emit::c::{COptions, LoopForm};
use usuba::ir::random::{self, Shape};
use usuba::isa::Target;
use usuba::passes::pipeline::run_pass;
use usuba::passes::{PassOptions, interleave};
use usuba_run::cc::{self, Family};
use usuba_run::native::{self, Failure};

const SHAPES: &[Shape] = &[Shape::WORDS, Shape::BITS, Shape::ROWS];

fn cases(target: &'static Target, seeds: std::ops::Range<u64>) -> Vec<Case> {
    let forms = [LoopForm::Auto, LoopForm::Locals, LoopForm::Arrays, LoopForm::Short];
    seeds
        .map(|seed| {
            let shape = SHAPES[seed as usize % SHAPES.len()];
            let form = forms[seed as usize / SHAPES.len() % forms.len()];
            let mut program = random::program(seed, shape);
            // One program of each shape in three instances, whose registers lie side by side.
            let factor = if seed % 4 == 3 { 3 } else { 1 };
            let interleave = interleave::Choice { factor: Some(factor), grain: 2 };
            let options = PassOptions { interleave, ..PassOptions::default() };
            run_pass(&interleave::PASS, &mut program, &options);
            let what = format!("seed {seed} {form:?}, {} instances", program.copies);
            let options = COptions { form, ..COptions::default() };
            Case::new(what, program, target, options, 2, seed)
        })
        .collect()
}

#[test]
fn random_programs_run_alike() {
    on_every_machine(|target, machine| check_all(machine, STRICT, &cases(target, 0..12)));
}

#[test]
fn the_text_is_c_and_cxx_without_warnings() {
    on_every_machine(|target, _| {
        for family in [Family::Gcc, Family::Clang] {
            let machine = match cc::find_with(target.name, family) {
                Ok(machine) => machine,
                Err(skip) => {
                    eprintln!("{skip}");
                    continue;
                }
            };
            for case in cases(target, 12..16) {
                for (cxx, standard) in [(false, "-std=c99"), (true, "-std=c++11")] {
                    let flags = [STRICT, &[standard]].concat();
                    match native::compiles(&machine, &flags, cxx, &case.emitted.text) {
                        Ok(()) => {}
                        // A cross compiler may come without its C++ half.
                        Err(Failure::Compile(text)) if text.contains("cc1plus") => {
                            eprintln!("skipped C++ by {machine}: there is none");
                        }
                        Err(failure) => {
                            panic!("{machine}: {}: {failure}\n{}", case.what, case.emitted.text)
                        }
                    }
                }
            }
        }
    });
}
