//! Forms of instructions from the table of the model: every encoding that has a row, on registers,
//! memory, constants and masks. A new row is compared with the processor without any list.
//!
//! ```text
//! VEX_Vpaddd_ymm_ymm_ymmm256    vpaddd ymm1, ymm2, ymm3          registers
//!                               vpaddd ymm1, ymm1, ymm1          one register
//!                               vpaddd ymm1, ymm2, [rsi + 256]   memory
//!                               vpaddd ymm1, ymm2, [r11]         constants
//! ```

use std::fmt::Write;

use iced_x86::{
    Code, CodeSize, Encoder, EncodingKind, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpCodeInfo, OpKind, Register, RflagsBits,
};
use usuba_gen::level;
use usuba_object::x86::{Row, Timing, rows};

use super::Form;

/// Encodings of modelled names that the model rejects: other widths, undefined results, the
/// gathers of AVX2, and a move whose operand has two bytes on some processors and four on others.
const REFUSED: &[Code] = &[
    Code::Movsxd_r16_rm16,
    Code::Bswap_r16,
    Code::Mul_rm8,
    Code::Mul_rm16,
    Code::Imul_rm8,
    Code::Imul_rm16,
    Code::Imul_rm32,
    Code::Imul_rm64,
    Code::Shld_rm16_r16_imm8,
    Code::Shld_rm16_r16_CL,
    Code::Shrd_rm16_r16_imm8,
    Code::Shrd_rm16_r16_CL,
];

/// The immediates of eight bits: counts, predicates, places of lanes, orders and truth tables.
const BYTES: [i32; 34] = [
    0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 15, 16, 20, 31, 32, 33, 37, 63, 64, 70, 200, 255, 0x1b, 0x1e,
    0x4e, 0x55, 0x63, 0x6a, 0x93, 0x96, 0xb1, 0xca, 0xd8, 0xe8,
];

/// Where the operands of a form are.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Registers,
    /// All in the first one.
    OneRegister,
    Memory,
    /// One of them in memory that the object fixes.
    Constants,
    Broadcast,
    BroadcastConstant,
    /// The register of this operand holds constants.
    ConstantRegister(usize),
}

/// All forms that the table has with operands in these places; in the quick run the first one of
/// each encoding, and a share of the others.
pub fn all(places: impl Fn(Place) -> bool) -> Vec<Form> {
    let (mut all, mut count) = (Vec::new(), 0);
    for code in Code::values().filter(|code| !REFUSED.contains(code)) {
        let mut forms = Vec::new();
        Encoding::new(code).into_iter().for_each(|encoding| encoding.forms(&places, &mut forms));
        for (at, form) in forms.into_iter().enumerate() {
            count += 1;
            let is_next = count % level::SHARES == level::turn();
            all.extend((at == 0 || is_next || level::is_whole()).then_some(form));
        }
    }
    all
}

/// Instructions that need others around them.
const SEQUENCES: [Mnemonic; 4] = [Mnemonic::Lea, Mnemonic::Leave, Mnemonic::Fldz, Mnemonic::Fstp];

/// The forms of each rejected encoding.
pub fn rejected() -> impl Iterator<Item = Vec<Form>> {
    REFUSED.iter().map(|&code| {
        let mut forms = Vec::new();
        Encoding::new(code).expect("a row has its name").forms(|_| true, &mut forms);
        forms
    })
}

/// An encoding, and the kinds of its operands.
struct Encoding {
    code: Code,
    info: &'static OpCodeInfo,
    kinds: Vec<String>,
    row: &'static Row,
}

impl Encoding {
    /// `None` if no row has it, or if its effect shows only in a sequence.
    fn new(code: Code) -> Option<Encoding> {
        let info = code.op_code();
        let kinds = info.op_kinds().iter().map(|kind| format!("{kind:?}")).collect();
        let row = rows(code.mnemonic()).next()?;
        let encoding = Encoding { code, info, kinds, row };
        let instruction = encoding.instruction(Place::Registers, 0);
        let i = instruction.or_else(|| encoding.instruction(Place::Memory, 0))?;
        let row = Row::of(&i).filter(|row| row.timing == Timing::Fixed)?;
        let alone = info.mode64()
            && !SEQUENCES.contains(&code.mnemonic())
            && !i.is_stack_instruction()
            && !row.is_control()
            && (!encoding.gathers() || encoding.is_evex());
        alone.then_some(Encoding { row, ..encoding })
    }

