//! Printing: an allocated function as an assembly file.
//!
//! The text is for the preprocessor and then for GNU's or LLVM's assembler, in AT&T's order of
//! operands, on ELF and Mach-O. It has unwind information, and comments name the ports of the
//! program. If the places of the source are given, `.loc` directives have the line of each
//! instruction of an operator; loads and spills belong to the line before. `%rsp` is aligned to the
//! size of a register, and slots lie above it, then arrays.

use std::fmt::Write;

use usuba::emit::c::Emitted;
use usuba::emit::places::Places;
use usuba::ir::Val;
use usuba::isa::Target;

use crate::address::{Addresses, SAVED, displaced};

use crate::code::{Access, Area, Cell, Code};
use crate::form::{Form, Operand};
use crate::steps::{Allocated, Memory, Place, Reg, Step};

/// A printed function.
pub struct Printed {
    /// Its instructions, from its entry to its return.
    body: String,
    constants: String,
}

/// Prints a function, with the lines of the source if their places are given.
///
/// # Errors
/// It needs more addresses at a time than there are registers.
pub fn print(
    code: &Code,
    allocated: &Allocated,
    target: &Target,
    kernel: &Emitted,
    places: Option<&Places>,
) -> Result<Printed, String> {
    let ports = kernel.params.iter().chain(&kernel.results);
    let ports: Vec<&str> = ports.map(|port| &*port.name).collect();
    let printer = Printer { code, target, name: &kernel.name, ports: &ports };
    let frame = Frame::of(code, allocated, target);
    let mut addresses = Addresses::new(allocated, ports.len(), &code.records())?;
    let mut inner = String::new();
    let mut line = Line { places, last: None };
    for step in &allocated.steps {
        line.of(step, code, &mut inner);
        printer.step(step, &frame, &mut addresses, &mut inner)?;
    }
    let saved: Vec<&str> = SAVED.into_iter().filter(|reg| addresses.used.contains(reg)).collect();
    let mut body = places.map(files).unwrap_or_default();
    body.push_str("\t.cfi_startproc\n\tendbr64\n");
    body.push_str(&frame.enter(&saved, &addresses));
    body.push_str(&inner);
    body.push_str(&frame.leave(&saved, &addresses));
    body.push_str("\tvzeroupper\n\tret\n\t.cfi_endproc\n");
    Ok(Printed { body, constants: printer.constants() })
}

/// The numbers of the source files for `.loc`.
fn files(places: &Places) -> String {
    let mut text = String::new();
    for (at, name) in places.names().enumerate() {
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "\t.file\t{} \"{name}\"", at + 1);
    }
    text
}

/// The line of the source that instructions come from.
struct Line<'p> {
    places: Option<&'p Places>,
    /// The file and line of the last directive.
    last: Option<(usize, usize)>,
}

impl Line<'_> {
    /// Writes a directive before an instruction of another line than the last one.
    fn of(&mut self, step: &Step, code: &Code, text: &mut String) {
        let (Some(places), Step::Op { value, .. }) = (self.places, step) else { return };
        let Some(place) = code.origins.of(Val(value.0)).and_then(|span| places.of(span)) else {
            return;
        };
        let here = Some((place.file, place.line));
        if std::mem::replace(&mut self.last, here) != here {
            let _ = writeln!(text, "\t.loc\t{} {} {}", place.file + 1, place.line, place.column);
        }
    }
}

impl Printed {
    /// The function as a file for the preprocessor and an assembler; `comment` is the comment on
    /// top.
    pub fn file(&self, kernel: &Emitted, comment: &str) -> String {
        let function = self.function(kernel, false);
        format!("{comment}\n{OTHERS}#error \"{OTHER}\"\n#endif\n{MACROS}{function}{FOOT}")
    }

    /// The function as a part of a file; see [`joined`]. A hidden one is visible in the library that
    /// it is linked into, and nowhere else.
    pub fn function(&self, kernel: &Emitted, hidden: bool) -> String {
        let Emitted { name, prototype, .. } = kernel;
        let mut text = format!("\n/* {prototype} */\n\t.text\n\t.globl\tSYMBOL({name})\n");
        if hidden {
            let _ = writeln!(text, "\tHIDDEN(SYMBOL({name}))");
        }
        let _ = writeln!(text, "\t.p2align\t6");
        let _ = write!(text, "#ifdef __ELF__\n\t.type\t{name}, @function\n#endif\n");
        let _ = write!(text, "SYMBOL({name}):\n{}", self.body);
        let _ = write!(text, "#ifdef __ELF__\n\t.size\t{name}, .-{name}\n#endif\n");
        if !self.constants.is_empty() {
            let _ = write!(text, "{CONSTANTS}{}", self.constants);
        }
        text
    }

