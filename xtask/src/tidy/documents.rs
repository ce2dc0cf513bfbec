//! Documents: links and anchors inside the repository have a target, every chapter of the book is in
//! its contents, and a line of prose holds one sentence, so that a diff shows changed sentences.
//! Shell commands run as `console` blocks; a block of a shell that no test runs gives its reason:
//!
//! ```text
//! <!-- not run: it takes minutes -->
//! ```

use crate::repo::{File, Finding, Repo};

/// Words before a full stop that end no sentence.
const SHORT: &[&str] = &["e.g", "i.e", "vs", "et al", "cf"];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.matching("", ".md") {
        links(repo, file, &mut findings);
        sentences(file, &mut findings);
        commands(file, &mut findings);
    }
    chapters(repo, &mut findings);
    findings
}

/// The lines outside of code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!fence && !code).then_some((at + 1, line))
    })
}

fn links(repo: &Repo, file: &File, findings: &mut Vec<Finding>) {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (number, line) in prose(&file.text) {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split(')').next().unwrap_or_default();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (target, anchor) = match target.split_once('#') {
                Some((target, anchor)) => (target, Some(anchor)),
                None => (target, None),
            };
            let path = match target {
                "" => file.path.clone(),
                _ => join(folder, target),
            };
            let is_folder = |path: &str| repo.matching(&format!("{path}/"), "").next().is_some();
            let found = repo.get(&path);
            if found.is_none() && !is_folder(path.trim_end_matches('/')) {
                let what = format!("the link `{target}` leads nowhere");
                findings.push(Finding::new(&file.path, number, what));
            }
            if let (Some(page), Some(anchor)) = (found, anchor)
                && page.path.ends_with(".md")
                && !anchors(&page.text).iter().any(|known| known == anchor)
            {
                let what = format!("`{}` has no heading for `#{anchor}`", page.path);
                findings.push(Finding::new(&file.path, number, what));
            }
        }
    }
}

/// The anchors of the headings, as GitHub and mdbook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let heading = |line: &str| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' ').map(anchor))?
    };
    for base in prose(text).filter_map(|(_, line)| heading(line)) {
        let numbered = (1..).map(|number| format!("{base}-{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !all.contains(name));
        all.extend(name);
    }
    all
}

/// The anchor of one heading.
fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// A block of shell commands that no test runs needs a reason above it.
fn commands(file: &File, findings: &mut Vec<Finding>) {
    let shell = ["```sh", "```bash", "```shell"];
    let mut before = "";
    for (at, line) in file.text.lines().enumerate() {
        if shell.contains(&line) && !before.starts_with("<!-- not run: ") {
            let what =
                "no test runs these commands: use `console`, or `<!-- not run: REASON -->` above";
            findings.push(Finding::new(&file.path, at + 1, what));
        }
        if !line.is_empty() {
            before = line;
        }
    }
}

/// `target` as seen from `folder`.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn sentences(file: &File, findings: &mut Vec<Finding>) {
    for (number, line) in prose(&file.text) {
        // A row of a table has no limit.
        if line.starts_with('|') {
            continue;
        }
        let line = without_code(line);
        let two = line.match_indices(['.', '!', '?']).any(|(at, _)| {
            let mut after = line[at + 1..].chars();
            let next = after.next() == Some(' ') && after.next().is_some_and(char::is_uppercase);
            let numbered = line[..at].trim_start().bytes().all(|b| b.is_ascii_digit());
            next && !numbered && !SHORT.iter().any(|word| line[..at].ends_with(word))
        });
        if two {
            findings.push(Finding::new(&file.path, number, "two sentences on one line"));
        }
    }
}

/// `line` with the text between backquotes replaced by underscores of the same length.
fn without_code(line: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => part.to_string(),
        _ => "_".repeat(part.len()),
    };
    line.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

fn chapters(repo: &Repo, findings: &mut Vec<Finding>) {
    let Some(contents) = repo.get("docs/book/src/SUMMARY.md") else { return };
    for file in repo.matching("docs/book/src/", ".md") {
        let name = &file.path["docs/book/src/".len()..];
        if name != "SUMMARY.md" && !contents.text.contains(&format!("]({name})")) {
            findings.push(Finding::new(&file.path, 0, "the chapter is not in SUMMARY.md"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let files = [(path, text), ("docs/a/b.md", "# `X` y: Z\n\n## X\n\n## X\n")];
        check(&Repo::sample(&files)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn links_lead_somewhere() {
        assert_eq!(
            findings("README.md", "[b](docs/a/b.md#x-1) and [web](https://x.y/z)\n"),
            [""; 0]
        );
        assert_eq!(
            findings("docs/c.md", "# Top\n[b](a/b.md#x-y-z), [b](../docs/a) and [here](#top)\n"),
            [""; 0]
        );
        assert!(findings("README.md", "[b](docs/b.md)\n")[0].contains("leads nowhere"));
        assert!(findings("README.md", "[b](docs/a/b.md#x-2)\n")[0].contains("no heading"));
        assert_eq!(findings("README.md", "[here](#top)\n").len(), 1);
    }

    #[test]
    fn one_sentence_is_one_line() {
        assert_eq!(findings("README.md", "One. Two.\n"), ["two sentences on one line"]);
        for fine in ["One.\nTwo.\n", "1. One.\n", "The file a.b is one.\n", "Say `A. B` so.\n"] {
            assert_eq!(findings("README.md", fine), [""; 0], "{fine}");
        }
        assert_eq!(findings("README.md", "```\nOne. Two.\n```\n"), [""; 0]);
    }

    #[test]
    fn commands_run_or_say_why_not() {
        assert_eq!(findings("README.md", "```sh\nmake\n```\n").len(), 1);
        let marked = "<!-- not run: it takes minutes -->\n```sh\nmake\n```\n";
        assert_eq!(findings("README.md", marked), [""; 0]);
    }

    #[test]
    fn a_chapter_is_in_the_contents() {
        let files = |contents| [("docs/book/src/SUMMARY.md", contents), ("docs/book/src/x.md", "")];
        assert_eq!(check(&Repo::sample(&files("[x](x.md)\n"))), []);
        assert_eq!(check(&Repo::sample(&files("nothing\n"))).len(), 1);
    }
}
