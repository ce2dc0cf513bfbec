//! The error index: one page per code, in `docs/errors`.

use crate::Failure;

/// Code and text of every page, sorted by code.
pub static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code, in upper or lower case.
pub fn page(code: &str) -> Result<&'static str, Failure> {
    let wanted = code.to_ascii_uppercase();
    let found = PAGES.iter().find(|(known, _)| *known == wanted);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let (first, last) = (PAGES[0].0, PAGES[PAGES.len() - 1].0);
        Failure::usage(format!("there is no error code `{code}`; they run from {first} to {last}"))
    })
}
