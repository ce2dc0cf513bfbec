//! Standard includes: nodes that some processors have an instruction for, with their bodies.
//!
//! ```text
//! include "std:aes.ua"
//! t = aes_round(s, k)        aesenc where a register holds the sixteen bytes of s, else the body
//! ```
//!
//! The texts are parts of the compiler, under names that no file has. The meaning of such a node is
//! its body, like that of any other; a back end may take the instruction in its place.

/// The beginning of the names of standard includes.
pub const PREFIX: &str = "std:";

/// Each standard include: its name after [`PREFIX`], and its text.
pub const ALL: [(&str, &str); 2] =
    [("aes.ua", include_str!("aes.ua")), ("sha2.ua", include_str!("sha2.ua"))];

/// The text of the standard include that `path` names, and `None` if `path` is a file.
///
/// # Errors
/// There is no such standard include; the sentence lists all of them.
pub fn text(path: &str) -> Option<Result<&'static str, String>> {
    let name = path.strip_prefix(PREFIX)?;
    let found = ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    Some(found.ok_or_else(|| {
        let all: Vec<String> = ALL.iter().map(|(known, _)| format!("{PREFIX}{known}")).collect();
        format!("the compiler has {} only", all.join(" and "))
    }))
}
