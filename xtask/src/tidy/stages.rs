//! Stages of the compiler import only leftwards.
//!
//! ```text
//! usuba-lang    diag ← syntax ← typed → op,  typed ← lint
//! usuba         typed ← lower → ir ← passes
//!                               ir ← isa ← emit
//! ```
//!
//! So a pass cannot depend on the syntax of the program, the emitter cannot depend on which passes
//! ran, and a target stays a table. Tests may import every stage. The files that join the stages,
//! `lib.rs`, belong to none of them.
//!
//! The prover crate imports the semantics of the language, Usuba0 and the tables of targets, and no
//! other part of the compiler. So no fault of a pass or of lowering can be a fault of its proof.

use crate::repo::{Finding, Repo};
use crate::rust::{is_test_file, paths_below, product};

/// The crates of the compiler that have stages.
const HOMES: [&str; 2] = ["crates/usuba-lang/src/", "crates/usuba/src/"];

/// Where stages name other stages, with the stage that the root itself stands for.
const ROOTS: [(&str, &str); 3] =
    [("crate::", ""), ("usuba_lang::", ""), ("usuba_circuit::", "circuit::")];

/// The provers.
const PROVERS: &[&str] =
    &["crates/usuba-contracts/src/", "crates/usuba-equiv/src/", "crates/usuba-object/src/"];

/// Stages that proofs may name. `diag` has the places for the interpreter, `syntax::ast` the terms
/// of contracts.
const PROVED_WITH: &[&str] = &["ir", "op", "typed", "isa", "diag", "syntax::ast"];

/// Stages that each stage may name, besides itself. `ir` allows all of `ir`; `ir::Op` allows that
/// item and its members.
const ALLOWED: &[(&str, &[&str])] = &[
    ("diag", &[]),
    ("names", &[]),
    ("standard", &[]),
    ("syntax", &["diag", "names", "standard"]),
    ("op", &[]),
    ("carryless", &["op"]),
    ("typed", &["syntax", "diag", "op", "names"]),
    ("lint", &["typed", "syntax", "diag", "op", "names"]),
    ("lower", &["typed", "syntax", "diag", "circuit", "ir"]),
    // Usuba0 has the operators of the language, and the places of its equations in the source.
    (
        "ir",
        &["op", "carryless", "typed::ByteOrder", "typed::Slicing", "diag::Span", "diag::FileId"],
    ),
    ("dump", &["ir", "syntax"]),
    ("passes", &["ir"]),
    ("isa", &["ir::Op", "ir::op", "ir::Slicing", "names", "circuit::three_bits"]),
    ("emit", &["ir", "isa", "diag"]),
    // The machine model, as numbers for passes.
    ("cost_model", &["ir", "isa", "passes::machine", "emit::layout"]),
    ("packing", &["ir", "isa", "passes::When", "emit::layout"]),
];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = HOMES.iter().flat_map(|home| repo.matching(home, ".rs").map(|f| (*home, f)));
    for (home, file) in files.filter(|(_, file)| !is_test_file(&file.path)) {
        let inside = &file.path[home.len()..];
        let stage = inside.split(['/', '.']).next().unwrap_or_default();
        if stage == "lib" {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == stage) else {
            let what = format!("the stage `{stage}` is new: say in xtask what it may import");
            findings.push(Finding::new(&file.path, 0, what));
            continue;
        };
        let lines = product(&file.text);
        let named = ROOTS.iter().flat_map(|(root, stage)| {
            paths_below(root, &lines)
                .into_iter()
                .map(move |(line, path)| (line, format!("{stage}{path}")))
        });
        for (line, path) in named {
            if !within(&path, stage) && !allowed.iter().any(|root| within(&path, root)) {
                let what = format!("`{stage}` must not import `{path}`");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
        for (line, text) in &lines {
            if text.contains(&"super::".repeat(depth(inside))) {
                let what = "this `super` is the crate itself: write `crate::`";
                findings.push(Finding::new(&file.path, *line, what));
            }
        }
    }
    let proved = PROVERS.iter().flat_map(|home| repo.matching(home, ".rs"));
    for file in proved.filter(|file| !is_test_file(&file.path)) {
        let lines = product(&file.text);
        let named = ["usuba::", "usuba_lang::"].iter().flat_map(|root| paths_below(root, &lines));
        for (line, path) in named {
            if !PROVED_WITH.iter().any(|root| within(&path, root)) {
                let what = format!("a proof must not import `{path}`");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}

/// Whether a path is `root` or something inside of it.
fn within(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Number of modules from the crate down to this file, itself included.
fn depth(inside: &str) -> usize {
    let parts = inside.split('/').count();
    if inside.ends_with("/mod.rs") { parts - 1 } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let path = format!("{}{path}", HOMES[1]);
        let found = check(&Repo::sample(&[(&path, text)]));
        found.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn imports_to_the_right_are_found() {
        for (path, text) in [
            ("passes/cse.rs", "use crate::typed::Program;"),
            ("passes/cse.rs", "use crate::{ir::Op, emit};"),
            ("emit/c/mod.rs", "fn f() { crate::passes::find(\"cse\") }"),
            ("isa/avx2.rs", "use crate::ir::Program;"),
            ("passes/cse.rs", "use usuba_circuit::Table;"),
            ("passes/cse.rs", "use usuba_lang::typed::Program;"),
            ("syntax/parser.rs", "use crate::typed;"),
            ("typed/walk/expr.rs", "use crate::ir::Program;"),
            ("ir/mod.rs", "use crate::Slice;"),
        ] {
            let found = findings(path, text);
            assert!(found.len() == 1 && found[0].contains("must not import"), "{path}: {found:?}");
        }
    }

    #[test]
    fn imports_to_the_left_are_fine() {
        for (path, text) in [
            ("passes/cse.rs", "use crate::{ir::{self, Op}, passes::Pass};"),
            ("emit/c/mod.rs", "use crate::isa::select;"),
            ("typed/eval.rs", "use crate::op::Op;"),
            ("ir/mod.rs", "pub use usuba_lang::op::{self, Op};"),
            ("lower/mod.rs", "use crate::circuit::Profile;"),
            ("lower/mod.rs", "#[cfg(test)]\nmod tests {\n    use crate::emit;\n}"),
            ("passes/tests.rs", "use crate::typed;"),
            ("lib.rs", "use crate::emit;"),
        ] {
            assert_eq!(findings(path, text), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn the_root_is_not_reached_by_super() {
        assert_eq!(findings("emit/c/mod.rs", "use super::super::passes;").len(), 1);
        assert_eq!(findings("emit/c/loops.rs", "use super::super::names;").len(), 0);
        assert_eq!(findings("diag.rs", "use super::ir;").len(), 1);
    }

    #[test]
    fn a_proof_knows_the_language_of_passes_only() {
        let found = |file: &str, text: &str| {
            let path = format!("{}{file}", PROVERS[0]);
            check(&Repo::sample(&[(&path, text)])).len()
        };
        assert_eq!(found("run.rs", "use usuba::ir::{Eqn, Op};\nuse crate::graph::Edge;"), 0);
        assert_eq!(found("run.rs", "use usuba::passes::pipeline;"), 1);
        assert_eq!(found("run.rs", "use usuba::{ir::Op, lower};"), 1);
        assert_eq!(found("tests.rs", "use usuba::passes::ALL;"), 0);
    }

    #[test]
    fn an_unknown_stage_is_not_silently_free() {
        assert!(findings("tune/mod.rs", "fn f() {}")[0].contains("is new"));
    }
}
