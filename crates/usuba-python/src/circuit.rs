//! `usuba.circuit`: a Boolean circuit for a table.

use pyo3::prelude::*;
use usuba::circuit::{Gate, Goal, Origin, Profile, Table, for_table_from};

use crate::failure::{Failure, run};

/// A gate: operator, wires, and the truth table of a gate of three bits.
type Shown = (&'static str, Vec<u16>, Option<u8>);

/// The gates, the wires of the outputs, and the origin of the circuit.
type Circuit = (Vec<Shown>, Vec<u16>, &'static str);

/// The best circuit for a table in the gates of a profile.
#[pyfunction]
pub fn circuit(
    py: Python<'_>,
    entries: Vec<u64>,
    sizes: (u8, u8),
    lsb_first: bool,
    gates: String,
    goal: String,
) -> PyResult<Circuit> {
    run(py, move || {
        let profile = Profile::ALL.into_iter().find(|profile| profile.name() == gates);
        let profile = profile.ok_or_else(|| {
            let text =
                format!("found the gates {gates:?}, expected \"basic\", \"andn\" or \"lut3\"");
            Failure::Argument(text, "\"basic\" has and, or, xor and not".into())
        })?;
        let goal = match &*goal {
            "size" => Goal::Size,
            "depth" => Goal::Chain,
            _ => {
                let text = format!("found the goal {goal:?}, expected \"size\" or \"depth\"");
                return Err(Failure::Argument(text, "\"size\" is for bitslicing".into()));
            }
        };
        let (inputs, outputs) = sizes;
        let table = Table { inputs, outputs, entries };
        if !table.is_well_formed() {
            let text = format!("found no table from {inputs} to {outputs} bits");
            let help = "a table has 2 to 256 entries, a power of two, each below 2^outputs";
            return Err(Failure::Argument(text, help.into()));
        }
        let table = if lsb_first { table.reversed() } else { table };
        let (circuit, origin) = for_table_from(&table, profile, goal);
        let origin = match origin {
            Origin::Known => "database",
            Origin::Inversion => "inversion",
            Origin::Polynomials => "polynomials",
        };
        Ok((circuit.gates.iter().map(shown).collect(), circuit.outputs, origin))
    })
}

fn shown(gate: &Gate) -> Shown {
    let (name, table) = match gate {
        Gate::Zero => ("zero", None),
        Gate::One => ("one", None),
        Gate::Not(_) => ("not", None),
        Gate::And(..) => ("and", None),
        Gate::Or(..) => ("or", None),
        Gate::Xor(..) => ("xor", None),
        Gate::Andn(..) => ("andn", None),
        Gate::Lut3(table, ..) => ("lut3", Some(*table)),
    };
    (name, gate.operands().collect(), table)
}