    /// Whether it has many addresses.
    fn gathers(&self) -> bool {
        self.kinds.iter().any(|kind| kind.starts_with("mem_vsib"))
    }

    /// The operand that may be in memory.
    fn memory(&self) -> Option<usize> {
        self.kinds.iter().position(|kind| kind == "mem" || kind.ends_with("_or_mem"))
    }

    /// Whether its result is as wide as results of its name are.
    fn is_widest(&self) -> bool {
        let result = self.kinds.first().and_then(|kind| kind.split('_').next());
        result.is_some_and(|result| ["zmm", "r64", "k"].contains(&result))
    }

    /// Whether it is of AVX-512.
    fn is_evex(&self) -> bool {
        self.info.encoding() == EncodingKind::EVEX
    }

    /// The register of an operand, by a number.
    fn register(&self, at: usize, number: usize) -> Option<Register> {
        let vector = |first: Register| first + (number as u32 + 1) % 4;
        let general = |all: [Register; 3]| all[number];
        Some(match self.kinds[at].split('_').next()? {
            "xmm" => vector(Register::XMM0),
            "ymm" => vector(Register::YMM0),
            "zmm" => vector(Register::ZMM0),
            "r8" => general([Register::R8L, Register::CL, Register::DL]),
            "r16" => general([Register::R8W, Register::CX, Register::DX]),
            "r32" => general([Register::R8D, Register::ECX, Register::EDX]),
            "r64" => general([Register::R8, Register::RCX, Register::RDX]),
            "k" => general([Register::K3, Register::K1, Register::K2]),
            "al" => Register::AL,
            "cl" => Register::CL,
            "ax" => Register::AX,
            "eax" => Register::EAX,
            "rax" => Register::RAX,
            _ => return None,
        })
    }

    /// The kind of an operand that is an immediate.
    fn immediate(&self, at: usize) -> Option<OpKind> {
        Some(match &*self.kinds[at] {
            "imm8" | "imm8_const_1" => OpKind::Immediate8,
            "imm8sex16" => OpKind::Immediate8to16,
            "imm8sex32" => OpKind::Immediate8to32,
            "imm8sex64" => OpKind::Immediate8to64,
            "imm16" => OpKind::Immediate16,
            "imm32" => OpKind::Immediate32,
            "imm32sex64" => OpKind::Immediate32to64,
            "imm64" => OpKind::Immediate64,
            _ => return None,
        })
    }

    /// The instruction; `None` if it has no such operands.
    fn instruction(&self, place: Place, immediate: i32) -> Option<Instruction> {
        let mut i = Instruction::new();
        i.set_code(self.code);
        i.set_code_size(CodeSize::Code64);
        for at in 0..self.kinds.len() {
            let p = at as u32;
            let in_memory = self.memory() == Some(at)
                && !matches!(
                    place,
                    Place::Registers | Place::OneRegister | Place::ConstantRegister(_)
                );
            if let Some(kind) = self.immediate(at) {
                let value = if self.kinds[at] == "imm8_const_1" { 1 } else { immediate };
                i.set_op_kind(p, kind);
                i.set_immediate_i32(p, value);
            } else if in_memory || self.kinds[at].starts_with("mem_vsib") {
                i.set_op_kind(p, OpKind::Memory);
                let fixed = matches!(place, Place::Constants | Place::BroadcastConstant);
                i.set_memory_base(if fixed { Register::R11 } else { Register::RSI });
                i.set_memory_displacement64(if fixed { 0 } else { 256 });
                i.set_memory_displ_size(8);
                i.set_is_broadcast(matches!(place, Place::Broadcast | Place::BroadcastConstant));
                if !in_memory {
                    i.set_memory_index(match self.kinds[at].chars().last() {
                        Some('x') => Register::XMM3,
                        Some('y') => Register::YMM3,
                        _ => Register::ZMM3,
                    });
                    i.set_memory_index_scale(self.row.lane as u32 / 8);
                }
            } else {
                let number = if place == Place::OneRegister { 0 } else { at };
                i.set_op_kind(p, OpKind::Register);
                i.set_op_register(p, self.register(at, number)?);
            }
        }
        Some(i)
    }

