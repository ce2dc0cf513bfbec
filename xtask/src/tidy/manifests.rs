//! Every external dependency has a comment with its reason: on its line, or above a group that ends
//! at an empty line.

use crate::repo::{Finding, Repo};

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.matching("", "Cargo.toml") {
        let mut inside = false;
        let mut grouped = false;
        for (number, line) in file.text.lines().enumerate() {
            if line.starts_with('[') {
                inside = line.ends_with("dependencies]");
                grouped = false;
            } else if line.is_empty() || line.starts_with("# ") {
                grouped = !line.is_empty();
            } else if inside && !grouped && line.contains('=') {
                let ours = line.contains("path =") || line.starts_with("usuba");
                let why = line.split_once(" # ").is_some_and(|(_, why)| why.trim().len() > 3);
                if !ours && !why {
                    let what = "a dependency without a comment that says why it is there";
                    findings.push(Finding::new(&file.path, number + 1, what));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_says_why() {
        let lines = |text: &str| -> Vec<usize> {
            let text = format!("[package]\nname = \"a\"\n{text}");
            check(&Repo::sample(&[("crates/a/Cargo.toml", &text)])).iter().map(|f| f.line).collect()
        };
        assert_eq!(lines("[dependencies]\nserde = \"1\"\n"), [4]);
        assert_eq!(lines("[dev-dependencies]\nserde = \"1\" # it\n"), [4]);
        assert_eq!(lines("[dependencies]\nserde = \"1\" # reads tuning files\n"), [0; 0]);
        assert_eq!(
            lines("[dependencies]\n# Oracles.\naes = \"1\"\ndes = \"1\"\n\nb = \"1\"\n"),
            [8]
        );
        assert_eq!(
            lines(
                "[dependencies]\nusuba.workspace = true\nb = { path = \"../b\" }\n[lib]\nx = 1\n"
            ),
            [0; 0]
        );
    }
}
