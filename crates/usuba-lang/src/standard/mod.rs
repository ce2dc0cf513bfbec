//! Standard includes: nodes that some processors have an instruction for, with their bodies.
//!
//! ```text
//! include "std:aes.ua"
//! t = aes_round(s, k)        aesenc where a register holds the sixteen bytes of s, else the body
//! ```
//!
//! The texts are parts of the compiler, under names that no file has. Such a node means its
//! body, as any other node does; a back end may take the instruction in its place.

/// The beginning of the names of standard includes.
pub const PREFIX: &str = "std:";

/// Each standard include: its name after [`PREFIX`], and its text.
pub const ALL: [(&str, &str); 3] = [
    ("aes.ua", include_str!("aes.ua")),
    ("clmul.ua", include_str!("clmul.ua")),
    ("sha2.ua", include_str!("sha2.ua")),
];

/// The text of the standard include that `path` names, and `None` if `path` is a file.
///
/// # Errors
/// There is no such standard include; the sentence lists all of them.
pub fn text(path: &str) -> Option<Result<&'static str, String>> {
    let name = path.strip_prefix(PREFIX)?;
    let found = ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    Some(found.ok_or_else(|| {
        let all: Vec<String> = ALL.iter().map(|(known, _)| format!("{PREFIX}{known}")).collect();
        format!("the compiler has only {}", all.join(", "))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sources;
    use crate::syntax::splice::NoIncludes;
    use crate::syntax::{parse, print};
    use crate::typed::Flags;

    #[test]
    fn texts_are_right_and_in_the_house_style() {
        for (name, text) in ALL {
            let mut sources = Sources::default();
            let root = sources.add("own.ua", format!("include \"{PREFIX}{name}\"\n"));
            let checked = crate::front(&mut sources, root, &mut NoIncludes, None, Flags::default());
            let checked = checked.unwrap_or_else(|found| panic!("{name}: {found:?}"));
            assert_eq!(checked.warnings, [], "{name}");
            assert!(checked.program.decls.iter().all(|decl| decl.is_standard), "{name}");
            let file = sources.add("copy.ua", text);
            assert_eq!(print::format(&parse(&sources, file).0, text), text, "{name}");
        }
    }

    #[test]
    fn only_known_names_are_standard() {
        assert_eq!(text("aes.ua"), None);
        assert!(text("std:aes.ua").is_some_and(|found| found.is_ok()));
        assert!(text("std:nowhere").is_some_and(|found| found.is_err()));
    }
}
