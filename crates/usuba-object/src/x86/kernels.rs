//! The calling convention at calls of functions that are not executed: see `crate::callees`.

use super::registers::{PARAMETERS, VOLATILE};
use super::{Done, Run};
use crate::callees::Caller;
use crate::flags::{Flag, Flags};
use crate::word::Word;
use crate::{Fault, World};
use usuba_bits::cell::Cell;

impl<'o> Caller<'o> for Run<'_, 'o> {
    const REGISTERS: usize = PARAMETERS.len();

    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn parameter(&self, at: usize) -> Word {
        self.x86.general[PARAMETERS[at]].clone()
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.x86.stack()
    }

    fn returned(&mut self, result: Word, handles_secret: bool) -> Done {
        let stack = self.x86.stack()?;
        let bits = &self.world.bits;
        let lost = |cell: Cell| match handles_secret || bits.is_secret(cell) {
            true => Cell::OPAQUE,
            false => Cell::UNSET,
        };
        let mut any = handles_secret;
        let mut lose = |cells: &mut [Cell]| {
            for cell in cells {
                *cell = lost(*cell);
                any |= *cell == Cell::OPAQUE;
            }
        };
        for register in VOLATILE {
            let held = self.x86.general[register].cells(bits);
            let mut cells = held.unwrap_or([Cell::UNSET; 64]);
            lose(&mut cells);
            self.x86.general[register] = Word::Bits(Box::new(cells));
        }
        self.x86.general[VOLATILE[0]] = result;
        for vector in 0..32 {
            lose(self.x86.vectors.get_mut(vector));
        }
        self.x86.masks.iter_mut().for_each(|mask| lose(mask));
        any |= self.x86.flags.are_secret();
        self.x86.flags = if any { Flags::all(Flag::Secret) } else { Flags::UNDEFINED };
        let World { bits, memory, .. } = &mut *self.world;
        memory.lose_below(stack, |cell| any || bits.is_secret(cell));
        Ok(())
    }
}
