//! Documents as tests: every program compiles, and every command prints the text below it.
//!
//! | block | checked how |
//! |---|---|
//! | `usuba` | compiles for at least one slicing, without warnings; its `# run:` lines hold, as in `tests/` |
//! | `usuba,error=U0402` | is refused with this code |
//! | `usuba,warning=U0609` | compiles with this warning |
//! | `usuba,part` | not checked: a piece of a program shown elsewhere |
//! | `…,file=NAME` | also stands in the file NAME for later commands of the document |
//! | `console` | lines with `$ ` run in order, in a folder with `ciphers/` that is new for each
//! document; the lines below are their output, `...` standing for any lines |
//!
//! A line `<!-- $ COMMAND -->` is a command too, whose output goes on to `<!-- end -->` as part of
//! the document, such as a table.
//!
//! With `BLESS=1` the output below a command is rewritten, unless it has a `...`, and so is the
//! tables and the chart of other libraries (`peers`, `charts`).

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use usuba::circuit::Profile;
use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::lint::{Levels, lint};
use usuba::syntax::splice::Loader;

use crate::{charts, errors, layouts, listings, peers};
use xtask::repo::{File, Finding, Repo};

/// A fenced block of a document.
#[derive(PartialEq, Eq, Debug)]
pub struct Block<'a> {
    /// The line of its first line of text, counted from 1.
    pub line: usize,
    /// The text behind the fence.
    pub info: &'a str,
    pub lines: Vec<&'a str>,
}

/// The fenced blocks of a document.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut out = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(info), None) => open = Some(Block { line: at + 2, info, lines: Vec::new() }),
            (Some(_), Some(block)) => out.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line);
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    out
}

/// Whether documents are to be rewritten.
pub fn bless() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// The mark before a command whose output is a part of the document.
const GENERATED: &str = "<!-- $ ";

/// The generated parts of a document: line and text of the command, counted from 0, and the lines
/// below it.
fn generated<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str, Vec<&'a str>)> {
    let mut parts = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix(GENERATED) else { continue };
        let command = rest.trim_end_matches("-->").trim_end();
        let below = lines[at + 1..].iter().take_while(|line| **line != "<!-- end -->");
        parts.push((at, command, below.copied().collect()));
    }
    parts
}

/// Checks programs and commands of every document, with the `usubac` in a folder of the build, or
/// one that is built for it.
///
/// # Errors
/// A command that cannot be started, or a document that cannot be rewritten.
pub fn check(repo: &Repo, binaries: Option<&Path>) -> io::Result<Vec<Finding>> {
    let mut findings = programs(repo);
    let shell = Shell::prepare(&repo.root, binaries)?;
    let bless = bless();
    let runs = |file: &&File| file.text.contains("```console") || file.text.contains(GENERATED);
    for file in documents(repo).filter(runs) {
        shell.empty(&repo.root)?;
        let text = commands(file, &shell, bless, &mut findings)?;
        if text != file.text {
            std::fs::write(repo.root.join(&file.path), text)?;
        }
    }
    // The check before may have rewritten the page.
    let repo = Repo::load()?;
    findings.extend(peers::check(&repo, bless)?);
    findings.extend(charts::check(&repo, bless)?);
    findings.extend(errors::check(&repo, bless)?);
    findings.extend(layouts::check(&repo, bless)?);
    findings.extend(listings::check(&repo, bless)?);
    Ok(findings)
}

/// Every document but the error index, whose pages `usubac` tests with their own rules, and toys,
/// which are documents of a copy of the repository.
fn documents(repo: &Repo) -> impl Iterator<Item = &File> {
    let other = |path: &str| {
        path.starts_with("docs/errors/") || path.starts_with("xtask/toys/") || path == errors::PAGE
    };
    repo.matching("", ".md").filter(move |file| !other(&file.path))
}

/// Checks the programs of every document.
pub fn programs(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in documents(repo) {
        for block in blocks(&file.text) {
            let Some(info) = Info::of(&block) else { continue };
            if !info.part
                && let Err(what) = program(&block.lines.join("\n"), info.wanted)
            {
                findings.push(Finding::new(&file.path, block.line, what));
            }
        }
    }
    findings
}

/// The text behind the fence of a program.
struct Info<'a> {
    part: bool,
    /// `error=CODE`, `warning=CODE` or nothing.
    wanted: &'a str,
}

