//! Object files and linked files (ELF): functions, their code, and the constants that they read.
//!
//! ```text
//! 0: vpxor ymm0, ymm1, [rip + 0]     R_X86_64_PC32 .rodata + 28      a constant of the object
//! 8: call 0                          R_X86_64_PLT32 memset           not in the object
//! ```
//!
//! No number is an address: a place is an offset in a region, and nothing depends on the address of
//! a region. The readers decide about regions: `relocatable` has one for each part that the linker
//! places, `linked` has one for the whole image. Relocations stay apart from the bytes, so that an
//! instruction knows which of its constants is an address. Writable sections are not readable in
//! the model, since a kernel has no global state.
//!
//! *Reference:* System V ABI, AMD64 supplement (relocations).

mod linked;
mod processor;
mod relocatable;

use std::collections::BTreeMap;
use std::sync::Arc;

use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile32, ElfFile64, ElfSymbol};
use object::{
    Architecture, BinaryFormat, FileFlags, LittleEndian, Object as _, ObjectKind, ObjectSymbol,
    SymbolFlags, elf,
};

pub use processor::Processor;
use relocatable::Header;

use super::dispatch::Dispatch;
use super::extensions::Extensions;
use super::memory::{Pointer, Region};

/// The distance between the places of two regions in the model. A place is nearest to the start of
/// its own region.
const STRIDE: u64 = 1 << 32;

/// The largest section, and the farthest target from the start of its section, in bytes.
const LARGEST: u64 = STRIDE / 4;

/// The code and constants of an object file or of a linked file, for a processor. A clone shares
/// them.
#[derive(Clone, Debug)]
pub struct Object {
    tables: Arc<Tables>,
    /// The instructions that its processors have.
    pub extensions: Extensions,
    /// The choice of a backend at run time.
    pub dispatch: Option<Arc<Dispatch>>,
}

/// The content of a file.
#[derive(Default, Debug)]
struct Tables {
    processor: Processor,
    /// Code and constants, by the places of their first bytes. They do not overlap.
    sections: BTreeMap<u64, Section>,
    /// Relocations by their places.
    relocations: BTreeMap<u64, Relocation>,
    /// Targets of the slots of the global offset table, by the places of the slots.
    slots: BTreeMap<u64, u64>,
    /// Names by their places.
    names: BTreeMap<u64, String>,
    /// Undefined symbols by their places.
    undefined: BTreeMap<u64, String>,
    functions: Vec<Function>,
    variables: Vec<Variable>,
    /// Where the linker has written addresses as numbers: the first address, and the end.
    fixed: Option<(u64, u64)>,
}

/// A function symbol. One name may have several functions, and one place several names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Function {
    pub name: String,
    pub place: u64,
    /// Bytes of its code.
    pub size: u64,
    /// Whether other files can call it: its symbol is global, with default or protected visibility.
    pub is_exported: bool,
    /// The reason why another function may run in its place.
    pub replaced: Option<&'static str>,
    is_global: bool,
}

/// The symbol of a variable or of a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Variable {
    pub name: String,
    pub place: u64,
    /// Bytes of its value.
    pub size: u64,
}

#[derive(Clone, Debug)]
struct Section {
    bytes: Vec<u8>,
    is_code: bool,
    is_constant: bool,
    /// The alignment of its region.
    align: u64,
}

/// Bytes that the linker writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Bytes of the field.
    pub size: usize,
    pub kind: Kind,
    /// The place of the symbol, or of its slot, plus the addend.
    pub target: u64,
}

/// The value that the linker writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The distance from the field to the target.
    Relative,
    /// The address of the target.
    Absolute,
    /// A part of an address, which takes two instructions of RISC-V or AArch64.
    Part(Part),
    /// It is not known, for this reason.
    Unknown(&'static str),
}

/// The part of an address that the linker writes into an instruction of RISC-V or AArch64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The upper 20 bits of the address, rounded for the lower ones; its page on AArch64.
    High,
    /// The lower 12 bits, with a sign on RISC-V.
    Low,
    /// The upper bits of the distance from the instruction.
    HighRelative,
    /// The lower bits of the distance from another instruction, which is the target and has the upper
    /// ones.
    LowRelative,
}

