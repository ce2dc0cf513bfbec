//! Tests of former spellings and of the flags of the OCaml compiler.

use clap::FromArgMatches;

use super::*;
use crate::args::{self, Cli};

fn rewritten(args: &str) -> Result<String, Failure> {
    let args = args.split(' ').map(OsString::from);
    let words = rewrite(args, &args::command(), &mut |_| {})?;
    Ok(words.join(std::ffi::OsStr::new(" ")).into_string().expect("UTF-8"))
}

#[test]
fn long_flags_may_have_one_dash() {
    for (written, means) in [
        ("usubac -V -arch avx2 a.ua", "usubac build -V --target avx2 a.ua"),
        ("usubac -arch=avx2 -keep-tables", "usubac build --target=avx2 --keep-tables"),
        ("usubac -m16 -Idir -ofile -o -", "usubac build -m16 -Idir -ofile -o -"),
        ("usubac -no-CSE --no-color", "usubac build --skip=cse --color=never"),
        ("usubac -- -arch -masked", "usubac build -- -arch -masked"),
        ("usubac -arch -unroll", "usubac build --target --unroll=all"),
        ("usubac -W U1105 -WU1112 -W a.ua", "usubac build --warn U1105 --warn U1112 -W a.ua"),
        ("usubac bench --cflags -w --arch avx2", "usubac bench --cflags -w --target avx2"),
        ("usubac -no-share -bits-per-reg 8 -no-arr a.ua", "usubac build a.ua"),
        ("usubac -bits-per-reg=16 -lf a.ua", "usubac build a.ua"),
        ("usubac -sched-n 0 -B a.ua", "usubac build -B a.ua"),
        (
            "usubac -abi usubac -B -bits-per-reg 8 a.ua",
            "usubac build --abi usubac -B --data-bits 8 a.ua",
        ),
        ("usubac -abi usubac -V -bits-per-reg=8 a.ua", "usubac build --abi usubac -V a.ua"),
        ("usubac -bits-per-reg=32 a.ua", "usubac build --bits-per-reg=32 a.ua"),
    ] {
        assert_eq!(rewritten(written).expect("accepted"), means);
    }
}

#[test]
fn flags_that_are_gone_say_why() {
    for (written, why) in [
        ("usubac --bench-inter=3", "usubac tune"),
        ("usubac -ua-masked -V", "masking is not supported yet"),
        ("usubac -shares 4 -B", "help: remove `-shares` for code without masks"),
        ("usubac -masked -fdti tifd", "`-masked`"),
        ("usubac -gen-bench", "usubac bench"),
        ("usubac -dump-steps ast", "--print-after all"),
    ] {
        let Err(Failure::Usage(message)) = rewritten(written) else { panic!("{written}") };
        assert!(message.contains(why), "{message}");
    }
}

/// Each row of the table in an example, and the same in the present spelling.
const PAIRS: &[(&str, &str)] = &[
    ("--arch avx2 a.ua", "build --target avx2 a.ua"),
    ("tune --arch=avx2 a.ua", "tune --target=avx2 a.ua"),
    ("dist --targets gp64,avx2 aes", "dist --target gp64,avx2 aes"),
    ("bench --folder x aes", "bench --ciphers x aes"),
    ("prove a.ua --object a.o --node f", "prove a.ua --object a.o --entry f"),
    ("prove --all --only aes --only=des", "prove aes des"),
    ("bench --cipher aes --cipher=des", "bench aes des"),
    ("demo --cipher aes", "demo aes"),
    ("bench aes --all", "bench aes --all-functions"),
    ("dist aes --out x", "dist aes --output x"),
    ("bench --experiment e --out x", "bench --experiment e -o x"),
    ("bench --json -", "bench --format json --output -"),
    ("bench --json=x", "bench --format json --output x"),
    ("prove a.ua --json", "prove a.ua --format json"),
    ("dist --library x", "dist --kind library --output x"),
    ("dist --rust=x aes", "dist --kind rust --output x aes"),
    ("dist --nacl x", "dist --kind nacl -o x"),
    ("tune a.ua --budget 5m", "tune a.ua --time-limit 5m"),
    ("tune a.ua --ninja x --most 3", "tune a.ua --ninja x --points 3"),
    ("synth --table 1,0 --budget 5k", "synth --table 1,0 --node-limit 5k"),
    ("synth --table 1,0 --bits 1,1", "synth --table 1,0 --shape 1,1"),
    ("synth --table 1,0 --profile lut3", "synth --table 1,0 --gates lut3"),
    ("a.ua --vertical", "build a.ua --slicing V"),
    ("check a.ua --horizontal", "check a.ua --slicing H"),
    ("a.ua --bitslice", "build a.ua --slicing B"),
    ("a.ua --words", "build a.ua --slicing W"),
    ("a.ua --inline-all", "build a.ua --inline all"),
    ("a.ua --heavy-inline", "build a.ua --inline heavy"),
    ("a.ua --light-inline", "build a.ua --inline light"),
    ("a.ua --no-inline", "build a.ua --inline none"),
    ("--unroll a.ua", "build --unroll all a.ua"),
    ("--no-unroll a.ua", "build --unroll none a.ua"),
    ("--unroll-factor 3 a.ua", "build --unroll 3 a.ua"),
    ("--packed a.ua", "build --pack always a.ua"),
    ("--no-packed a.ua", "build --pack never a.ua"),
    ("--inter-factor 3 a.ua", "build --interleave 3 a.ua"),
    ("--inter-grain 5 a.ua", "build --interleave-grain 5 a.ua"),
    ("-interleave 5 a.ua", "build --interleave-grain 5 a.ua"),
    ("--interleave 5 --inter-factor 2 a.ua", "build --interleave-grain 5 --interleave 2 a.ua"),
    ("--auto-interleave a.ua", "build --interleave measure a.ua"),
    ("--sched a.ua", "build --schedule always a.ua"),
    ("--no-sched a.ua", "build --schedule never a.ua"),
    ("--no-pre-sched a.ua", "build --schedule no-pre a.ua"),
    ("--no-sched --no-pre-sched a.ua", "build --schedule never a.ua"),
    ("--sched-n 3 a.ua", "build --schedule-window 3 a.ua"),
    ("--deny-warnings a.ua", "build -D warnings a.ua"),
    ("check -w a.ua", "check -D warnings a.ua"),
    ("--explain U0101", "explain U0101"),
    ("prove --check --all --only aes --json", "verify aes --format json"),
];

