//! A test can fail: it asserts something, or calls a function that does (one of its file, or one
//! whose name begins with `check_`). A test that fails in another way (the compiler under test
//! would panic, or never end) says so in a comment with the word "fails".

use crate::repo::{Finding, Repo};

/// Text that can make a test fail.
const FAILS: &[&str] = &[
    "assert",
    "check_",
    "panic",
    "unwrap()",
    "expect(",
    "expect_err(",
    "unreachable!(",
    "?;",
    "fails",
    "Fails",
];

/// A function, cut out of a file.
struct Function<'a> {
    name: &'a str,
    line: usize,
    is_test: bool,
    body: String,
}

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let functions = functions(&file.text);
        // Functions that can fail, by name; grows until nothing is added, as helpers call helpers.
        let mut able: Vec<&str> = Vec::new();
        loop {
            let fails = |f: &&Function| {
                !able.contains(&f.name)
                    && (FAILS.iter().any(|word| f.body.contains(word))
                        || able.iter().any(|name| f.body.contains(&format!("{name}("))))
            };
            let more: Vec<&str> = functions.iter().filter(fails).map(|f| f.name).collect();
            if more.is_empty() {
                break;
            }
            able.extend(more);
        }
        for function in functions.iter().filter(|f| f.is_test && !able.contains(&f.name)) {
            let what = format!("the test `{}` asserts nothing; say how it fails", function.name);
            findings.push(Finding::new(&file.path, function.line, what));
        }
    }
    findings
}

/// The functions of a file. Rustfmt closes each with a brace in the column of its first word.
fn functions(text: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        let words = trimmed.strip_prefix("pub ").or(trimmed.strip_prefix("pub(crate) "));
        let Some(rest) = words.unwrap_or(trimmed).strip_prefix("fn ") else { continue };
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        let length = length(&lines[at..], indent);
        // The text between the name and the last brace; the name itself proves nothing.
        let body = lines[at..at + length].join("\n").replacen(name, "", 1);
        let above = lines[..at].iter().rev().take_while(|l| l.trim_start().starts_with(['#', '/']));
        let is_test = above.into_iter().any(|l| l.trim() == "#[test]");
        out.push(Function { name, line: at + 1, is_test, body });
    }
    out
}

/// Number of lines of the function that starts `lines`: up to its closing brace, which does not
/// stand in a string.
fn length(lines: &[&str], indent: &str) -> usize {
    if lines[0].ends_with('}') {
        return 1;
    }
    let close = format!("{indent}}}");
    let mut quoted = false;
    for (at, line) in lines.iter().enumerate() {
        if !quoted && *line == close {
            return at + 1;
        }
        // Quotes that are escaped or characters of their own open and close nothing.
        let plain = line.replace("\\\\", "").replace("\\\"", "").replace("'\"'", "");
        quoted ^= plain.matches('"').count() % 2 == 1;
    }
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        check(&Repo::sample(&[("crates/a/src/lib.rs", text)])).iter().map(|f| f.line).collect()
    }

    #[test]
    fn a_test_that_cannot_fail_is_found() {
        assert_eq!(found("#[test]\nfn runs() {\n    let x = f();\n}\n"), [2]);
        assert_eq!(found("    #[test]\n    fn asserts() {\n        f();\n    }\n"), [2]);
    }

    #[test]
    fn a_brace_in_a_string_closes_nothing() {
        let text = "#[test]\nfn a() {\n    let t = \"\\\n}\n\";\n    assert!(f(t));\n}\n";
        assert_eq!(found(text), [0; 0]);
    }

    #[test]
    fn a_test_that_can_fail_is_not() {
        let test = |body: &str| format!("#[test]\nfn runs() {{\n    {body}\n}}\n");
        for body in ["assert_eq!(1, 2);", "f().unwrap();", "f()?;", "f().expect(\"why\");"] {
            assert_eq!(found(&test(body)), [0; 0], "{body}");
        }
        assert_eq!(found(&test("// It fails when `f` never ends.\n    f();")), [0; 0]);
        let helper = "fn check_it() {\n    inner();\n}\nfn inner() {\n    panic!(\"no\");\n}\n";
        assert_eq!(found(&format!("{helper}{}", test("check_it();"))), [0; 0]);
    }
}
