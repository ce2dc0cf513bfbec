//! Arithmetic on several words: whole products, sums with a carry, and what a carry chooses.
//!
//! ```text
//! mulx rdx, rax, rcx     rdx:rax = rdx * rcx
//! add  r8, rax           the carry is bit 64 of the sum
//! adc  r9, rdx           and goes in here
//! setb al                or here
//! cmovb rax, rcx         or chooses here, in constant time
//! ```

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind};

use super::registers::{Flag, Flags, Word};
use super::{Outcome, X86, unsupported};
use crate::cell::Cell;
use crate::{Fault, World};

/// rax and rdx, as instructions encode them.
const RAX: usize = 0;
const RDX: usize = 2;

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Mul | Imul | Mulx | Adc | Sbb | Adcx | Adox)
}

impl X86 {
    pub(super) fn long(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        use Mnemonic::*;
        Some(match i.mnemonic() {
            Mul => self.whole_product(world, i),
            Mulx => self.mulx(world, i),
            Imul if i.op_count() == 1 => Err(unsupported("a whole product of signed numbers")),
            Adc => self.with_carry(world, i, true),
            // The difference of a register and itself is the carry everywhere.
            Sbb if i.op0_kind() != OpKind::Register
                || i.op1_kind() != OpKind::Register
                || i.op0_register() != i.op1_register() =>
            {
                self.with_carry(world, i, false)
            }
            Adcx => self.chained(world, i, false),
            Adox => self.chained(world, i, true),
            _ => return None,
        })
    }

    /// The bits of an operand of `bytes` bytes.
    fn bits_of(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        let word = self.word(world, i, operand, bytes)?;
        let cells = word.cells(&world.bits);
        let cells = cells.ok_or_else(|| unsupported("an address in long arithmetic"))?;
        Ok(cells[..8 * bytes].to_vec())
    }

    /// The bits of a register.
    fn register_bits(
        &self,
        world: &World,
        number: usize,
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        let cells = self.general(number).cells(&world.bits);
        let cells = cells.ok_or_else(|| unsupported("an address in long arithmetic"))?;
        Ok(cells[..8 * bytes].to_vec())
    }

    /// mul: rdx:rax = rax * a.
    fn whole_product(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        if bytes < 4 {
            return Err(unsupported("a product of short words"));
        }
        let a = self.bits_of(world, i, 0, bytes)?;
        let b = self.register_bits(world, RAX, bytes)?;
        let product = world.bits.whole_product(&a, &b);
        let secret = product.iter().any(|&cell| world.bits.is_secret(cell));
        let carry = if secret { Flag::Secret } else { Flag::Undefined };
        // Carry and overflow say whether the upper half is zero, which nobody asks.
        self.flags = Flags { carry, overflow: carry, ..Flags::UNDEFINED };
        let (low, high) = product.split_at(8 * bytes);
        self.set_general(RAX, Word::from_cells(&world.bits, low));
        self.set_general(RDX, Word::from_cells(&world.bits, high));
        Ok(())
    }

    /// mulx: the same of rdx, without flags, into two registers.
    fn mulx(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let a = self.bits_of(world, i, 2, bytes)?;
        let b = self.register_bits(world, RDX, bytes)?;
        let product = world.bits.whole_product(&a, &b);
        let (low, high) = product.split_at(8 * bytes);
        // If both are one register, it has the upper half.
        self.set_word(world, i, 1, Word::from_cells(&world.bits, low))?;
        self.set_word(world, i, 0, Word::from_cells(&world.bits, high))
    }

