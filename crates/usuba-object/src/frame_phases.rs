//! Where the frame lies, as far as instructions look at it.
//!
//! ```text
//! the stack pointer at entry is 8 modulo 16, so 8, 24, 40 or 56 modulo 64
//! and rsp, -32     is the same for 8 and for 40, and for 24 and 56: two runs are all of them
//! ```
//!
//! What an execution does depends on the position of the frame only through questions for
//! alignments. If the largest alignment that one at position p asks for is a, an execution at any
//! position that is p modulo a gets the same answers, and so is the same, step by step.

/// The largest alignment of the frame that is understood.
pub const PHASES: u64 = 64;

/// What the calling convention says about the stack pointer at entry: it is 8 modulo this.
pub const KNOWN_PHASES: u64 = 16;

/// The positions that are still to be looked at.
#[derive(Default)]
pub struct Phases {
    /// Those at which the function has been executed, with the largest alignment that was asked for.
    done: Vec<(u64, u64)>,
}

impl Phases {
    /// A position that no execution stands for yet.
    pub fn next(&self) -> Option<u64> {
        let mut all = (KNOWN_PHASES / 2..PHASES).step_by(KNOWN_PHASES as usize);
        all.find(|phase| self.done.iter().all(|(done, asked)| phase % asked != done % asked))
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

    /// The positions of executions that ask for these alignments, each at its position.
    fn looked_at(asked: impl Fn(u64) -> u64) -> Vec<u64> {
        let (mut phases, mut all) = (Phases::default(), Vec::new());
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
        // What asks for less in some positions stands for fewer of them.
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
