//! Relocatable object files, which the linker takes apart.
//!
//! *Soundness:* a section, a constant that the linker may merge, an undefined symbol and an entry
//! of the global offset table is each a region of its own, because the linker places them: an
//! object may use their addresses, but no result depends on them.

use std::collections::BTreeMap;

use object::read::elf::{ElfFile, ElfSection, FileHeader, SectionHeader as _};
use object::{
    LittleEndian, Object as _, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionKind, SymbolKind, elf,
};

use super::{Kind, LARGEST, Part, Processor, Relocation, STRIDE, Section, Tables, replaced, wrong};

/// The header of a file, for 32 or 64 bits.
pub(super) trait Header: FileHeader<Endian = LittleEndian> {}

impl<E: FileHeader<Endian = LittleEndian>> Header for E {}

/// The most constants of a section that the linker may merge.
const MOST: usize = 1 << 16;

/// Reads an object file.
///
/// # Errors
/// The file is damaged, or has a relocation that is not understood.
pub(super) fn read(object: &mut Tables, file: &ElfFile<impl Header>) -> Result<(), String> {
    let mut reader = Reader {
        object,
        regions: 0,
        places: BTreeMap::new(),
        symbols: BTreeMap::new(),
        merged: BTreeMap::new(),
    };
    reader.sections(file)?;
    reader.symbols(file)?;
    reader.relocations(file)
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
struct Reader<'o> {
    object: &'o mut Tables,
    /// The number of regions.
    regions: u64,
    /// Sections in the model, by their indices in the file.
    places: BTreeMap<usize, Placed>,
    /// Places of symbols, by their indices, and why they are not known.
    symbols: BTreeMap<usize, (u64, Option<&'static str>)>,
    /// The sections with merged constants, by the indices of their symbols.
    merged: BTreeMap<usize, usize>,
}

impl Reader<'_> {
    fn region(&mut self) -> u64 {
        self.regions += 1;
        STRIDE * self.regions
    }

    fn sections(&mut self, file: &ElfFile<impl Header>) -> Result<(), String> {
        for section in file.sections() {
            let is_code = section.kind() == SectionKind::Text;
            // The second one has constants with addresses, which the loader writes once.
            let is_constant = !is_code
                && (matches!(
                    section.kind(),
                    SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
                ) || section.name().is_ok_and(|name| name.starts_with(".data.rel.ro")));
            let flags = section.elf_section_header().sh_flags(LittleEndian);
            // The table of frames has the address of each function, and no function reads it.
            let is_unwinding = section.name().is_ok_and(|name| name == ".eh_frame");
            if !flags.contains(elf::SHF_ALLOC) || is_unwinding {
                continue;
            }
            if section.size() >= LARGEST {
                return Err("the object has a section that is too long".into());
            }
            if !is_code && !is_constant {
                let place = self.region();
                self.places.insert(section.index().0, Placed::Whole(place));
                continue;
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
                    let bytes = constant.to_vec();
                    let section = Section { bytes, is_code, is_constant, align };
                    self.object.sections.insert(place, section);
                }
                Placed::Constants(places)
            } else {
                let place = self.region();
                let section = Section { bytes: bytes.to_vec(), is_code, is_constant, align };
                self.object.sections.insert(place, section);
                Placed::Whole(place)
            };
            self.places.insert(section.index().0, placed);
        }
        Ok(())
    }

    fn symbols(&mut self, file: &ElfFile<impl Header>) -> Result<(), String> {
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default().to_string();
            let known = symbol.section_index().and_then(|index| self.places.get(&index.0));
            let (offset, mut unknown) = (symbol.address(), replaced(&symbol));
            if known.is_some() && offset >= LARGEST {
                return Err(format!("the symbol `{name}` is outside of its section"));
            }
            let is_known = known.is_some();
            let place = match known {
                Some(Placed::Whole(start)) => start + offset,
                Some(Placed::Constants(places)) => {
                    if symbol.kind() == SymbolKind::Section {
                        unknown = Some("the linker merges the constants of this section");
                        let section = symbol.section_index().map_or(0, |index| index.0);
                        self.merged.insert(symbol.index().0, section);
                    }
                    let constant = places.range(..=offset).next_back();
                    constant.map_or(0, |(start, place)| place + (offset - start))
                }
                None => self.region(),
            };
            self.symbols.insert(symbol.index().0, (place, unknown));
            if is_known && symbol.kind() == SymbolKind::Text {
                self.object.add_function(&symbol, name, place);
            } else if is_known && symbol.kind() == SymbolKind::Data {
                self.object.add_variable(&symbol, name, place);
            } else if !is_known && !name.is_empty() {
                // The linker defines the table.
                if symbol.is_undefined() && name != "_GLOBAL_OFFSET_TABLE_" {
                    self.object.undefined.insert(place, name.clone());
                }
                self.object.names.insert(place, name);
            }
        }
        Ok(())
    }

    fn relocations(&mut self, file: &ElfFile<impl Header>) -> Result<(), String> {
        for section in file.sections() {
            let Some(&Placed::Whole(start)) = self.places.get(&section.index().0) else { continue };
            for (offset, relocation) in section.relocations() {
                let (symbol, mut unknown) = match relocation.target() {
                    RelocationTarget::Symbol(symbol) => {
                        *self.symbols.get(&symbol.0).ok_or("a relocation has no symbol")?
                    }
                    _ => (0, Some("a relocation without a symbol")),
                };
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return Err("the object has a relocation that is not one of ELF".into());
                };
                let (mut base, mut addend) = (symbol, relocation.addend());
                let (kind, size, is_slot) = match self.object.processor {
                    Processor::X86 => of_x86(r_type),
                    Processor::Riscv32 => of_riscv(r_type),
                    Processor::Aarch64 => of_aarch64(r_type),
                };
                if is_slot {
                    base = self.region();
                    self.object.slots.insert(base, symbol);
                }
                // The linker takes the addend of an address for an offset in the section.
                // So it does for the parts of an address on AArch64.
                let is_address = (kind, size) == (Kind::Absolute, self.object.processor.address())
                    || matches!(kind, Kind::Part(_)) && self.object.processor == Processor::Aarch64;
                if let RelocationTarget::Symbol(symbol) = relocation.target()
                    && is_address
                    && let Some(constant) = self.constant(symbol.0, addend)
                {
                    (base, addend, unknown) = (constant, 0, None);
                }
                let least = if matches!(kind, Kind::Unknown(_)) { 1 } else { size as u64 };
                if offset.checked_add(least).is_none_or(|end| end > section.size()) {
                    return Err("a relocation is outside of its section".into());
                }
                let far = (addend.unsigned_abs() >= LARGEST)
                    .then_some("the address is far from its symbol");
                let kind = match kind {
                    Kind::Unknown(_) => kind,
                    known => unknown.or(far).map_or(known, Kind::Unknown),
                };
                let relocation =
                    Relocation { size, kind, target: base.wrapping_add_signed(addend) };
                let before = self.object.relocations.insert(start + offset, relocation);
                match (before.map(|before| before.kind), kind) {
                    (None, _) => {}
                    // The place is not known anyway.
                    (Some(_), Kind::Unknown(_)) => {}
                    (Some(unknown @ Kind::Unknown(_)), _) => {
                        let relocation = Relocation { kind: unknown, ..relocation };
                        self.object.relocations.insert(start + offset, relocation);
                    }
                    _ => return Err("two relocations are in one place".into()),
                }
            }
        }
        Ok(())
    }

    /// The place at this offset of the section of a symbol: the start of a merged constant; on
    /// AArch64, where the addend is no distance from the instruction, inside of one, too.
    fn constant(&self, symbol: usize, offset: i64) -> Option<u64> {
        let offset = u64::try_from(offset).ok()?;
        match self.places.get(self.merged.get(&symbol)?)? {
            Placed::Constants(places) if self.object.processor == Processor::Aarch64 => {
                let (start, place) = places.range(..=offset).next_back()?;
                let bytes = self.object.sections.get(place)?.bytes.len() as u64;
                (offset - start < bytes).then_some(place + (offset - start))
            }
            Placed::Constants(places) => places.get(&offset).copied(),
            Placed::Whole(_) => None,
        }
    }
}

