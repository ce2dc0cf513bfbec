//! Instruction counts: disassembles the functions of an executable and classifies each instruction.
//!
//! ```text
//! mov   rax, [rsp+8]        a frame load: the compiler ran out of registers
//! vpxor ymm0, ymm1, [rdi]   a load and a computation in one instruction
//! vmovdqa ymm3, ymm0        a move
//! ```
//!
//! There are two counts: static, where each instruction counts once, and dynamic, where it counts
//! once per execution. Only x86-64 code in ELF files is counted.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use serde::{Deserialize, Serialize};

/// Instruction counts by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Counts {
    pub instructions: u64,
    /// Bytes of code: of all instructions, or of the executed instructions in a dynamic count.
    pub bytes: u64,
    /// Instructions that read memory, including those with further effects.
    pub loads: u64,
    pub stores: u64,
    /// Loads with an operand in the frame: reloads, and arguments and arrays in the frame.
    pub frame_loads: u64,
    pub frame_stores: u64,
    /// Moves between vector registers.
    pub vector_moves: u64,
    /// Moves between general-purpose registers.
    pub moves: u64,
}

impl Counts {
    /// Frame loads and stores as a share of all instructions.
    pub fn spill_share(&self) -> f64 {
        (self.frame_loads + self.frame_stores) as f64 / (self.instructions as f64).max(1.0)
    }

    fn add(&mut self, kind: &Kind, times: u64) {
        self.instructions += times;
        self.bytes += kind.bytes;
        for (count, is) in [
            (&mut self.loads, kind.load),
            (&mut self.stores, kind.store),
            (&mut self.frame_loads, kind.load && kind.frame),
            (&mut self.frame_stores, kind.store && kind.frame),
            (&mut self.vector_moves, kind.vector_move),
            (&mut self.moves, kind.plain_move),
        ] {
            *count += if is { times } else { 0 };
        }
    }
}

/// The classification of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Kind {
    bytes: u64,
    load: bool,
    store: bool,
    frame: bool,
    vector_move: bool,
    plain_move: bool,
}

/// The functions of one executable.
pub struct Code {
    functions: BTreeMap<u64, Function>,
    /// The address of `main`, which gives the load offset of the executable.
    main: u64,
}

struct Function {
    name: String,
    instructions: BTreeMap<u64, Kind>,
    /// Addresses that its calls and jumps target.
    targets: BTreeSet<u64>,
}

impl Code {
    /// Reads the functions of an executable; `None` if it is not an x86-64 ELF file with symbols.
    pub fn read(file: &[u8]) -> Option<Code> {
        let file = object::File::parse(file).ok()?;
        if file.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let mut functions = BTreeMap::new();
        for symbol in file.symbols() {
            if symbol.kind() != SymbolKind::Text || symbol.size() == 0 {
                continue;
            }
            let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name()) else {
                continue;
            };
            let section = file.section_by_index(section).ok()?;
            let Ok(Some(bytes)) = section.data_range(symbol.address(), symbol.size()) else {
                continue;
            };
            functions.insert(symbol.address(), Function::decode(name, symbol.address(), bytes));
        }
        let named = |(&at, function): (&u64, &Function)| (function.name == "main").then_some(at);
        let main = functions.iter().find_map(named)?;
        Some(Code { functions, main })
    }

    /// The static counts of the function `name` and of its direct and indirect callees.
    pub fn written(&self, name: &str) -> Option<Counts> {
        let mut counts = Counts::default();
        for at in self.reached(name)? {
            for kind in self.functions[&at].instructions.values() {
                counts.add(kind, 1);
            }
        }
        Some(counts)
    }

    /// The dynamic counts of `name`: `ran` pairs addresses with execution counts, with `main`
    /// loaded at `origin`. `None` also if no instruction of the function ran.
    pub fn executed(&self, name: &str, origin: u64, ran: &[(u64, u64)]) -> Option<Counts> {
        let reached = self.reached(name)?;
        let mut counts = Counts::default();
        for &(at, times) in ran {
            let at = at.wrapping_sub(origin).wrapping_add(self.main);
            let Some((start, function)) = self.functions.range(..=at).next_back() else { continue };
            if !reached.contains(start) {
                continue;
            }
            if let Some(kind) = function.instructions.get(&at) {
                counts.add(kind, times);
            }
        }
        (counts.instructions > 0).then_some(counts)
    }

    /// The addresses of a function and of all its direct and indirect callees.
    fn reached(&self, name: &str) -> Option<BTreeSet<u64>> {
        let first = self.functions.iter().find(|(_, function)| function.name == name)?.0;
        let mut reached = BTreeSet::new();
        let mut todo = vec![*first];
        while let Some(at) = todo.pop() {
            if reached.insert(at) {
                let known = |target: &&u64| self.functions.contains_key(target);
                todo.extend(self.functions[&at].targets.iter().filter(known));
            }
        }
        Some(reached)
    }
}

impl Function {
    fn decode(name: &str, address: u64, bytes: &[u8]) -> Function {
        let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let all: Vec<Instruction> = decoder.into_iter().collect();
        let frame = frame_registers(&all);
        let mut info = InstructionInfoFactory::new();
        let inside = address..address + bytes.len() as u64;
        let mut function = Function {
            name: name.to_string(),
            instructions: BTreeMap::new(),
            targets: BTreeSet::new(),
        };
        for instruction in &all {
            function.instructions.insert(instruction.ip(), kind(instruction, &frame, &mut info));
            let flow = instruction.flow_control();
            let goes = matches!(
                flow,
                FlowControl::Call
                    | FlowControl::UnconditionalBranch
                    | FlowControl::ConditionalBranch
            );
            let target = instruction.near_branch_target();
            if goes && !inside.contains(&target) {
                function.targets.insert(target);
            }
        }
        function
    }
}

