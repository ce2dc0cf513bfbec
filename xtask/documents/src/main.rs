//! `documents charts`, `documents docs [FOLDER]`, `documents drivers`, `documents errors`,
//! `documents functions`, `documents listings`, `documents peers`, `documents toolchains`: `cargo xtask` runs this program.

use std::path::Path;
use std::process::ExitCode;

use documents::{charts, docs, drivers, errors, functions, layouts, listings, peers, toolchains};
use xtask::repo::Repo;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // The folder of a compiler that is built already.
    let binaries = args.get(1).map(Path::new);
    let check = |repo: Repo| match args.first().map(String::as_str) {
        Some("charts") => {
            let mut findings = charts::check(&repo, docs::bless())?;
            findings.extend(layouts::check(&repo, docs::bless())?);
            Ok(findings)
        }
        Some("docs") => docs::check(&repo, binaries),
        Some("drivers") => drivers::check(&repo, docs::bless()),
        Some("errors") => errors::check(&repo, docs::bless()),
        Some("functions") => functions::check(&repo, docs::bless()),
        Some("listings") => listings::check(&repo, docs::bless()),
        Some("peers") => peers::check(&repo, docs::bless()),
        Some("toolchains") => toolchains::check(&repo, docs::bless()),
        other => Err(std::io::Error::other(format!("there is no command {other:?}"))),
    };
    xtask::answer(args.first().map_or("documents", String::as_str), Repo::load().and_then(check))
}
