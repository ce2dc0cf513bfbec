//! Circuits for S-boxes that are inversion between affine maps: the origin of some of
//! `known/bytes.txt`.
//!
//! ```text
//! circuit_inversion MOST TRIES SEED NAME:ENTRIES...        ENTRIES are 512 hexadecimal digits
//! ```
//!
//! Prints the MOST smallest circuits of each table in the form of the database, with the key left
//! zero, for `examples/circuit_polish.rs`.

use usuba_circuit::{Profile, Table, inversions, simulate};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, most, tries, seed, boxes @ ..] = &args[..] else {
        panic!("usage: circuit_inversion MOST TRIES SEED NAME:ENTRIES...");
    };
    let most = most.parse().expect("MOST is a number");
    let tries = tries.parse().expect("TRIES is a number");
    let seed = seed.parse().expect("SEED is a number");
    for item in boxes {
        let (name, digits) = item.split_once(':').expect("NAME:ENTRIES");
        let byte = |x: usize| u64::from_str_radix(&digits[2 * x..2 * x + 2], 16);
        let entries = (0..256).map(|x| byte(x).expect("hexadecimal")).collect();
        let table = Table { inputs: 8, outputs: 8, entries };
        let circuits = inversions(&table, most, tries, seed);
        assert!(!circuits.is_empty(), "{name} is not inversion between affine maps");
        for circuit in circuits {
            assert_eq!(simulate(&circuit), table.entries, "the construction made a mistake");
            let gates = circuit.cost(Profile::Basic).expect("basic gates");
            eprintln!("{name}: {gates} gates");
            println!("# {name}: inversion between affine maps, {gates} gates");
            println!("{:016x} basic\n{circuit}\n", 0);
        }
    }
}