/// The stack pointer, and the base pointer in a function that copies the stack pointer to it.
fn frame_registers(all: &[Instruction]) -> Vec<Register> {
    let copies = |i: &Instruction| {
        i.mnemonic() == Mnemonic::Mov
            && i.op0_register() == Register::RBP
            && i.op1_register() == Register::RSP
            || i.mnemonic() == Mnemonic::Lea
                && i.op0_register() == Register::RBP
                && i.memory_base() == Register::RSP
    };
    let mut registers = vec![Register::RSP];
    if all.iter().any(copies) {
        registers.push(Register::RBP);
    }
    registers
}

fn kind(i: &Instruction, frame: &[Register], info: &mut InstructionInfoFactory) -> Kind {
    let mut kind = Kind { bytes: i.len() as u64, ..Kind::default() };
    let memory = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory);
    if memory && i.mnemonic() != Mnemonic::Lea && i.mnemonic() != Mnemonic::Nop {
        for place in info.info(i).used_memory() {
            use OpAccess::*;
            kind.load |= matches!(place.access(), Read | CondRead | ReadWrite | ReadCondWrite);
            kind.store |= matches!(place.access(), Write | CondWrite | ReadWrite | ReadCondWrite);
        }
        kind.frame = frame.contains(&i.memory_base());
    }
    let registers =
        i.op_count() == 2 && i.op0_kind() == OpKind::Register && i.op1_kind() == OpKind::Register;
    if registers && moves(i.mnemonic()) {
        let (to, from) = (i.op0_register(), i.op1_register());
        kind.vector_move = to.is_vector_register() && from.is_vector_register();
        kind.plain_move = to.is_gpr() && from.is_gpr();
    }
    kind
}

/// Whether an instruction between two registers of one kind is a move.
fn moves(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Mov | Movaps
            | Movapd
            | Movups
            | Movupd
            | Movdqa
            | Movdqu
            | Vmovaps
            | Vmovapd
            | Vmovups
            | Vmovupd
            | Vmovdqa
            | Vmovdqu
            | Vmovdqa32
            | Vmovdqa64
            | Vmovdqu8
            | Vmovdqu16
            | Vmovdqu32
            | Vmovdqu64
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `push rbp; mov rbp, rsp; mov rax, [rsp+8]; add [rbp-16], rax; vpxor ymm0, ymm1, [rdi];
    /// vmovdqa ymm3, ymm0; mov rcx, rax; lea rax, [rsp+8]; pop rbp; ret`
    const FUNCTION: &[u8] = &[
        0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x01, 0x45, 0xf0, 0xc5, 0xf5,
        0xef, 0x07, 0xc5, 0xfd, 0x6f, 0xd8, 0x48, 0x89, 0xc1, 0x48, 0x8d, 0x44, 0x24, 0x08, 0x5d,
        0xc3,
    ];

    /// An executable with `main` at 0x1000 that calls [`FUNCTION`], `f`, at 0x1010.
    fn code() -> Code {
        // call 0x1010; ret
        let main = Function::decode("main", 0x1000, &[0xe8, 0x0b, 0, 0, 0, 0xc3]);
        let f = Function::decode("f", 0x1010, FUNCTION);
        Code { functions: [(0x1000, main), (0x1010, f)].into(), main: 0x1000 }
    }

    #[test]
    fn instructions_are_told_apart() {
        let counts = code().written("f").expect("it is there");
        let want = Counts {
            instructions: 10,
            bytes: FUNCTION.len() as u64,
            loads: 3,
            stores: 1,
            frame_loads: 2,
            frame_stores: 1,
            vector_moves: 1,
            moves: 2,
        };
        assert_eq!(counts, want);
        assert_eq!(counts.spill_share(), 0.3);
    }

    #[test]
    fn a_base_pointer_is_of_the_frame_only_where_it_points_there() {
        // mov rax, [rbp+8]; ret
        let function = Function::decode("g", 0, &[0x48, 0x8b, 0x45, 0x08, 0xc3]);
        let code = Code { functions: [(0, function)].into(), main: 0 };
        let counts = code.written("g").expect("it is there");
        assert_eq!((counts.loads, counts.frame_loads), (1, 0));
    }

    #[test]
    fn callees_belong_to_their_callers() {
        let code = code();
        assert_eq!(code.written("main").expect("it is there").instructions, 12);
        assert_eq!(code.written("nobody"), None);
    }

    #[test]
    fn what_ran_counts_as_often_as_it_ran() {
        let code = code();
        // Loaded at offset 0x5000: the frame load ran 7 times, the call in `main` once.
        let ran = [(0x6014, 7), (0x6000, 1)];
        let counts = code.executed("f", 0x6000, &ran).expect("it ran");
        assert_eq!((counts.instructions, counts.frame_loads, counts.bytes), (7, 7, 5));
        assert_eq!(code.executed("f", 0x6000, &[(0x6000, 1)]), None);
    }
}
