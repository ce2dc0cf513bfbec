//! Operation counts and live values of a kernel, for the comment on top of its text.

use std::fmt;

use crate::ir::Program;
use crate::ir::live::{Counts, executed, max_live};

/// Facts about one instance, the same for every target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// The operators that one call executes: a loop counts as often as it runs.
    pub operations: Counts,
    /// The largest number of live values.
    pub live: usize,
}

/// Counts the operators and live values of the entry of `program`.
pub fn stats(program: &Program) -> Stats {
    Stats { operations: executed(program), live: max_live(program) }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operations.computing())?;
        let moves = ["const", "copy", "call"];
        let kinds = self.operations.by_name.iter().filter(|(name, _)| !moves.contains(name));
        let kinds: Vec<String> = kinds.map(|(name, count)| format!("{name} {count}")).collect();
        if !kinds.is_empty() {
            write!(f, " ({})", kinds.join(", "))?;
        }
        write!(f, "; at most {} values alive", self.live)
    }
}
