//! A diagnostic code is one row of `diag.rs`; the compiler reports it, a test shows it, and a page
//! of `docs/errors` explains it. No page explains a code that does not exist.

use crate::repo::{Finding, Repo};
use crate::rust::{is_test_file, product};

const ROWS: &str = "crates/usuba-lang/src/diag.rs";
const PAGES: &str = "docs/errors/";

struct Row<'a> {
    line: usize,
    name: &'a str,
    code: &'a str,
}

pub fn check(repo: &Repo) -> Vec<Finding> {
    let Some(file) = repo.get(ROWS) else { return Vec::new() };
    let rows = rows(&file.text);
    let mut findings = Vec::new();
    for row in &rows {
        let mut say = |what: String| findings.push(Finding::new(ROWS, row.line, what));
        if !is_given(repo, row) {
            say(format!("nothing in the compiler gives {} ({})", row.code, row.name));
        }
        if !is_tested(repo, row) {
            say(format!("no test shows {} ({})", row.code, row.name));
        }
        if repo.get(&format!("{PAGES}{}.md", row.code)).is_none() {
            say(format!("{PAGES}{}.md is missing", row.code));
        }
    }
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].iter().any(|other| other.code == row.code) {
            findings.push(Finding::new(ROWS, row.line, format!("{} is used twice", row.code)));
        }
    }
    for page in repo.matching(&format!("{PAGES}U"), ".md") {
        let code = &page.path[PAGES.len()..page.path.len() - ".md".len()];
        if !rows.iter().any(|row| row.code == code) {
            findings.push(Finding::new(&page.path, 0, format!("there is no code {code}")));
        }
    }
    findings
}

/// Lines such as `NoEntry = "U0207", "a program without the entry node";`
fn rows(text: &str) -> Vec<Row<'_>> {
    fn row((at, line): (usize, &str)) -> Option<Row<'_>> {
        let (name, rest) = line.trim().split_once(" = \"")?;
        let (code, title) = rest.split_once("\", \"")?;
        let digits = code.strip_prefix('U')?;
        let is_code = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit());
        (is_code && title.ends_with("\";")).then_some(Row { line: at + 1, name, code })
    }
    text.lines().enumerate().filter_map(row).collect()
}

fn is_given(repo: &Repo, row: &Row) -> bool {
    let name = format!("Code::{}", row.name);
    let mut files = repo.matching("crates/", ".rs").filter(|file| !is_test_file(&file.path));
    files.any(|file| product(&file.text).iter().any(|(_, line)| has_name(line, &name)))
}

/// A mark of a text test, or a Rust test that names the code in either spelling.
fn is_tested(repo: &Repo, row: &Row) -> bool {
    let mark = |text: &str| {
        text.contains(&format!("error {}", row.code))
            || text.contains(&format!("warning {}", row.code))
    };
    let name = format!("Code::{}", row.name);
    let rust = |text: &str| {
        let product: Vec<usize> = product(text).into_iter().map(|(line, _)| line).collect();
        text.lines().enumerate().any(|(at, line)| {
            let named = has_name(line, &name) || line.contains(row.code);
            named && !product.contains(&(at + 1)) && !line.trim_start().starts_with("//")
        })
    };
    repo.matching("tests/", "").any(|file| mark(&file.text) || file.text.contains(row.code))
        || repo.rust().any(|file| match is_test_file(&file.path) {
            true => file.text.contains(row.code) || file.text.lines().any(|l| has_name(l, &name)),
            false => file.path != ROWS && rust(&file.text),
        })
}

/// Whether `line` has `name` and not a longer one.
fn has_name(line: &str, name: &str) -> bool {
    let more = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| !line[at + name.len()..].starts_with(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIAG: &str =
        "codes! {\n    NoEntry = \"U0207\", \"a program without the entry node\";\n}\n";

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![(ROWS, DIAG)];
        all.extend(files);
        check(&Repo::sample(&all)).into_iter().map(|finding| finding.what).collect()
    }

    const GIVEN: (&str, &str) = ("crates/usuba/src/lib.rs", "return Code::NoEntry;");
    const TESTED: (&str, &str) = ("tests/typed/no-entry.ua", "# error U0207: no entry");
    const PAGE: (&str, &str) = ("docs/errors/U0207.md", "text");

    #[test]
    fn a_whole_code_is_fine() {
        assert_eq!(findings(&[GIVEN, TESTED, PAGE]), [""; 0]);
    }

    #[test]
    fn each_part_is_missed() {
        assert_eq!(findings(&[TESTED, PAGE]), ["nothing in the compiler gives U0207 (NoEntry)"]);
        assert_eq!(findings(&[GIVEN, PAGE]), ["no test shows U0207 (NoEntry)"]);
        assert_eq!(findings(&[GIVEN, TESTED]), ["docs/errors/U0207.md is missing"]);
    }

    #[test]
    fn a_longer_name_does_not_count() {
        let other = ("crates/usuba/src/lib.rs", "return Code::NoEntryAtAll;");
        assert!(findings(&[other, TESTED, PAGE])[0].contains("nothing in the compiler gives"));
    }

    #[test]
    fn a_unit_test_counts_as_a_test_and_not_as_a_use() {
        let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n    assert_eq!(c, Code::NoEntry);\n}\n";
        let unit = ("crates/usuba-lang/src/typed/mod.rs", text);
        assert_eq!(findings(&[GIVEN, unit, PAGE]), [""; 0]);
        assert_eq!(findings(&[unit, PAGE]).len(), 1);
    }

    #[test]
    fn a_page_without_code_is_found() {
        let stray = ("docs/errors/U0999.md", "");
        assert_eq!(findings(&[GIVEN, TESTED, PAGE, stray]), ["there is no code U0999"]);
    }
}
