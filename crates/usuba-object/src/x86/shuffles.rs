//! Moves of bits between places: plain moves, broadcasts, shuffles, extensions.
//!
//! ```text
//! vmovdqu [rdi], ymm0          32 bytes, wherever they are
//! vpbroadcastd ymm0, [rdi]     word k of ymm0 = the word
//! pshufd xmm0, xmm1, 0x1b      word k of xmm0 = word 3 - k of xmm1
//! vpshufb a, b, c              byte k of a = byte c[k] mod 16 of the same 16 bytes of b, or zero
//! ```
//!
//! All of them are written as a function from places of the result to places of the operands. The
//! controls of shuffles must be known: those of these instructions come from constants. The one
//! that need not be is that of `pshufb` where the bytes are constants: it looks up a table that is
//! in a register, as clang does to turn bytes around, and its time does not depend on operands.
//!
//! Above 600 lines because the instructions are many and each has one way to say where bits come
//! from.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::making::{Cells, Making};
use super::operands::{Address, is_legacy, number, width};
use super::registers::{LANES, Word};
use super::{Outcome, X86, field, turns, unsupported};
use crate::cell::Cell;
use crate::memory::{Loaded, Whole};
use crate::{Fault, Rule, World};

/// Where a unit of the result comes from: operand and unit, or zero.
type From = Option<(usize, usize)>;

/// Bits of the groups in which most shuffles stay.
const GROUP: usize = 128;

/// Whether a plain move wants its memory operand to be aligned.
fn plain_move(mnemonic: Mnemonic) -> Option<bool> {
    use Mnemonic::*;
    Some(match mnemonic {
        Movdqa | Movaps | Movapd | Vmovdqa | Vmovaps | Vmovapd | Vmovdqa32 | Vmovdqa64 => true,
        Movntdq | Movntps | Movntpd | Vmovntdq | Vmovntps | Vmovntpd => true,
        Movdqu | Movups | Movupd | Lddqu | Vmovdqu | Vmovups | Vmovupd | Vlddqu => false,
        Vmovdqu8 | Vmovdqu16 | Vmovdqu32 | Vmovdqu64 => false,
        _ => return None,
    })
}

/// Bits of the part that is repeated over a vector.
fn broadcast(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpbroadcastb => 8,
        Vpbroadcastw => 16,
        Vpbroadcastd | Vbroadcastss => 32,
        Vpbroadcastq | Vbroadcastsd | Vbroadcasti32x2 | Vbroadcastf32x2 => 64,
        Vbroadcasti128 | Vbroadcastf128 => 128,
        Vbroadcasti32x4 | Vbroadcastf32x4 | Vbroadcasti64x2 | Vbroadcastf64x2 => 128,
        Vbroadcasti32x8 | Vbroadcastf32x8 | Vbroadcasti64x4 | Vbroadcastf64x4 => 256,
        _ => return None,
    })
}

/// Unit of an interleaving of the lower or upper halves of groups.
fn interleaving(mnemonic: Mnemonic) -> Option<(bool, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Punpcklbw | Vpunpcklbw => (false, 8),
        Punpcklwd | Vpunpcklwd => (false, 16),
        Punpckldq | Vpunpckldq | Unpcklps | Vunpcklps => (false, 32),
        Punpcklqdq | Vpunpcklqdq | Unpcklpd | Vunpcklpd => (false, 64),
        Punpckhbw | Vpunpckhbw => (true, 8),
        Punpckhwd | Vpunpckhwd => (true, 16),
        Punpckhdq | Vpunpckhdq | Unpckhps | Vunpckhps => (true, 32),
        Punpckhqdq | Vpunpckhqdq | Unpckhpd | Vunpckhpd => (true, 64),
        _ => return None,
    })
}

