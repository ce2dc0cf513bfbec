//! Moves that happen at once, one after the other.
//!
//! ```text
//! r0 ← r1, r1 ← r0, slot 3 ← r2      slot 3 ← r2; r2 ← r0; r0 ← r1; r1 ← r2
//! ```

use super::State;
use crate::steps::{Memory, Reg, Step};

/// The place that a value moves from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum From {
    Reg(Reg),
    Memory(Memory),
}

/// The place that it moves to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum To {
    Slot(u32),
    Reg(Reg),
}

impl To {
    fn as_from(self) -> From {
        match self {
            To::Reg(reg) => From::Reg(reg),
            To::Slot(slot) => From::Memory(Memory::Slot(slot)),
        }
    }
}

impl State {
    /// Makes all moves; values in places that no move reads are lost.
    pub fn move_all(&mut self, mut moves: Vec<(From, To)>) {
        let kept: Vec<To> = moves.iter().map(|(_, to)| *to).collect();
        moves.retain(|(from, to)| *from != to.as_from());
        // Moves to memory first: they need a register in between, and free others.
        moves.sort_by_key(|(_, to)| *to);
        while !moves.is_empty() {
            let is_read = |to: To| moves.iter().any(|(from, _)| *from == to.as_from());
            let ready = moves.iter().position(|&(_, to)| !is_read(to));
            match ready {
                Some(at) => {
                    let (from, to) = moves.remove(at);
                    self.move_one(from, to, &moves, &kept);
                }
                None => {
                    // All that is left are cycles: one place moves out of the way.
                    let place = moves[0].1;
                    let away = match self.spare(&moves, &kept) {
                        Some(reg) => To::Reg(reg),
                        None => To::Slot(self.fresh_slot()),
                    };
                    self.move_one(place.as_from(), away, &moves, &kept);
                    for (from, _) in &mut moves {
                        if *from == place.as_from() {
                            *from = away.as_from();
                        }
                    }
                }
            }
        }
    }

    fn move_one(&mut self, from: From, to: To, moves: &[(From, To)], kept: &[To]) {
        match (from, to) {
            (From::Reg(from), To::Reg(to)) => self.steps.push(Step::Copy { to, from }),
            (From::Reg(from), To::Slot(slot)) => self.steps.push(Step::Spill { slot, from }),
            (From::Memory(from), To::Reg(to)) => self.steps.push(Step::Load { to, from }),
            (From::Memory(from), To::Slot(slot)) => {
                let spare = self.spare(moves, kept);
                let reg = spare.unwrap_or(0);
                let parked = spare.is_none().then(|| self.fresh_slot());
                if let Some(slot) = parked {
                    self.steps.push(Step::Spill { slot, from: reg });
                }
                self.steps.push(Step::Load { to: reg, from });
                self.steps.push(Step::Spill { slot, from: reg });
                if let Some(slot) = parked {
                    self.steps.push(Step::Load { to: reg, from: Memory::Slot(slot) });
                }
            }
        }
    }

    /// A register that no move reads or has filled.
    fn spare(&self, moves: &[(From, To)], kept: &[To]) -> Option<Reg> {
        let is_free = |reg: &Reg| {
            let is_read = moves.iter().any(|(from, _)| *from == From::Reg(*reg));
            let will_be_filled = moves.iter().any(|(_, to)| *to == To::Reg(*reg));
            !is_read && (will_be_filled || !kept.contains(&To::Reg(*reg)))
        };
        (0..self.regs.len() as Reg).find(is_free)
    }

    fn fresh_slot(&mut self) -> u32 {
        self.slots.push(None);
        self.slots.len() as u32 - 1
    }
}
