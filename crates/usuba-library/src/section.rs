//! Target sections: the C around the kernels of one target, so that one file holds all targets. A
//! section has a processor guard and function attributes instead of compiler flags, and leaks no
//! macro.
//!
//! ```text
//! #if defined(USUBA_X86_64)
//! #pragma GCC push_options
//! #pragma GCC target("avx2")
//! ...
//! #pragma GCC pop_options
//! #endif
//! ```

use std::collections::BTreeSet;

use usuba::emit::bytes::library;
use usuba::emit::header;
use usuba::isa::Target;

use super::dense::{Dense, dense};
use super::template::{self as t, context};

/// The macro of `internal.h` for the processors that may support a target; `None` for all.
pub fn processors(target: &Target) -> Option<&'static str> {
    let guard = target.machine.unwrap_or(target).processor.guard;
    (!guard.is_empty()).then_some(guard)
}

/// The processors whose objects are proved function by function, as in `std::env::consts::ARCH`.
const PROVED: [&str; 2] = ["x86_64", "aarch64"];

/// Whether the code of a target is part of objects that are proved.
pub fn is_proved(target: &Target) -> bool {
    let processor = target.machine.unwrap_or(target).processor;
    PROVED.iter().any(|host| processor.runs_on(host))
}

/// `text` under the guard of `processors`.
pub fn guarded(processors: Option<&str>, text: &str) -> String {
    match processors {
        None => text.to_string(),
        Some(name) => format!("#if defined({name})\n{text}#endif\n"),
    }
}

/// The features of the processor that a target needs, as compilers spell them.
pub fn features(target: &Target) -> Vec<&'static str> {
    target.cflags.iter().filter_map(|flag| flag.strip_prefix("-m")).collect()
}

/// The headers of all targets, which must precede any function.
pub fn includes(targets: &[&'static Target]) -> String {
    let mut targets: Vec<_> = targets.to_vec();
    // A header is parsed at its first inclusion, which must suppress its warnings.
    targets.sort_by_key(|target| target.header_warnings.is_empty());
    let mut seen = BTreeSet::new();
    let new = targets.into_iter().filter(|t| !t.header.is_empty() && seen.insert(t.header));
    new.map(|t| guarded(processors(t), &header::includes(t))).collect()
}

/// The section `name` of a C file, with `functions` for `target`.
pub fn section(target: &Target, name: &str, functions: &str) -> String {
    let body = format!("{}{functions}", library::shared(functions, target));
    // Helpers have the same names in all files.
    let rename = |body: String, helper: &str| {
        body.replace(&format!("{helper}("), &format!("{helper}_{name}("))
    };
    let Dense { macros, text, .. } = dense(&library::helpers().fold(body, rename));
    let body = macros + &text;
    let mut names: Vec<String> = Vec::new();
    for line in body.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("#define ") {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let macro_name = &rest[..end.unwrap_or(rest.len())];
            if !names.iter().any(|name| name == macro_name) {
                names.push(macro_name.to_string());
            }
        }
    }
    let features = features(target).join(",");
    t::SECTION.render(context! {
        name, guard => processors(target), features, body, macros => names,
    })
}
