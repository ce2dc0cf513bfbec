//! `usubac test`: cipher folders against their test vectors.
//!
//! ```text
//! rectangle80_encrypt  reference  right  3 vectors
//! rectangle80_encrypt  V          right  gp64, avx2
//! right: 1 function by the reference semantics, 2 kernels by compiled C
//! ```

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde::Serialize;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba_bench::answers::{Answer, Outcome, Request};
use usuba_bench::bench::{Choice, Side};
use usuba_bench::session::{self, letter};
use usuba_ciphers::Cipher;
use usuba_run::cc::Family;

use crate::args::common::Compiler;
use crate::args::{Language, Test};
use crate::commands::front;
use crate::output::to_stdout;
use crate::report::Reporter;
use crate::{Failure, fault};

pub fn run(args: &Test, reporter: Reporter) -> Result<(), Failure> {
    fault::stage("comparing ciphers with their vectors");
    let ciphers = ciphers(args)?;
    check_functions(args, &ciphers)?;
    let choice = Choice {
        slicings: args.slicing.all(),
        all: args.all_functions.all_functions || !args.functions.functions.is_empty(),
        ..Choice::default()
    };
    let every: Vec<&'static Target> = isa::all().chain(isa::NARROW.iter().copied()).collect();
    let targets = if args.targets.is_empty() { &every } else { &args.targets.all() };
    let bar = ProgressBar::new_spinner();
    let done = |name: &str| {
        bar.inc(1);
        bar.set_message(name.to_string());
    };
    let sides = sides(args)?;
    let request = Request {
        ciphers: &ciphers,
        choice: &choice,
        functions: &args.functions.functions,
        side: &sides[0],
        targets,
        seed: args.seed.seed.unwrap_or(0),
        jobs: args.jobs.jobs,
        done: &done,
    };
    let human = !args.form.is_json();
    let width = width(&ciphers, &request);
    let reference = request.reference().map_err(Failure::Program)?;
    if human {
        bar.suspend(|| to_stdout(&rows(&reference, width)))?;
    }
    let mut all = reference.clone();
    for side in &sides {
        let compiled =
            Request { side, ..request }.compiled(&reference).map_err(Failure::Program)?;
        if human {
            bar.suspend(|| to_stdout(&rows(&compiled, width)))?;
        }
        all.extend(compiled);
    }
    bar.finish_and_clear();
    to_stdout(&if human { summary(&all, &ciphers, args) } else { json(&all) })?;
    show_lints(&all, &ciphers, reporter);
    verdict(&all, args)
}

/// Writes the findings of lints about programs with a wrong answer: they often name the mistake.
fn show_lints(all: &[Answer], ciphers: &[Cipher], reporter: Reporter) {
    let mut programs: Vec<PathBuf> = Vec::new();
    for cipher in ciphers {
        let wrong = |name: &str| {
            let is = |answer: &&Answer| {
                answer.cipher == session::folder(cipher) && answer.function == name
            };
            all.iter().filter(is).any(Answer::is_wrong)
        };
        let functions = cipher.functions.iter().filter(|function| wrong(&function.name));
        programs.extend(functions.map(|function| cipher.folder.join(&function.source)));
    }
    programs.dedup();
    for program in programs {
        // It has been read before.
        if let Ok((input, found)) = front::linted(&program, None, &Language::default(), reporter) {
            reporter.show(&input.sources, &found);
        }
    }
}

/// The selected ciphers.
fn ciphers(args: &Test) -> Result<Vec<Cipher>, Failure> {
    let library = args.folder.library();
    let chosen = match () {
        () if args.all.all => library.chosen(&[]),
        () if !args.subjects.is_empty() => library.chosen(&args.subjects),
        () if Path::new("cipher.toml").is_file() => library.chosen(&[".".to_string()]),
        () => {
            return Err(Failure::usage(
                "there is no cipher.toml in the working directory\n  help: name a cipher, or write \
                 --all for all ciphers",
            ));
        }
    };
    chosen.map_err(Failure::Program)
}

