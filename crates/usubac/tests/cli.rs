//! Transcripts of the command line, in `tests/cli/*.txt`. `BLESS=1` rewrites the answers.
//!
//! ```text
//! @ a.ua                       a file, with its lines behind bars
//! | node f ...
//! $ usubac check a.ua          a command: `usubac`, or `cat` and `ls` of the folder
//! ? 1                          its status, if it is not 0
//! > ...                        what it wrote to standard output
//! ! ...                        what it wrote to standard error
//! ```
//!
//! A command may read a file with `< NAME`. Other lines are comments. The times that proofs took
//! read as TIME, and text that depends on the C compiler as VERSION, COUNT and HASH.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Splits at blanks outside of quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut open) = (String::new(), None, false);
    for c in line.chars() {
        match c {
            '\'' | '"' if quoted.is_none() => (quoted, open) = (Some(c), true),
            c if quoted == Some(c) => quoted = None,
            ' ' if quoted.is_none() => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            c => {
                word.push(c);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

/// Text that depends on the machine and its compilers: the text before it, its replacement, and the
/// characters that it may have besides digits. It begins with a digit, or has letters of numbers
/// only.
const SETTLED: [(&str, &str, &str); 8] = [
    ("compiled in ", "TIME", ".e- µms"),
    ("proved in ", "TIME", ".e- µms"),
    ("PROVED in ", "TIME", ".e- µms"),
    ("seconds\":", "TIME", ".e-"),
    ("by gcc ", "VERSION", "."),
    ("by = \"gcc ", "VERSION", "."),
    ("in constant time: ", "COUNT", ""),
    ("sha256 = \"", "HASH", HEX),
];

const HEX: &str = "abcdef";

/// The text without the parts that depend on the machine.
fn settled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = SETTLED.iter().filter_map(|(start, name, more)| {
            let first = |c: char| c.is_ascii_digit() || *more == HEX && HEX.contains(c);
            let mut ends = rest.match_indices(start).map(|(at, _)| at + start.len());
            let end = ends.find(|&end| rest[end..].starts_with(first))?;
            Some((end, name, more))
        });
        let Some((end, name, more)) = found.min_by_key(|(end, ..)| *end) else {
            return out + rest;
        };
        out.push_str(&rest[..end]);
        out.push_str(name);
        rest = rest[end..].trim_start_matches(|c: char| c.is_ascii_digit() || more.contains(c));
    }
}

/// The lines that a command answers with.
fn answer(command: &str, dir: &Path) -> Vec<String> {
    let words = words(command);
    let (out, err, status) = match words[0].as_str() {
        "cat" => (fs::read_to_string(dir.join(&words[1])).expect("a file"), String::new(), 0),
        "ls" => {
            let entries = fs::read_dir(dir).expect("a folder");
            let name = |e: fs::DirEntry| e.file_name().to_string_lossy().into_owned() + "\n";
            let mut names: Vec<String> = entries.map(|e| name(e.expect("an entry"))).collect();
            names.sort();
            (names.concat(), String::new(), 0)
        }
        "usubac" => {
            let at = words.iter().position(|w| w == "<").unwrap_or(words.len());
            let stdin = match words.get(at + 1) {
                Some(name) => Stdio::from(File::open(dir.join(name)).expect("a file")),
                None => Stdio::null(),
            };
            let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
                .args(&words[1..at])
                .current_dir(dir)
                .env("COLUMNS", "100")
                .stdin(stdin)
                .output()
                .expect("usubac runs");
            let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
            (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
        }
        other => panic!("transcripts know usubac, cat and ls, not {other}"),
    };
    let mut lines = Vec::new();
    if status != 0 {
        lines.push(format!("? {status}"));
    }
    let (out, err) = (settled(&out), settled(&err));
    let mark = |mark: char, line: &str| format!("{mark} {line}").trim_end().to_string();
    lines.extend(out.lines().map(|line| mark('>', line)));
    lines.extend(err.lines().map(|line| mark('!', line)));
    lines
}

/// The transcript as it should read.
fn replay(transcript: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let mut out: Vec<String> = Vec::new();
    let mut file = None;
    for line in transcript.lines() {
        if line.starts_with(['>', '!', '?']) {
            continue;
        }
        out.push(line.to_string());
        if let Some(name) = line.strip_prefix("@ ") {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("inside of the folder")).expect("made");
            fs::write(&path, "").expect("written");
            file = Some(path);
        } else if let (Some(path), Some(text)) = (&file, line.strip_prefix('|')) {
            let old = fs::read_to_string(path).expect("just written");
            let text = text.strip_prefix(' ').unwrap_or(text);
            fs::write(path, format!("{old}{text}\n")).expect("written");
        } else if let Some(command) = line.strip_prefix("$ ") {
            out.extend(answer(command, dir.path()));
        }
    }
    out.join("\n") + "\n"
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("transcripts").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for path in paths {
        let written = fs::read_to_string(&path).expect("a transcript");
        let now = replay(&written);
        if now == written {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, now).expect("blessed");
            continue;
        }
        let differ = written.lines().zip(now.lines()).find(|(a, b)| a != b);
        wrong.push(format!("{}: {differ:?}", path.display()));
    }
    assert!(wrong.is_empty(), "run with BLESS=1 and look at the change:\n{}", wrong.join("\n"));
}