/// Units of an extension, from and to, and whether it copies the sign.
fn extension(mnemonic: Mnemonic) -> Option<(usize, usize, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pmovzxbw | Vpmovzxbw => (8, 16, false),
        Pmovzxbd | Vpmovzxbd => (8, 32, false),
        Pmovzxbq | Vpmovzxbq => (8, 64, false),
        Pmovzxwd | Vpmovzxwd => (16, 32, false),
        Pmovzxwq | Vpmovzxwq => (16, 64, false),
        Pmovzxdq | Vpmovzxdq => (32, 64, false),
        Pmovsxbw | Vpmovsxbw => (8, 16, true),
        Pmovsxbd | Vpmovsxbd => (8, 32, true),
        Pmovsxbq | Vpmovsxbq => (8, 64, true),
        Pmovsxwd | Vpmovsxwd => (16, 32, true),
        Pmovsxwq | Vpmovsxwq => (16, 64, true),
        Pmovsxdq | Vpmovsxdq => (32, 64, true),
        _ => return None,
    })
}

/// Bits of the part that is inserted into a vector.
fn insertion(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pinsrb | Vpinsrb => 8,
        Pinsrw | Vpinsrw => 16,
        Pinsrd | Vpinsrd => 32,
        Pinsrq | Vpinsrq => 64,
        Vinserti128 | Vinsertf128 => 128,
        Vinserti32x4 | Vinsertf32x4 | Vinserti64x2 | Vinsertf64x2 => 128,
        Vinserti32x8 | Vinsertf32x8 | Vinserti64x4 | Vinsertf64x4 => 256,
        _ => return None,
    })
}

/// Bits of the part that is taken out of a vector.
fn extraction(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pextrb | Vpextrb => 8,
        Pextrw | Vpextrw => 16,
        Pextrd | Vpextrd | Extractps | Vextractps => 32,
        Pextrq | Vpextrq => 64,
        Vextracti128 | Vextractf128 => 128,
        Vextracti32x4 | Vextractf32x4 | Vextracti64x2 | Vextractf64x2 => 128,
        Vextracti32x8 | Vextractf32x8 | Vextracti64x4 | Vextractf64x4 => 256,
        _ => return None,
    })
}

/// Unit of a shuffle of a whole vector by a vector of numbers, if that is what an instruction by this
/// name has: the last two also take an immediate.
fn permutation(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpermb => 8,
        Vpermw => 16,
        Vpermd | Vpermps => 32,
        Vpermq | Vpermpd => 64,
        _ => return None,
    })
}

/// Shuffles of one vector by an immediate, or by none.
const ONE: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Pshufd, Vpshufd, Pshuflw, Vpshuflw, Pshufhw, Vpshufhw, Vpermq, Vpermpd, Movddup, Vmovddup,
        Movshdup, Vmovshdup, Movsldup, Vmovsldup, Vpermilps, Vpermilpd,
    ]
};

/// Shuffles of two.
const TWO: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Shufps, Vshufps, Shufpd, Vshufpd, Pblendw, Vpblendw, Vpblendd, Blendps, Vblendps, Blendpd,
        Vblendpd, Vperm2i128, Vperm2f128, Vshufi32x4, Vshuff32x4, Vshufi64x2, Vshuff64x2, Valignd,
        Valignq, Movhlps, Vmovhlps, Movlhps, Vmovlhps,
    ]
};

/// Moves of parts, and shuffles that are like no others.
const OTHERS: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Movd, Vmovd, Movq, Vmovq, Movhps, Movhpd, Vmovhps, Vmovhpd, Movlps, Movlpd, Vmovlps,
        Vmovlpd, Movss, Vmovss, Movsd, Vmovsd, Vzeroupper, Pshufb, Vpshufb, Palignr, Vpalignr,
        Pslldq, Vpslldq, Psrldq, Vpsrldq,
    ]
};