/// The content of a place in the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content<'a> {
    Bytes(&'a [u8]),
    /// The address of this place.
    Address(u64),
}

/// The first bytes of an archive, and of an archive that names its members.
const ARCHIVES: [&[u8]; 2] = [b"!<arch>\n", b"!<thin>\n"];

/// The ELF files in an archive, with their names; of another file, the file itself without a name.
///
/// # Errors
/// The archive is damaged, or one of its members is no ELF file.
pub fn members(file: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    if !ARCHIVES.iter().any(|start| file.starts_with(start)) {
        return Ok(vec![(String::new(), file.to_vec())]);
    }
    let archive = ArchiveFile::parse(file).map_err(|error| damaged("archive", error))?;
    if archive.is_thin() {
        return Err("the archive is thin, so its objects are in other files".into());
    }
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|error| damaged("archive", error))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let bytes = member.data(file).map_err(|error| damaged("archive", error))?;
        if !bytes.starts_with(&elf::ELFMAG) {
            let kind = another_kind(bytes).unwrap_or("no ELF file");
            return Err(format!("the member `{name}` of the archive is {kind}"));
        }
        members.push((name, bytes.to_vec()));
    }
    match members.is_empty() {
        true => Err("the archive has no objects".into()),
        false => Ok(members),
    }
}

/// The kind of a file that is no object, by its first bytes.
fn another_kind(file: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 5] = [
        (ARCHIVES[0], "an archive, which holds objects"),
        (ARCHIVES[1], "an archive, which names objects"),
        (b"BC\xc0\xde", "bitcode of clang, which -flto makes in place of objects"),
        (b"\x00asm", "WebAssembly"),
        (b"MZ", "a program for Windows"),
    ];
    if file.is_empty() {
        return Some("empty");
    }
    if let Some((_, kind)) = kinds.iter().find(|(start, _)| file.starts_with(start)) {
        return Some(kind);
    }
    let head = &file[..file.len().min(64)];
    let is_text = |byte: &u8| byte.is_ascii_graphic() || b" \t\r\n".contains(byte);
    head.iter().all(is_text).then_some("a text")
}

impl Object {
    /// Reads an ELF file for x86-64 processors with these extensions.
    ///
    /// # Errors
    /// The file is another one, is damaged, or has a relocation that is not understood.
    pub fn read(file: &[u8], extensions: Extensions) -> Result<Object, String> {
        Object::read_for(file, extensions, &[Processor::X86])
    }

    /// Reads an ELF file for x86-64 processors with these extensions, or for RISC-V or AArch64.
    ///
    /// # Errors
    /// As [`Object::read`].
    pub fn read_any(file: &[u8], extensions: Extensions) -> Result<Object, String> {
        let all = [Processor::X86, Processor::Riscv32, Processor::Aarch64];
        Object::read_for(file, extensions, &all)
    }

    fn read_for(
        file: &[u8],
        extensions: Extensions,
        processors: &[Processor],
    ) -> Result<Object, String> {
        if let Some(kind) = another_kind(file) {
            return Err(format!("the file is {kind}; `cc -c` makes an object"));
        }
        let bytes = file;
        let file = object::File::parse(bytes).map_err(wrong)?;
        if file.format() != BinaryFormat::Elf {
            let format = file.format();
            return Err(format!("the object is one of {format:?}, and only ELF is read"));
        }
        let processor = match file.architecture() {
            Architecture::X86_64 => Some(Processor::X86),
            Architecture::Riscv32 => Some(Processor::Riscv32),
            Architecture::Aarch64 => Some(Processor::Aarch64),
            _ => None,
        };
        let processor =
            processor.filter(|known| file.is_little_endian() && processors.contains(known));
        let processor = processor.ok_or_else(|| {
            let names: Vec<&str> = processors.iter().map(|processor| processor.name()).collect();
            let (machine, names) = (file.architecture(), names.join(" and "));
            format!("the object is for {machine:?}, and only {names} have models here")
        })?;
        if let FileFlags::Elf { e_flags, .. } = file.flags()
            && processor == Processor::Riscv32
            && e_flags.contains(elf::EF_RISCV_RVE)
        {
            return Err("the object is for RV32E, which has half of the registers".into());
        }
        let kind = file.kind();
        let mut tables = Tables { processor, ..Tables::default() };
        match (kind, processor) {
            (ObjectKind::Relocatable, Processor::X86 | Processor::Aarch64) => {
                let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(wrong)?;
                relocatable::read(&mut tables, &file)?;
            }
            (ObjectKind::Relocatable, Processor::Riscv32) => {
                let file = ElfFile32::<LittleEndian>::parse(bytes).map_err(wrong)?;
                relocatable::read(&mut tables, &file)?;
            }
            (ObjectKind::Executable | ObjectKind::Dynamic, Processor::X86 | Processor::Aarch64) => {
                let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(wrong)?;
                linked::read(&mut tables, &file)?;
            }
            (ObjectKind::Executable | ObjectKind::Dynamic, Processor::Riscv32) => {
                let file = ElfFile32::<LittleEndian>::parse(bytes).map_err(wrong)?;
                linked::read_static(&mut tables, &file)?;
            }
            _ => return Err("the file is neither an object nor linked".into()),
        }
        tables.functions.sort();
        tables.functions.dedup();
        tables.variables.sort();
        tables.variables.dedup();
        Ok(Object { tables: Arc::new(tables), extensions, dispatch: None })
    }

