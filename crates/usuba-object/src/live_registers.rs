//! Live registers: the registers that a function may read from a place on before it writes them.
//!
//! ```text
//! f:  add rsi, rdi     reads rsi and rdi, which are parameters
//!     call g           reads the parameters that g reads
//! ```
//!
//! *Reference:* Aho, Lam, Sethi, Ullman 2006, section 9.2.5 (a backward analysis of data flow).

use rustc_hash::FxHashMap;

use super::control_flow::{ControlFlow, Effects, Transfer};
use super::elf::Object;
use super::summarized::{NOWHERE, Registers};

/// The most instructions of a function whose parameters are looked for.
const MOST: usize = 1 << 12;

/// The registers that functions of an object read from places on, found once for each place.
#[derive(Default)]
pub struct Live {
    saved: FxHashMap<u64, Registers>,
    parameters: FxHashMap<u64, Registers>,
    results: FxHashMap<u64, Registers>,
    statuses: FxHashMap<(u64, bool), bool>,
}

impl Live {
    /// The callee-saved registers that a function may read from a place on.
    pub fn saved<M: ControlFlow>(&mut self, object: &Object, place: u64) -> Registers {
        let find = || live::<M>(object, place, (set(M::SAVED), 0), &mut FxHashMap::default());
        *self.saved.entry(place).or_insert_with(find)
    }

    /// The parameters in registers that a function may use.
    pub fn parameters<M: ControlFlow>(&mut self, object: &Object, entry: u64) -> Registers {
        *self.parameters.entry(entry).or_insert_with(|| parameters::<M>(object, entry))
    }

    /// The registers that a callee may change, and that its caller reads once it has returned to a
    /// place; none if that is not known.
    pub fn results<M: ControlFlow>(&mut self, object: &Object, place: u64) -> Registers {
        let is_known = place != NOWHERE;
        let find = || results::<M>(object, place);
        if is_known { *self.results.entry(place).or_insert_with(find) } else { 0 }
    }

    /// Whether a function may read the register of the status from a place on, or return it if its own
    /// status is read; one that is not known may.
    pub fn status<M: ControlFlow>(&mut self, object: &Object, place: u64, returns: bool) -> bool {
        let status = set(&M::VOLATILE[..1]);
        let read = (status, if returns { status } else { 0 });
        let find = || live::<M>(object, place, read, &mut FxHashMap::default()) != 0;
        place == NOWHERE || *self.statuses.entry((place, returns)).or_insert_with(find)
    }
}

/// The set of some registers.
fn set(registers: &[usize]) -> Registers {
    registers.iter().fold(0, |set, number| set | 1 << number)
}

/// The parameters in registers that a function may use.
pub fn parameters<M: ControlFlow>(object: &Object, entry: u64) -> Registers {
    live::<M>(object, entry, (set(M::PARAMETERS), 0), &mut FxHashMap::default())
}

/// The other registers that a function may read from a place on.
pub fn results<M: ControlFlow>(object: &Object, place: u64) -> Registers {
    live::<M>(object, place, (set(M::VOLATILE), 0), &mut FxHashMap::default())
}

/// The caller-saved registers that a function may read from a place on, or return in.
pub fn volatile<M: ControlFlow>(object: &Object, place: u64) -> Registers {
    let read = (set(M::VOLATILE), set(&M::VOLATILE[..1]));
    live::<M>(object, place, read, &mut FxHashMap::default())
}

/// The registers among `all` that a function may read from a place on; `at_return` are the registers
/// that its caller may read. `known` has the functions around it, which may read all. Calls read parameters only.
fn live<M: ControlFlow>(
    object: &Object,
    entry: u64,
    (all, at_return): (Registers, Registers),
    known: &mut FxHashMap<u64, Registers>,
) -> Registers {
    if let Some(&live) = known.get(&entry) {
        return live;
    }
    known.insert(entry, all);
    let mut places = vec![entry];
    let mut numbers = FxHashMap::from_iter([(entry, 0)]);
    // The registers that an instruction reads, and that it writes, and the next ones.
    let mut effects: Vec<(Registers, Registers, Vec<usize>)> = Vec::new();
    while let Some(&place) = places.get(effects.len()) {
        if places.len() > MOST {
            return all;
        }
        let Effects { mut read, mut written, transfer } = M::effects(object, place);
        let next = M::next(object, place);
        read |= match transfer {
            Transfer::Call(_) if all == set(M::SAVED) => 0,
            Transfer::Call(Some(callee)) if !object.code(callee, 1).is_empty() => {
                live::<M>(object, callee, (all, 0), known)
            }
            // Functions of the library have three parameters, and four if they check a size.
            Transfer::Call(Some(other)) => {
                let name = object.outside(other);
                let checks = name.is_some_and(|name| name.ends_with("_chk"));
                set(&M::PARAMETERS[..3 + checks as usize])
            }
            Transfer::Call(None) => all,
            Transfer::Return => at_return,
            Transfer::Plain if next.contains(&None) => all,
            Transfer::Plain => 0,
        };
        // A result is the last callee's.
        if at_return != 0 && matches!(transfer, Transfer::Call(_)) {
            written = all;
        }
        let mut number = |next: u64| {
            *numbers.entry(next).or_insert_with(|| {
                places.push(next);
                places.len() - 1
            })
        };
        let next = next.into_iter().flatten().map(&mut number).collect();
        effects.push((read & all, written & all, next));
    }
    let mut before = vec![0; places.len()];
    loop {
        let mut changed = false;
        for (at, (read, written, next)) in effects.iter().enumerate().rev() {
            let after = next.iter().fold(0, |all, &next| all | before[next]);
            let live = read | after & !written;
            changed |= before[at] != live;
            before[at] = live;
        }
        if !changed {
            break;
        }
    }
    known.insert(entry, before[0]);
    before[0]
}