/// The lanes of an instruction that may have a mask.
pub fn lane(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    let of_family = interleaving(mnemonic).map(|(_, unit)| unit);
    let of_family = of_family.or_else(|| extension(mnemonic).map(|(_, to, _)| to));
    of_family.or_else(|| permutation(mnemonic)).or_else(|| {
        Some(match mnemonic {
            Vmovdqu8 | Vpbroadcastb | Vpshufb | Vpalignr => 8,
            Vmovdqu16 | Vpbroadcastw | Vpshuflw | Vpshufhw => 16,
            Vmovdqu32 | Vmovdqa32 | Vmovaps | Vmovups | Vpbroadcastd | Vbroadcastss => 32,
            Vbroadcasti32x2 | Vbroadcastf32x2 | Vbroadcasti32x4 | Vbroadcastf32x4 => 32,
            Vbroadcasti32x8 | Vbroadcastf32x8 | Vinserti32x4 | Vinsertf32x4 => 32,
            Vinserti32x8 | Vinsertf32x8 | Vextracti32x4 | Vextractf32x4 => 32,
            Vextracti32x8 | Vextractf32x8 | Vshufi32x4 | Vshuff32x4 => 32,
            Vpshufd | Vshufps | Vpermilps | Vmovshdup | Vmovsldup | Valignd => 32,
            Vmovdqu64 | Vmovdqa64 | Vmovapd | Vmovupd | Vpbroadcastq | Vbroadcastsd => 64,
            Vbroadcasti64x2 | Vbroadcastf64x2 | Vbroadcasti64x4 | Vbroadcastf64x4 => 64,
            Vinserti64x2 | Vinsertf64x2 | Vinserti64x4 | Vinsertf64x4 => 64,
            Vextracti64x2 | Vextractf64x2 | Vextracti64x4 | Vextractf64x4 => 64,
            Vshufi64x2 | Vshuff64x2 | Vshufpd | Vpermilpd | Vmovddup | Valignq => 64,
            _ => return None,
        })
    })
}

/// Whether the last operand is an immediate.
fn by_number(i: &Instruction) -> bool {
    i.op_kind(i.op_count() - 1) == OpKind::Immediate8
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    plain_move(mnemonic).is_some()
        || broadcast(mnemonic).is_some()
        || interleaving(mnemonic).is_some()
        || extension(mnemonic).is_some()
        || insertion(mnemonic).is_some()
        || extraction(mnemonic).is_some()
        || permutation(mnemonic).is_some()
        || [ONE, TWO, OTHERS].iter().any(|list| list.contains(&mnemonic))
}

impl X86 {
    pub(super) fn shuffles(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        use Mnemonic::*;
        let mnemonic = i.mnemonic();
        if let Some(aligned) = plain_move(mnemonic) {
            return Some(self.plain_move(world, i, aligned));
        }
        if let Some(part) = extraction(mnemonic) {
            return Some(self.extract(world, i, part));
        }
        match mnemonic {
            Movd | Vmovd => return Some(self.move_word(world, i, 4)),
            Movq | Vmovq => return Some(self.move_word(world, i, 8)),
            Movhps | Movhpd | Vmovhps | Vmovhpd => return Some(self.move_half(world, i, 64)),
            Movlps | Movlpd | Vmovlps | Vmovlpd => return Some(self.move_half(world, i, 0)),
            Movss | Vmovss => return Some(self.move_lowest(world, i, 32)),
            // There is another instruction of this name, on strings.
            Movsd | Vmovsd if i.op_kinds().any(|kind| kind == OpKind::Register) => {
                return Some(self.move_lowest(world, i, 64));
            }
            Vzeroupper => {
                let zero = world.bits.constant(false);
                for number in 0..16 {
                    self.vectors_mut().get_mut(number)[GROUP..].fill(zero);
                }
                return Some(Ok(()));
            }
            _ => {}
        }
        self.make(world, i, |making| {
            Some(if let Some(part) = broadcast(mnemonic) {
                making.broadcast(part)
            } else if let Some((high, unit)) = interleaving(mnemonic) {
                making.interleave(high, unit)
            } else if let Some((from, to, signed)) = extension(mnemonic) {
                making.extend(from, to, signed)
            } else if let Some(part) = insertion(mnemonic) {
                making.insert(part)
            } else if let (Some(unit), false) = (permutation(mnemonic), by_number(i)) {
                making.permute(unit)
            } else {
                match mnemonic {
                    Pshufb | Vpshufb => making.shuffle_bytes(),
                    Palignr | Vpalignr => making.align(),
                    Pslldq | Vpslldq | Psrldq | Vpsrldq => making.shift_bytes(),
                    _ => return making.by_immediate(),
                }
            })
        })
    }

