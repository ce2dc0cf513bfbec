//! The chapter on published numbers, rendered again from the results of all machines:
//! `BLESS=1 cargo test -p usuba-bench --test studies` rewrites it.

use std::fs;
use std::path::{Path, PathBuf};

use usuba_bench::experiment::chapter::{Machine, chapter, posts};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn machines() -> Vec<Machine> {
    let folder = root().join("bench/measured");
    let entries = fs::read_dir(folder).expect("there are results");
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.iter().map(|folder| Machine::read(folder).unwrap_or_else(|e| panic!("{e}"))).collect()
}

#[test]
fn the_chapter_is_what_the_results_say() {
    let posts = posts().unwrap_or_else(|e| panic!("{e}"));
    let made = chapter(&machines(), &posts).unwrap_or_else(|e| panic!("{e}"));
    let folder = root().join("docs/book/src");
    let page = ("studies.md".to_string(), made.text);
    for (name, text) in made.plots.iter().chain([&page]) {
        let path = folder.join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, text).expect("the book can be written");
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == *text, "{} is stale; BLESS=1 rewrites it", path.display());
    }
    // No plot of an earlier run remains.
    for entry in fs::read_dir(&folder).expect("the book") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_ours = name.starts_with("studies-") && name.ends_with(".svg");
        assert!(!is_ours || made.plots.iter().any(|(made, _)| *made == name), "{name} is stale");
    }
}

/// Two machines stand side by side, and a changed number changes a verdict.
#[test]
fn machines_stand_side_by_side() {
    let posts = posts().unwrap_or_else(|e| panic!("{e}"));
    let mut one = machines().swap_remove(0);
    one.name = "one".into();
    let mut other = one.clone();
    other.name = "other".into();
    for line in other.experiments.iter_mut().flat_map(|lines| &mut lines.lines) {
        for beside in &mut line.published {
            beside.against = beside.against.map(|_| usuba_bench::experiment::Against::Opposite);
        }
    }
    let text = chapter(&[one, other], &posts).unwrap_or_else(|e| panic!("{e}")).text;
    let sums: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.contains("| all |"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let [first, second] = &sums[..] else { panic!("{sums:?}") };
    assert_eq!((first[1], second[1], first[3]), ("one", "other", second[3]));
    assert!(first[3] != first[6], "on the first machine not all is opposite: {first:?}");
    assert_eq!(second[3], second[6], "all ratios are opposite");
}