    /// The function as an assembler statement of gcc and clang, for C files of ELF systems.
    pub fn statement(&self, kernel: &Emitted) -> String {
        let name = &kernel.name;
        let head = format!(
            "\t.text\n\t.globl\t{name}\n\t.p2align\t6\n\t.type\t{name}, @function\n{name}:\n"
        );
        let foot = format!("\t.size\t{name}, .-{name}\n\t.section\t.rodata\n");
        let all = [&head, &self.body, &foot, &self.constants, "\t.text\n"].concat();
        let mut text = String::from("__asm__(\n");
        for line in all.lines() {
            let line = line.split("\t/*").next().unwrap_or(line).replace('\t', " ");
            let _ = writeln!(text, "    \"{line}\\n\"");
        }
        text.push_str(");\n");
        text
    }
}

/// A file with functions, and nothing on other systems; `comment` is the comment on top.
pub fn joined(comment: &str, functions: &str) -> String {
    format!("{comment}\n{HERE}{MACROS}{functions}#endif\n{FOOT}")
}

const OTHERS: &str = "#if !defined(__LP64__) || !defined(__x86_64__)\n";
const OTHER: &str = "this file is for the System V calling convention of x86-64";
const HERE: &str = "#if defined(__LP64__) && defined(__x86_64__)\n";

/// Directives that differ between systems.
const MACROS: &str = "#ifdef __APPLE__
#define SYMBOL(name) _##name
#define HIDDEN(symbol) .private_extern symbol
#else
#define SYMBOL(name) name
#define HIDDEN(symbol) .hidden symbol
#endif
";

const CONSTANTS: &str =
    "#ifdef __APPLE__\n\t.section\t__TEXT,__const\n#else\n\t.section\t.rodata\n#endif\n";

const FOOT: &str = "#ifdef __ELF__\n\t.section\t.note.GNU-stack,\"\",@progbits\n#ifdef __CET__\n\
                    #include <cet.h>\n#endif\n#endif\n";

/// The frame of a function.
struct Frame {
    /// Bytes of a register.
    register: i32,
    /// The first byte of each array.
    locals: Vec<i32>,
    size: i32,
}

impl Frame {
    fn of(code: &Code, allocated: &Allocated, target: &Target) -> Frame {
        let register = target.bits as i32 / 8;
        let mut size = allocated.slots as i32 * register;
        let mut locals = Vec::new();
        for bytes in &code.locals {
            locals.push(size);
            size += *bytes as i32;
        }
        Frame { register, locals, size }
    }

    /// The address of a slot.
    fn slot(&self, slot: u32) -> String {
        displaced(slot as i32 * self.register, "rsp")
    }

    /// Whether the frame pointer is needed.
    fn is_needed(&self, saved: &[&str], addresses: &Addresses) -> bool {
        self.size > 0 || !saved.is_empty() || addresses.is_on_stack()
    }

    fn enter(&self, saved: &[&str], addresses: &Addresses) -> String {
        let mut text = String::new();
        if !self.is_needed(saved, addresses) {
            return text;
        }
        text.push_str(
            "\tpushq\t%rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n\
             \tmovq\t%rsp, %rbp\n\t.cfi_def_cfa_register 6\n",
        );
        for (at, reg) in saved.iter().enumerate() {
            let offset = -24 - 8 * at as i32;
            let _ = write!(text, "\tpushq\t%{reg}\n\t.cfi_offset {}, {offset}\n", number(reg));
        }
        for (place, reg) in addresses.on_stack() {
            let _ = writeln!(text, "\tmovq\t{place}, %{reg}");
        }
        if self.size > 0 {
            let _ =
                write!(text, "\tsubq\t${}, %rsp\n\tandq\t${}, %rsp\n", self.size, -self.register);
        }
        text
    }