    fn plain_move(
        &mut self,
        world: &mut World,
        i: &Instruction,
        aligned: bool,
    ) -> Result<(), Fault> {
        let of = if i.op0_kind() == OpKind::Register { 0 } else { 1 };
        let bits = width(i.op_register(of));
        let is_memory = [0, 1].iter().any(|&operand| i.op_kind(operand) == OpKind::Memory);
        if aligned && is_memory {
            self.check_alignment(world, i, bits / 8)?;
        }
        // Addresses in lanes move along.
        let mut pointers = [None; LANES];
        let cells = match i.op1_kind() {
            // Not `vector`, which asks more of old instructions than these do.
            OpKind::Memory => {
                let address = self.address(world, i)?;
                if let Address::Pointer(at) = address {
                    (0..bits / 64).for_each(|lane| {
                        pointers[lane] = world.memory.whole(at.plus(8 * lane as i64))
                    });
                }
                self.load_cells(world, address, bits / 8)?
            }
            _ => {
                let from = number(i.op1_register());
                (0..bits / 64).for_each(|lane| pointers[lane] = self.vectors().pointer(from, lane));
                self.vector(world, i, 1, bits)?
            }
        };
        let pointers = pointers.into_iter().enumerate();
        let pointers = pointers.filter_map(|(lane, pointer)| Some((lane, pointer?)));
        if of == 1 {
            let address = self.address(world, i)?;
            self.store(world, address, &cells)?;
            for (lane, pointer) in pointers {
                let Address::Pointer(at) = address else {
                    return Err(unsupported("an address is stored where none should be"));
                };
                let stack = self.stack()?;
                world.memory.store_whole(at.plus(8 * lane as i64), pointer, stack)?;
            }
            return Ok(());
        }
        self.set_vector(world, i, i.op0_register(), &cells);
        // Of lanes behind a mask nothing is known.
        for (lane, pointer) in pointers.filter(|_| !i.has_op_mask()) {
            self.vectors_mut().set_pointer(number(i.op0_register()), lane, pointer);
        }
        Ok(())
    }

    /// movd, movq: the lowest bits of a vector, with zeros above.
    fn move_word(&mut self, world: &mut World, i: &Instruction, bytes: usize) -> Result<(), Fault> {
        let pointer = if bytes == 8 { self.moved_pointer(world, i)? } else { None };
        if self.vector_width(i).is_none() {
            let cells = self.vector(world, i, 1, 8 * bytes)?;
            let word = match pointer {
                Some(whole) => turns::word(whole),
                None => Word::from_cells(&world.bits, &cells),
            };
            return match i.op0_kind() {
                OpKind::Memory => {
                    let address = self.address(world, i)?;
                    self.store_word(world, address, &word, bytes)
                }
                _ => self.set_word(world, i, 0, word),
            };
        }
        let mut cells = match pointer {
            Some(_) => vec![Cell::UNSET; 64],
            None => self.low_part(world, i, 1, 8 * bytes)?,
        };
        cells.resize(GROUP, world.bits.constant(false));
        self.set_vector(world, i, i.op0_register(), &cells);
        if let Some(pointer) = pointer {
            self.vectors_mut().set_pointer(number(i.op0_register()), 0, pointer);
        }
        Ok(())
    }

    /// The address that movq moves, if it is one.
    fn moved_pointer(
        &mut self,
        world: &mut World,
        i: &Instruction,
    ) -> Result<Option<Whole>, Fault> {
        if i.op1_kind() == OpKind::Memory {
            let address = self.address(world, i)?;
            return Ok(match self.load(world, address, 8)? {
                Loaded::Pointer(pointer) => Some(Whole::Pointer(pointer)),
                Loaded::Moving(moving) => Some(Whole::Moving(moving)),
                Loaded::Count(form) => Some(Whole::Count(form)),
                Loaded::Cells(_) => None,
            });
        }
        let from = number(i.op1_register());
        Ok(match i.op1_register().is_gpr() {
            true => match self.general(from) {
                Word::Number(_) => None,
                word => turns::whole(word),
            },
            false => self.vectors().pointer(from, 0),
        })
    }

