//! Object files (ELF): the code of a function, and the constants that it reads.
//!
//! ```text
//! 0: vpxor ymm0, ymm1, [rip + 0]     R_X86_64_PC32 .rodata + 28      a constant of the object
//! 8: call 0                          R_X86_64_PLT32 memset           not in the object
//! ```
//!
//! A section, a constant that the linker may merge, an undefined symbol and an entry of the global
//! offset table is each a region of its own, because the linker places them: an object may use their
//! addresses, but no result depends on them. Relocations stay apart from the bytes, so that an instruction knows which of its constants
//! is an address. Writable sections are not readable in the model, since a kernel has no global
//! state.
//!
//! *Reference:* System V ABI, AMD64 supplement (relocations).

use std::collections::{BTreeMap, BTreeSet};

use object::{
    Architecture, BinaryFormat, LittleEndian, Object as _, ObjectKind, ObjectSection, ObjectSymbol,
    RelocationFlags, RelocationTarget, SectionIndex, SectionKind, SymbolFlags, SymbolIndex,
    SymbolKind, elf,
    read::elf::{ElfFile64, ElfSection64, SectionHeader as _},
};

use super::extensions::Extensions;
use super::memory::{Pointer, Region};

/// The distance between the places of two regions in the model. A place is nearest to the start of
/// its own region.
const STRIDE: u64 = 1 << 32;

/// The largest section, and the farthest target from the start of its section, in bytes.
const LARGEST: u64 = STRIDE / 4;

/// The most constants of a section that the linker may merge.
const MOST: usize = 1 << 16;

/// The code and constants of an object file.
#[derive(Clone, Debug)]
pub struct Object {
    /// By their numbers, without undefined symbols and slots.
    sections: BTreeMap<u64, Section>,
    /// Relocations by their places.
    relocations: BTreeMap<u64, Relocation>,
    /// Targets of the slots of the global offset table, by the places of the slots.
    slots: BTreeMap<u64, u64>,
    /// Names by their places: functions, and undefined symbols.
    names: BTreeMap<u64, String>,
    /// Places of functions by their names, or the reason why a function cannot be proved.
    functions: BTreeMap<String, Result<u64, &'static str>>,
    /// The instructions that its processors have.
    pub extensions: Extensions,
}

#[derive(Clone, Debug)]
struct Section {
    bytes: Vec<u8>,
    is_code: bool,
    /// The alignment of the section.
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
    /// It is not known, for this reason.
    Unknown(&'static str),
}

/// The content of a place in the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content<'a> {
    Bytes(&'a [u8]),
    /// Eight bytes that are the address of this place.
    Address(u64),
}

/// The kind of a file that is no object, by its first bytes.
fn another_kind(file: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 4] = [
        (b"!<arch>\n", "an archive, which holds objects"),
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
        if let Some(kind) = another_kind(file) {
            return Err(format!("the file is {kind}; `cc -c` makes an object"));
        }
        let bytes = file;
        let file = object::File::parse(bytes).map_err(wrong)?;
        if file.format() != BinaryFormat::Elf {
            let format = file.format();
            return Err(format!("the object is one of {format:?}, and only ELF is read"));
        }
        if file.architecture() != Architecture::X86_64 || !file.is_little_endian() {
            let machine = file.architecture();
            return Err(format!("the object is for {machine:?}, and only x86-64 has a model"));
        }
        if file.kind() != ObjectKind::Relocatable {
            return Err("the file is linked already; `cc -c` makes an object".into());
        }
        let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(wrong)?;
        let mut reader = Reader {
            object: Object {
                sections: BTreeMap::new(),
                relocations: BTreeMap::new(),
                slots: BTreeMap::new(),
                names: BTreeMap::new(),
                functions: BTreeMap::new(),
                extensions,
            },
            regions: 0,
            places: BTreeMap::new(),
            symbols: BTreeMap::new(),
        };
        reader.sections(&file)?;
        reader.symbols(&file)?;
        reader.relocations(&file)?;
        Ok(reader.object)
    }

