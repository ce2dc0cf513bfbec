//! The tree-sitter grammar accepts every text that the parser of the compiler accepts: all programs
//! of the repository, and random changes of them.
//!
//! The command-line program of tree-sitter generates and compiles the parser. `TREE_SITTER` names
//! it if it is not in the path; without it, or with one before [`OLDEST`], the tests are skipped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::syntax::{Lexer, parse};

/// The oldest version that these tests are known to work with.
const OLDEST: (u32, u32) = (0, 27);

/// The first two numbers in the output of `tree-sitter --version`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split_whitespace().nth(1)?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The grammar in a folder of its own, with a generated parser.
struct Grammar {
    program: String,
    folder: PathBuf,
}

impl Grammar {
    /// Generates the parser in a new folder; none without the program of tree-sitter.
    fn generate(name: &str) -> Option<Grammar> {
        let program = std::env::var("TREE_SITTER").unwrap_or_else(|_| "tree-sitter".to_string());
        let output = Command::new(&program).arg("--version").output().ok();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        if text.as_deref().and_then(version).is_none_or(|found| found < OLDEST) {
            let (major, minor) = OLDEST;
            println!("skipped: there is no tree-sitter {major}.{minor} at `{program}`");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        copy(&root().join("editors/tree-sitter-usuba"), &folder).expect("copied");
        let grammar = Grammar { program, folder };
        grammar.run(&["generate", "--js-runtime", "native"]);
        Some(grammar)
    }

    /// Runs a command, which succeeds, and returns its standard output.
    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.folder);
        // Compiled parsers stay in the folder of the test.
        command.env("TREE_SITTER_LIBDIR", self.folder.join("lib"));
        let output = command.output().expect("tree-sitter runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {text}\n{errors}");
        text
    }
}

/// Copies a folder without the files that git ignores.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "src" || name == "node_modules" {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to.join(name))?,
            false => drop(fs::copy(entry.path(), to.join(name))?),
        }
    }
    Ok(())
}

/// All programs below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        if entry.file_type().expect("a type").is_dir() {
            if !name.starts_with('.') && name != "target" {
                programs(&entry.path(), found);
            }
        } else if name.ends_with(".ua") {
            found.push(entry.path());
        }
    }
}

fn is_accepted(text: &str) -> bool {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    !parse(&sources, file).1.iter().any(Diagnostic::is_error)
}

/// Pseudo-random numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The text with a token removed, doubled, or replaced by a token of another text.
fn changed(text: &str, other: &str, random: &mut Random) -> Option<String> {
    let tokens = |text: &str| {
        let spans = Lexer::everything(text, FileId(0)).0.into_iter().map(|token| token.span);
        spans.map(|span| (span.start as usize, span.end as usize)).collect::<Vec<_>>()
    };
    let (own, others) = (tokens(text), tokens(other));
    let (start, end) = *own.get(random.below(own.len()))?;
    let (from, to) = *others.get(random.below(others.len()))?;
    let token = &text[start..end];
    let new = match random.below(4) {
        0 => String::new(),
        1 => format!("{token} {token}"),
        2 => format!("{token} {}", &other[from..to]),
        _ => other[from..to].to_string(),
    };
    Some(format!("{} {new} {}", &text[..start], &text[end..]))
}

#[test]
fn accepted_texts_have_no_error_nodes() {
    let Some(grammar) = Grammar::generate("tree-sitter-texts") else { return };
    let mut paths = Vec::new();
    programs(&root(), &mut paths);
    paths.sort();
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a program");
    let texts: Vec<String> = paths.iter().map(read).filter(|text| is_accepted(text)).collect();
    assert!(texts.len() > 300, "{} programs", texts.len());
    let small: Vec<&String> = texts.iter().filter(|text| text.len() < 2000).collect();
    let mut random = Random(7);
    let mut pick = || small[random.below(small.len())];
    let pairs: Vec<(&String, &String)> = (0..20_000).map(|_| (pick(), pick())).collect();
    let changes = pairs.iter().filter_map(|(text, other)| changed(text, other, &mut random));
    let changes: Vec<String> = changes.filter(|text| is_accepted(text)).take(4_000).collect();
    assert!(changes.len() > 1_000, "{} changed programs", changes.len());
    let folder = grammar.folder.join("texts");
    fs::create_dir(&folder).expect("a folder");
    let mut list = String::new();
    for (at, text) in texts.iter().chain(&changes).enumerate() {
        let path = folder.join(format!("{at}.ua"));
        fs::write(&path, text).expect("written");
        list += &format!("{}\n", path.display());
    }
    let names = grammar.folder.join("list");
    fs::write(&names, list).expect("written");
    grammar.run(&["parse", "--quiet", "--paths", "list"]);
}

/// The corpus has the expected trees, the tokens of `test/highlight` their colours, and every query
/// names nodes of the grammar.
#[test]
fn trees_and_queries_are_as_expected() {
    let Some(grammar) = Grammar::generate("tree-sitter-tests") else { return };
    grammar.run(&["test"]);
    for query in ["highlights", "locals", "folds"] {
        let query = format!("queries/{query}.scm");
        let found = grammar.run(&["query", &query, "test/highlight/usuba.ua"]);
        assert!(found.contains("capture"), "{query}: {found}");
    }
}