impl<'a> Info<'a> {
    fn of(block: &Block<'a>) -> Option<Info<'a>> {
        let mut words = block.info.split(',');
        if words.next() != Some("usuba") {
            return None;
        }
        let mut info = Info { part: false, wanted: "" };
        for word in words {
            match word.split_once('=') {
                Some(("file", _)) => {}
                Some(_) => info.wanted = word,
                None => info.part = word == "part",
            }
        }
        Some(info)
    }
}

/// No program of a document includes another one.
struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: &str, path: &str) -> Result<(String, String), String> {
        Err(format!("{path} is not there"))
    }
}

/// Whether the compiler answers `text` as `wanted`: nothing, `error=CODE` or `warning=CODE`.
fn program(text: &str, wanted: &str) -> Result<(), String> {
    if text.contains("# run:") {
        filetests::suite::test(&format!("# test run\n{text}\n"), false)?;
    }
    let mut sources = Sources::default();
    let root = sources.add("document", text);
    let checked =
        usuba::front(&mut sources, root, &mut Nothing, None, usuba::typed::Flags::default());
    let said = match checked {
        Err(found) => found,
        Ok(checked) => {
            let none = |_: Slicing, _: &usuba::ir::Op, _: u8| None;
            let profile = Profile::Andn;
            let slice = |slicing| usuba::Slice {
                slicing,
                word: None,
                profile,
                vectors: true,
                instructions: None,
            };
            let refusals: Vec<_> = [Slicing::V, Slicing::H, Slicing::B, Slicing::W]
                .into_iter()
                .map(slice)
                .map(|slice| usuba::to_usuba0(&checked.program, slice, &none).err())
                .collect();
            match refusals.iter().any(Option::is_none) {
                true => {
                    let lints = lint(&sources, &checked.program);
                    Levels::default().apply([checked.warnings, lints].concat())
                }
                false => refusals.into_iter().flatten().flatten().collect(),
            }
        }
    };
    let said: Vec<String> = said
        .iter()
        .map(|d| format!("{}={}", if d.is_error() { "error" } else { "warning" }, d.code))
        .collect();
    match (wanted, &said[..]) {
        ("", []) => Ok(()),
        ("", said) => Err(format!("the compiler says {}", said.join(", "))),
        (wanted, said) if said.iter().any(|one| one == wanted) => Ok(()),
        (wanted, said) => Err(format!("the compiler says [{}], not {wanted}", said.join(", "))),
    }
}

/// Where commands run: a folder of the build that is new for each document.
struct Shell {
    folder: std::path::PathBuf,
    path: std::ffi::OsString,
}

impl Shell {
    fn prepare(root: &Path, binaries: Option<&Path>) -> io::Result<Shell> {
        let target = std::env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| root.join("target"), |folder| root.join(folder));
        let folder = target.join("docs");
        let mut path = vec![match binaries {
            Some(binaries) => binaries.to_path_buf(),
            None => Shell::build(root).map(|()| target.join("debug"))?,
        }];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(path).map_err(io::Error::other)?;
        Ok(Shell { folder, path })
    }

    fn build(root: &Path) -> io::Result<()> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = Command::new(cargo)
            .args(["build", "--quiet", "--package", "usubac"])
            .current_dir(root)
            .status()?;
        match build.success() {
            true => Ok(()),
            false => Err(io::Error::other("usubac does not build")),
        }
    }

    /// Starts again with nothing but the ciphers, and the arithmetic of some of them.
    fn empty(&self, root: &Path) -> io::Result<()> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        let programs = ["ciphers", "arithmetic"];
        programs.iter().try_for_each(|name| copy(&root.join(name), &self.folder.join(name)))
    }

    /// The output of `command`: standard output and then standard error.
    fn run(&self, command: &str) -> io::Result<String> {
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .output()?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(text)
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), &to)?;
        }
    }
    Ok(())
}

