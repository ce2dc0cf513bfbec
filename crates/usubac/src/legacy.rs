//! Compatibility of the command line: with earlier versions, and with the OCaml compiler of
//! Mercadier and Dagand.
//!
//! ```text
//! --arch avx2      --target avx2, with a warning      a former spelling
//! -arch avx2       --target avx2                      a flag of the OCaml compiler
//! -masked          an error with the reason           a flag without a meaning here
//! FILE             build FILE                         the plain form
//! ```

use std::ffi::{OsStr, OsString};

use clap::Command;

use crate::Failure;
use crate::args::parse_loops;

/// The treatment of a removed flag.
enum Gone {
    Masking,
    /// It is ignored, with a warning that gives the reason.
    Needless(&'static str),
    /// It is an error, with the replacement.
    Instead(&'static str),
}

const LOOPS: &str = "loops that the program repeats stay loops, see --no-unroll";
const ARRAYS: &str = "arrays are used where registers are too few";
const TUNE: &str = "use usubac tune, which measures it with everything else";

const GONE: &[(&str, Gone)] = &[
    ("loop-fusion", Gone::Needless(LOOPS)),
    ("no-loop-fusion", Gone::Needless(LOOPS)),
    ("no-share", Gone::Needless(ARRAYS)),
    ("no-linearize-arr", Gone::Needless(ARRAYS)),
    ("no-arr", Gone::Needless(ARRAYS)),
    ("no-arr-tmp", Gone::Needless(ARRAYS)),
    ("no-arr-entry", Gone::Needless(ARRAYS)),
    ("compact", Gone::Needless(LOOPS)),
    ("lf", Gone::Needless(LOOPS)),
    ("gen-bench", Gone::Instead("use usubac bench")),
    ("bench-all", Gone::Instead(TUNE)),
    ("bench-inline", Gone::Instead(TUNE)),
    ("bench-inter", Gone::Instead(TUNE)),
    ("bench-bitsched", Gone::Instead(TUNE)),
    ("bench-msched", Gone::Instead(TUNE)),
    ("bench-sharevar", Gone::Instead(TUNE)),
    ("masked", Gone::Masking),
    ("ua-masked", Gone::Masking),
    ("shares", Gone::Masking),
    ("tp", Gone::Masking),
    ("tp-dir", Gone::Masking),
    ("mv", Gone::Masking),
    ("fdti", Gone::Masking),
    ("no-type-check", Gone::Instead("types are always checked; correct the program")),
    ("no-compact-mono", Gone::Needless("nothing needs it")),
    ("no-precalc-tbl", Gone::Needless("every circuit is checked against its table")),
    ("check-tbl", Gone::Needless("every circuit is checked against its table")),
    ("dump-sexp", Gone::Instead("use --emit u0")),
    ("dump-steps", Gone::Instead("use --print-after all")),
    ("dump-steps-dir", Gone::Instead("use --print-after all")),
    ("v", Gone::Instead("there are no levels of verbosity; use --print-after PASS for details")),
];

/// Long flags of the OCaml compiler that have another name here.
const RENAMED: &[(&str, &[&str])] = &[
    ("no-color", &["--color=never"]),
    ("no-colour", &["--color=never"]),
    ("no-fold-const", &["--skip=const-fold"]),
    ("no-CSE", &["--skip=cse"]),
    ("no-copy-prop", &["--skip=copy-prop"]),
    ("no-CSE-CP-CF", &["--skip=cse", "--skip=copy-prop", "--skip=const-fold"]),
];

/// The replacement of a former spelling.
#[derive(Clone, Copy, Debug)]
enum New {
    /// These words; a value of the option follows the last one.
    Words(&'static [&'static str]),
    /// The value alone, which is a subject.
    Subject,
}

use New::{Subject, Words};

/// A former spelling: the commands that had it (none: all), its name without dashes, the present
/// spelling. A row stays for two versions, and for as long as the OCaml compiler has the flag.
type Row = (&'static [&'static str], &'static str, New);

const FORMER: &[Row] = &[
    (&[], "arch", Words(&["--target"])),
    (&["dist"], "targets", Words(&["--target"])),
    (&[], "folder", Words(&["--ciphers"])),
    (&["prove"], "node", Words(&["--entry"])),
    (&["prove", "verify"], "only", Subject),
    (&["bench", "demo"], "cipher", Subject),
    (&["bench", "demo"], "all", Words(&["--all-functions"])),
    (&["bench", "demo", "dist", "generate"], "out", Words(&["--output"])),
    (&["bench", "demo"], "json", Words(&["--format=json", "--output"])),
    (&["prove", "verify"], "json", Words(&["--format=json"])),
    (&["dist"], "library", Words(&["--kind=library", "--output"])),
    (&["dist"], "rust", Words(&["--kind=rust", "--output"])),
    (&["dist"], "nacl", Words(&["--kind=nacl", "--output"])),
    (&["tune"], "budget", Words(&["--time-limit"])),
    (&["tune"], "most", Words(&["--points"])),
    (&["synth"], "budget", Words(&["--node-limit"])),
    (&["synth"], "bits", Words(&["--shape"])),
    (&["synth"], "profile", Words(&["--gates"])),
    (&[], "vertical", Words(&["--slicing=V"])),
    (&[], "horizontal", Words(&["--slicing=H"])),
    (&[], "bitslice", Words(&["--slicing=B"])),
    (&[], "words", Words(&["--slicing=W"])),
    (&[], "inline-all", Words(&["--inline=all"])),
    (&[], "heavy-inline", Words(&["--inline=heavy"])),
    (&[], "light-inline", Words(&["--inline=light"])),
    (&[], "no-inline", Words(&["--inline=none"])),
    (&[], "no-unroll", Words(&["--unroll=none"])),
    (&[], "unroll-factor", Words(&["--unroll"])),
    (&[], "packed", Words(&["--pack=always"])),
    (&[], "no-packed", Words(&["--pack=never"])),
    (&[], "inter-factor", Words(&["--interleave"])),
    (&[], "inter-grain", Words(&["--interleave-grain"])),
    (&[], "auto-interleave", Words(&["--interleave=measure"])),
    (&[], "sched", Words(&["--schedule=always"])),
    (&[], "no-sched", Words(&["--schedule=never"])),
    (&[], "no-pre-sched", Words(&["--schedule=no-pre"])),
    (&[], "sched-n", Words(&["--schedule-window"])),
    (&[], "deny-warnings", Words(&["-D", "warnings"])),
    (&[], "w", Words(&["-D", "warnings"])),
    (&[], "explain", Words(&["explain"])),
];

/// Former spellings that are options still, with another meaning: without a value, in the OCaml
/// compiler, and beside `--inter-factor`.
const BARE_UNROLL: Row = (&[], "unroll", Words(&["--unroll=all"]));
const GRAIN: Row = (&[], "interleave", Words(&["--interleave-grain"]));

/// Long options before the command that have a value.
const GLOBAL: [&str; 2] = ["error-format", "color"];

/// The place of the first word that is no global option.
fn start(args: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(flag) = args.get(at).and_then(|arg| arg.to_str()?.strip_prefix('-')) {
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        match flag.split_once('=') {
            None if GLOBAL.contains(&flag) => at += 2,
            Some((name, _)) if GLOBAL.contains(&name) => at += 1,
            _ => break,
        }
    }
    at.min(args.len())
}

/// Options whose values are flags of other commands.
const FLAGS: [&str; 3] = ["--cflags", "--flags", "--candidate"];

/// Options of usubac itself, which no command is added to.
const ALONE: [&str; 5] = ["--help", "-h", "--version", "--print", "--explain"];

/// The command line with the name of its command: `build` where there is none.
fn named(mut args: Vec<OsString>, command: &Command) -> (Vec<OsString>, String) {
    if !command.has_subcommands() {
        return (args, String::new());
    }
    let at = start(&args);
    let word = args.get(at).map(|word| word.to_string_lossy().into_owned());
    match word {
        Some(word) if word == "help" || command.find_subcommand(&word).is_some() => (args, word),
        Some(word) if !ALONE.iter().any(|alone| word.split('=').next() == Some(alone)) => {
            args.insert(at, "build".into());
            (args, "build".into())
        }
        _ => (args, String::new()),
    }
}

/// The row of a former spelling, in a command line with these words after it and around it.
fn former(
    name: &str,
    single: bool,
    command: &str,
    next: Option<&OsStr>,
    all: &[OsString],
) -> Option<Row> {
    let has = |wanted: &str| all.iter().any(|arg| is_flag(arg, wanted));
    match name {
        "unroll" => {
            let value = next.and_then(OsStr::to_str).unwrap_or_default();
            return parse_loops(value).is_err().then_some(BARE_UNROLL);
        }
        "interleave" => return (single || has("inter-factor")).then_some(GRAIN),
        _ => {}
    }
    let fits = |row: &&Row| row.1 == name && (row.0.is_empty() || row.0.contains(&command));
    FORMER.iter().find(fits).copied()
}

/// Whether a word is the flag of a name, with or without a value.
fn is_flag(arg: &OsStr, name: &str) -> bool {
    let flag = arg.to_str().and_then(|arg| arg.strip_prefix('-')).unwrap_or_default();
    let flag = flag.strip_prefix('-').unwrap_or(flag);
    flag.split('=').next() == Some(name)
}

/// The long options of a command and of its sub-commands.
fn long_options(command: &Command) -> Vec<&str> {
    let commands = std::iter::once(command).chain(command.get_subcommands());
    commands.flat_map(|c| c.get_arguments()).filter_map(|arg| arg.get_long()).collect()
}

/// The treatment of a number below our least one, which the OCaml compiler takes.
enum Narrow {
    /// Drivers have arrays of such words, which the function converts.
    Data,
    /// It is ignored, with a warning.
    Ignored(&'static str),
}

impl Narrow {
    /// The treatment of this value of a flag, in a command line that `has` flags.
    fn of(name: &str, value: Option<&str>, has: &dyn Fn(&str) -> bool) -> Option<Narrow> {
        match (name, value?) {
            ("bits-per-reg", "8" | "16") if has("abi") && has("B") => Some(Narrow::Data),
            ("bits-per-reg", "8" | "16") => Some(Narrow::Ignored(
                "`-bits-per-reg` below 32 is ignored: registers have 32 or 64 bits",
            )),
            ("sched-n", "0") => Some(Narrow::Ignored(
                "`-sched-n 0` is ignored: a window has at least one equation, see --schedule",
            )),
            _ => None,
        }
    }
}

/// Rewrites the command line before `command` parses it.
pub fn rewrite(
    args: impl IntoIterator<Item = OsString>,
    command: &Command,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OsString>, Failure> {
    let long = long_options(command);
    let (mut args, mut name_of_command) = named(args.into_iter().collect(), command);
    let check = args.iter().position(|arg| is_flag(arg, "check"));
    if let Some(check) = check.filter(|_| name_of_command == "prove") {
        warn("prove --check is now verify");
        args.remove(check);
        name_of_command = "verify".to_string();
        let at = start(&args);
        args[at] = "verify".into();
    }
    let all = args.clone();
    let has = |wanted: &str| all.iter().any(|arg| is_flag(arg, wanted));
    let mut told = Vec::new();
    let mut out = Vec::new();
    let mut flags = true;
    let mut args = args.into_iter().enumerate().peekable();
    while let Some((i, arg)) = args.next() {
        flags &= arg != "--";
        if flags && FLAGS.iter().any(|option| arg == **option) {
            out.push(arg);
            out.extend(args.next().map(|(_, value)| value));
            continue;
        }
        let text = arg.to_str().filter(|a| i > 0 && flags && a.len() > 1);
        let Some(flag) = text.and_then(|a| a.strip_prefix('-')) else {
            out.push(arg);
            continue;
        };
        // `-W` is a slicing where no code of a warning follows it.
        if let Some(joined) = flag.strip_prefix('W') {
            let next = |args: &(usize, OsString)| args.1.to_str().is_some_and(is_code);
            if is_code(joined) || joined.is_empty() && args.peek().is_some_and(next) {
                out.push("--warn".into());
                out.extend(Some(joined).filter(|code| !code.is_empty()).map(OsString::from));
                continue;
            }
        }
        let single = !flag.starts_with('-');
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        match GONE.iter().find(|(gone, _)| *gone == name) {
            Some((_, Gone::Needless(why))) => {
                warn(&format!("`-{name}` is ignored: {why}"));
                continue;
            }
            Some((_, Gone::Masking)) => return Err(masking(name)),
            Some((_, Gone::Instead(instead))) => {
                return Err(Failure::usage(format!("`-{name}` has no meaning here: {instead}")));
            }
            None => {}
        }
        let next = value.or_else(|| args.peek().and_then(|(_, next)| next.to_str()));
        if let Some(narrow) = Narrow::of(name, next, &has) {
            let bits = next.map(OsString::from);
            if value.is_none() {
                args.next();
            }
            match narrow {
                Narrow::Data => out.extend(["--data-bits".into()].into_iter().chain(bits)),
                Narrow::Ignored(why) => warn(why),
            }
            continue;
        }
        let next = value.map(OsStr::new).or_else(|| args.peek().map(|(_, next)| next.as_os_str()));
        if let Some((_, _, new)) = former(name, single, &name_of_command, next, &all) {
            // One dash and a word is the spelling of the OCaml compiler.
            if (!single || name == "w") && !told.contains(&name.to_string()) {
                let dashes = if single { "-" } else { "--" };
                warn(&format!("{dashes}{name} is now {}", now(new)));
                told.push(name.to_string());
            }
            // The flag that stops more was the stronger one.
            if !(name == "no-pre-sched" && has("no-sched")) {
                replace(&mut out, new, value);
            }
            continue;
        }
        // Names of ciphers alone select them.
        if name == "all" && ["prove", "verify"].contains(&&*name_of_command) && has("only") {
            continue;
        }
        match RENAMED.iter().find(|(old, _)| *old == name) {
            Some((_, new)) => out.extend(new.iter().map(OsString::from)),
            None if single && name.len() > 1 && long.contains(&name) => {
                out.push(format!("--{flag}").into());
            }
            None => out.push(arg),
        }
    }
    Ok(out)
}

/// The option of a word of the command line, if it is a former spelling of a present one.
pub fn written(word: &str, present: &str) -> Option<String> {
    let flag = word.strip_prefix('-')?;
    let name = flag.strip_prefix('-').unwrap_or(flag).split('=').next()?;
    let is_new = |row: &&Row| match row.2 {
        Words(words) => words.last().is_some_and(|last| last.split('=').next() == Some(present)),
        Subject => false,
    };
    let mut rows = FORMER.iter().chain([&BARE_UNROLL, &GRAIN]).filter(|row| row.1 == name);
    rows.find(is_new)?;
    word.split('=').next().map(str::to_string)
}

/// The present spelling, for a warning.
fn now(new: New) -> String {
    match new {
        Words(words) => words.join(" ").replace('=', " "),
        Subject => "a subject without a flag".to_string(),
    }
}

/// Writes the present spelling. A value that is not joined follows as a word of its own.
fn replace(out: &mut Vec<OsString>, new: New, value: Option<&str>) {
    match (new, value) {
        (Words(words), None) => out.extend(words.iter().map(OsString::from)),
        (Words(words), Some(value)) => {
            let (last, first) = words.split_last().expect("a row has words");
            out.extend(first.iter().map(OsString::from));
            match last.starts_with('-') {
                true => out.push(format!("{last}={value}").into()),
                false => out.extend([OsString::from(last), value.into()]),
            }
        }
        (Subject, None) => {}
        (Subject, Some(value)) => out.push(value.into()),
    }
}

/// Whether a text is the code of a finding.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['U', 'u']);
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn masking(name: &str) -> Failure {
    Failure::usage(format!(
        "`-{name}` asks for masked code, and masking is not supported yet; no flag gives \
         protected code, so none is silently left out; help: remove `-{name}` for code without \
         masks, or keep the OCaml compiler for this program"
    ))
}

#[cfg(test)]
mod tests;