    /// The family of its processors.
    pub fn processor(&self) -> Processor {
        self.tables.processor
    }

    /// The function symbols, by name.
    pub fn functions(&self) -> &[Function] {
        &self.tables.functions
    }

    /// The symbols of variables and constants, by name.
    pub fn variables(&self) -> &[Variable] {
        &self.tables.variables
    }

    /// The place of the variable of this name, here or in another file; `None` if there are several.
    pub fn variable(&self, name: &str) -> Option<u64> {
        let here = self.tables.variables.iter().filter(|variable| variable.name == name);
        let others = self.tables.undefined.iter().filter(|(_, undefined)| *undefined == name);
        let mut all = here.map(|variable| variable.place).chain(others.map(|(&place, _)| place));
        all.next().filter(|_| all.next().is_none())
    }

    /// The names of undefined symbols, in order.
    pub fn undefined(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tables.undefined.values().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The name of the undefined symbol at a place.
    pub fn outside(&self, place: u64) -> Option<&str> {
        self.tables.undefined.get(&place).map(String::as_str)
    }

    /// The place of the function of this name, or the reason why it cannot be proved. A linker takes
    /// a global symbol before local ones of the same name.
    fn named(&self, name: &str) -> Option<Result<u64, &'static str>> {
        // They are sorted by name.
        let functions = &self.tables.functions;
        let first = functions.partition_point(|function| *function.name < *name);
        let all = functions[first..].iter().take_while(|function| function.name == name);
        let is_global = all.clone().any(|function| function.is_global);
        let mut all = all.filter(|function| function.is_global == is_global);
        let first = all.clone().next()?;
        Some(match all.clone().find_map(|function| function.replaced) {
            Some(reason) => Err(reason),
            None if all.any(|function| function.place != first.place) => {
                Err("the object has two functions of this name")
            }
            None => Ok(first.place),
        })
    }

