//! Circuits of tables that nobody designed: right, small, and the same every time.

use super::linear::Random;
use super::*;

fn random_table(inputs: u8, outputs: u8, seed: u64) -> Table {
    let mut random = Random::new(seed);
    let mut entry = || (0..outputs).fold(0, |sum, _| sum << 1 | random.below(2) as u64);
    let entries = (0..1 << inputs).map(|_| entry()).collect();
    Table { inputs, outputs, entries }
}

#[test]
fn every_random_table_has_a_circuit_in_every_profile() {
    for inputs in 1..=8 {
        for outputs in [1, 2, inputs, 64] {
            let table = random_table(inputs, outputs, inputs as u64 * 100 + outputs as u64);
            for profile in Profile::ALL {
                // `for_table` compares the circuit with the table itself.
                let t0 = std::time::Instant::now();
                let circuit = for_table(&table, profile);
                println!(
                    "{inputs} {outputs} {profile:?} {:?} {:?}",
                    circuit.cost(profile),
                    t0.elapsed()
                );
            }
        }
    }
}

#[test]
fn report() {
    let names = [
        "PRESENT",
        "RECTANGLE",
        "GIFT",
        "SKINNY-64",
        "Spongent",
        "Noekeon",
        "Pyjamask",
        "Clyde",
        "Serpent S3",
        "chi-3",
        "chi-5",
        "Ascon",
        "Pyjamask-96",
        "AES",
        "AES inverse",
        "SKINNY-128",
        "DES S1",
        "DES S2",
        "DES S3",
        "DES S4",
        "DES S5",
        "DES S6",
        "DES S7",
        "DES S8",
    ];
    for name in names {
        let table = boxes::named(name);
        let mut line = format!("{name:14}");
        for profile in Profile::ALL {
            let t0 = std::time::Instant::now();
            let known = known::find(&table, profile).map(|c| {
                assert_eq!(simulate(&c), table.entries);
                c.cost(profile).unwrap()
            });
            let t = t0.elapsed();
            let c = horner::synthesise(&table, profile);
            line += &format!("  {known:?} {t:?} (synth {})", c.cost(profile).unwrap());
        }
        println!("{line}");
    }
}

#[test]
fn keys_are_those_of_the_circuits() {
    for (file, content) in known::FILES {
        let mut fixed = content.to_string();
        let mut at = 0;
        for entry in known::entries(content).expect("every entry parses") {
            entry
                .circuit
                .check(entry.profile)
                .unwrap_or_else(|fault| panic!("{file}: {fault:?} {}", entry.circuit));
            let truths = entry.circuit.truths();
            let outputs: Vec<_> =
                entry.circuit.outputs.iter().map(|&w| truths[w as usize]).collect();
            let key = canon::class(entry.circuit.inputs, &outputs).unwrap().key;
            let old = format!("{:016x} ", entry.key);
            at += fixed[at..].find(&old).unwrap();
            fixed.replace_range(at..at + 16, &format!("{key:016x}"));
            at += 16;
        }
        if fixed != *content && std::env::var_os("BLESS").is_some() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("src/circuit/known")
                .join(file);
            std::fs::write(path, &fixed).unwrap();
        } else {
            assert_eq!(fixed, *content);
        }
    }
}
