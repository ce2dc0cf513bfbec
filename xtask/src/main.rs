//! `cargo xtask`: maintenance tasks that are not part of the product.

use std::io;
use std::process::{Command, ExitCode};

use xtask::repo::Repo;
use xtask::runner;
use xtask::{answer, bless, budgets, tidy};

const USAGE: &str = "\
cargo xtask COMMAND

  test     everything that a change must pass, with the long tests and the share of the whole run
           that the commit chooses; `quick` has all long tests, and `--bless` keeps their times as
           costs; `whole` runs all of it and goes on where an earlier run of the same files
           stopped, and `--fresh` begins again
  tidy     check the house rules
  bless    rewrite all that follows from tables, folders and tests: expectations, transcripts,
           counts, documents; with names, only these parts
  budgets  count what extensions cost, and try all of them in a copy of the repository
  docs     check that every program in a document compiles and every command prints what is shown
           (BLESS=1 rewrites what is shown)
  peers    check the tables of other libraries in the book against bench/peers.toml, which docs
           does too (BLESS=1 rewrites them)
  charts   check the chart of the README against bench/peers.toml, which docs does too (BLESS=1
           draws it again)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if let ["test", ref options @ ..] = words[..]
        && let Some((extent, fresh)) = runner::options(options)
    {
        return match runner::run(extent, fresh) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("test: {error}");
                ExitCode::FAILURE
            }
        };
    }
    match words[..] {
        ["tidy"] => answer("tidy", Repo::load().map(|repo| tidy::check(&repo))),
        ["bless", ref parts @ ..] => answer("bless", bless::run(parts)),
        ["budgets"] => answer("budgets", Repo::load().and_then(|repo| budgets::run(&repo))),
        ["docs" | "peers" | "charts"] => match documents(words[0]) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => answer(words[0], Err(error)),
        },
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs a command of the crate `documents`, which knows the compiler.
fn documents(command: &str) -> io::Result<bool> {
    let args = ["run", "--quiet", "--package", "documents", "--", command];
    Ok(Command::new(bless::cargo()).args(args).status()?.success())
}