/// The meaning of a command line, on which alone the output depends, and the warnings about it.
fn meaning(line: &str) -> (String, Vec<String>) {
    let words = std::iter::once("usubac").chain(line.split(' ')).map(OsString::from);
    let mut warnings = Vec::new();
    let command = args::command();
    let words = rewrite(words, &command, &mut |text| warnings.push(text.to_string()));
    let matches = command.try_get_matches_from(words.expect("no removed flag"));
    let matches = matches.unwrap_or_else(|error| panic!("{line}: {error}"));
    (format!("{:?}", Cli::from_arg_matches(&matches).expect("a command line")), warnings)
}

#[test]
fn former_spellings_mean_the_present_ones() {
    let mut open: Vec<&str> = FORMER.iter().map(|(_, name, _)| *name).collect();
    open.extend([BARE_UNROLL.1, GRAIN.1]);
    for (old, new) in PAIRS {
        let (was, warnings) = meaning(old);
        let (is, none) = meaning(new);
        assert_eq!(was, is, "{old} and {new}");
        assert!(none.is_empty(), "{new}: {none:?}");
        let names = old.split([' ', '=']).map(|word| word.trim_start_matches('-'));
        for warning in &warnings {
            let name = warning.trim_start_matches('-').split_once(" is now ");
            let (name, present) = name.expect("a former and a present spelling");
            let name = name.rsplit("--").next().unwrap_or_default();
            assert!(names.clone().any(|own| own == name), "{old}: {warning}");
            let flag = present.split(' ').next().unwrap_or_default();
            let short = flag == "--output";
            assert!(
                new.contains(flag) || flag == "a" || flag == "verify" || short,
                "{old}: {warning}"
            );
        }
        assert_eq!(warnings.is_empty(), old.starts_with("-interleave"), "{old}");
        open.retain(|name| {
            !old.split([' ', '=']).any(|word| word.trim_start_matches('-') == *name)
        });
    }
    assert!(open.is_empty(), "no example has {open:?}");
}

#[test]
fn one_dash_is_the_spelling_of_the_ocaml_compiler() {
    let (was, warnings) = meaning("-arch avx2 -no-sched -inter-factor 2 -unroll a.ua");
    let (is, _) = meaning("build --target avx2 --schedule never --interleave 2 --unroll all a.ua");
    assert_eq!((was, warnings), (is, Vec::new()));
}

#[test]
fn numbers_below_our_least_ones_say_so() {
    for (flag, wanted) in [
        ("-sched-n 0", "`-sched-n 0` is ignored"),
        ("-bits-per-reg 16", "`-bits-per-reg` below 32 is ignored"),
        ("-abi usubac -B -bits-per-reg 16", ""),
    ] {
        let (_, warnings) = meaning(&format!("{flag} a.ua"));
        assert_eq!(warnings.is_empty(), wanted.is_empty(), "{flag}: {warnings:?}");
        assert!(warnings.iter().all(|warning| warning.starts_with(wanted)), "{flag}: {warnings:?}");
    }
}
