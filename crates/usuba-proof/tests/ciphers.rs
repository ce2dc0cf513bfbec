//! What must be proved: every pass on every cipher, for all slicings and gates, with the options
//! that change programs most.

use std::collections::BTreeSet;
use std::path::Path;

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{PassOptions, inline, interleave, unroll};
use usuba::target;
use usuba::{Options, front, optimise, typed};
use usuba_lab::cipher::{self, Beside};
use usuba_proof::Observer;

/// One target for each set of gates.
const TARGETS: [&str; 3] = ["gp64", "avx2", "avx512"];

fn pipelines() -> Vec<PipelineOptions> {
    let with = |level, pass| PipelineOptions { level, pass, ..PipelineOptions::default() };
    let flat = PassOptions {
        inline: inline::Mode::All,
        unroll: unroll::Mode::All,
        ..PassOptions::default()
    };
    let two = interleave::Choice { factor: 2, ..interleave::Choice::default() };
    vec![
        with(Level::O2, PassOptions::default()),
        with(Level::O1, PassOptions { interleave: two, ..PassOptions::default() }),
        with(Level::O2, PassOptions { interleave: two, ..flat }),
    ]
}

/// File and node of everything that a cipher folder compiles.
fn entries(cipher: &cipher::Cipher) -> BTreeSet<(String, String, Vec<Slicing>)> {
    let mut out = BTreeSet::new();
    for function in &cipher.functions {
        out.insert((function.source.clone(), function.node.clone(), function.slicings.clone()));
        if let Some((file, node)) = function.key.as_ref().and_then(|key| key.schedule.clone()) {
            out.insert((file, node, vec![Slicing::V, Slicing::B]));
        }
    }
    out
}

fn check_slicing(wanted: Slicing) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut failed = Vec::new();
    let mut passes = 0;
    for cipher in cipher::find(&root).expect("the cipher folders can be read") {
        for (file, node, slicings) in entries(&cipher) {
            if !slicings.contains(&wanted) {
                continue;
            }
            let path = cipher.folder.join(&file);
            let text = std::fs::read_to_string(&path).expect("the program can be read");
            let mut sources = Sources::default();
            let root = sources.add(path.display().to_string(), text);
            let flags = typed::Flags::default();
            let checked = front(&mut sources, root, &mut Beside, Some(&node), flags);
            let program = checked.expect("the program is right").program;
            for name in TARGETS {
                for pipeline in pipelines() {
                    let what = format!("{file} {node} {wanted:?} {name} {:?}", pipeline.pass);
                    let options = Options {
                        slicing: wanted,
                        target: target::find(name).expect("a target"),
                        word: None,
                        entry: Some(node.clone()),
                        flags,
                        pipeline,
                        c: COptions::default(),
                    };
                    let mut proof = Observer::default();
                    let start = std::time::Instant::now();
                    let mut spent = std::time::Duration::ZERO;
                    let see = &mut |pass: &str, program: &_| {
                        let t = std::time::Instant::now();
                        proof.see(pass, program);
                        spent += t.elapsed();
                        if t.elapsed().as_millis() > 300 {
                            eprintln!("   slow {pass} {:?}", t.elapsed());
                        }
                    };
                    // A key schedule may exist in one slicing only.
                    if optimise(&program, &options, see).is_err() {
                        continue;
                    }
                    if std::env::var("SHOW").is_ok() {
                        eprintln!("{what} {spent:?} of {:?}", start.elapsed());
                    }
                    match proof.finish() {
                        Ok(count) => passes += count,
                        Err(fault) => failed.push(format!("{what}: {fault}")),
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passes > 100, "only {passes} passes were proved");
}

#[test]
fn vertical() {
    check_slicing(Slicing::V);
}

#[test]
fn horizontal() {
    check_slicing(Slicing::H);
}

#[test]
fn bitsliced() {
    check_slicing(Slicing::B);
}