/// The field of a relocation for x86-64: its kind, its bytes, and whether it is the address of a
/// slot in the global offset table. A field of unknown kind has at least one byte, and at most
/// eight.
fn of_x86(r_type: elf::RelocationType) -> (Kind, usize, bool) {
    let (kind, size) = match r_type {
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => (Kind::Relative, 4),
        elf::R_X86_64_PC64 => (Kind::Relative, 8),
        elf::R_X86_64_32 | elf::R_X86_64_32S => (Kind::Absolute, 4),
        elf::R_X86_64_64 => (Kind::Absolute, 8),
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            return (Kind::Relative, 4, true);
        }
        _ => (Kind::Unknown(NO_TYPE), 8),
    };
    (kind, size, false)
}

/// The same for RISC-V.
fn of_riscv(r_type: elf::RelocationType) -> (Kind, usize, bool) {
    let (kind, size) = match r_type {
        elf::R_RISCV_32 => (Kind::Absolute, 4),
        elf::R_RISCV_BRANCH | elf::R_RISCV_JAL => (Kind::Relative, 4),
        elf::R_RISCV_RVC_BRANCH | elf::R_RISCV_RVC_JUMP => (Kind::Relative, 2),
        elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT => (Kind::Relative, 8),
        elf::R_RISCV_HI20 => (Kind::Part(Part::High), 4),
        elf::R_RISCV_LO12_I | elf::R_RISCV_LO12_S => (Kind::Part(Part::Low), 4),
        elf::R_RISCV_PCREL_HI20 => (Kind::Part(Part::HighRelative), 4),
        elf::R_RISCV_PCREL_LO12_I | elf::R_RISCV_PCREL_LO12_S => (Kind::Part(Part::LowRelative), 4),
        elf::R_RISCV_RELAX | elf::R_RISCV_ALIGN => (Kind::Unknown(RELAXES), 8),
        _ => (Kind::Unknown(NO_TYPE), 8),
    };
    (kind, size, false)
}

