//! Import cycles of a crate have at most three files, and files with the same name have the same
//! job.
//!
//! Files of a cycle cannot be read, tested or moved separately. A module and its submodules are one
//! unit, so imports from a module down into itself do not count. An import of a re-exported name
//! counts for the file that defines the name.
//!
//! A name may be shared where folders are parallel, such as `parser/expr.rs` and `print/expr.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::{File, Finding, Repo};
use crate::rust::{is_test_file, paths_below, product};

/// Largest number of files of a cycle.
const MOST: usize = 3;

/// Names that say the place of a file and not its job.
const PLACES: &[&str] = &["lib", "main", "mod", "tests"];

/// Folders for the same things, so that a name in them means the same.
const PARALLEL: &[&[&str]] = &[
    // Parts of the language.
    &["src/syntax/parser", "src/syntax/print", "src/typed", "src/typed/resolve", "src/typed/walk"],
    // Commands: their flags, and their work.
    &["src/args", "src/commands"],
    // Output in several languages.
    &["src/dump", "src/emit", "src/emit/bytes", "src/emit/c"],
    &["src", "src/rust"],
];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (home, files) in crates(repo) {
        for circle in circles(home, &files).into_iter().filter(|circle| circle.len() > MOST) {
            let (length, all) = (circle.len(), circle.join(", "));
            let what = format!("a circle of {length} files, and the limit is {MOST}: {all}");
            findings.push(Finding::new(circle[0], 0, what));
        }
        for (name, path) in namesakes(home, &files) {
            let what = format!("another file of this crate with another job is `{name}.rs`");
            findings.push(Finding::new(path, 0, what));
        }
    }
    findings
}

/// The product files of each crate, by the folder of the crate.
fn crates(repo: &Repo) -> BTreeMap<&str, Vec<&File>> {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in repo.rust().filter(|file| !is_test_file(&file.path)) {
        if let Some(at) = file.path.find("/src/") {
            crates.entry(&file.path[..at]).or_default().push(file);
        }
    }
    crates
}

/// Every name that two folders have which are not parallel, with the second path.
fn namesakes<'a>(home: &str, files: &[&'a File]) -> Vec<(&'a str, &'a str)> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for file in files {
        let inside = &file.path[home.len() + 1..file.path.len() - 3];
        let (folder, name) = inside.rsplit_once('/').unwrap_or_default();
        let other = *first.entry(name).or_insert(folder);
        let parallel = PARALLEL.iter().any(|all| all.contains(&folder) && all.contains(&other));
        if folder != other && !parallel && !PLACES.contains(&name) {
            found.push((name, &*file.path));
        }
    }
    found
}

/// One file as a module.
struct Module<'a> {
    path: &'a str,
    /// Everything that it names below its crate, from the root of the crate.
    imports: Vec<String>,
    /// The names of other modules that it re-exports, from the root of the crate.
    passed_on: Vec<String>,
}

/// The modules of a crate by their paths, such as `ir::op`; the crate itself has none.
type Modules<'a> = BTreeMap<String, Module<'a>>;

/// The modules that each module imports, itself and its submodules left out.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The cycles of more than one file, each in the order of the alphabet.
fn circles<'a>(home: &str, files: &[&'a File]) -> BTreeSet<Vec<&'a str>> {
    let modules: Modules = files.iter().map(|file| module(home, file)).collect();
    let inside = |module: &str, other: &str| {
        module.is_empty()
            || other.strip_prefix(module).is_some_and(|r| r.is_empty() || r.starts_with(':'))
    };
    let edges = |(name, module): (&'_ String, &Module)| {
        let targets = module.imports.iter().filter_map(|path| defining(&modules, path, 0));
        let targets: BTreeSet<String> = targets.filter(|other| !inside(name, other)).collect();
        (name.clone(), targets)
    };
    let edges: Edges = modules.iter().map(edges).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reached(&edges, from))).collect();
    let circle = |module: &String| {
        let both =
            |other: &&String| reached[module].contains(other) && reached[other].contains(module);
        let mut paths: Vec<&str> =
            modules.keys().filter(both).map(|other| modules[other].path).collect();
        paths.sort_unstable();
        paths
    };
    modules.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// Every module that can be reached along the edges.