    /// Checks that there is a function of this name.
    ///
    /// # Errors
    /// There is none; the message lists the functions of the object.
    pub fn expect(&self, function: &str) -> Result<(), String> {
        match self.named(function) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(reason)) => return Err(format!("`{function}` cannot be proved: {reason}")),
            None => {}
        }
        let mut names: Vec<&str> = self.tables.functions.iter().map(|found| &*found.name).collect();
        names.dedup();
        names.truncate(8);
        Err(match names.is_empty() {
            true => format!(
                "the object has no function `{function}`, and no other one: it has been stripped, \
                 or its code is not made yet because of -flto"
            ),
            false => {
                format!("the object has no function `{function}`; it has {}", names.join(", "))
            }
        })
    }

    /// Whether the linker has written addresses as numbers, so that any number may be one.
    pub fn is_fixed(&self) -> bool {
        self.tables.fixed.is_some()
    }

    /// The place that is at an address, in an executable at a fixed address.
    pub fn at_address(&self, address: u64) -> Option<u64> {
        let (base, end) = self.tables.fixed?;
        (base..end).contains(&address).then(|| STRIDE + (address - base))
    }

    /// The address of a place, in such an executable.
    pub fn address(&self, place: u64) -> Option<u64> {
        let (base, end) = self.tables.fixed?;
        let address = place.checked_sub(STRIDE)?.checked_add(base)?;
        (address <= end).then_some(address)
    }

    /// The addresses in data, without the slots of the global offset table.
    pub fn pointers(&self) -> impl Iterator<Item = u64> {
        let absolute = self.in_data().filter(|(_, relocation)| relocation.kind != Kind::Relative);
        absolute.map(|(_, relocation)| relocation.target)
    }

    /// The distances in data that the linker writes: their places, and the places from which they
    /// are as far as from their own.
    pub fn distances(&self) -> impl Iterator<Item = (u64, u64)> {
        let relative = self.in_data().filter(|(_, relocation)| relocation.kind == Kind::Relative);
        relative.map(|(at, relocation)| (at, relocation.target))
    }

    fn in_data(&self) -> impl Iterator<Item = (u64, &Relocation)> {
        let all = self.tables.relocations.iter().map(|(&at, relocation)| (at, relocation));
        all.filter(|(at, _)| self.slot(*at).is_none() && self.code(*at, 1).is_empty())
    }

    /// The target of a slot of the global offset table.
    pub fn slot(&self, place: u64) -> Option<u64> {
        self.tables.slots.get(&place).copied()
    }

    /// The sections of code, with the places of their first bytes.
    pub fn all_code(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let sections = self.tables.sections.iter().filter(|(_, section)| section.is_code);
        sections.map(|(&place, section)| (place, &*section.bytes))
    }

    /// The place of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        self.named(name)?.ok()
    }

    /// The region of a place, and the offset in it.
    pub fn pointer(place: u64) -> Pointer {
        let number = place.wrapping_add(STRIDE / 2) / STRIDE;
        let offset = place.wrapping_sub(number * STRIDE) as i64;
        Pointer { region: Region::Section(number as u32), offset }
    }

    /// The place of a pointer into a section.
    pub fn place(at: Pointer) -> Option<u64> {
        let Region::Section(number) = at.region else { return None };
        let is_near = at.offset.unsigned_abs() < STRIDE / 2;
        is_near.then(|| (STRIDE * u64::from(number)).wrapping_add_signed(at.offset))
    }

    /// The bytes of code from a place on, up to `most`; none if there is no code.
    pub fn code(&self, place: u64, most: usize) -> &[u8] {
        self.bytes(place, true).map_or(&[], |bytes| &bytes[..bytes.len().min(most)])
    }

    /// The relocations with bytes in `size` bytes of code, with their places.
    pub fn relocations(
        &self,
        place: u64,
        size: usize,
    ) -> impl Iterator<Item = (u64, &Relocation)> + use<'_> {
        // The longest field has eight bytes.
        let all = self
            .tables
            .relocations
            .range(place.saturating_sub(7)..place.saturating_add(size as u64));
        all.map(|(&at, relocation)| (at, relocation))
            .filter(move |(at, relocation)| at + relocation.size as u64 > place)
    }

    /// `count` bytes of constants at a place, or the address there.
    ///
    /// # Errors
    /// There are no such constants.
    pub fn constant(&self, place: u64, count: usize) -> Result<Content<'_>, String> {
        let absent = || format!("there are no constants at {}", self.name(place));
        let address = self.tables.processor.address();
        if let (Some(&target), true) = (self.tables.slots.get(&place), count == address) {
            return Ok(Content::Address(target));
        }
        let mut written = self.relocations(place, count);
        let written = (written.next(), written.next());
        if let (Some((_, Relocation { kind: Kind::Unknown(reason), .. })), None) = written {
            let name = self.name(place);
            return Err(format!("the linker writes the bytes at {name}: {reason}"));
        }
        let bytes = self.bytes(place, false).and_then(|bytes| bytes.get(..count));
        let bytes = bytes.ok_or_else(absent)?;
        match written {
            (None, _) => Ok(Content::Bytes(bytes)),
            (Some((at, Relocation { size, kind: Kind::Absolute, target })), None)
                if at == place && (*size, count) == (address, address) =>
            {
                Ok(Content::Address(*target))
            }
            _ => Err(format!("the linker writes the bytes at {}", self.name(place))),
        }
    }

    /// Whether two pointers into one section are to code, or have addresses between them.
    pub fn has_addresses(&self, one: Pointer, other: Pointer) -> bool {
        let [Some(one), Some(other)] = [one, other].map(Object::place) else { return false };
        let (low, high) = (one.min(other), one.max(other));
        high - low < LARGEST
            && (!self.code(low, 1).is_empty()
                || self.tables.relocations.range(low..=high).next().is_some())
    }

    /// The target of the distance, of four bytes, that the linker writes at a place.
    pub fn distance(&self, place: u64) -> Option<u64> {
        self.bytes(place, false)?.get(..4)?;
        let mut written = self.relocations(place, 4);
        match (written.next(), written.next()) {
            (Some((at, Relocation { size: 4, kind: Kind::Relative, target })), None)
                if at == place =>
            {
                Some(*target)
            }
            _ => None,
        }
    }

    fn bytes(&self, place: u64, is_code: bool) -> Option<&[u8]> {
        let (start, section) = self.tables.sections.range(..=place).next_back()?;
        let is_kind = if is_code { section.is_code } else { section.is_constant };
        section.bytes.get((place - start) as usize..).filter(|_| is_kind)
    }

    /// Whether an address in the object is a multiple of `align`, wherever its section is.
    pub fn is_aligned(&self, at: Pointer, align: u64) -> bool {
        let Region::Section(number) = at.region else { return false };
        let region = STRIDE * u64::from(number);
        let section = self.tables.sections.range(region..=region + (STRIDE - 1)).next();
        section.is_some_and(|(_, section)| section.align.is_multiple_of(align))
            && (at.offset as u64).is_multiple_of(align)
    }

    /// Whether a pointer is to code or constants of a section, or to its end.
    pub fn is_inside(&self, at: Pointer) -> bool {
        let Some(place) = Object::place(at) else { return false };
        let before = self.tables.sections.range(..=place).next_back();
        before.is_some_and(|(start, section)| place - start <= section.bytes.len() as u64)
    }

    /// A name for a place, for messages: a symbol, or an offset from one.
    pub fn name(&self, place: u64) -> String {
        let region = place / STRIDE;
        match self.tables.names.range(region * STRIDE..=place).next_back() {
            Some((start, name)) if *start == place => name.clone(),
            Some((start, name)) => format!("{name}+{:#x}", place - start),
            None => format!("section {region}+{:#x}", place % STRIDE),
        }
    }
}

