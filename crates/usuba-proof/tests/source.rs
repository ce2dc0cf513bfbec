//! What must be proved: lowering, on every cipher, slicing and set of gates.

use std::path::Path;
use std::time::Instant;

use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::{Options, front, optimise, target, typed};
use usuba_lab::cipher::{self, Beside};
use usuba_proof::Verdict;
use usuba_proof::source::Source;

#[test]
fn probe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let only = std::env::var("ONLY").unwrap_or_default();
    for cipher in cipher::find(&root).expect("the cipher folders can be read") {
        if !cipher.folder.display().to_string().contains(&only) {
            continue;
        }
        for function in &cipher.functions {
            for &slicing in &function.slicings {
                for name in ["gp64", "avx2", "avx512"] {
                    let path = cipher.folder.join(&function.source);
                    let text = std::fs::read_to_string(&path).expect("the program can be read");
                    let mut sources = Sources::default();
                    let root = sources.add(path.display().to_string(), text);
                    let flags = typed::Flags::default();
                    let checked =
                        front(&mut sources, root, &mut Beside, Some(&function.node), flags);
                    let program = checked.expect("the program is right").program;
                    let options = Options {
                        slicing,
                        target: target::find(name).expect("a target"),
                        cpu: target::cpu::ALL[0],
                        word: None,
                        entry: Some(function.node.clone()),
                        flags,
                        pipeline: PipelineOptions {
                            level: if std::env::var_os("DIRECT").is_some() {
                                Level::O2
                            } else {
                                Level::O0
                            },
                            ..Default::default()
                        },
                        c: Default::default(),
                    };
                    let mut lowered = None;
                    let last = optimise(&program, &options, &mut |_, program| {
                        lowered.get_or_insert_with(|| program.clone());
                    });
                    if last.is_err() {
                        continue;
                    }
                    let instance = typed::check::entry_instance(&program, slicing, None).unwrap();
                    let start = Instant::now();
                    let source = Source::new(&program, &instance, slicing).unwrap();
                    let t1 = start.elapsed();
                    let verdict = if std::env::var_os("DIRECT").is_some() {
                        source.prove(&last.unwrap())
                    } else {
                        source.prove(&lowered.unwrap())
                    };
                    let text = match verdict {
                        Verdict::Proved(stats) => format!("PROVED {stats:?}"),
                        Verdict::Refuted(_) => "REFUTED".into(),
                        Verdict::Unknown(why) => format!("UNKNOWN {why}"),
                    };
                    eprintln!(
                        "{} {slicing:?} {name} {:.3?} {:.3?} {text}",
                        function.name,
                        t1,
                        start.elapsed()
                    );
                }
            }
        }
    }
    assert!(true);
}
