//! Loop invariants, guessed and revised: equal and constant loop-carried values.
//!
//! Two loop-carried values with one initial value first share a symbol, and a loop-carried value is
//! first assumed constant. If the steps preserve these assumptions, they are invariants by
//! induction; otherwise the assumptions that fail are dropped and the body runs again.
//!
//! *Reference:* Alpern, Wegman, Zadeck 1988 (optimistic value numbering of loops by partitioning).

use rustc_hash::FxHashMap;

use crate::dag::Edge;

/// The invariants of loops, by their nesting and initial values: the first assumptions of the next
/// run of such a loop. Each run checks them again.
#[derive(Default)]
pub struct Guesses(pub FxHashMap<(u16, Box<[Edge]>), Guess>);

/// The assumptions of a run of a body.
#[derive(Clone)]
pub struct Guess {
    pub assumed: Vec<Assumed>,
    /// The values of which no step has changed the initial value yet.
    pub may_be_constant: Vec<bool>,
}

/// The assumption about a loop-carried value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Assumed {
    /// It equals its initial value in all iterations.
    Constant,
    /// It is the symbol with this number among the values with the same initial value.
    Symbol(u32),
}

/// The same assumptions if the steps preserve them; else weaker assumptions to try next.
pub fn revised(
    inits: &[Edge],
    params: &[Edge],
    nexts: &[Edge],
    assumed: &[Assumed],
    may_be_constant: &mut [bool],
) -> Vec<Assumed> {
    let mut is_constant = Vec::with_capacity(inits.len());
    for (i, &init) in inits.iter().enumerate() {
        if assumed[i] == Assumed::Constant && nexts[i] != init {
            may_be_constant[i] = false;
        }
        let stays = nexts[i] == init || nexts[i] == params[i];
        is_constant.push(may_be_constant[i] && (assumed[i] == Assumed::Constant || stays));
    }
    // Values of one symbol stay together if their steps are equal, too. Numbers follow the steps,
    // so the order of the loop-carried values does not matter.
    let key = |i: usize| (inits[i], assumed[i], nexts[i]);
    let mut keys: Vec<_> = (0..inits.len()).filter(|&i| !is_constant[i]).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let number = |i: usize| {
        let first = keys.partition_point(|(init, ..)| *init < inits[i]);
        let own = keys.binary_search(&key(i)).expect("every key is there");
        Assumed::Symbol((own - first) as u32)
    };
    let choice = |i: usize| if is_constant[i] { Assumed::Constant } else { number(i) };
    (0..inits.len()).map(choice).collect()
}

/// No assumption: values with the same initial value have different symbols, in their order.
pub fn all_different(inits: &[Edge]) -> Vec<Assumed> {
    let mut used: FxHashMap<Edge, u32> = FxHashMap::default();
    let number = |init: &Edge| {
        let next = used.entry(*init).or_insert(0);
        *next += 1;
        Assumed::Symbol(*next - 1)
    };
    inits.iter().map(number).collect()
}
