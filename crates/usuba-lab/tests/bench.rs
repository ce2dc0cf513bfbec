//! The table of the demo and the comparison of two ways to compile.

use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba::target;
use usuba_lab::bench::{Choice, Problem, Side, compare, demo};
use usuba_lab::cipher;
use usuba_lab::native::Timing;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers")
}

#[test]
fn the_table_has_a_verified_row_per_function_and_target() {
    let timing = Timing { rounds: 11, cycles: 20_000 };
    let choice = Choice {
        ciphers: vec!["rectangle".into()],
        targets: vec!["gp64".into()],
        slicings: vec![Slicing::V, Slicing::H],
        timing: Some(timing),
        ..Choice::default()
    };
    let mut heard = Vec::new();
    let table = demo(&root(), &choice, &mut |target| heard.push(target.to_string()));
    let table = table.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(heard, ["gp64"]);
    assert!(table.is_good(), "{table}");
    let rows: Vec<_> = table.rows.iter().map(|row| (row.slicing, row.target)).collect();
    assert_eq!(rows, [(Slicing::V, "gp64"), (Slicing::H, "gp64")]);
    for row in &table.rows {
        let measured = row.result.as_ref().unwrap_or_else(|_| panic!("{table}"));
        let (kernel, bytes) = (measured.kernel.expect("timed"), measured.bytes.expect("timed"));
        assert!(kernel.median > 0.5 && bytes.median > 0.5, "{table}");
        assert!(kernel.low <= kernel.median && kernel.median <= kernel.high, "{table}");
    }
    let nothing = Choice { ciphers: vec!["caesar".into()], ..Choice::default() };
    assert!(demo(&root(), &nothing, &mut |_| {}).is_err());
}

#[test]
fn sides_are_compared_by_turns() {
    let cipher = cipher::read(&root().join("gimli")).unwrap_or_else(|e| panic!("{e}"));
    let side = |label: &str, flag: &str| Side {
        label: label.into(),
        flags: vec![flag.into()],
        ..Side::default()
    };
    let sides = [side("slow", "-O0"), side("fast", "-O2"), side("wrong", "-no-such-flag")];
    let target = target::find("gp64").expect("it is in the list");
    let timing = Timing { rounds: 11, cycles: 20_000 };
    let function = &cipher.functions[0];
    let comparison = compare(&cipher, function, Slicing::V, target, &sides, timing);
    let ratio = comparison.ratio(1).unwrap_or_else(|| panic!("{comparison}"));
    assert!(ratio < 0.9, "optimised code takes {ratio} of the time\n{comparison}");
    assert!(matches!(&comparison.rows[2].1, Err(Problem::Failed(why)) if why.contains("no-such")));
}