fn reached<'e>(edges: &'e Edges, from: &'e String) -> BTreeSet<&'e String> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(module) = todo.pop() {
        todo.extend(edges[module].iter().filter(|next| seen.insert(*next)));
    }
    seen
}

fn module<'a>(home: &str, file: &'a File) -> (String, Module<'a>) {
    let inside = file.path[home.len() + 5..file.path.len() - 3].split('/');
    let mut names: Vec<&str> = inside.collect();
    names.pop_if(|last| ["lib", "main", "mod"].contains(last));
    let below_root = |depth: usize| -> String {
        let names = names[..names.len() - depth].iter();
        names.fold("crate::".into(), |path, name| path + name + "::")
    };
    let mut lines = product(&file.text);
    for (_, line) in &mut lines {
        for depth in (1..=names.len()).rev() {
            *line = line.replace(&"super::".repeat(depth), &below_root(depth));
        }
        *line = line.replace("self::", &below_root(0));
    }
    let paths = |root: &str| paths_below(root, &lines).into_iter().map(|(_, path)| path);
    let name = names.join("::");
    let passed_on = ["pub use ", "pub(crate) use ", "pub(super) use "].into_iter().flat_map(paths);
    let passed_on = passed_on.map(|path| match path.strip_prefix("crate::") {
        Some(path) => path.to_string(),
        None if name.is_empty() => path,
        None => format!("{name}::{path}"),
    });
    let module = Module {
        path: &file.path,
        imports: paths("crate::").collect(),
        passed_on: passed_on.collect(),
    };
    (name.clone(), module)
}

/// The module whose file defines the end of a path; re-exports are followed.
fn defining(modules: &Modules, path: &str, hops: usize) -> Option<String> {
    let parts: Vec<&str> = path.split("::").collect();
    let at = (0..=parts.len()).rev().find(|&at| modules.contains_key(&parts[..at].join("::")))?;
    let name = parts[..at].join("::");
    let item = parts.get(at).filter(|_| hops < 5);
    let origin = item.and_then(|item| {
        let named = |path: &&String| path.rsplit("::").next() == Some(item);
        modules[&name].passed_on.iter().find(named)
    });
    match origin {
        Some(origin) => defining(modules, origin, hops + 1),
        None => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        check(&Repo::sample(&files)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_circle_of_four_is_found_and_one_of_three_is_not() {
        let ring = [
            ("lib.rs", "mod x;\nuse x::one::A;\npub use x::four::D;"),
            ("x/mod.rs", "use one::A;"),
            ("x/one.rs", "use super::two::B;"),
            ("x/two.rs", "fn f() { crate::x::three::g() }"),
            ("x/three.rs", "use super::super::D;"),
            ("x/four.rs", "use crate::{x::{one::A}};"),
        ];
        let found = findings(&ring);
        assert!(found.len() == 1 && found[0].contains("a circle of 4 files"), "{found:?}");
        let mut short = ring;
        short[4].1 = "use super::one::A;";
        assert_eq!(findings(&short), Vec::<String>::new());
        short[5].1 = "#[cfg(test)]\nmod tests {\n    use crate::x::one;\n}";
        short[4].1 = ring[4].1;
        assert_eq!(findings(&short), Vec::<String>::new());
    }

    #[test]
    fn names_are_shared_by_parallel_folders_only() {
        let found = |a: &str, b: &str| findings(&[(a, ""), (b, "")]).len();
        assert_eq!(found("syntax/parser/expr.rs", "syntax/print/expr.rs"), 0);
        assert_eq!(found("lower/mod.rs", "emit/mod.rs"), 0);
        assert_eq!(found("lower/words.rs", "emit/bytes/words.rs"), 1);
    }
}
