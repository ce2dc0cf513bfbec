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