/// Every function of --function exists.
fn check_functions(args: &Test, ciphers: &[Cipher]) -> Result<(), Failure> {
    let known: Vec<&str> = ciphers.iter().flat_map(Cipher::tested).collect();
    for name in &args.functions.functions {
        if !known.contains(&name.as_str()) {
            let near = usuba::names::closest(name, known.iter().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            return Err(Failure::program(format!("there is no function `{name}`\n  help: {help}")));
        }
    }
    Ok(())
}

/// One for each compiler.
fn sides(args: &Test) -> Result<Vec<Side>, Failure> {
    let side = |label: &str, family, assembly| Side {
        label: label.into(),
        family,
        assembly,
        flags: args.cflags.cflags.split_whitespace().map(String::from).collect(),
        ..Side::default()
    };
    let family =
        |compiler: &Compiler| side(compiler.name(), compiler.family(), compiler.is_assembly());
    let named = args.compilers.for_here().map_err(Failure::usage)?;
    Ok(match named.is_empty() {
        true => vec![side("", Family::Any, false)],
        false => named.iter().map(family).collect(),
    })
}

/// The width of the column of names.
fn width(ciphers: &[Cipher], request: &Request) -> usize {
    let wanted =
        |name: &&str| request.functions.is_empty() || request.functions.iter().any(|f| f == name);
    ciphers.iter().flat_map(Cipher::tested).filter(wanted).map(str::len).max().unwrap_or(0)
}

/// A line for each function and slicing; targets with the same outcome share it.
fn rows(answers: &[Answer], width: usize) -> String {
    let mut text = String::new();
    let slicing = |answer: &Answer| answer.kernel.map(|(slicing, _)| slicing);
    for group in answers.chunk_by(|a, b| same(a, b) && slicing(a) == slicing(b)) {
        let how = group[0].kernel.map_or("reference", |(slicing, _)| letter(slicing));
        let mut line = |word: &str, about: &str| {
            text += format!("{:width$}  {how:9}  {word:7}  {about}", group[0].function).trim_end();
            text.push('\n');
        };
        let targets = |wanted: fn(&Outcome) -> bool| {
            let of = group.iter().filter(|answer| wanted(&answer.outcome));
            of.filter_map(|answer| Some(answer.kernel?.1.name)).collect::<Vec<_>>().join(", ")
        };
        match (&group[0].outcome, group[0].kernel) {
            (Outcome::Right(1), None) => line("right", "1 vector"),
            (Outcome::Right(vectors), None) => line("right", &format!("{vectors} vectors")),
            (Outcome::Skipped(why), None) => line("skipped", why),
            (Outcome::Refused(_), None) => line("refused", ""),
            (Outcome::Wrong(_), None) => line("WRONG", ""),
            (_, Some(_)) => {
                let right = targets(|outcome| matches!(outcome, Outcome::Right(_)));
                let refused = targets(|outcome| matches!(outcome, Outcome::Refused(_)));
                let wrong = targets(|outcome| matches!(outcome, Outcome::Wrong(_)));
                for (word, names) in [("right", right), ("refused", refused), ("WRONG", wrong)] {
                    if !names.is_empty() {
                        line(word, &names);
                    }
                }
            }
        }
    }
    text
}

/// Targets that were skipped with the reason, functions that were not compiled, and the sums.
fn summary(all: &[Answer], ciphers: &[Cipher], args: &Test) -> String {
    let mut text = String::new();
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for answer in all {
        let (Outcome::Skipped(why), Some((_, target))) = (&answer.outcome, answer.kernel) else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == why.as_str()) {
            Some((_, names)) if names.contains(&target.name) => {}
            Some((_, names)) => names.push(target.name),
            None => reasons.push((why, vec![target.name])),
        }
    }
    for (why, names) in reasons {
        text += &format!("skipped {}: {why}\n", names.join(", "));
    }
    let left = all.iter().filter(|answer| {
        let compiled = |other: &Answer| other.kernel.is_some() && same(answer, other);
        answer.kernel.is_none()
            && is_right(answer)
            && is_function(ciphers, answer)
            && !all.iter().any(compiled)
    });
    let left = if args.slicing.all().is_empty() { left.count() } else { 0 };
    if left > 0 && !args.all_functions.all_functions && args.functions.functions.is_empty() {
        text += &format!(
            "not compiled: {}; --all-functions compiles every function\n",
            counted(left, "function")
        );
    }
    type Wanted = fn(&Answer) -> bool;
    let number = |wanted: Wanted, kernel: bool| {
        let of = all.iter().filter(|answer| answer.kernel.is_some() == kernel);
        of.filter(|answer| wanted(answer)).count()
    };
    for (word, wanted) in [("right", is_right as Wanted), ("WRONG", Answer::is_wrong)] {
        if word == "right" || all.iter().any(wanted) {
            text += &format!(
                "{word}: {} by the reference semantics, {} by compiled C\n",
                counted(number(wanted, false), "function"),
                counted(number(wanted, true), "kernel")
            );
        }
    }
    if all.iter().any(Answer::is_refused) {
        text += &format!(
            "refused: {}, {}\n",
            counted(number(Answer::is_refused, false), "function"),
            counted(number(Answer::is_refused, true), "kernel")
        );
    }
    text
}

