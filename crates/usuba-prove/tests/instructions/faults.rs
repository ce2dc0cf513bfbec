//! Faults: wherever an access faults on the processor, the model rejects it.
//!
//! ```text
//!   guard | a page that is written | guard | a page that is only read | guard
//!   ^^^^^^^^                    ^^^^^^^^                            ^
//!   each form runs at every address around the limits, and in the last page
//! ```
//!
//! The model has the same address in a buffer of any length and alignment that ends, or begins, with
//! the page, in the frame, whose limit is the end of the page, and in constants of the object. It
//! runs at the limits of each access, which the processor shows, and at random addresses; on
//! numbers, and on symbols where an input is known to fault. It may reject more than the processor,
//! but no access that is inside and aligned.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rayon::prelude::*;
use usuba::ir::random::Random;
use usuba_gen::level;
use usuba_object::elf::Object;
use usuba_object::memory::{Access, Pointer, Region};
use usuba_object::simulate::{self, Input, Target};
use usuba_object::x86::X86;

use super::forms::{self, Place};
use super::{
    Form, INPUT, case, functions, instructions, machine, native, object, supported, table,
};

/// Addresses are at most this far from the limits; no access is longer than 64 bytes.
const REACH: i64 = 72;

/// Results of the processor for a form and an input: around both limits, and in the last page.
const RESULTS: usize = 4 * REACH as usize + 1;

/// Inputs, with which conditions and masks are true and false.
const INPUTS: usize = 4;

/// Bytes of the constants, and of the longest buffer.
const CONSTANTS: usize = 192;

/// The frame of the model has as many bytes below the stack pointer at entry.
const FRAME: i64 = 1 << 20;

/// An address, from the begin of the page or from its end.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Address {
    Begin(i64),
    End(i64),
    ReadOnlyEnd(i64),
}

/// Other addresses; copies and fillings of memory, by one instruction or by the C library.
fn blocks() -> Vec<String> {
    let addresses = [
        "mov rcx, -1; mov rax, [rsi + 8 * rcx + 264]",
        "mov ecx, 1; shl rcx, 61; mov [rsi + 8 * rcx + 256], rax",
        "mov ecx, 192; add cl, [rcx + rsi + 64]",
    ];
    let mut texts: Vec<String> = addresses.map(String::from).into();
    let (to, from) =
        ("mov r11, rdi; lea rdi, mem; mov rsi, r11", "lea rsi, mem; lea rdi, [rsp - 64]");
    for count in [0, 1, 5] {
        for size in ["b", "w", "d", "q"] {
            texts.push(format!("lea rdi, mem; mov ecx, {count}; rep stos{size}"));
            texts.push(format!("{to}; mov ecx, {count}; rep movs{size}"));
            texts.push(format!("{from}; mov ecx, {count}; rep movs{size}"));
        }
        for (name, fill) in [("memset", "mov esi, 5; "), ("memcpy", ""), ("memmove", "")] {
            let call = format!("mov edx, {}; call {name}@PLT; add rsp, 72", 7 * count);
            texts.push(format!("sub rsp, 72; {to}; {fill}{call}"));
            if fill.is_empty() {
                texts.push(format!("sub rsp, 72; lea rsi, mem; mov rdi, rsp; {call}"));
            }
        }
    }
    texts
}

/// Instructions whose operand is on the stack, which is moved to the address.
fn stack() -> Vec<String> {
    let moved = |text| format!("mov r11, rsp; lea rsp, mem; {text}; mov rsp, r11");
    let texts = [
        "push rax",
        "push 77",
        "push qword ptr [rdi]",
        "pop rcx",
        "call 1f; 1:",
        "call 1f; jmp 2f; 1: ret; 2:",
    ];
    let leave = "mov r10, rbp; mov r11, rsp; lea rbp, mem; leave; mov rbp, r10; mov rsp, r11";
    texts.map(moved).into_iter().chain([leave.into()]).collect()
}

/// Zeros, ones, random bytes, and these backwards, so that comparisons have another result.
fn inputs() -> &'static [Vec<u8>; INPUTS] {
    static INPUTS: LazyLock<[Vec<u8>; self::INPUTS]> = LazyLock::new(|| {
        let mut random = Random::new(3);
        let bytes: Vec<u8> = (0..INPUT).map(|_| random.word() as u8).collect();
        [vec![0; INPUT], vec![0xff; INPUT], bytes.iter().rev().copied().collect(), bytes]
    });
    &INPUTS
}

/// The program that runs the cases at all addresses.
fn driver(cases: usize) -> String {
    let sizes = format!("enum {{ INPUTS = {INPUTS}, INPUT = {INPUT}, REACH = {REACH} }};\n");
    ["#define _GNU_SOURCE\n", &sizes, &table(cases), include_str!("faults.c")].concat()
}

