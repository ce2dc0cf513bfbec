//! Validation of the text fields of `cipher.toml` and similar files, with a place for each error.
//!
//! ```text
//! name = "../../evil"      cipher.toml:4:8: found `.` in `name`, expected …; help: …
//! slicings = []            cipher.toml:6:12: `slicings` is an empty list, expected …; help: …
//! ```
//!
//! Names become parts of identifiers in C and Rust, and of file names; paths are opened.
//! So every text field has a syntax, from one table.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};
use usuba::names::did_you_mean;
use usuba::typed::Entry;

/// The syntax of a text field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Syntax {
    /// A part of identifiers in C and Rust.
    Name,
    /// An identifier of the language.
    Identifier,
    /// A file relative to the folder.
    Path,
    /// A folder beside this one, perhaps with a colon and a function of it.
    Need,
    /// The instance of a node, as `--entry` takes it.
    Entry,
    /// An entry, perhaps behind a file and a colon.
    Node,
    /// A line of prose for comments.
    Line,
}

/// The fields with their syntax; `TABLE.FIELD` where tables differ.
const TEXTS: &[(&str, Syntax)] = &[
    ("title", Syntax::Line),
    ("spec", Syntax::Line),
    ("name", Syntax::Name),
    ("first", Syntax::Name),
    ("then", Syntax::Name),
    ("stream", Syntax::Name),
    ("inner", Syntax::Name),
    ("cipher", Syntax::Name),
    ("chain", Syntax::Name),
    ("prepare", Syntax::Name),
    ("wide", Syntax::Name),
    ("duplex.long", Syntax::Name),
    ("duplex.short", Syntax::Name),
    ("duplex.seal", Syntax::Name),
    ("duplex.open", Syntax::Name),
    ("nodes", Syntax::Name),
    ("wide-nodes", Syntax::Name),
    ("narrow-nodes", Syntax::Name),
    ("apart", Syntax::Name),
    ("small-nodes", Syntax::Name),
    ("seldom", Syntax::Name),
    ("once", Syntax::Name),
    ("node", Syntax::Entry),
    ("function.small", Syntax::Entry),
    ("param", Syntax::Identifier),
    ("schedule", Syntax::Node),
    ("source", Syntax::Path),
    ("vectors", Syntax::Path),
    ("gp64", Syntax::Path),
    ("gp32", Syntax::Path),
    ("arithmetic.small", Syntax::Path),
    ("program", Syntax::Path),
    ("needs", Syntax::Need),
];

/// The lists that need an element.
const LISTS: &[&str] = &["slicings", "input", "nodes"];

/// Words of Rust that are no names of functions or modules.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

impl Syntax {
    /// Whether `text` has this syntax.
    fn accepts(self, text: &str) -> bool {
        let letters = |text: &str, more: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        match self {
            Syntax::Name => {
                let upper = text.contains(|c: char| c.is_ascii_uppercase());
                letters(text, "_") && !upper && !RESERVED.contains(&text)
            }
            Syntax::Identifier => letters(text, "_'"),
            Syntax::Need => {
                let (folder, function) = text.split_once(':').unwrap_or((text, "a"));
                letters(folder, "_-.") && Syntax::Name.accepts(function)
            }
            Syntax::Path => {
                let mut parts = text.split('/').skip_while(|part| *part == "..").peekable();
                parts.peek().is_some() && parts.all(|part| letters(part, "_-."))
            }
            Syntax::Entry => Entry::parse(text).is_ok_and(|entry| entry.to_string() == text),
            Syntax::Node => match text.split_once(':') {
                Some((file, node)) => Syntax::Path.accepts(file) && Syntax::Entry.accepts(node),
                None => Syntax::Entry.accepts(text),
            },
            Syntax::Line => !text.is_empty() && !text.chars().any(|c| c.is_control() || c == '@'),
        }
    }

    /// The syntax in words, and an example.
    fn expected(self) -> (&'static str, &'static str) {
        match self {
            Syntax::Name => (
                "lower-case letters, digits and `_`, a letter first, and no word of Rust",
                "aes128_encrypt",
            ),
            Syntax::Identifier => ("letters, digits, `_` and `'`, a letter first", "encrypt128"),
            Syntax::Path => ("a relative path of letters, digits, `_`, `-` and `.`", "aes.ua"),
            Syntax::Need => (
                "letters, digits, `_`, `-` and `.`, a letter first, perhaps with a colon and a \
                 function",
                "sha2:sha512",
            ),
            Syntax::Entry => ("a node, perhaps with its arguments", "permute(12)"),
            Syntax::Node => ("a node, or a file, a colon and a node", "schedule.ua:schedule128"),
            Syntax::Line => ("one line of text without `@`", "FIPS 197"),
        }
    }
}

/// Checks that a folder's name can be part of identifiers and of file names.
///
/// # Errors
/// It cannot; the message has the expected syntax.
pub fn folder_name(folder: &Path) -> Result<String, String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().replace(['-', '.'], "_");
    match Syntax::Name.accepts(&name) {
        true => Ok(name),
        false => {
            let (expected, example) = Syntax::Name.expected();
            Err(format!(
                "{}: found the folder name {name:?}, expected {expected}; help: rename it, as in \
                 `{example}`",
                folder.display()
            ))
        }
    }
}

/// `path:line:column` of a byte of `text`.
pub fn place(path: &Path, text: &str, at: usize) -> String {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("{}:{line}:{column}", path.display())
}

/// Reads the TOML in `text`, the content of `path`, as a `T`.
///
/// # Errors
/// The text is no TOML or no `T`; the message names the place.
pub fn toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let help = suggestion(&message).map_or(String::new(), |near| format!("; help: {near}"));
        format!("{}: {message}{help}", place(path, text, at))
    })
}