fn is_right(answer: &Answer) -> bool {
    matches!(answer.outcome, Outcome::Right(_))
}

/// Whether two answers are about the same function.
fn same(a: &Answer, b: &Answer) -> bool {
    (&a.cipher, &a.function) == (&b.cipher, &b.function)
}

/// Whether an answer is about a function that is compiled, and not about a construction around it.
fn is_function(ciphers: &[Cipher], answer: &Answer) -> bool {
    let functions = ciphers.iter().filter(|cipher| session::folder(cipher) == answer.cipher);
    functions.flat_map(|cipher| &cipher.functions).any(|f| f.name == answer.function)
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// All answers as one object.
fn json(all: &[Answer]) -> String {
    #[derive(Serialize)]
    struct Row<'a> {
        cipher: &'a str,
        function: &'a str,
        slicing: Option<&'static str>,
        target: Option<&'static str>,
        result: &'static str,
        /// Vectors, or blocks in lanes.
        compared: Option<usize>,
        message: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Report<'a> {
        format: u32,
        tests: Vec<Row<'a>>,
    }
    let rows = all.iter().map(|answer| {
        let (result, compared, message) = match &answer.outcome {
            Outcome::Right(compared) => ("right", Some(*compared), None),
            Outcome::Skipped(why) => ("skipped", None, Some(&**why)),
            Outcome::Refused(why) => ("refused", None, Some(&**why)),
            Outcome::Wrong(why) => ("wrong", None, Some(&**why)),
        };
        Row {
            cipher: &answer.cipher,
            function: &answer.function,
            slicing: answer.kernel.map(|(slicing, _): (Slicing, _)| letter(slicing)),
            target: answer.kernel.map(|(_, target)| target.name),
            result,
            compared,
            message,
        }
    });
    let report = Report { format: 1, tests: rows.collect() };
    serde_json::to_string_pretty(&report).expect("strings and numbers have a JSON form") + "\n"
}

/// The message for a slicing that some targets of a function lack: of the first of them, and the
/// lines of `cipher.toml` that ask for it.
fn refusals(all: &[Answer]) -> Vec<String> {
    let refused = all.iter().filter_map(|answer| match (&answer.outcome, answer.kernel) {
        (Outcome::Refused(why), Some((slicing, target))) => Some((answer, slicing, target, why)),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    let groups = refused.chunk_by(|a, b| same(a.0, b.0) && a.1 == b.1);
    let message = |group: &[(&Answer, Slicing, &Target, &String)]| {
        let (answer, slicing, _, why) = group[0];
        let slicing = letter(slicing);
        let targets: Vec<&str> = group.iter().map(|(_, _, target, _)| target.name).collect();
        let right = all.iter().any(|other| {
            is_right(other)
                && same(answer, other)
                && other.kernel.is_some_and(|k| letter(k.0) == slicing)
        });
        let rest = match right {
            true => ", or restrict the function to targets that have it with `targets`",
            false => "",
        };
        format!(
            "{}: `{}` has no slicing {slicing} on {}: {why}\n  help: leave \"{slicing}\" out of its \
             `slicings` in cipher.toml{rest}",
            answer.cipher,
            answer.function,
            targets.join(", "),
        )
    };
    groups.map(message).collect()
}

/// The messages of wrong answers, equal ones once, and of slicings that targets lack.
fn verdict(all: &[Answer], args: &Test) -> Result<(), Failure> {
    let mut messages: Vec<String> = Vec::new();
    for answer in all {
        match (&answer.outcome, answer.kernel) {
            (Outcome::Wrong(message), _) | (Outcome::Refused(message), None)
                if !messages.contains(message) =>
            {
                messages.push(message.clone());
            }
            _ => {}
        }
    }
    messages.extend(refusals(all));
    // Schemes have no kernel of their own.
    let kernels = args.slicing.all().is_empty() || all.iter().any(|answer| answer.kernel.is_some());
    match messages.is_empty() {
        true if kernels && all.iter().any(is_right) => Ok(()),
        true if kernels => Err(Failure::program("nothing was compared")),
        true => Err(Failure::program("no function has one of these slicings")),
        false => Err(Failure::Program(messages.join("\nerror: "))),
    }
}
