//! The book as HTML: it builds, its links lead to files, and no page or search index is too large for
//! a browser.
//!
//! Without `mdbook` the test of the HTML is skipped by name.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of the largest page, and of the search index.
const PAGE: u64 = 160_000;
const INDEX: u64 = 1_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder was built");
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Every link of a page to a file leads to a file.
fn links(page: &Path) {
    let text = std::fs::read_to_string(page).expect("it is text");
    let folder = page.parent().expect("it is in a folder");
    for part in text.split("href=\"").skip(1) {
        let target = part.split(['"', '#']).next().unwrap_or_default();
        // `404.html` has links from the root of a site.
        if target.is_empty() || target.contains(':') || target.starts_with('/') {
            continue;
        }
        assert!(folder.join(target).exists(), "{}: `{target}` leads nowhere", page.display());
    }
}

#[test]
fn pages_of_the_book_are_small() {
    let out = tempfile::tempdir().expect("there is a folder for temporary files");
    let output = Command::new(root().join("scripts/book"))
        .arg(out.path())
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("mdbook is missing") {
        assert!(text.contains("cargo install --locked mdbook"), "{text}");
        eprintln!("skipped: pages_of_the_book_are_small, because mdbook is missing");
        return;
    }
    assert!(output.status.success(), "{text}");
    let (mut pages, mut indexes) = (0, 0);
    for path in files(out.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let size = path.metadata().expect("it is a file").len();
        if name.starts_with("searchindex") {
            indexes += 1;
            assert!(size < INDEX, "{name} has {size} bytes");
        // `print.html` is the whole book.
        } else if name.ends_with(".html") && name != "print.html" {
            pages += 1;
            assert!(size < PAGE, "{name} has {size} bytes");
            links(&path);
        }
    }
    assert!(pages > 30 && indexes > 0, "{pages} pages and {indexes} indexes");
}

#[test]
fn the_readme_fits_on_a_screen() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("it is there");
    assert!(text.lines().count() <= 80, "README.md has {} lines", text.lines().count());
    assert!(!text.lines().any(|line| line.starts_with('|')), "README.md has a table");
    for command in ["make demo", "make test"] {
        assert!(text.lines().any(|line| line.starts_with(command)), "`{command}` is missing");
    }
}