    /// movhps, movlps: 64 bits of a vector, from `first` on, to or from memory.
    fn move_half(&mut self, world: &mut World, i: &Instruction, first: usize) -> Result<(), Fault> {
        let address = self.address(world, i)?;
        if i.op0_kind() == OpKind::Memory {
            let cells = self.vector(world, i, 1, GROUP)?;
            return self.store(world, address, &cells[first..first + 64]);
        }
        // The other half is that of the register, or of the second operand.
        let rest = if is_legacy(i) { 0 } else { 1 };
        let mut cells = self.vector(world, i, rest, GROUP)?;
        let half = self.load_cells(world, address, 8)?;
        cells[first..first + 64].copy_from_slice(&half);
        self.set_vector(world, i, i.op0_register(), &cells);
        Ok(())
    }

    /// movss, movsd: the lowest bits of a vector, to or from memory; between registers the rest of
    /// the result is that of the register, or of the second operand.
    fn move_lowest(
        &mut self,
        world: &mut World,
        i: &Instruction,
        part: usize,
    ) -> Result<(), Fault> {
        if i.op0_kind() == OpKind::Memory {
            let (address, cells) = (self.address(world, i)?, self.vector(world, i, 1, part)?);
            return self.store(world, address, &cells);
        }
        let cells = if i.op1_kind() == OpKind::Memory {
            let mut cells = self.low_part(world, i, 1, part)?;
            cells.resize(GROUP, world.bits.constant(false));
            cells
        } else {
            let (rest, low) = self.two_vectors(world, i, GROUP)?;
            [&low[..part], &rest[part..]].concat()
        };
        self.set_vector(world, i, i.op0_register(), &cells);
        Ok(())
    }

    fn extract(&mut self, world: &mut World, i: &Instruction, part: usize) -> Result<(), Fault> {
        let bits = width(i.op1_register());
        let at = i.immediate(2) as usize % (bits / part);
        let cells = self.vector(world, i, 1, bits)?;
        let cells = &cells[at * part..(at + 1) * part];
        match i.op0_kind() {
            OpKind::Memory => {
                let address = self.address(world, i)?;
                self.store(world, address, cells)
            }
            _ if i.op0_register().is_gpr() => {
                let word = Word::from_cells(&world.bits, cells);
                self.set_word(world, i, 0, word)
            }
            _ => {
                let cells = cells.to_vec();
                self.set_vector(world, i, i.op0_register(), &cells);
                Ok(())
            }
        }
    }
}

impl Making<'_, '_> {
    fn broadcast(&mut self, part: usize) -> Cells {
        let cells = self.low_part(1, part)?;
        Ok(cells.iter().copied().cycle().take(self.bits).collect())
    }

    fn interleave(&mut self, high: bool, unit: usize) -> Cells {
        let (a, b) = self.two()?;
        let half = GROUP / unit / 2;
        Ok(in_groups(self.world, &[&a, &b], unit, self.bits, |_, at| {
            Some((at % 2, at / 2 + if high { half } else { 0 }))
        }))
    }

    fn extend(&mut self, from: usize, to: usize, signed: bool) -> Cells {
        let cells = self.low_part(1, self.bits / to * from)?;
        let zero = self.zero();
        let units = cells.chunks(from).flat_map(|unit| {
            let above = if signed { unit[from - 1] } else { zero };
            unit.iter().copied().chain(std::iter::repeat_n(above, to - from))
        });
        Ok(units.collect())
    }

    fn insert(&mut self, part: usize) -> Cells {
        let (into, from) = (self.source(), self.source() + 1);
        let at = self.i.immediate(from + 1) as usize % (self.bits / part);
        let mut cells = self.vector(into)?;
        let new = self.low_part(from, part)?;
        cells[at * part..(at + 1) * part].copy_from_slice(&new);
        Ok(cells)
    }

