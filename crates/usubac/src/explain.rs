//! The error index: one page per code, in `docs/errors`.

use usuba::names::did_you_mean;

use crate::Failure;

/// The folder of the pages, in the data of the program.
const FOLDER: &str = "docs/errors";

/// Code and text of every page, sorted by code.
fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    usuba_data::below(FOLDER).filter_map(|(path, text)| {
        let name = path.strip_prefix(FOLDER)?.strip_prefix('/')?;
        Some((name.strip_suffix(".md")?, text))
    })
}

/// The page of a code, in upper or lower case.
pub fn page(code: &str) -> Result<&'static str, Failure> {
    let wanted = code.to_ascii_uppercase();
    pages().find(|(known, _)| *known == wanted).map(|(_, text)| text).ok_or_else(|| {
        let first = pages().next().map_or("", |(code, _)| code);
        let last = pages().last().map_or("", |(code, _)| code);
        let help = did_you_mean(code, pages().map(|(known, _)| known));
        let help = help.map_or(String::new(), |near| format!("\n  help: {near}"));
        Failure::usage(format!(
            "there is no error code `{code}`; they run from {first} to {last}{help}"
        ))
    })
}