    /// Which operands it reads.
    fn read(&self) -> Vec<bool> {
        let reads =
            |access| [OpAccess::Read, OpAccess::CondRead, OpAccess::ReadWrite].contains(&access);
        let mut factory = InstructionInfoFactory::new();
        let instruction = self.instruction(Place::Registers, 0).unwrap_or_default();
        let info = factory.info(&instruction);
        (0..self.kinds.len() as u32).map(|at| reads(info.op_access(at))).collect()
    }

    /// The places of its operands.
    fn places(&self) -> Vec<Place> {
        if self.gathers() {
            return vec![Place::Memory];
        }
        let is_register = |at: &usize| self.register(*at, 0).is_some();
        let registers: Vec<usize> = (0..self.kinds.len()).filter(is_register).collect();
        let mut places = Vec::new();
        if !self.kinds.iter().any(|kind| kind == "mem") {
            places.push(Place::Registers);
            if registers.len() > 1 {
                places.push(Place::OneRegister);
                // A count or an index is the last operand; tables and orders may be any vector.
                let reads = self.read();
                let holds = |&at: &usize| match self.register(at, at) {
                    Some(register) if register.is_gpr() => Some(at) == registers.last().copied(),
                    register => {
                        let is_vector = register.is_some_and(Register::is_vector_register);
                        is_vector && reads[at] && Some(at) != self.memory()
                    }
                };
                places.extend(registers.iter().copied().filter(holds).map(Place::ConstantRegister));
            }
        }
        // A bit of memory has a place that is a constant; no exchange with memory is modelled.
        let is_bit = [Mnemonic::Bt, Mnemonic::Bts, Mnemonic::Btr, Mnemonic::Btc];
        let is_far = is_bit.contains(&self.code.mnemonic()) && registers.len() == 2;
        let is_exchange = self.code.mnemonic() == Mnemonic::Xchg;
        if let Some(at) = self.memory().filter(|_| !is_far && !is_exchange) {
            places.push(Place::Memory);
            if at > 0 {
                places.push(Place::Constants);
            }
            if self.info.can_broadcast() {
                places.push(Place::Broadcast);
                places.extend(self.is_widest().then_some(Place::BroadcastConstant));
            }
        }
        places
    }

    /// Immediates for a place: all of them once for each name, else some in turn.
    fn immediates(&self, place: Place, turn: usize) -> Vec<i32> {
        let kind = (0..self.kinds.len()).find_map(|at| self.immediate(at));
        match kind {
            None => vec![0],
            Some(OpKind::Immediate8) if self.is_widest() && place == Place::Registers => {
                BYTES.into()
            }
            Some(OpKind::Immediate8) => {
                let some = if place == Place::Registers { 4 } else { 1 };
                (0..some).map(|at| BYTES[(11 * turn + 5 * at) % BYTES.len()]).collect()
            }
            Some(_) => vec![0x6b, -3],
        }
    }

    /// How masks are set, and whether they zero; the empty text stands for no mask.
    fn masks(&self, place: Place) -> Vec<(String, bool)> {
        let mut masks = Vec::new();
        if !self.info.require_op_mask_register() {
            masks.push((String::new(), false));
        }
        let is_result = self.memory() == Some(0) && place == Place::Memory;
        let chooses = self.row.is_by_mask();
        if self.info.can_use_op_mask_register() && self.row.lane > 0 && (chooses || !is_result) {
            let known = |mask| format!("mov r10, {mask}; kmovq k1, r10; ");
            let known = ["0x6a5c19f3e07d84b5", "0", "-1"].map(known);
            let sets: Vec<String> = match place {
                _ if chooses => known.to_vec(),
                Place::Registers | Place::Memory => vec!["kmovq k1, rax; ".into()],
                Place::Broadcast if self.is_widest() => vec!["kmovq k1, rax; ".into()],
                _ => Vec::new(),
            };
            let zeroes = self.info.can_use_zeroing_masking() && !is_result;
            for set in sets {
                masks.push((set.clone(), false));
                masks.extend(zeroes.then_some((set, true)));
            }
        }
        masks
    }

