//! Tests as text: each file of `tests/` is a program with directives in its comments.
//!
//! ```text
//! # test pass cse                   what is tested: check, syntax, run, or pass NAME
//! # with: slicing=V,B               choices, see `file::Settings`
//! node f (a:u32, b:u32) returns (z:u32)
//! vars t1, t2: u32
//! let
//!   t1 = a ^ b;
//!   t2 = a ^ b;
//!   z = t1 & t2
//! tel
//! # count: xor=1 and=1              operators after the pass, all of them
//! # run: f(1, 3) == 2               flattened atoms, before and after
//! # expect:                         what the pass leaves; always last
//! #   node f ...
//! ```
//!
//! A test computes what its file should look like and compares: so messages and `expect:` are
//! rewritten by `BLESS=1` and nothing else is.
//!
//! - `file`: the directives of a file.
//! - `messages`: `# error` comments, away from a text and back into it.
//! - `compile`: the compiler, as tests need it.
//! - `check`, `syntax`, `run`, `pass`: one kind of test each.

mod check;
mod compile;
mod file;
mod messages;
mod pass;
mod run;
mod syntax;

use std::path::Path;

use file::{Kind, TestFile};

/// What the file at `path` with this `text` should look like, or why that cannot be said.
///
/// # Errors
/// A directive is malformed, or something failed that no rewriting of the file repairs.
pub fn wanted(path: &Path, text: &str) -> Result<String, String> {
    let test = TestFile::parse(text)?;
    match &test.kind {
        Kind::Check => check::wanted(&test, path),
        Kind::Syntax => syntax::wanted(&test, path),
        Kind::Run => run::wanted(&test, path),
        Kind::Pass(name) => pass::wanted(&test, path, name),
    }
}

/// The first lines in which two texts differ, for people.
pub fn difference(wanted: &str, found: &str) -> String {
    let (wanted, found): (Vec<_>, Vec<_>) = (wanted.lines().collect(), found.lines().collect());
    let equal = wanted.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let show = |name: &str, lines: &[&str]| {
        let lines: String =
            lines.iter().skip(equal).take(8).map(|l| format!("    {l}\n")).collect();
        format!("  {name}:\n{lines}")
    };
    format!(
        "line {} differs (BLESS=1 rewrites messages and `expect:`)\n{}{}",
        equal + 1,
        show("the file says", &found),
        show("it should say", &wanted)
    )
}