    fn leave(&self, saved: &[&str], addresses: &Addresses) -> String {
        let mut text = String::new();
        for (at, reg) in saved.iter().enumerate() {
            let _ = writeln!(text, "\tmovq\t{}, %{reg}", displaced(-8 - 8 * at as i32, "rbp"));
        }
        if self.is_needed(saved, addresses) {
            text.push_str("\tleave\n\t.cfi_def_cfa 7, 8\n");
        }
        text
    }
}

/// The number of a register in unwind information.
fn number(reg: &str) -> u8 {
    match reg {
        "rbx" => 3,
        other => other[1..].parse().expect("the others have numbers"),
    }
}

struct Printer<'a> {
    code: &'a Code,
    target: &'a Target,
    name: &'a str,
    ports: &'a [&'a str],
}

impl Printer<'_> {
    fn reg(&self, reg: Reg) -> String {
        let letter = if self.target.bits == 512 { 'z' } else { 'y' };
        format!("%{letter}mm{reg}")
    }

    /// The label of the constants of a kind.
    fn label(&self, area: Area) -> String {
        match area {
            Area::Table(id) => format!(".L{}_table{}", self.name, id.0),
            Area::Image(at) => format!(".L{}_constant{at}", self.name),
            Area::Port(_) | Area::Local(_) => unreachable!("these have no label"),
        }
    }

    fn address(
        &self,
        memory: &Memory,
        frame: &Frame,
        addresses: &Addresses,
        text: &mut String,
    ) -> String {
        let base = |area: Area, offset: i32| match area {
            Area::Local(at) => displaced(frame.locals[at as usize] + offset, "rsp"),
            area if offset == 0 => format!("{}(%rip)", self.label(area)),
            area => format!("{}+{offset}(%rip)", self.label(area)),
        };
        match memory {
            Memory::Slot(slot) => match addresses.bank(*slot) {
                Some((reg, at)) => displaced(at as i32 * frame.register, reg),
                None => frame.slot(*slot),
            },
            Memory::Cell(cell) => addresses.of(cell, &base, text),
        }
    }

    /// The name of a cell of a port, as a comment.
    fn about(&self, memory: &Memory) -> String {
        let Memory::Cell(Cell { area: Area::Port(at), offset, walks, jump, access }) = memory
        else {
            return String::new();
        };
        let size = match access {
            Access::Whole => self.target.bits as i32 / 8,
            Access::Broadcast(bytes) => i32::from(*bytes),
        };
        let walks: String =
            walks.iter().map(|(id, step)| format!(" + {} * k{}", step / size, id.0)).collect();
        let jump = if jump.is_some() { " + ..." } else { "" };
        format!("\t/* {}[{}{walks}{jump}] */", self.ports[*at as usize], offset / size)
    }

    fn step(
        &self,
        step: &Step,
        frame: &Frame,
        addresses: &mut Addresses,
        text: &mut String,
    ) -> Result<(), String> {
        let whole = if self.target.bits == 512 { "vmovdqa64" } else { "vmovdqa" };
        let any = if self.target.bits == 512 { "vmovdqu64" } else { "vmovdqu" };
        match step {
            Step::Op { form, imm, to, from, .. } => {
                let form = &self.code.forms[*form as usize];
                self.operation(form, *imm, *to, from, frame, addresses, text);
            }
            Step::Copy { to, from } => {
                let _ = writeln!(text, "\t{whole}\t{}, {}", self.reg(*from), self.reg(*to));
            }
            Step::Load { to, from } => {
                let (address, to) = (self.address(from, frame, addresses, text), self.reg(*to));
                let about = self.about(from);
                let name =
                    match from {
                        Memory::Cell(Cell { access: Access::Broadcast(bytes), .. }) => {
                            if *bytes == 8 { "vpbroadcastq" } else { "vpbroadcastd" }
                        }
                        Memory::Slot(_) => whole,
                        Memory::Cell(_) => any,
                    };
                let _ = writeln!(text, "\t{name}\t{address}, {to}{about}");
            }
            Step::Spill { slot, from } => {
                let address = self.address(&Memory::Slot(*slot), frame, addresses, text);
                let _ = writeln!(text, "\t{whole}\t{}, {address}", self.reg(*from));
            }
            Step::Store { cell, from } => {
                let memory = Memory::Cell(cell.clone());
                let (address, about) =
                    (self.address(&memory, frame, addresses, text), self.about(&memory));
                let _ = writeln!(text, "\t{any}\t{}, {address}{about}", self.reg(*from));
            }
            Step::Enter { id, count, banks } => {
                let base = |area: Area, offset: i32| match area {
                    Area::Local(at) => displaced(frame.locals[at as usize] + offset, "rsp"),
                    area => format!("{}(%rip)", self.label(area)),
                };
                let slot = |slot| frame.slot(slot);
                addresses.enter((*id, *count, *banks), &slot, &base, text)?;
                let _ = write!(text, "\t.p2align\t5\n.L{}_loop{}:\n", self.name, id.0);
            }
            Step::Again { id, .. } => {
                addresses.again(*id, text);
                let _ = writeln!(text, "\tjne\t.L{}_loop{}", self.name, id.0);
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)] // The parts of one step, with the places of memory.
    fn operation(
        &self,
        form: &Form,
        imm: Option<u64>,
        to: Reg,
        from: &[Place],
        frame: &Frame,
        addresses: &Addresses,
        text: &mut String,
    ) {
        let imm = imm.unwrap_or(0);
        if !form.before.is_empty() {
            let mut before = form.before.replace("${k}", &format!("${imm}"));
            for (at, place) in from.iter().enumerate() {
                if let Place::Reg(reg) = place {
                    before = before.replace(&format!("{{{at}}}"), &self.reg(*reg));
                }
            }
            for line in before.split("; ") {
                let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
                let _ = writeln!(text, "\t{name}\t{operands}");
            }
        }
        let mut about = String::new();
        let mut letter = "q";
        let mut sources = Vec::new();
        for place in from {
            let source = match place {
                Place::Reg(reg) => self.reg(*reg),
                Place::Memory(memory) => {
                    about = self.about(memory);
                    let address = self.address(memory, frame, addresses, text);
                    match memory {
                        Memory::Cell(Cell { access: Access::Broadcast(bytes), .. }) => {
                            letter = if *bytes == 4 { "d" } else { "q" };
                            format!("{address}{{1to{}}}", self.target.bits / 8 / u32::from(*bytes))
                        }
                        _ => address,
                    }
                }
            };
            sources.push(source);
        }
        let mut operands: Vec<String> = Vec::new();
        for operand in &form.operands {
            match operand {
                Operand::Imm => operands.push(format!("${imm}")),
                Operand::Source(at) => operands.push(sources[*at as usize].clone()),
                Operand::Result | Operand::Tied(_) => operands.push(self.reg(to)),
                Operand::Mask => operands.push("%k1".into()),
                Operand::Masked => {
                    if let Some(last) = operands.last_mut() {
                        last.push_str("{%k1}");
                    }
                }
            }
        }
        let name = form.name.replace("{e}", letter);
        let _ = writeln!(text, "\t{name}\t{}{about}", operands.join(", "));
    }

    /// The constants, the largest first.
    fn constants(&self) -> String {
        let mut text = String::new();
        let mut parts: Vec<(String, usize, Vec<u8>)> = Vec::new();
        for (at, image) in self.code.images.iter().enumerate() {
            parts.push((self.label(Area::Image(at as u32)), image.len(), image.clone()));
        }
        for (at, table) in self.code.tables.iter().enumerate().filter(|(_, t)| !t.is_empty()) {
            let turns = table[0].len();
            let rows = (0..turns).flat_map(|turn| table.iter().flat_map(move |c| c[turn].clone()));
            let largest = table.iter().map(|column| column[0].len()).max().unwrap_or(1);
            let label = self.label(Area::Table(crate::code::LoopId(at as u32)));
            parts.push((label, largest, rows.collect()));
        }
        parts.sort_by_key(|(_, size, _)| std::cmp::Reverse(*size));
        for (label, size, bytes) in parts {
            let _ = writeln!(text, "\t.p2align\t{}\n{label}:", size.trailing_zeros());
            for row in bytes.chunks(16) {
                let words: Vec<String> = row
                    .chunks(4)
                    .map(|word| {
                        let word: [u8; 4] = word.try_into().expect("images are words");
                        format!("{:#010x}", u32::from_le_bytes(word))
                    })
                    .collect();
                let _ = writeln!(text, "\t.long\t{}", words.join(", "));
            }
        }
        text
    }
}