    /// Checks that there is a function of this name.
    ///
    /// # Errors
    /// There is none; the message lists the functions of the object.
    pub fn expect(&self, function: &str) -> Result<(), String> {
        match self.functions.get(function) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(reason)) => return Err(format!("`{function}` cannot be proved: {reason}")),
            None => {}
        }
        let names: Vec<&str> = self.functions.keys().map(String::as_str).take(8).collect();
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

    /// The place of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        self.functions.get(name)?.ok()
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
        let all = self.relocations.range(place - 7..place + size as u64);
        all.map(|(&at, relocation)| (at, relocation))
            .filter(move |(at, relocation)| at + relocation.size as u64 > place)
    }

    /// `count` bytes of constants at a place, or the address there.
    ///
    /// # Errors
    /// There are no such constants.
    pub fn constant(&self, place: u64, count: usize) -> Result<Content<'_>, String> {
        let absent = || format!("there are no constants at {}", self.name(place));
        if let (Some(&target), 8) = (self.slots.get(&place), count) {
            return Ok(Content::Address(target));
        }
        let bytes = self.bytes(place, false).and_then(|bytes| bytes.get(..count));
        let bytes = bytes.ok_or_else(absent)?;
        match self.relocations(place, count).next() {
            None => Ok(Content::Bytes(bytes)),
            Some((at, Relocation { size: 8, kind: Kind::Absolute, target }))
                if at == place && count == 8 =>
            {
                Ok(Content::Address(*target))
            }
            Some(_) => Err(format!("the linker writes the bytes at {}", self.name(place))),
        }
    }

    fn bytes(&self, place: u64, is_code: bool) -> Option<&[u8]> {
        let section = self.sections.get(&(place / STRIDE))?;
        if section.is_code != is_code {
            return None;
        }
        section.bytes.get((place % STRIDE) as usize..)
    }

    /// Whether an address in the object is a multiple of `align`, wherever its section is.
    pub fn is_aligned(&self, at: Pointer, align: u64) -> bool {
        let Region::Section(number) = at.region else { return false };
        let section = self.sections.get(&u64::from(number));
        section.is_some_and(|section| section.align.is_multiple_of(align))
            && (at.offset as u64).is_multiple_of(align)
    }

    /// A name for a place, for messages: a symbol, or an offset from one.
    pub fn name(&self, place: u64) -> String {
        let region = place / STRIDE;
        match self.names.range(region * STRIDE..=place).next_back() {
            Some((start, name)) if *start == place => name.clone(),
            Some((start, name)) => format!("{name}+{:#x}", place - start),
            None => format!("section {region}+{:#x}", place % STRIDE),
        }
    }
}

/// The regions of a section.
enum Placed {
    /// One, from this place on.
    Whole(u64),
    /// The place of each constant, by its offset: a linker merges equal constants of several
    /// objects.
    Constants(BTreeMap<u64, u64>),
}

/// An object that is being read.
struct Reader {
    object: Object,
    /// The number of regions.
    regions: u64,
    /// Sections in the model, by their indices in the file.
    places: BTreeMap<usize, Placed>,
    /// Places of symbols, by their indices, and why they are not known.
    symbols: BTreeMap<usize, (u64, Option<&'static str>)>,
}

impl Reader {
    fn region(&mut self) -> u64 {
        self.regions += 1;
        STRIDE * self.regions
    }

    fn sections(&mut self, file: &ElfFile64<LittleEndian>) -> Result<(), String> {
        for section in file.sections() {
            let is_code = section.kind() == SectionKind::Text;
            // The second one has constants with addresses, which the loader writes once.
            let is_constant =
                matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyString)
                    || section.name().is_ok_and(|name| name.starts_with(".data.rel.ro"));
            if !is_code && !is_constant {
                continue;
            }
            if section.size() >= LARGEST {
                return Err("the object has a section that is too long".into());
            }
            let bytes = section.data().map_err(wrong)?;
            // Zero says as little as one.
            let align = section.align().max(1);
            let placed = if let Some((constants, size)) = merged(&section, bytes) {
                if section.relocations().next().is_some() {
                    return Err("the object has addresses among merged constants".into());
                }
                if constants.len() > MOST {
                    return Err(format!("the object has more than {MOST} merged constants"));
                }
                let mut places = BTreeMap::new();
                let mut offset = 0;
                for constant in constants {
                    let place = self.region();
                    places.insert(offset, place);
                    offset += constant.len() as u64;
                    // Between others a constant is aligned as its size is.
                    let align = align.min(1 << size.trailing_zeros());
                    let section = Section { bytes: constant.to_vec(), is_code, align };
                    self.object.sections.insert(place / STRIDE, section);
                }
                Placed::Constants(places)
            } else {
                let place = self.region();
                let section = Section { bytes: bytes.to_vec(), is_code, align };
                self.object.sections.insert(place / STRIDE, section);
                Placed::Whole(place)
            };
            self.places.insert(section.index().0, placed);
        }
        Ok(())
    }