/// The name that is close to the first one of "unknown field `x`, expected one of `y`, `z`".
fn suggestion(message: &str) -> Option<String> {
    let mut names = message.split('`').skip(1).step_by(2);
    let name = names.next().filter(|_| message.starts_with("unknown "))?;
    did_you_mean(name, names)
}

/// As [`toml`], with the text fields and the lists of `cipher.toml` checked.
///
/// # Errors
/// As [`toml`], or a field is unsafe.
pub fn checked<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, String> {
    let value = toml(path, text)?;
    // It was read above.
    let Ok(table) = DeTable::parse(text) else { return Ok(value) };
    let check = Check { path, text };
    check.table("", table.get_ref()).map(|()| value)
}

/// A file under check.
struct Check<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Check<'_> {
    fn table(&self, name: &str, table: &DeTable) -> Result<(), String> {
        table.iter().try_for_each(|(key, value)| {
            let at = value.span().start;
            self.value(name, key.get_ref(), value.get_ref(), at)
        })
    }

    fn value(&self, table: &str, key: &str, value: &DeValue, at: usize) -> Result<(), String> {
        let place = || place(self.path, self.text, at);
        match value {
            DeValue::Table(inner) => self.table(key, inner),
            DeValue::Array(list) if list.is_empty() && LISTS.contains(&key) => Err(format!(
                "{}: `{key}` is an empty list, expected at least one element; help: add one",
                place()
            )),
            DeValue::Array(list) => list.iter().try_for_each(|element| {
                self.value(table, key, element.get_ref(), element.span().start)
            }),
            DeValue::String(text) => {
                let own = |(field, _): &&(&str, Syntax)| match field.split_once('.') {
                    Some(pair) => pair == (table, key),
                    None => *field == key,
                };
                // Programs for targets are listed by them.
                let special = (table == "special").then_some(Syntax::Path);
                let syntax = TEXTS.iter().find(own).map(|(_, syntax)| *syntax).or(special);
                match syntax {
                    Some(syntax) if !syntax.accepts(text) => {
                        let (expected, example) = syntax.expected();
                        Err(format!(
                            "{}: found {text:?} as `{key}`, expected {expected}; help: write one \
                             such as `{key} = \"{example}\"`",
                            place()
                        ))
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Texts that no name, path or line may be: C, CMake, Rust, Make, shells and file systems would
    /// read something else in them.
    const HOSTILE: &[&str] = &[
        "",
        "a\\n */\\nint evil_global = 7;\\nstatic int zz",
        "../../evil\\u0000",
        "/etc/passwd\\t",
        "x\\r\\n#include <evil.h>",
        "@NAME@",
        "\\u001b[2J",
    ];

    /// Texts that are prose and nothing else.
    const SENTENCES: &[&str] = &[
        "a b;c", "*/ x", "$(rm)", "é", "-o", "a\\\"b", "..", "../", "a/../b", "${X}", "a#b",
        ".git", "f(1", "f(1) */", "f<x>",
    ];

    /// Replaces the text of every field of every folder by hostile ones, one at a time.
    #[test]
    fn no_hostile_text_passes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        let mut fields = 0;
        for folder in fs::read_dir(root).expect("the folders").flatten() {
            let path = folder.path().join("cipher.toml");
            let text = fs::read_to_string(&path).expect("cipher.toml");
            // The same line twice says nothing new.
            let mut seen = std::collections::BTreeSet::new();
            for (at, _) in text.match_indices("= \"") {
                let key = text[..at].trim_end().rsplit([' ', '\n', '{']).next().unwrap_or_default();
                let known = |name: &str| TEXTS.iter().find(|(field, _)| field.ends_with(name));
                let Some((_, syntax)) = known(key).filter(|_| seen.insert(key)) else { continue };
                let end = at + 3 + text[at + 3..].find('"').expect("a text ends");
                let prose = if *syntax == Syntax::Line { &[][..] } else { SENTENCES };
                for hostile in HOSTILE.iter().chain(prose) {
                    let changed = format!("{}{hostile}{}", &text[..at + 3], &text[end..]);
                    let message = crate::parse(&path, &changed).expect_err(hostile);
                    let line = text[..at].matches('\n').count() + 1;
                    let place = format!("cipher.toml:{line}:");
                    assert!(message.contains(&place), "{hostile:?} as {key}: {message}");
                    assert!(message.contains("expected"), "{hostile:?} as {key}: {message}");
                }
                fields += 1;
            }
        }
        assert!(fields > 150, "{fields} fields");
    }

    #[test]
    fn names_of_folders_and_empty_lists_are_checked() {
        for name in ["a b", "3des", "self", "é", "A"] {
            assert!(folder_name(Path::new(name)).is_err(), "{name}");
        }
        assert_eq!(folder_name(Path::new("x/keccak-f.1600")).as_deref(), Ok("keccak_f_1600"));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        let path = folder.join("cipher.toml");
        let text = fs::read_to_string(&path).expect("cipher.toml");
        let empty = text.replacen("[\"V\", \"H\", \"B\"]", "[]", 1);
        let message = crate::parse(&path, &empty).expect_err("nothing is made");
        assert!(message.contains("cipher.toml:8:13: `slicings` is an empty list"), "{message}");
    }

    #[test]
    fn keys_and_words_that_are_close_are_suggested() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        let path = folder.join("cipher.toml");
        let text = fs::read_to_string(&path).expect("cipher.toml");
        for (right, wrong) in [("title ", "titel "), ("slicings ", "slicing ")] {
            let changed = text.replacen(right, wrong, 1);
            let message = crate::parse(&path, &changed).expect_err(wrong);
            let help = format!("; help: did you mean `{}`?", right.trim());
            assert!(message.ends_with(&help), "{message}");
        }
    }
}
