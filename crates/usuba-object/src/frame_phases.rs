//! The alignment of the frame: the cases of the stack pointer that instructions can distinguish.
//!
//! ```text
//! the stack pointer at entry is 8 modulo 16, so 8, 24, 40 or 56 modulo 64
//! and rsp, -32     is the same for 8 and for 40, and for 24 and 56: two runs are all of them
//! ```
//!
//! *Soundness:* an execution depends on the position of the frame only through tests of alignments.
//! If the largest alignment that an execution at position p tests is a, then an execution at any
//! position congruent to p modulo a has equal answers, and is equal step by step.

use super::convention::Convention;

/// The largest alignment of the frame that is supported.
pub const PHASES: u64 = 64;

/// The calling convention fixes the stack pointer at entry modulo this.
pub const KNOWN_PHASES: u64 = 16;

/// The positions that remain.
pub struct Phases {
    /// The stack pointer at entry modulo [`KNOWN_PHASES`].
    first: u64,
    /// The positions at which the function has been executed, with the largest alignment that was
    /// tested.
    done: Vec<(u64, u64)>,
}

impl Phases {
    pub fn of(convention: Convention) -> Phases {
        Phases { first: convention.phase, done: Vec::new() }
    }

    /// A position that no execution stands for yet.
    pub fn next(&self) -> Option<u64> {
        let mut all = (self.first..PHASES).step_by(KNOWN_PHASES as usize);
        all.find(|phase| self.done.iter().all(|(done, asked)| phase % asked != done % asked))
    }

    /// The number of executions.
    pub fn count(&self) -> u32 {
        self.done.len() as u32
    }

    /// The function was executed at a position, and asked for no larger alignment than this, which
    /// is a power of two from [`KNOWN_PHASES`] on.
    pub fn done(&mut self, phase: u64, asked: u64) {
        self.done.push((phase, asked));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONVENTION: Convention = Convention { address: 8, above: 8, red_zone: 128, phase: 8 };

    /// The positions of the executions, if each tests these alignments at its position.
    fn looked_at(asked: impl Fn(u64) -> u64) -> Vec<u64> {
        let (mut phases, mut all) = (Phases::of(CONVENTION), Vec::new());
        while let Some(phase) = phases.next() {
            all.push(phase);
            phases.done(phase, asked(phase));
        }
        all
    }

    #[test]
    fn every_position_has_an_execution_like_it() {
        assert_eq!(looked_at(|_| 16), [8]);
        assert_eq!(looked_at(|_| 32), [8, 24]);
        assert_eq!(looked_at(|_| 64), [8, 24, 40, 56]);
        // An execution that tests less stands for more positions.
        let mixed = |phase: u64| if phase % 32 == 8 { 64 } else { 32 };
        assert_eq!(looked_at(mixed), [8, 24, 40]);
        for asked in [16, 32, 64] {
            let done = looked_at(|_| asked);
            for phase in (8..64).step_by(16) {
                assert!(done.iter().any(|other| other % asked == phase % asked));
            }
        }
    }
}
