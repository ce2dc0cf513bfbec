//! The error index of the book: the pages of `docs/errors` on one page.
//!
//! ```text
//! docs/errors/U0101.md …  ──→  docs/book/src/reference/errors.md
//! ```

use std::io;

use xtask::repo::{Finding, Repo};

/// The page, which no other check reads as a document of its own.
pub const PAGE: &str = "docs/book/src/reference/errors.md";

/// Compares the page with the pages of errors, or writes it.
///
/// # Errors
/// The page cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    crate::generated(repo, PAGE, &page(repo), bless)
}

/// The text of the page.
fn page(repo: &Repo) -> String {
    let mut text = String::from(
        "# Error index\n\n<!-- Written by `cargo xtask bless` from docs/errors. -->\n\n\
         Each message of the compiler has a code, a cause, a program that shows it, and a repair.\n\
         `usubac explain CODE` prints the same text.\n",
    );
    for file in repo.matching("docs/errors/", ".md") {
        text.push('\n');
        let mut code = false;
        for line in file.text.lines() {
            code ^= line.starts_with("```");
            // Headings move down by one level.
            let mark = if !code && line.starts_with('#') { "#" } else { "" };
            text += &format!("{mark}{line}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_sections() {
        let page =
            page(&Repo::sample(&[("docs/errors/U0101.md", "# U0101: a\n\n```usuba\n# b\n```\n")]));
        assert!(page.ends_with("\n## U0101: a\n\n```usuba\n# b\n```\n"), "{page}");
    }
}
