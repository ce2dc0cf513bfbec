//! The traces of all programs of the cipher folders, against the reference semantics.

use std::path::{Path, PathBuf};

use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::ir::random::Random;
use usuba::{front, typed};
use usuba_ciphers::Beside;
use usuba_replay::Reader;
use usuba_replay::trace::{Trace, mask};

/// The programs of the folders, and their entries.
fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut all = Vec::new();
    for cipher in usuba_ciphers::find(&root).expect("the cipher folders can be read") {
        for function in &cipher.functions {
            all.push((cipher.folder.join(&function.source), function.node.clone()));
            let schedule = function.key.as_ref().and_then(|key| key.schedule.clone());
            all.extend(schedule.map(|(file, node)| (cipher.folder.join(file), node)));
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn programs_have_the_values_of_the_reference_semantics() {
    let mut random = Random::new(3);
    let (mut found, mut faults) = (0, Vec::new());
    for (path, node) in programs() {
        let what = format!("{}, {node}", path.display());
        let text = std::fs::read_to_string(&path).expect("the program can be read");
        let mut sources = Sources::default();
        let root = sources.add(path.display().to_string(), text);
        let checked = front(&mut sources, root, &mut Beside, Some(&node), Default::default());
        let program = checked.expect("the program is right").program;
        let slicing = typed::check::slicing(&program, Slicing::V).expect("a slicing");
        let Ok(instance) = typed::check::entry_instance(&program, slicing, None) else { continue };
        let trace = match usuba_witness::source(&program, &instance, 1) {
            Ok(trace) => trace,
            Err(why) => {
                faults.push(format!("{what}: {why}"));
                continue;
            }
        };
        let bytes = trace.bytes();
        assert_eq!(Trace::read(&mut Reader::new(&bytes)).as_ref(), Ok(&trace), "{what}");
        let inputs: Vec<u64> = trace.inputs.iter().map(|&m| random.word() & mask(m)).collect();
        let wanted = typed::eval(&program, &instance, &inputs).expect("inputs that fit");
        if trace.run(&inputs) != wanted {
            faults.push(format!("{what}: another value"));
        }
        found += 1;
    }
    assert!(faults.is_empty(), "{found} programs are right, but {}", faults.join("\n"));
    assert!(found > 100, "{found} programs");
}