/// The addresses at which the model runs, by classes: the limits of the access, and others.
fn addresses(faults: &[u8], random: &mut Random) -> Vec<(&'static str, Address)> {
    use Address::{Begin, End, ReadOnlyEnd};
    let range = || -REACH..REACH;
    let is_allowed = |address: fn(i64) -> Address| move |at: &i64| faults[index(address(*at))] == 0;
    let first = range().find(is_allowed(Begin)).unwrap_or(0);
    let last = range().rev().find(is_allowed(End)).unwrap_or(0);
    let mut all = vec![
        ("inside", End(-64)),
        ("not aligned", Begin(1)),
        ("not aligned", Begin(8 << random.below(3))),
        ("at the limit", Begin(first)),
        ("at the limit", End(last)),
        ("one byte across", Begin((first - 1).max(-REACH))),
        ("one byte across", End((last + 1).min(REACH - 1))),
        ("outside", Begin(-64)),
        ("outside", End(0)),
        ("only read", ReadOnlyEnd(-64)),
    ];
    for _ in 0..if level::is_whole() { 4 } else { 1 } {
        let at = random.below(2 * REACH as usize) as i64 - REACH;
        all.push(("random", if random.once_in(2) { Begin(at) } else { End(at) }));
    }
    all
}

/// The place of the result for an address.
fn index(address: Address) -> usize {
    let at = match address {
        Address::Begin(at) => at + REACH,
        Address::End(at) => at + 3 * REACH,
        Address::ReadOnlyEnd(_) => 4 * REACH,
    };
    at as usize
}

/// An address in the model.
#[derive(Debug)]
enum Model {
    Pointer(Target),
    /// An offset from the end of constants of the object.
    Constant(i64),
}

impl Model {
    /// The places for an address that are like it.
    fn of(address: Address, bytes: usize, is_stack: bool) -> Vec<Model> {
        let frame = in_frame(address);
        if is_stack {
            return frame.map(Model::Pointer).into_iter().collect();
        }
        let constant = match address {
            Address::Begin(at) => at - CONSTANTS as i64,
            Address::End(at) | Address::ReadOnlyEnd(at) => at,
        };
        // A frame of the largest size takes long.
        let frame = frame.filter(|frame| frame.phase != 0).map(Model::Pointer);
        [Model::Pointer(in_buffer(address, bytes)), Model::Constant(constant)]
            .into_iter()
            .chain(frame)
            .collect()
    }
}

/// The same address in a buffer of the model.
fn in_buffer(address: Address, bytes: usize) -> Target {
    let aligned = 1 << bytes.trailing_zeros().min(6);
    let (access, align, offset) = match address {
        Address::Begin(at) => (Access::Both, 64, at),
        Address::End(at) => (Access::Both, aligned, bytes as i64 + at),
        Address::ReadOnlyEnd(at) => (Access::Read, aligned, bytes as i64 + at),
    };
    let pointer = Pointer { region: Region::Buffer(1), offset: offset - 256 };
    Target { pointer, bytes, access, align, phase: 8 }
}

/// The same address in the frame, whose last bytes are the return address.
fn in_frame(address: Address) -> Option<Target> {
    let (offset, phase) = match address {
        Address::Begin(at) => (at - FRAME, 0),
        Address::End(at) => (at + 8, 56),
        Address::ReadOnlyEnd(_) => return None,
    };
    let pointer = Pointer { region: Region::Frame, offset: offset - 256 };
    Some(Target { pointer, bytes: 0, access: Access::Both, align: 64, phase })
}

/// The runs of one form.
#[derive(Default)]
struct Found {
    /// Accesses that fault on the processor and not in the model.
    wrong: Vec<String>,
    /// By classes: rejected by both, executed by both, rejected by the model alone.
    counts: BTreeMap<&'static str, [usize; 3]>,
    /// Whether an access that is inside was executed.
    is_executed: bool,
}

impl Found {
    fn add(&mut self, form: &Form, class: &'static str, model: &Model, faults: [bool; 2]) {
        let [native, faults] = faults;
        if native && !faults {
            self.wrong.push(format!("{}: {class}: {model:?}", form.text));
            return;
        }
        let kind = if native { 0 } else { 1 + faults as usize };
        self.counts.entry(class).or_default()[kind] += 1;
        self.is_executed |= class == "inside" && !faults;
    }

    fn joined(mut self, other: Found) -> Found {
        self.wrong.extend(other.wrong);
        for (class, counts) in other.counts {
            let sums = self.counts.entry(class).or_default();
            (0..3).for_each(|kind| sums[kind] += counts[kind]);
        }
        self
    }
}

/// A form and an input, by their numbers, and at each address whether the processor faults.
type Native<'a> = ((usize, usize), &'a [u8]);