    /// adc, sbb: a sum or difference with the carry flag.
    fn with_carry(&mut self, world: &mut World, i: &Instruction, adds: bool) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let carry = carried(world, self.flags.carry)?;
        let (a, b) = (self.bits_of(world, i, 0, bytes)?, self.bits_of(world, i, 1, bytes)?);
        let (out, carry) = match adds {
            true => world.bits.sum_with(&a, &b, carry),
            false => world.bits.difference_with(&a, &b, carry),
        };
        self.flags = self.flags_of_word(world, &out, flag_of(world, carry), &[&a, &b]);
        self.set_word(world, i, 0, Word::from_cells(&world.bits, &out))
    }

    /// adcx, adox: sums with one flag each, in which no other flag changes.
    fn chained(&mut self, world: &mut World, i: &Instruction, over: bool) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let flag = if over { self.flags.overflow } else { self.flags.carry };
        let carry = carried(world, flag)?;
        let (a, b) = (self.bits_of(world, i, 0, bytes)?, self.bits_of(world, i, 1, bytes)?);
        let (out, carry) = world.bits.sum_with(&a, &b, carry);
        let flag = flag_of(world, carry);
        if over {
            self.flags.overflow = flag;
        } else {
            self.flags.carry = flag;
        }
        self.set_word(world, i, 0, Word::from_cells(&world.bits, &out))
    }

    /// Flags of a word that a sum or difference has given, of operands that are not all known.
    /// Whether it is zero is looked at where words are integers: elsewhere nobody asks.
    pub(super) fn flags_of_word(
        &self,
        world: &mut World,
        out: &[Cell],
        carry: Flag,
        operands: &[&[Cell]],
    ) -> Flags {
        let secret =
            operands.iter().any(|word| word.iter().any(|&cell| world.bits.is_secret(cell)));
        let unknown = if secret { Flag::Secret } else { Flag::Undefined };
        let known = world.bits.word(out).is_some();
        let zero = match known || world.bits.has_integers() {
            true => {
                let zeros = world.bits.number(0, out.len());
                let zero = world.bits.equal(out, &zeros);
                flag_of(world, zero)
            }
            false => unknown,
        };
        let sign = out.last().map_or(unknown, |&top| flag_of(world, top));
        let sign = if sign == Flag::Undefined { unknown } else { sign };
        Flags { carry, zero, sign, overflow: unknown }
    }

    /// A condition as a bit, where its flags are bits.
    pub(super) fn condition_bit(&self, world: &mut World, code: ConditionCode) -> Option<Cell> {
        let Flags { carry, zero, sign, overflow } = self.flags;
        let bit = |world: &World, flag: Flag| carried(world, flag).ok();
        let not = |world: &World, cell: Cell| world.bits.not(cell);
        Some(match code {
            ConditionCode::b => bit(world, carry)?,
            ConditionCode::ae => not(world, bit(world, carry)?),
            ConditionCode::e => bit(world, zero)?,
            ConditionCode::ne => not(world, bit(world, zero)?),
            ConditionCode::s => bit(world, sign)?,
            ConditionCode::ns => not(world, bit(world, sign)?),
            ConditionCode::o => bit(world, overflow)?,
            ConditionCode::no => not(world, bit(world, overflow)?),
            ConditionCode::be | ConditionCode::a => {
                let (carry, zero) = (bit(world, carry)?, bit(world, zero)?);
                let either = world.bits.or(carry, zero);
                if code == ConditionCode::be { either } else { not(world, either) }
            }
            _ => return None,
        })
    }
}

/// The bit that a flag is.
fn carried(world: &World, flag: Flag) -> Result<Cell, Fault> {
    match flag {
        Flag::Is(is) => Ok(world.bits.constant(is)),
        Flag::Bit(bit) => Ok(bit),
        Flag::Secret | Flag::Public | Flag::Undefined => Err(unsupported("the flag is not known")),
    }
}

/// The flag that is a bit.
pub(super) fn flag_of(world: &World, bit: Cell) -> Flag {
    match world.bits.value(bit) {
        Some(is) => Flag::Is(is),
        None if bit == Cell::UNSET => Flag::Undefined,
        None if bit == Cell::OPAQUE => Flag::Secret,
        None => Flag::Bit(bit),
    }
}
