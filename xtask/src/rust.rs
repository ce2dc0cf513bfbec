//! Rust text for the rules: without comments and tests, and its imports.
//!
//! There is no parser: rustfmt has put every item and brace in its place for a line-based reading.

/// Whether a file holds tests only.
pub fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs")
        || path.split('/').rev().skip(1).any(|folder| folder == "tests" || folder == "benches")
}

/// The lines of a file that are part of the product, numbered from 1: no comment lines and no
/// items under `#[cfg(test)]`. The text after `//` on a line of code is cut off, unless the two
/// slashes stand in a string.
pub fn product(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((number, line)) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let indent = line.len() - line.trim_start().len();
            // Rustfmt closes an item with a line of its own indentation, or ends it with `;`.
            let end = |line: &str| {
                let same = line.len() - line.trim_start().len() == indent;
                same && (line.ends_with(';') || line.trim_start().starts_with('}'))
            };
            lines.by_ref().find(|(_, line)| end(line));
        } else {
            let code = line[..comment_start(line)].trim_end();
            if !code.is_empty() {
                out.push((number, code.to_string()));
            }
        }
    }
    out
}

/// Where the comment of a line starts: at its two slashes outside of a string, or at its end.
pub fn comment_start(line: &str) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    let bytes = line.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            // A quote in a character literal opens nothing.
            b'"' if at > 0 && bytes[at - 1] == b'\'' && bytes.get(at + 1) == Some(&b'\'') => {}
            b'"' => quoted = !quoted,
            b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => return at,
            _ => {}
        }
    }
    line.len()
}

/// Every path that `lines` name below a root, such as `crate::`, with its line.
/// `use crate::ir::{Op, print::names}` gives `ir::Op` and `ir::print::names`.
pub fn paths_below(root: &str, lines: &[(usize, String)]) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        for (column, _) in line.match_indices(root) {
            // A list may go on over several lines; its end is found by its braces.
            let rest = lines[at + 1..].iter().take(40).map(|(_, line)| line.as_str());
            let text: String = std::iter::once(&line[column + root.len()..])
                .chain(rest)
                .collect::<Vec<_>>()
                .join(" ");
            let mut paths = Vec::new();
            expand("", &text, &mut paths);
            out.extend(paths.into_iter().map(|path| (*number, path)));
        }
    }
    out
}

/// Expands one use tree at the start of `text` below `prefix`; returns the text after it.
fn expand<'a>(prefix: &str, text: &'a str, out: &mut Vec<String>) -> &'a str {
    let text = text.trim_start();
    let join = |name: &str| match prefix {
        "" => name.to_string(),
        _ => format!("{prefix}::{name}"),
    };
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = expand(prefix, rest, out).trim_start();
            match rest.strip_prefix(',') {
                Some(more) if !more.trim_start().starts_with('}') => rest = more,
                Some(more) => return more.trim_start().strip_prefix('}').unwrap_or(more),
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let length = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    if let Some(star) = rest.strip_prefix('*').filter(|_| name.is_empty()) {
        out.push(join("*"));
        return star;
    }
    let path = if name == "self" { prefix.to_string() } else { join(name) };
    if let Some(below) = rest.strip_prefix("::")
        && below.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '{' || c == '*')
    {
        return expand(&path, below, out);
    }
    out.push(path);
    // `Op as Operator` ends with the new name.
    match rest.trim_start().strip_prefix("as ") {
        Some(renamed) => renamed.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        paths_below("crate::", &product(text)).into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn use_trees_become_paths() {
        assert_eq!(paths("use crate::ir::Op;"), ["ir::Op"]);
        assert_eq!(paths("use crate::circuit::{self, Circuit};"), ["circuit", "circuit::Circuit"]);
        assert_eq!(
            paths("use crate::{Slice, ir::{Op, print::*}, typed};"),
            ["Slice", "ir::Op", "ir::print::*", "typed"]
        );
        assert_eq!(
            paths("use crate::ir::{\n    Op,\n    Val,\n};\nuse std::fmt;"),
            ["ir::Op", "ir::Val"]
        );
        assert_eq!(
            paths("let x: crate::ir::Op = crate::ir::op::eval(1);"),
            ["ir::Op", "ir::op::eval"]
        );
        assert_eq!(paths("use crate::ir::Op as Operator;"), ["ir::Op"]);
    }

    #[test]
    fn comments_and_tests_are_not_product() {
        let text = "//! crate::a\nfn f() {} // crate::b\n#[cfg(test)]\nmod tests;\nuse crate::c;\n\
                    #[cfg(test)]\nmod more {\n    use crate::d;\n}\nlet s = \"// crate::e\";\n";
        assert_eq!(paths(text), ["c", "e"]);
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        assert!(is_test_file("crates/usuba/src/ir/print/tests.rs"));
        assert!(is_test_file("crates/usubac/tests/cli.rs"));
        assert!(!is_test_file("crates/usuba/src/ir/mod.rs"));
    }
}