/// The same for AArch64.
fn of_aarch64(r_type: elf::RelocationType) -> (Kind, usize, bool) {
    let (kind, size) = match r_type {
        elf::R_AARCH64_ABS64 => (Kind::Absolute, 8),
        elf::R_AARCH64_ABS32 => (Kind::Absolute, 4),
        elf::R_AARCH64_PREL64 => (Kind::Relative, 8),
        elf::R_AARCH64_PREL32
        | elf::R_AARCH64_CALL26
        | elf::R_AARCH64_JUMP26
        | elf::R_AARCH64_CONDBR19
        | elf::R_AARCH64_TSTBR14
        | elf::R_AARCH64_LD_PREL_LO19
        | elf::R_AARCH64_ADR_PREL_LO21 => (Kind::Relative, 4),
        elf::R_AARCH64_ADR_PREL_PG_HI21 => (Kind::Part(Part::High), 4),
        elf::R_AARCH64_ADD_ABS_LO12_NC
        | elf::R_AARCH64_LDST8_ABS_LO12_NC
        | elf::R_AARCH64_LDST16_ABS_LO12_NC
        | elf::R_AARCH64_LDST32_ABS_LO12_NC
        | elf::R_AARCH64_LDST64_ABS_LO12_NC
        | elf::R_AARCH64_LDST128_ABS_LO12_NC => (Kind::Part(Part::Low), 4),
        _ => (Kind::Unknown(NO_TYPE), 8),
    };
    (kind, size, false)
}

const NO_TYPE: &str = "the relocation is of a type that is not known";
const RELAXES: &str = "the linker may replace instructions; -mno-relax makes objects as they stay";

/// The constants of a section that a linker merges, and the size of their elements: each constant
/// is one element, or a string of elements up to a zero.
fn merged<'b>(
    section: &ElfSection<impl Header>,
    bytes: &'b [u8],
) -> Option<(Vec<&'b [u8]>, usize)> {
    let header = section.elf_section_header();
    let flags = header.sh_flags(LittleEndian);
    let size: u64 = header.sh_entsize(LittleEndian).into();
    let size = size.max(1) as usize;
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
