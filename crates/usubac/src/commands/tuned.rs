//! Tuned flags for a compile: selects the file of `usubac tune`, and reads its choice.
//!
//! A tuned file is an input like the program: the output depends on it and on no machine. It
//! applies only if the command line has no optimisation flags, because its flags were measured
//! together.

use std::path::Path;

use usuba_bench::tune::cpu;
use usuba_bench::tune::tuned::{self, FOLDER, Found, Tuned};
use usuba_run::fingerprint::fingerprint;

use super::front::Input;
use crate::args::{self, Abi, Codegen, Compile, Language};
use crate::output::to_stderr;
use crate::report::{self, Reporter};
use crate::{Failure, fault};

/// Flags of a tuned file, in place of the command line's flags.
pub struct Applied {
    /// With the tuned slicing, if none was requested.
    pub language: Language,
    pub codegen: Codegen,
    /// The file and its choice, for the header.
    pub note: String,
}

/// The flags that apply to a compile, if a tuned file has any for it.
pub fn find(
    args: &Compile,
    file: &Path,
    input: &Input,
    reporter: Reporter,
) -> Result<Option<Applied>, Failure> {
    if args.tuned.ignored.no_tuned {
        return Ok(None);
    }
    // Drivers for the OCaml compiler of Mercadier and Dagand fix the number of ports.
    let own = !args.codegen.is_plain() || args.abi == Abi::Usubac || file == Path::new("-");
    if own {
        return match &args.tuned.tuned {
            None => Ok(None),
            Some(_) => Err(Failure::usage(
                "--tuned has no place beside flags about the optimisation, --abi usubac, or \
                 standard input",
            )),
        };
    }
    fault::stage("reading what was tuned");
    let target = args.codegen.target()?.name;
    let here = args.codegen.targets.is_native().then(|| cpu::slug(&cpu::model()));
    let wanted = args.tuned.tuned.as_deref().or(here.as_deref());
    let folder = file.parent().unwrap_or(Path::new(""));
    let warn = |text: &str| match args.language.lints.denies_all() {
        true => Err(Failure::program(format!("{text}; -D warnings makes this an error"))),
        false => {
            to_stderr(&report::warning(reporter.format, text));
            Ok(None)
        }
    };
    let path = match tuned::look(folder, target, wanted).map_err(Failure::program)? {
        Found::One(path) => path,
        Found::None => {
            return match &args.tuned.tuned {
                None => Ok(None),
                Some(cpu) => Err(Failure::program(format!(
                    "there is no {}; `usubac tune` makes it",
                    tuned::path(folder, target, cpu).display()
                ))),
            };
        }
        Found::Several(cpus) => {
            return warn(&format!(
                "several processors were tuned for {target} ({}), and none is used; --tuned \
                 chooses one, --no-tuned none",
                cpus.join(", ")
            ));
        }
    };
    let program = &input.checked.program;
    let entry = program.entry_text();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let (language, reading) = (&args.language, args.language.reading());
    let tuned = read(&path)?;
    let Some(choice) = tuned.find(&name, &entry, &reading, language.slicing()?) else {
        return Ok(None);
    };
    if choice.sha256 != fingerprint(&input.sources) {
        return warn(&format!(
            "{} was made for another text of {name} and is not used; `usubac tune` makes it anew, \
             --no-tuned ignores it",
            path.display()
        ));
    }
    let mut language = language.clone();
    language.set_slicing(choice.slicing);
    let codegen = args::tuned_flags(&choice.flags).map_err(Failure::program)?;
    let shown = path.file_name().unwrap_or_default().to_string_lossy();
    let note = format!(
        "{FOLDER}/{shown}: {:.3} of the time of the defaults, with {} {}",
        choice.ratio, choice.compiler, choice.cflags
    );
    Ok(Some(Applied { language, codegen: args.codegen.optimised_as(codegen), note }))
}

/// Reads a tuned file; errors include their position.
pub fn read(path: &Path) -> Result<Tuned, Failure> {
    tuned::read(path, &|flags| args::tuned_flags(flags).map(|_| ())).map_err(Failure::program)
}
