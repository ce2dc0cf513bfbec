//! Default interleave factors: one line in `factors.txt` for every cipher, slicing and target. A
//! cost model decides, so that a change of the model, of a machine or of an earlier pass shows
//! here. `BLESS=1` writes the file. The quick run has each row on every fourth target.

use std::collections::BTreeSet;
use std::path::Path;
use usuba_gen::asks;
use usuba_run::validated::Proofs;

use rayon::prelude::*;
use usuba::ir::Slicing;
use usuba::isa;
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::PipelineOptions;
use usuba_ciphers::{Cipher, Function};

#[test]
fn the_model_chooses_what_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut options = PipelineOptions::default();
    options.pass.interleave = Choice::AUTO;
    let mut table = String::from("node slicing");
    isa::all().for_each(|target| table += &format!(" {}", target.name));
    table.push('\n');
    let ciphers = usuba_ciphers::find(&root.join("../../ciphers")).expect("the cipher folders");
    let mut wanted = Vec::new();
    for cipher in &ciphers {
        let mut seen = BTreeSet::new();
        for function in &cipher.functions {
            for &slicing in &function.slicings {
                if seen.insert((&function.source, &function.node, format!("{slicing:?}"))) {
                    wanted.push((cipher, function, slicing));
                }
            }
        }
    }
    let path = root.join("tests/factors.txt");
    let blesses = std::env::var_os("BLESS").is_some();
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let before: Vec<Vec<&str>> = before.lines().map(|row| row.split(' ').collect()).collect();
    let row = |(number, &(cipher, function, slicing)): (usize, &(&Cipher, &Function, Slicing))| {
        let folder = cipher.folder.file_name().unwrap_or_default().to_string_lossy();
        // Spaces separate the columns.
        let name = format!("{folder}/{} {slicing:?}", function.node.replace(' ', ""));
        let mut row = name.clone();
        for (at, target) in isa::all().enumerate() {
            // Behind the head of the table, and behind the node and the slicing.
            let known = before.get(number + 1).and_then(|row| row.get(at + 2));
            let is_next = (number + at) % 4 == 0 || asks!("{name} on {}", target.name);
            if let (Some(known), false) = (known, is_next || blesses) {
                row += &format!(" {known}");
                continue;
            }
            let make = || {
                usuba_run::functions::kernel(
                    cipher,
                    function,
                    slicing,
                    target,
                    &options,
                    Proofs::Never,
                )
            };
            let made = function.is_for(target).then(make).and_then(Result::ok);
            let copies = made.map(|output| output.program.copies.to_string());
            row += &format!(" {}", copies.unwrap_or("-".to_string()));
        }
        row + "\n"
    };
    table.extend(wanted.par_iter().enumerate().map(row).collect::<Vec<String>>());
    if blesses {
        std::fs::write(&path, &table).expect("written");
    }
    let wanted = std::fs::read_to_string(&path).expect("the table");
    for (wanted, found) in wanted.lines().zip(table.lines()) {
        assert_eq!(found, wanted, "BLESS=1 writes {}", path.display());
    }
    assert_eq!(table, wanted, "BLESS=1 writes {}", path.display());
}
