//! Fault injection into object files: a deliberate defect that the prover must refute.
//!
//! ```text
//! vpxor ymm0, ymm1, ymm2  →  vpor ymm0, ymm1, ymm2       another gate
//! mov rax, [rdi + 8]      →  mov rax, [rdi - 120]        another address
//! ```
//!
//! A fault flips one bit of one instruction: the first instruction with such a bit.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use object::{Object as _, ObjectSection, ObjectSymbol};

/// The kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A logic operation becomes another one.
    Gate,
    /// An access through a parameter moves 128 bytes down.
    Address,
}

/// Injects a fault into a function of the object; `None` if the function has no place for it.
pub fn planted(file: &[u8], symbol: &str, fault: Fault) -> Option<Vec<u8>> {
    let (start, size, address) = place(file, symbol)?;
    let code = file.get(start..start.checked_add(size)?)?;
    let instructions = Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter();
    for old in instructions {
        let at = start + (old.ip() - address) as usize;
        for bit in 0..8 * old.len() {
            let mut bytes = file[at..at + old.len()].to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let new = Decoder::with_ip(64, &bytes, old.ip(), DecoderOptions::NONE).decode();
            if new.len() == old.len() && is(fault, &old, &new) {
                let mut planted = file.to_vec();
                planted[at..at + old.len()].copy_from_slice(&bytes);
                return Some(planted);
            }
        }
    }
    None
}

/// The file offset, size and address of a function.
fn place(file: &[u8], symbol: &str) -> Option<(usize, usize, u64)> {
    let object = object::File::parse(file).ok()?;
    // Only these instructions are decoded.
    if object.architecture() != object::Architecture::X86_64 {
        return None;
    }
    let symbol = object.symbols().find(|s| s.name() == Ok(symbol))?;
    let section = object.section_by_index(symbol.section_index()?).ok()?;
    let start = section.file_range()?.0.checked_add(symbol.address())?;
    Some((start.try_into().ok()?, symbol.size().try_into().ok()?, symbol.address()))
}

/// Whether `new` differs from `old` by exactly this fault.
fn is(fault: Fault, old: &Instruction, new: &Instruction) -> bool {
    let registers = |i: &Instruction| -> Vec<Register> {
        (0..i.op_count()).map(|operand| i.op_register(operand)).collect()
    };
    let memory = |i: &Instruction| (i.memory_base(), i.memory_index(), i.memory_index_scale());
    let place = |i: &Instruction| i.memory_displacement64() as i64;
    if registers(old) != registers(new) || memory(old) != memory(new) {
        return false;
    }
    match fault {
        Fault::Gate => {
            let same = registers(old);
            let clears = same.len() > 1 && same[same.len() - 1] == same[same.len() - 2];
            let other = old.mnemonic() != new.mnemonic()
                || is_ternary(old.mnemonic()) && old.immediate8() != new.immediate8();
            [old, new].iter().all(|i| is_logic(i.mnemonic()))
                && other
                && (!clears || old.op_count() > 2 && is_ternary(old.mnemonic()))
                && place(old) == place(new)
        }
        Fault::Address => {
            let parameter = [Register::RDI, Register::RSI, Register::RDX];
            parameter.contains(&old.memory_base())
                && old.mnemonic() == new.mnemonic()
                && place(new) < 0
                && place(old) >= 0
        }
    }
}

fn is_ternary(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Vpternlogd | Mnemonic::Vpternlogq)
}

fn is_logic(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let gates = [
        And, Or, Xor, Pand, Por, Pxor, Vpand, Vpor, Vpxor, Vpandd, Vpord, Vpxord, Vpandq, Vporq,
        Vpxorq, Andps, Orps, Xorps, Vandps, Vorps, Vxorps,
    ];
    is_ternary(mnemonic) || gates.contains(&mnemonic)
}