/// Runs the model where the processor has been. The objects have the address as a parameter, and as
/// a constant.
fn compared(objects: &[Object; 2], form: &Form, is_stack: bool, runs: &[Native]) -> Found {
    let number = runs[0].0.0;
    let symbol = format!("case_{number}");
    let faults = |object, input: &Input, target: &Target| {
        simulate::executed::<X86>(object, &symbol, input, target).is_err()
    };
    let mut random = Random::new(number as u64);
    let mut found = Found::default();
    for ((_, input), native) in runs {
        let bytes = &inputs()[*input];
        for (class, address) in addresses(native, &mut random) {
            let is_long = ["inside", "not aligned"].contains(&class);
            let size = if is_long { CONSTANTS } else { 1 + random.below(CONSTANTS) };
            let mut models = Model::of(address, size, is_stack);
            if !level::is_whole() {
                let count = if class == "inside" { 1 } else { models.len().max(1) };
                models = models.into_iter().skip(random.below(count)).take(1).collect();
            }
            let is_fault = |address| native[index(address)] != 0;
            for model in models {
                let target = match &model {
                    Model::Pointer(target) => target,
                    Model::Constant(at) => {
                        let is_fault = is_fault(address) || is_fault(Address::ReadOnlyEnd(-64));
                        let bytes = [&bytes[..], &(at - 256).to_le_bytes()].concat();
                        let nowhere = in_buffer(address, 0);
                        let faults = faults(&objects[1], &Input::Bytes(&bytes), &nowhere);
                        found.add(form, class, &model, [is_fault, faults]);
                        continue;
                    }
                };
                let is_fault = is_fault(address);
                let on_numbers = faults(&objects[0], &Input::Bytes(bytes), target);
                found.add(form, class, &model, [is_fault, on_numbers]);
                let is_limit = ["one byte across", "only read"].contains(&class);
                if is_fault && (is_limit || level::is_whole()) {
                    let on_symbols = faults(&objects[0], &Input::Symbols(INPUT), target);
                    found.add(form, class, &model, [true, on_symbols]);
                }
            }
        }
    }
    found
}

/// The assembly of all cases, with instructions before.
fn assembly(forms: &[Form], machine: &str, before: &str) -> String {
    let case = |(number, form)| {
        case(number, before, form) + &format!("ret\n.size case_{number}, . - case_{number}\n")
    };
    forms.iter().enumerate().map(case).fold(functions(machine), |text, case| text + &case)
}

#[test]
fn the_model_faults_where_the_processor_does() {
    let Some(machine) = machine() else { return };
    let in_memory = |place| matches!(place, Place::Memory | Place::Broadcast);
    let others = [blocks(), stack()].into_iter().flatten().map(Form::plain);
    let (forms, _) = supported(machine, forms::all(in_memory).into_iter().chain(others).collect());
    let of_stack = forms.len() - stack().len();
    let text = assembly(&forms, machine, "call load");
    let fixed = format!("lea rsi, [rip + limit]; add rsi, [rdi + {INPUT}]; call load");
    let fixed = assembly(&forms, machine, &fixed)
        + &format!(".section .rodata.limit, \"a\"\n.balign 64\n.zero {CONSTANTS}\nlimit:\n");
    let objects = [&text, &fixed].map(|text| object(text, machine));
    // Only conditions and masks make inputs differ.
    let count = |number| {
        let instructions = instructions(&objects[0], number);
        let chooses = instructions.iter().any(|i| i.rflags_read() != 0 || i.has_op_mask());
        if chooses { INPUTS } else { 1 }
    };
    let inputs_of = |number| (INPUTS - count(number)..INPUTS).map(move |input| (number, input));
    let pairs: Vec<(usize, usize)> = (0..forms.len()).flat_map(inputs_of).collect();
    let mut data = inputs().concat();
    for (number, input) in &pairs {
        data.extend([*number as u32, *input as u32].map(u32::to_le_bytes).concat());
    }
    let native = native(machine, &text, &driver(forms.len()), &data);
    assert_eq!(native.len(), RESULTS * pairs.len());
    let runs: Vec<Native> = pairs.into_iter().zip(native.chunks(RESULTS)).collect();
    let runs: Vec<&[Native]> = runs.chunk_by(|a, b| a.0.0 == b.0.0).collect();
    let compared = |(number, runs): (usize, &&[Native])| {
        compared(&objects, &forms[number], number >= of_stack, runs)
    };
    let all: Vec<Found> = runs.par_iter().enumerate().map(compared).collect();
    // The comparison is not empty: each form has accesses that are executed, and accesses that fault.
    for ((form, found), runs) in forms.iter().zip(&all).zip(&runs) {
        assert!(found.is_executed, "{}: the model executes it nowhere", form.text);
        let is_without = ["# nop ", "r10, 0; kmov", "ecx, 0; rep", "edx, 0; call"];
        let is_without = is_without.iter().any(|text| form.text.contains(text));
        let faults = runs.iter().any(|(_, faults)| faults.contains(&1));
        assert!(faults || is_without, "{}: no access to memory", form.text);
    }
    println!("{} forms", forms.len());
    let found = all.into_iter().fold(Found::default(), Found::joined);
    for (class, [both, none, more]) in &found.counts {
        println!("{class}: {both} faults, {none} executed, {more} rejected by the model alone");
    }
    let (wrong, count) = (&found.wrong, found.wrong.len());
    assert!(wrong.is_empty(), "{count} accesses:\n{}", wrong[..count.min(20)].join("\n"));
}