impl Tables {
    /// Adds the symbol of a variable.
    fn add_variable(&mut self, symbol: &ElfSymbol<impl Header>, name: String, place: u64) {
        self.names.entry(place).or_insert_with(|| name.clone());
        self.variables.push(Variable { name, place, size: symbol.size() });
    }

    /// Adds a function symbol.
    fn add_function(&mut self, symbol: &ElfSymbol<impl Header>, name: String, place: u64) {
        let SymbolFlags::Elf { st_other, .. } = symbol.flags() else { return };
        let visibility = st_other.visibility();
        let is_visible = [elf::STV_DEFAULT, elf::STV_PROTECTED].contains(&visibility);
        self.names.entry(place).or_insert_with(|| name.clone());
        self.functions.push(Function {
            name,
            place,
            size: symbol.size(),
            is_exported: symbol.is_global() && is_visible,
            replaced: replaced(symbol),
            is_global: symbol.is_global(),
        });
    }
}

fn wrong(error: object::Error) -> String {
    damaged("object", error)
}

fn damaged(kind: &str, error: object::Error) -> String {
    format!("the {kind} cannot be read: {error}")
}

/// The reason why a linker or loader may put another function in the place of a symbol.
fn replaced(symbol: &ElfSymbol<impl Header>) -> Option<&'static str> {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return None };
    if st_info.st_type() == elf::STT_GNU_IFUNC {
        return Some("the loader chooses the function (IFUNC)");
    }
    symbol.is_weak().then_some("the symbol is weak, so another one may replace it")
}
