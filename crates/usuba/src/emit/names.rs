//! Name mangling: an injective map from identifiers of the program to identifiers of C.
//!
//! ```text
//! key      →  key           most names stay as they are
//! f'       →  f_q           a quote
//! f_q      →  f_uq          an underscore that would read as an escape
//! _mm_add  →  u_mm_add      names of implementations begin with an underscore
//! double   →  double_       words of C, its library, its macros and intrinsics
//! ```
//!
//! Two escapes suffice: `_q` is a quote, and `_u` an underscore before `_`, `'`, `q`, `u` or the
//! end. So an escaped name has no `__` and no underscore at its end, and the one that a reserved
//! word gets there makes it equal to no other name.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The C spelling of an Usuba identifier as a part of a longer name: injective, and never with an
/// underscore at its begin or end.
pub fn escape(name: &str) -> String {
    let mut spelled = String::new();
    // Names that begin like the escape of a first underscore get one `u` more.
    if name.trim_start_matches('u').starts_with('_') {
        spelled.push('u');
    }
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\'', _) => spelled.push_str("_q"),
            ('_', None | Some('_' | '\'' | 'q' | 'u')) => spelled.push_str("_u"),
            _ => spelled.push(c),
        }
    }
    spelled
}

/// The C spelling of an Usuba identifier behind a prefix that is C already.
pub fn identifier(prefix: &str, name: &str) -> String {
    let spelled = format!("{prefix}{}", escape(name));
    if is_reserved(&spelled) { spelled + "_" } else { spelled }
}

/// The C spelling of a parameter of `function`: also apart from the locals of generated bodies,
/// from the functions beside it, and from the parameters that are `taken`.
pub fn parameter(name: &str, function: &str, taken: &[String]) -> String {
    let mut spelled = identifier("", name);
    if is_local(&spelled) {
        spelled.push('_');
    }
    // The functions beside it are called after operators and nodes, none of which is a quote. One
    // `u` more is no longer the prefix of `function`, even if that is of `u` alone.
    let beside = |name: &str| {
        let rest = name.strip_prefix(function).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('q'))
    };
    while beside(&spelled) {
        spelled.insert(0, 'u');
    }
    while spelled == function || taken.contains(&spelled) {
        spelled.push('_');
    }
    spelled
}

/// Whether a name has the form of a local of generated code: one letter and a number.
fn is_local(name: &str) -> bool {
    let mut chars = name.chars();
    let letter = chars.next().is_some_and(|c| "abcklnprstvx".contains(c));
    let rest = chars.as_str();
    letter && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
}

/// Whether C or a header may give a name without a leading underscore a meaning: by its form for
/// macros in capitals, types (`uint8x16_t`) and intrinsics (`vaddq_u8`, `vec_add`, `wasm_i8x16_add`),
/// else by the list of keywords and functions of the C library that compilers know.
fn is_reserved(name: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("reserved.txt").split_whitespace().collect());
    let capitals = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
    let intrinsic = (name.starts_with('v') && name.contains('_')) || name.starts_with("wasm_");
    capitals || intrinsic || name.ends_with("_t") || WORDS.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_names_stay_and_others_are_escaped() {
        let spelled = |name| identifier("", name);
        for name in ["key", "Rectangle", "key_in", "x1y", "H", "f_n_g", "unit", "a_b"] {
            assert_eq!(spelled(name), name);
        }
        assert_eq!(spelled("f'"), "f_q");
        assert_eq!(spelled("f_q"), "f_uq");
        assert_eq!(spelled("_mm_add"), "u_mm_add");
        assert_eq!(spelled("__asm__"), "u_u_asm_u_u");
        assert_eq!(spelled("NULL"), "NULL_");
        assert_eq!(spelled("double"), "double_");
        assert_eq!(spelled("vaddq_u8"), "vaddq_uu8_");
        assert_eq!(identifier("usuba_", "double"), "usuba_double");
        assert_eq!(parameter("v12", "f", &[]), "v12_");
        assert_eq!(parameter("x", "f", &["x".to_string()]), "x_");
        assert_eq!(parameter("f", "f", &[]), "f_");
        assert_eq!(parameter("f''2", "f", &[]), "f_q_q2");
        assert_eq!(parameter("f_rotl32_7", "f", &[]), "uf_rotl32_7");
        assert_eq!(parameter("u_n", "uu", &[]), "uuu_n");
    }

    /// All names of up to five letters of an alphabet with every letter of the escapes.
    #[test]
    fn no_two_names_are_spelled_alike_and_none_is_of_the_compiler() {
        let mut names = vec![String::new()];
        let mut seen = HashSet::new();
        for _ in 0..5 {
            let longer =
                |name: &String| "_'qux".chars().map(move |c| format!("{name}{c}")).collect();
            names = names.iter().flat_map::<Vec<String>, _>(longer).collect();
            for name in names.iter().filter(|name| !name.starts_with('\'')) {
                let spelled = identifier("", name);
                assert!(!spelled.starts_with('_') && !spelled.contains("__"), "{name}: {spelled}");
                assert!(seen.insert(spelled), "{name}");
            }
        }
    }
}
