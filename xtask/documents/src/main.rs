//! Documents and tables that show output of the compiler: `cargo xtask docs` runs this program.
//!
//! A crate of its own, so that `cargo xtask tidy` needs no compiler.
//!
//! - `docs`: programs and commands that documents show.
//! - `peers`: the table of other libraries in the README.
//! - `toolchains`: compilers and emulators of targets, for `scripts/setup`.

mod docs;
mod peers;
mod toolchains;

use std::process::ExitCode;

use xtask::repo::Repo;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = |repo: Repo| match args.first().map(String::as_str) {
        Some("docs") => docs::check(&repo),
        Some("peers") => peers::check(&repo, docs::bless()),
        Some("toolchains") => toolchains::check(&repo, docs::bless()),
        other => Err(std::io::Error::other(format!("there is no command {other:?}"))),
    };
    xtask::answer(args.first().map_or("documents", String::as_str), Repo::load().and_then(check))
}