    fn permute(&mut self, unit: usize) -> Cells {
        let controls = self.vector(1)?;
        let cells = self.vector(2)?;
        let units = self.bits / unit;
        let mut out = Vec::with_capacity(self.bits);
        for control in controls.chunks(unit) {
            let used = &control[..units.trailing_zeros() as usize];
            let at = known_control(self.world, used)? as usize;
            out.extend_from_slice(&cells[at * unit..(at + 1) * unit]);
        }
        Ok(out)
    }

    fn shuffle_bytes(&mut self) -> Cells {
        let (cells, controls) = self.two()?;
        let mut out = Vec::with_capacity(self.bits);
        for (cells, controls) in cells.chunks(GROUP).zip(controls.chunks(GROUP)) {
            for control in controls.chunks(8) {
                let is_zero = known_control(self.world, &control[7..]);
                match (is_zero, known_control(self.world, &control[..4])) {
                    (Ok(1), _) => out.extend([self.zero(); 8]),
                    (Ok(_), Ok(at)) => out.extend_from_slice(&cells[8 * at as usize..][..8]),
                    (Err(fault), _) | (_, Err(fault)) => {
                        let bits = &mut self.world.bits;
                        let table = cells.chunks(8).map(|byte| bits.word(byte));
                        let table: Vec<u64> = table.collect::<Option<_>>().ok_or(fault)?;
                        let byte = field::looked_up(bits, &table, &control[..4]);
                        let kept = bits.not(control[7]);
                        out.extend(byte.into_iter().map(|bit| bits.and(kept, bit)));
                    }
                }
            }
        }
        Ok(out)
    }

    /// palignr: 16 bytes, from byte k on, of the group of `a` above that of `b`.
    fn align(&mut self) -> Cells {
        let (a, b) = self.two()?;
        let count = self.i.immediate(self.i.op_count() - 1) as usize;
        Ok(in_groups(self.world, &[&b, &a], 8, self.bits, |_, at| match at + count {
            from @ 0..16 => Some((0, from)),
            from @ 16..32 => Some((1, from - 16)),
            _ => None,
        }))
    }

    /// pslldq, psrldq: groups shifted by bytes.
    fn shift_bytes(&mut self) -> Cells {
        let left = matches!(self.i.mnemonic(), Mnemonic::Pslldq | Mnemonic::Vpslldq);
        let from = self.source();
        let count = self.i.immediate(from + 1) as usize;
        let cells = self.vector(from)?;
        Ok(in_groups(self.world, &[&cells], 8, self.bits, |_, at| {
            let from = if left { at.checked_sub(count)? } else { at + count };
            (from < 16).then_some((0, from))
        }))
    }

