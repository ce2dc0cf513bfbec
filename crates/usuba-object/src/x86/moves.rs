//! Moves of whole vectors and of parts, in which addresses in lanes move along.
//!
//! ```text
//! vmovdqu [rdi], ymm0      32 bytes, wherever they are
//! vmovq xmm0, rax          the lowest word of xmm0 = rax, zeros above
//! movhps xmm0, [rdi]       the upper half of xmm0 = the word at rdi
//! ```

use super::operands::{number, width};
use super::registers::LANES;
use super::shuffles::GROUP;
use super::{Done, Run, unsupported};
use crate::address::Address;
use crate::memory::{Loaded, Whole};
use crate::word::Word;
use usuba_bits::cell::Cell;

impl Run<'_, '_> {
    /// A move of a whole vector, which may want its memory operand to be aligned.
    pub fn plain_move(&mut self, aligned: bool) -> Done {
        let stores = self.is_memory(0);
        let bits = width(self.i.op_register(stores as u32));
        if aligned && (stores || self.is_memory(1)) {
            self.check_alignment(bits / 8)?;
        }
        let mut pointers = [None; LANES];
        // Not `vector`, which checks the alignment of legacy instructions.
        let cells = if self.is_memory(1) {
            let address = self.address()?;
            if let Address::Pointer(at) = address {
                for (lane, pointer) in pointers[..bits / 64].iter_mut().enumerate() {
                    *pointer = self.world.memory.whole(at.plus(8 * lane as i64));
                }
            }
            self.load_cells(address, bits / 8)?
        } else {
            let from = number(self.i.op1_register());
            for (lane, pointer) in pointers[..bits / 64].iter_mut().enumerate() {
                *pointer = self.x86.vectors.pointer(from, lane);
            }
            self.vector(1, bits)?
        };
        let pointers = pointers.into_iter().enumerate();
        let pointers = pointers.filter_map(|(lane, pointer)| Some((lane, pointer?)));
        if stores {
            let address = self.address()?;
            self.store(address, &cells)?;
            for (lane, pointer) in pointers {
                let Address::Pointer(at) = address else {
                    return Err(unsupported("an address is stored where none should be"));
                };
                let at = at.plus(8 * lane as i64);
                self.world.memory.store_whole(at, pointer, self.x86.stack()?)?;
            }
            return Ok(());
        }
        self.set_vector(&cells);
        // Lanes under a mask are unknown.
        for (lane, pointer) in pointers.filter(|_| !self.i.has_op_mask()) {
            self.x86.vectors.set_pointer(number(self.i.op0_register()), lane, pointer);
        }
        Ok(())
    }

    /// movd, movq: the lowest bits of a vector, with zeros above.
    pub fn move_word(&mut self, bytes: usize) -> Done {
        let pointer = if bytes == 8 { self.moved_pointer()? } else { None };
        if self.vector_width().is_none() {
            let cells = self.vector(1, 8 * bytes)?;
            let word = match pointer {
                Some(whole) => Word::from(whole),
                None => Word::from_cells(&self.world.bits, &cells),
            };
            if self.is_memory(0) {
                let address = self.address()?;
                return self.store_word(address, &word, bytes);
            }
            return self.set_word(0, word);
        }
        let mut cells = match pointer {
            Some(_) => vec![Cell::UNSET; 64],
            None => self.low_part(1, 8 * bytes)?,
        };
        cells.resize(GROUP, self.zero());
        self.set_vector(&cells);
        if let Some(pointer) = pointer {
            self.x86.vectors.set_pointer(number(self.i.op0_register()), 0, pointer);
        }
        Ok(())
    }

    /// The address that movq moves, if it is one.
    fn moved_pointer(&mut self) -> Result<Option<Whole>, super::Fault> {
        if self.is_memory(1) {
            let address = self.address()?;
            return Ok(match self.load(address, 8)? {
                Loaded::Pointer(pointer) => Some(Whole::Pointer(pointer)),
                Loaded::Moving(moving) => Some(Whole::Moving(moving)),
                Loaded::Count(form) => Some(Whole::Count(form)),
                Loaded::Cells(_) => None,
            });
        }
        let from = self.i.op1_register();
        Ok(match from.is_gpr() {
            true => self.held(from).moved(),
            false => self.x86.vectors.pointer(number(from), 0),
        })
    }

    /// movhps, movlps: 64 bits of a vector, from `first` on, to or from memory.
    pub fn move_half(&mut self, first: usize) -> Done {
        if self.is_memory(0) {
            let cells = self.vector(1, GROUP)?;
            return self.store_operand(&cells[first..first + 64]);
        }
        // The other half stays, or comes from the second operand.
        let mut cells = self.vector(self.source(), GROUP)?;
        let half = self.load_operand(8)?;
        cells[first..first + 64].copy_from_slice(&half);
        self.set_vector(&cells);
        Ok(())
    }

    /// movss, movsd: the lowest bits of a vector, to or from memory; between registers the rest of
    /// the result stays, or comes from the second operand.
    pub fn move_lowest(&mut self, part: usize) -> Done {
        if self.is_memory(0) {
            let cells = self.vector(1, part)?;
            return self.store_operand(&cells);
        }
        let cells = if self.is_memory(1) {
            let mut cells = self.load_operand(part / 8)?;
            cells.resize(GROUP, self.zero());
            cells
        } else {
            let (rest, low) = self.two(GROUP)?;
            [&low[..part], &rest[part..]].concat()
        };
        self.set_vector(&cells);
        Ok(())
    }

    /// A part of a vector, to memory or to a register.
    pub fn extract(&mut self, part: usize) -> Done {
        let bits = width(self.i.op1_register());
        let at = self.i.immediate(2) as usize % (bits / part);
        let cells = self.vector(1, bits)?;
        let cells = &cells[at * part..(at + 1) * part];
        if self.is_memory(0) {
            return self.store_operand(cells);
        }
        if self.i.op0_register().is_gpr() {
            return self.set_bits(0, cells);
        }
        self.set_vector(cells);
        Ok(())
    }

    /// vzeroupper: the upper parts of the first sixteen registers become zero.
    pub fn zero_upper(&mut self) -> Done {
        let zero = self.zero();
        for number in 0..16 {
            self.x86.vectors.get_mut(number)[GROUP..].fill(zero);
        }
        Ok(())
    }
}