/// Runs the commands of a document; returns its text, with new output where that was asked for.
fn commands(
    file: &File,
    shell: &Shell,
    bless: bool,
    findings: &mut Vec<Finding>,
) -> io::Result<String> {
    let mut lines: Vec<String> = file.text.lines().map(str::to_string).collect();
    // From the end, so that earlier line numbers stay true; commands still run in their order.
    let mut edits = Vec::new();
    for block in blocks(&file.text) {
        if let Some(name) = block.info.split(',').find_map(|word| word.strip_prefix("file=")) {
            std::fs::write(shell.folder.join(name), block.lines.join("\n") + "\n")?;
        }
        if block.info != "console" {
            continue;
        }
        let mut at = 0;
        while at < block.lines.len() {
            let shown = block.lines[at + 1..].iter().take_while(|line| !line.starts_with("$ "));
            let shown: Vec<&str> = shown.copied().collect();
            let number = block.line + at;
            match block.lines[at].strip_prefix("$ ") {
                None => {
                    let what = "a console block starts with `$ ` and a command";
                    findings.push(Finding::new(&file.path, number, what));
                }
                Some(command) => {
                    let printed = shell.run(command)?;
                    let printed: Vec<&str> = printed.lines().collect();
                    if !agrees(&shown, &printed) {
                        if bless && !shown.contains(&"...") {
                            let printed = printed.iter().map(|line| line.to_string()).collect();
                            edits.push((number, shown.len(), printed));
                        } else {
                            let what = format!(
                                "`{command}` prints this now:\n{}\n(BLESS=1 cargo xtask docs writes it down)",
                                printed.join("\n")
                            );
                            findings.push(Finding::new(&file.path, number, what));
                        }
                    }
                }
            }
            at += 1 + shown.len();
        }
    }
    let text: Vec<&str> = file.text.lines().collect();
    for (at, command, shown) in generated(&text) {
        let printed = shell.run(command)?;
        let printed: Vec<&str> = printed.lines().collect();
        if at + 1 + shown.len() == text.len() {
            findings.push(Finding::new(&file.path, at + 1, "there is no `<!-- end -->` below"));
        } else if printed != shown {
            if bless {
                let printed = printed.iter().map(|line| line.to_string()).collect();
                edits.push((at + 1, shown.len(), printed));
            } else {
                let what = format!(
                    "`{command}` prints something else now (BLESS=1 cargo xtask docs writes it down)"
                );
                findings.push(Finding::new(&file.path, at + 1, what));
            }
        }
    }
    edits.sort_by_key(|(number, ..)| *number);
    for (number, length, printed) in edits.into_iter().rev() {
        let printed: Vec<String> = printed;
        lines.splice(number..number + length, printed);
    }
    Ok(lines.join("\n") + "\n")
}

/// Whether `printed` is the text of a document, where a line `...` stands for any lines.
fn agrees(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..])),
        [line, rest @ ..] => printed.first() == Some(line) && agrees(rest, &printed[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_out() {
        let text = "Text.\n```usuba,part\na\nb\n```\n```\nc\n```\n";
        let found = blocks(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Block { line: 3, info: "usuba,part", lines: vec!["a", "b"] });
        assert_eq!((found[1].line, found[1].info), (7, ""));
    }

    #[test]
    fn generated_parts_are_cut_out() {
        let lines = ["a", "<!-- $ date -u -->", "b", "c", "<!-- end -->", "<!-- $ d -->", "e"];
        let found = generated(&lines);
        assert_eq!(found, [(1, "date -u", vec!["b", "c"]), (5, "d", vec!["e"])]);
    }

    #[test]
    fn output_is_compared_with_gaps() {
        assert!(agrees(&["a", "b"], &["a", "b"]));
        assert!(!agrees(&["a"], &["a", "b"]));
        assert!(!agrees(&["a", "b"], &["a"]));
        assert!(agrees(&["a", "...", "d"], &["a", "b", "c", "d"]));
        assert!(agrees(&["a", "..."], &["a"]));
        assert!(!agrees(&["...", "x"], &["a", "b"]));
    }

    #[test]
    fn programs_say_what_is_wanted() {
        let good = "node f (x:u32) returns (y:u32)\nlet\n  y = x <<< 1\ntel\n";
        let bad = good.replace("x <<<", "z <<<");
        assert_eq!(program(good, ""), Ok(()));
        assert_eq!(program(&bad, "error=U0201"), Ok(()));
        assert!(program(&bad, "").is_err());
        assert!(program(&bad, "error=U0101").is_err());
        assert!(program(good, "error=U0201").is_err());
        assert_eq!(program(&format!("{good}# run: f(3) == 6"), ""), Ok(()));
        assert!(program(&format!("{good}# run: f(3) == 7"), "").is_err());
    }

    #[test]
    fn a_bad_program_in_a_document_is_found() {
        let text = "Text.\n```usuba\nnode f\n```\n";
        let found = programs(&Repo::sample(&[("README.md", text)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
    }
}
