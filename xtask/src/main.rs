//! `cargo xtask`: chores that are not part of the product.

use std::process::ExitCode;

use xtask::{docs, peers, repo::Repo, runner, tidy};

const USAGE: &str = "\
cargo xtask COMMAND

  test    everything that a change must pass, with the share of the whole run that the commit
          chooses; `whole` runs all of it and goes on where an earlier run of the same files
          stopped; `--fresh` begins again
  tidy    check the house rules
  docs    check that every program in a document compiles and every command prints what is shown
          (BLESS=1 rewrites what is shown)
  peers   check the table of other libraries in the README against bench/peers.toml, which docs
          does too (BLESS=1 rewrites it)
  bless-prose  lower the counts of words in xtask/prose.txt to the counts of today
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if let ["test", ref options @ ..] = words[..]
        && options.iter().all(|option| ["whole", "--fresh"].contains(option))
    {
        let asked = |name| options.contains(&name);
        return match runner::run(asked("whole"), asked("--fresh")) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("test: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let findings = match words[..] {
        ["tidy"] => Repo::load().map(|repo| tidy::check(&repo)),
        ["docs"] => Repo::load().and_then(|repo| docs::check(&repo, None)),
        ["peers"] => Repo::load().and_then(|repo| peers::check(&repo, docs::bless())),
        ["bless-prose"] => {
            Repo::load().and_then(|repo| tidy::prose::bless(&repo)).map(|()| Vec::new())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match findings {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            eprintln!("{}: {} to mend", words[0], findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{}: {error}", words[0]);
            ExitCode::FAILURE
        }
    }
}