    fn symbols(&mut self, file: &ElfFile64<LittleEndian>) -> Result<(), String> {
        let mut global = BTreeSet::new();
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default().to_string();
            let known = symbol.section_index().and_then(|index| self.places.get(&index.0));
            let (offset, mut unknown) = (symbol.address(), replaced(symbol.flags()));
            if known.is_some() && offset >= LARGEST {
                return Err(format!("the symbol `{name}` is outside of its section"));
            }
            let is_known = known.is_some();
            let place = match known {
                Some(Placed::Whole(start)) => start + offset,
                Some(Placed::Constants(places)) => {
                    if symbol.kind() == SymbolKind::Section {
                        unknown = Some("the linker merges the constants of this section");
                    }
                    let constant = places.range(..=offset).next_back();
                    constant.map_or(0, |(start, place)| place + (offset - start))
                }
                None => self.region(),
            };
            self.symbols.insert(symbol.index().0, (place, unknown));
            let is_function = symbol.kind() == SymbolKind::Text;
            let functions = &mut self.object.functions;
            if is_function && is_known {
                // A linker takes a global symbol before local ones of the same name.
                let fresh = match symbol.is_global() {
                    true => global.insert(name.clone()),
                    false => !functions.contains_key(&name),
                };
                if fresh {
                    functions.insert(name.clone(), unknown.map_or(Ok(place), Err));
                } else if symbol.is_global() || !global.contains(&name) {
                    let twice = Err("the object has two functions of this name");
                    functions.insert(name.clone(), twice);
                }
            }
            if (is_function || !is_known) && !name.is_empty() {
                self.object.names.entry(place).or_insert(name);
            }
        }
        Ok(())
    }

    fn relocations(&mut self, file: &ElfFile64<LittleEndian>) -> Result<(), String> {
        for section in file.sections() {
            let Some(&Placed::Whole(start)) = self.places.get(&section.index().0) else { continue };
            for (offset, relocation) in section.relocations() {
                let (symbol, unknown) = match relocation.target() {
                    RelocationTarget::Symbol(symbol) => {
                        *self.symbols.get(&symbol.0).ok_or("a relocation has no symbol")?
                    }
                    _ => (0, Some("a relocation without a symbol")),
                };
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return Err("the object has a relocation that is not one of ELF".into());
                };
                let (mut base, addend) = (symbol, relocation.addend());
                let (kind, size) = match r_type {
                    elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => (Kind::Relative, 4),
                    elf::R_X86_64_PC64 => (Kind::Relative, 8),
                    elf::R_X86_64_32 | elf::R_X86_64_32S => (Kind::Absolute, 4),
                    elf::R_X86_64_64 => (Kind::Absolute, 8),
                    elf::R_X86_64_GOTPCREL
                    | elf::R_X86_64_GOTPCRELX
                    | elf::R_X86_64_REX_GOTPCRELX => {
                        base = self.region();
                        self.object.slots.insert(base, symbol);
                        (Kind::Relative, 4)
                    }
                    // The field has at least one byte, and at most eight.
                    _ => (Kind::Unknown("the relocation is of a type that is not known"), 8),
                };
                let least = if matches!(kind, Kind::Unknown(_)) { 1 } else { size as u64 };
                if offset.checked_add(least).is_none_or(|end| end > section.size()) {
                    return Err("a relocation is outside of its section".into());
                }
                let far = (addend.unsigned_abs() >= LARGEST)
                    .then_some("the address is far from its symbol");
                let kind = unknown.or(far).map_or(kind, Kind::Unknown);
                let relocation =
                    Relocation { size, kind, target: base.wrapping_add_signed(addend) };
                if self.object.relocations.insert(start + offset, relocation).is_some() {
                    return Err("two relocations are in one place".into());
                }
            }
        }
        Ok(())
    }
}

fn wrong(error: object::Error) -> String {
    format!("the object cannot be read: {error}")
}

/// The constants of a section that a linker merges, and the size of their elements: each constant
/// is one element, or a string of elements up to a zero.
fn merged<'b>(
    section: &ElfSection64<LittleEndian>,
    bytes: &'b [u8],
) -> Option<(Vec<&'b [u8]>, usize)> {
    let header = section.elf_section_header();
    let flags = header.sh_flags(LittleEndian);
    let size = header.sh_entsize(LittleEndian).max(1) as usize;
    let is_string = flags.contains(elf::SHF_STRINGS);
    let (mut constants, mut from, mut end) = (Vec::new(), 0, 0);
    for element in bytes.chunks(size) {
        end += element.len();
        if !is_string || element.iter().all(|&byte| byte == 0) || end == bytes.len() {
            constants.push(&bytes[from..end]);
            from = end;
        }
    }
    flags.contains(elf::SHF_MERGE).then_some((constants, size))
}

/// The reason why a linker or loader may put another function in the place of a symbol.
fn replaced(flags: SymbolFlags<SectionIndex, SymbolIndex>) -> Option<&'static str> {
    let SymbolFlags::Elf { st_info, .. } = flags else { return None };
    if st_info.st_type() == elf::STT_GNU_IFUNC {
        return Some("the loader chooses the function (IFUNC)");
    }
    (st_info.st_bind() == elf::STB_WEAK)
        .then_some("the symbol is weak, so another one may replace it")
}
