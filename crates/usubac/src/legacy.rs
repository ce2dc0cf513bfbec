//! Compatibility with the command line of the OCaml compiler of Mercadier and Dagand: `-arch avx2`
//! for `--arch avx2`, and advice on removed flags.

use std::ffi::OsString;

use crate::Failure;

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

/// Rewrites the command line before it is parsed. `long` lists the existing long flags.
pub fn rewrite(
    args: impl IntoIterator<Item = OsString>,
    long: impl Fn(&str) -> bool,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OsString>, Failure> {
    let mut out = Vec::new();
    let mut flags = true;
    let mut args = args.into_iter().enumerate().peekable();
    while let Some((i, arg)) = args.next() {
        flags &= arg != "--";
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
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
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
        let narrow = |value: &str| matches!(value, "8" | "16");
        if name == "bits-per-reg" {
            let joined = flag.split_once('=').map(|(_, value)| narrow(value));
            let next = |args: &(usize, OsString)| args.1.to_str().is_some_and(narrow);
            if joined.unwrap_or_else(|| args.peek().is_some_and(next)) {
                if joined.is_none() {
                    args.next();
                }
                warn("`-bits-per-reg` below 32 is ignored: registers have 32 or 64 bits");
                continue;
            }
        }
        match RENAMED.iter().find(|(old, _)| *old == name) {
            Some((_, new)) => out.extend(new.iter().map(OsString::from)),
            None if single && name.len() > 1 && long(name) => out.push(format!("--{flag}").into()),
            None => out.push(arg),
        }
    }
    Ok(out)
}

/// Whether a text is the code of a finding.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['U', 'u']);
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn masking(name: &str) -> Failure {
    Failure::usage(format!(
        "`-{name}` asks for masked code, and masking is not supported yet; no flag gives \
         protected code, so none is silently left out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(args: &str) -> Result<String, Failure> {
        let args = args.split(' ').map(OsString::from);
        let long = |name: &str| ["arch", "keep-tables", "unroll", "skip", "color"].contains(&name);
        let words = rewrite(args, long, &mut |_| {})?;
        Ok(words.join(std::ffi::OsStr::new(" ")).into_string().expect("UTF-8"))
    }

    #[test]
    fn long_flags_may_have_one_dash() {
        for (written, means) in [
            ("usubac -V -arch avx2 a.ua", "usubac -V --arch avx2 a.ua"),
            ("usubac -arch=avx2 -keep-tables", "usubac --arch=avx2 --keep-tables"),
            ("usubac -m16 -Idir -ofile -o -", "usubac -m16 -Idir -ofile -o -"),
            ("usubac -no-CSE --no-color", "usubac --skip=cse --color=never"),
            ("usubac -- -arch -masked", "usubac -- -arch -masked"),
            ("-arch -unroll", "-arch --unroll"),
            ("usubac -W U1105 -WU1112 -W a.ua", "usubac --warn U1105 --warn U1112 -W a.ua"),
            ("usubac -no-share -bits-per-reg 8 -no-arr a.ua", "usubac a.ua"),
            ("usubac -bits-per-reg=16 -lf a.ua", "usubac a.ua"),
            ("usubac -bits-per-reg=32 a.ua", "usubac -bits-per-reg=32 a.ua"),
        ] {
            assert_eq!(rewritten(written).expect("accepted"), means);
        }
    }

    #[test]
    fn flags_that_are_gone_say_why() {
        for (written, why) in [
            ("usubac --bench-inter=3", "usubac tune"),
            ("usubac -ua-masked -V", "masking is not supported yet"),
            ("usubac -dump-steps ast", "--print-after all"),
        ] {
            let Err(Failure::Usage(message)) = rewritten(written) else { panic!("{written}") };
            assert!(message.contains(why), "{message}");
        }
    }
}