    /// Shuffles whose control is an immediate.
    fn by_immediate(&mut self) -> Option<Cells> {
        use Mnemonic::*;
        let mnemonic = self.i.mnemonic();
        // By a vector of numbers no compiler has made it of our programs.
        if matches!(mnemonic, Vpermilps | Vpermilpd) && !by_number(self.i) {
            return None;
        }
        let operands = if ONE.contains(&mnemonic) {
            let moved = matches!(mnemonic, Movddup | Vmovddup) && self.bits == GROUP;
            let wanted = if moved { 64 } else { self.bits };
            self.x86.vector(self.world, self.i, 1, wanted).map(|cells| (cells, Vec::new()))
        } else if TWO.contains(&mnemonic) {
            self.two()
        } else {
            return None;
        };
        let k =
            if by_number(self.i) { self.i.immediate(self.i.op_count() - 1) as usize } else { 0 };
        let (world, bits) = (&*self.world, self.bits);
        Some(operands.map(|(a, b)| {
            let sources: [&[Cell]; 2] = [&a, &b];
            let pick = |at: usize, width: usize| k >> (at * width) & ((1 << width) - 1);
            let whole =
                |unit, from: &dyn Fn(usize) -> From| moved(world, &sources, unit, bits, from);
            let groups = |unit, from: &dyn Fn(usize, usize) -> From| {
                in_groups(world, &sources, unit, bits, from)
            };
            match mnemonic {
                Pshufd | Vpshufd | Vpermilps => groups(32, &|_, at| Some((0, pick(at, 2)))),
                Pshuflw | Vpshuflw => {
                    groups(16, &|_, at| Some((0, if at < 4 { pick(at, 2) } else { at })))
                }
                Pshufhw | Vpshufhw => {
                    groups(16, &|_, at| Some((0, if at < 4 { at } else { 4 + pick(at - 4, 2) })))
                }
                Shufps | Vshufps => groups(32, &|_, at| Some((at / 2, pick(at, 2)))),
                // One bit for each result, in all groups.
                Shufpd | Vshufpd => groups(64, &|group, at| Some((at, pick(2 * group + at, 1)))),
                Vpermilpd => groups(64, &|group, at| Some((0, pick(2 * group + at, 1)))),
                Movddup | Vmovddup => groups(64, &|_, _| Some((0, 0))),
                Movshdup | Vmovshdup => groups(32, &|_, at| Some((0, at | 1))),
                Movsldup | Vmovsldup => groups(32, &|_, at| Some((0, at & !1))),
                // The eight bits are used again for each group.
                Pblendw | Vpblendw => groups(16, &|_, at| Some((pick(at, 1), at))),
                Vpblendd | Blendps | Vblendps => whole(32, &|at| Some((pick(at, 1), at))),
                Blendpd | Vblendpd => whole(64, &|at| Some((pick(at, 1), at))),
                Vpermq | Vpermpd => whole(64, &|at| Some((0, at / 4 * 4 + pick(at % 4, 2)))),
                Vperm2i128 | Vperm2f128 => whole(128, &|at| {
                    let control = pick(at, 4);
                    (control & 8 == 0).then_some((control >> 1 & 1, control & 1))
                }),
                Vshufi32x4 | Vshuff32x4 | Vshufi64x2 | Vshuff64x2 => {
                    let count = bits / GROUP;
                    let width = count.trailing_zeros() as usize;
                    whole(128, &|at| Some((2 * at / count, pick(at, width))))
                }
                Valignd | Valignq => {
                    let unit = if mnemonic == Valignd { 32 } else { 64 };
                    let units = bits / unit;
                    // The second operand is below the first.
                    whole(unit, &|at| {
                        let from = at + k % units;
                        Some((1 - from / units, from % units))
                    })
                }
                Movhlps | Vmovhlps => whole(64, &|at| Some((1 - at, 1))),
                _ => whole(64, &|at| Some((at, 0))),
            }
        }))
    }
}

/// The number that the bits of a control are.
pub(super) fn known_control(world: &World, cells: &[Cell]) -> Result<u64, Fault> {
    if let Some(value) = world.bits.word(cells) {
        return Ok(value);
    }
    if cells.iter().any(|&cell| world.bits.is_secret(cell)) {
        let what = "the control of the shuffle depends on an input";
        return Err(Fault::new(Rule::SecretShift, what));
    }
    Err(unsupported("the control of the shuffle is what nobody has written"))
}

/// A vector of `bits` bits whose units come from units of the sources.
fn moved(
    world: &World,
    sources: &[&[Cell]],
    unit: usize,
    bits: usize,
    from: impl Fn(usize) -> From,
) -> Vec<Cell> {
    let zero = world.bits.constant(false);
    let mut out = Vec::with_capacity(bits);
    for at in 0..bits / unit {
        match from(at) {
            Some((source, at)) => out.extend_from_slice(&sources[source][at * unit..][..unit]),
            None => out.extend(std::iter::repeat_n(zero, unit)),
        }
    }
    out
}

/// The same in each group of 128 bits: `from` gets the group and the unit in it, and answers with a
/// unit of the same group.
fn in_groups(
    world: &World,
    sources: &[&[Cell]],
    unit: usize,
    bits: usize,
    from: impl Fn(usize, usize) -> From,
) -> Vec<Cell> {
    let units = GROUP / unit;
    moved(world, sources, unit, bits, |at| {
        let (group, at) = (at / units, at % units);
        from(group, at).map(|(source, at)| (source, group * units + at))
    })
}
