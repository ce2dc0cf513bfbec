//! A cipher folder with functions has a README, a program, its description, vectors with their
//! source, and a short reference; the description names every file in it.

use std::collections::BTreeSet;

use crate::repo::{File, Finding, Repo};

/// The longest reference. A longer one cannot be checked against the paper by eye.
const LONGEST_REFERENCE: usize = 150;

/// Names of the folders below `ciphers/`.
pub fn folders(repo: &Repo) -> Vec<&str> {
    let inside = repo.files.iter().filter_map(|file| file.path.strip_prefix("ciphers/"));
    let names: BTreeSet<&str> =
        inside.filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    names.into_iter().collect()
}

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in folders(repo) {
        let folder = format!("ciphers/{name}/");
        // A folder made of other folders or of arithmetic has no function of its own.
        let description_of = |file: &File| file.text.contains("[[function]]");
        let whole = repo.get(&format!("{folder}cipher.toml")).is_none_or(description_of);
        for wanted in ["README.md", "cipher.toml", "reference.rs"] {
            if (whole || wanted != "reference.rs")
                && repo.get(&format!("{folder}{wanted}")).is_none()
            {
                findings.push(Finding::new(&folder, 0, format!("{wanted} is missing")));
            }
        }
        if let Some(file) = repo.get(&format!("{folder}reference.rs")) {
            reference(file, &mut findings);
        }
        for file in repo.matching(&format!("{folder}vectors/"), "") {
            if !file.text.starts_with("# source: ") {
                let what = "vectors start with `# source: ` and where they come from";
                findings.push(Finding::new(&file.path, 1, what));
            }
        }
        if let Some(file) = repo.get(&format!("{folder}cipher.toml")) {
            description(repo, &folder, file, &mut findings);
        }
    }
    findings
}

fn reference(file: &File, findings: &mut Vec<Finding>) {
    let lines = file.text.lines().count();
    if lines > LONGEST_REFERENCE {
        let what =
            format!("a reference of {lines} lines is not plain; at most {LONGEST_REFERENCE}");
        findings.push(Finding::new(&file.path, 0, what));
    }
    // Parameters that a primitive does not use start with `_`.
    let signature = file.text.lines().find(|line| line.starts_with("pub fn reference("));
    let wanted = "pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8>";
    if !signature.is_some_and(|line| line.replace('_', "").starts_with(wanted)) {
        findings.push(Finding::new(&file.path, 0, format!("there is no `{wanted}`")));
    }
}

/// `cipher.toml` names exactly the existing files.
fn description(repo: &Repo, folder: &str, file: &File, findings: &mut Vec<Finding>) {
    let whole = ["title", "spec", "source", "vectors", "name", "node", "slicings"];
    let keys =
        if file.text.contains("[[function]]") { &whole[..] } else { &["title", "spec", "name"] };
    for key in keys {
        if values(&file.text, key).is_empty() {
            findings.push(Finding::new(&file.path, 0, format!("there is no `{key} = …`")));
        }
    }
    let mut named = values(&file.text, "vectors");
    named.extend(values(&file.text, "source"));
    for path in &named {
        if repo.get(&format!("{folder}{path}")).is_none() {
            findings.push(Finding::new(&file.path, 0, format!("{path} is missing")));
        }
    }
    for vectors in repo.matching(&format!("{folder}vectors/"), "") {
        if !named.contains(&&vectors.path[folder.len()..]) {
            findings.push(Finding::new(&vectors.path, 0, "no function uses these vectors"));
        }
    }
}

/// The strings that follow `key =` at the start of a line.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let value = |line: &'a str| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        rest.split('"').nth(1)
    };
    text.lines().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "title = \"A\"\nspec = \"B\"\nsource = \"a.ua\"\n\n[[function]]\n\
                        name = \"a\"\nnode = \"f\"\nslicings = [\"V\"]\nvectors = \"vectors/a.txt\"\n";
    const REFERENCE: &str =
        "pub fn reference(_function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {}";

    fn whole() -> Vec<(&'static str, &'static str)> {
        vec![
            ("ciphers/a/README.md", "A"),
            ("ciphers/a/a.ua", "node"),
            ("ciphers/a/cipher.toml", TOML),
            ("ciphers/a/reference.rs", REFERENCE),
            ("ciphers/a/vectors/a.txt", "# source: the paper\n"),
        ]
    }

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repo::sample(files)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_whole_folder_is_fine() {
        assert_eq!(findings(&whole()), [""; 0]);
    }

    #[test]
    fn a_folder_without_functions_is_smaller() {
        let toml = "title = \"A\"\nspec = \"B\"\n\n[[arithmetic]]\nname = \"a\"\n";
        let files = [("ciphers/a/cipher.toml", toml), ("ciphers/a/README.md", "A")];
        assert_eq!(findings(&files), [""; 0]);
        assert_eq!(findings(&files[..1]), ["README.md is missing"]);
    }

    #[test]
    fn each_missing_file_is_named() {
        for at in 0..whole().len() {
            let mut files = whole();
            let (path, _) = files.remove(at);
            let found = findings(&files);
            let name = path.strip_prefix("ciphers/a/").expect("all files are in the folder");
            assert!(found.iter().any(|what| what.contains(name)), "{path}: {found:?}");
        }
    }

    #[test]
    fn vectors_have_a_source_and_a_user() {
        let mut files = whole();
        files[4].1 = "key = 00\n";
        assert!(findings(&files)[0].contains("# source:"));
        let mut files = whole();
        files.push(("ciphers/a/vectors/b.txt", "# source: the paper\n"));
        assert_eq!(findings(&files), ["no function uses these vectors"]);
    }

    #[test]
    fn a_reference_is_short_and_has_its_function() {
        let mut files = whole();
        let long = format!("{REFERENCE}{}", "\n// more".repeat(LONGEST_REFERENCE));
        files[3].1 = &long;
        assert!(findings(&files)[0].contains("151 lines"));
        files[3].1 = "pub fn f() {}";
        assert!(findings(&files)[0].contains("there is no `pub fn reference"));
    }
}