    /// The instructions before, which give flags and registers values that are known.
    fn before(&self, i: &Instruction, place: Place) -> Vec<String> {
        let mut text = String::new();
        let is_fixed = matches!(place, Place::Constants | Place::BroadcastConstant);
        if is_fixed || self.gathers() || matches!(place, Place::ConstantRegister(_)) {
            text += "lea r11, [rip + constants]; ";
        }
        if self.kinds.iter().any(|kind| kind.starts_with("k_")) {
            text += "kmovq k1, rax; kmovq k2, rcx; kmovq k3, rdx; ";
        }
        if let Some(vector) = self.kinds.iter().find_map(|kind| kind.strip_prefix("mem_vsib")) {
            let lanes = if vector.starts_with("32") { "d" } else { "q" };
            let _ = write!(text, "vpmovzxb{lanes} zmm3, [r11]; ");
        }
        let Place::ConstantRegister(at) = place else { return vec![text] };
        let register = i.op_register(at as u32);
        if register.is_gpr() {
            let name = format!("{:?}", register.full_register()).to_lowercase();
            return [5, 37, 95].map(|value| format!("{text}mov {name}, {value}; ")).into();
        }
        let (load, name) = if self.is_evex() { ("vmovdqu64", "zmm") } else { ("vmovdqu", "ymm") };
        vec![format!("{text}{load} {name}{}, [r11]; ", register.number())]
    }

    /// The flags that it defines, and the flags that it leaves as they are; no other is compared.
    fn flags(&self, i: &Instruction) -> String {
        let names = [
            (RflagsBits::CF, 'c'),
            (RflagsBits::ZF, 'z'),
            (RflagsBits::SF, 's'),
            (RflagsBits::OF, 'o'),
        ];
        let is_known = |(bit, name): &(u32, char)| {
            self.row.flags.contains(*name) || i.rflags_modified() & bit == 0
        };
        names.into_iter().filter(is_known).map(|(_, name)| name).collect()
    }

    fn forms(&self, places: impl Fn(Place) -> bool, forms: &mut Vec<Form>) {
        for place in self.places().into_iter().filter(|&place| places(place)) {
            for (at, immediate) in self.immediates(place, forms.len()).into_iter().enumerate() {
                let Some(plain) = self.instruction(place, immediate) else { continue };
                // One immediate with each mask.
                let masks = if at == 0 { self.masks(place) } else { vec![<_>::default()] };
                for (set, zeroes) in masks {
                    let mut i = plain;
                    if !set.is_empty() {
                        i.set_op_mask(Register::K1);
                        i.set_zeroing_masking(zeroes);
                    }
                    for before in self.before(&i, place) {
                        self.push(&i, format!("{before}{set}"), place, forms);
                    }
                }
            }
        }
    }

    /// Adds an instruction after others, without and with its flags.
    fn push(&self, i: &Instruction, before: String, place: Place, forms: &mut Vec<Form>) {
        const COMPARES: [&str; 4] =
            ["cmp r8, r9; ", "cmp eax, ecx; ", "test r8, r8; ", "add r9b, r10b; "];
        let mut encoder = Encoder::new(64);
        if encoder.encode(i, 0).is_err() {
            return;
        }
        let bytes = encoder.take_buffer();
        let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let mut text = format!(".byte {} # {i}", bytes.join(","));
        if self.kinds.first().is_some_and(|kind| kind.starts_with("k_")) {
            text += "; kmovq rdx, k3";
        }
        if self.gathers() {
            text += "; kmovq r9, k1";
        }
        let (reads, modifies) = (i.rflags_read() != 0, i.rflags_modified() != 0);
        let turn = forms.len() % COMPARES.len();
        let compares = match (reads, modifies) {
            (true, _) if place == Place::Registers => &COMPARES[..],
            (true, _) => &COMPARES[turn..=turn],
            (_, true) => &COMPARES[..1],
            _ => &[""],
        };
        // Of a shift by more than its width some flags are undefined.
        let width = 8 * i.op_register(0).size().max(i.memory_size().size());
        let is_far = match i.op_count().checked_sub(1).map(|last| i.op_kind(last)) {
            Some(OpKind::Immediate8) => i.immediate8() as usize >= width,
            _ => i.op1_register() == Register::CL,
        };
        let is_defined = modifies && !is_far;
        let flags = self.flags(i);
        for compare in compares {
            let text = format!("{compare}{before}{text}");
            let is_compared = is_defined && !flags.is_empty();
            if is_compared {
                forms.push(Form { text: text.clone(), flags: flags.clone() });
            }
            // Symbolic execution keeps flags of inputs as no data, so a form without them goes further.
            if !is_compared || place == Place::Registers {
                forms.push(Form::plain(text));
            }
        }
    }
}
