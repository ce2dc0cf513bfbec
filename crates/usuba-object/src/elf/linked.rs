//! Linked files: shared objects and executables, as the loader maps them.
//!
//! ```text
//! lea rdx, [rip + 0x1f0]        a table, at a distance that the linker has fixed
//! call 4030                     a stub:  jmp [rip + 0x2fa2]
//! 7000: R_X86_64_JUMP_SLOT      the loader writes the address of memcpy
//! ```
//!
//! *Soundness:* the image is one region, because the loader moves all of it by one multiple of a
//! page: distances in it are numbers, and its address is not. An undefined symbol is a region of its
//! own. Segments say which bytes are code or constants, and the dynamic section says which the
//! loader writes; section headers, which the loader does not read, give names alone. The tables of
//! names are compared with the loader's.
//!
//! A slot for a symbol of this file is the address of that symbol, so nothing may interpose it.
//!
//! *Limits:* addresses that the linker has written as numbers, in executables at a fixed address,
//! are numbers, and no access uses a number. Such an executable has no readable pointers.

use std::collections::BTreeMap;
use std::ops::Range;

use object::read::elf::{ElfFile, ElfFile64, ElfSymbol, ProgramHeader as _, RelrIterator};
use object::{
    LittleEndian, Object as _, ObjectKind, ObjectSection, ObjectSymbol, SymbolKind, SymbolSection,
    elf, pod,
};

use super::relocatable::Header;
use super::{Kind, LARGEST, Processor, Relocation, STRIDE, Section, Tables, replaced, wrong};

/// The image is at a multiple of this many bytes.
const PAGE: u64 = 4096;

/// The largest pages of systems for AArch64, whose loaders protect whole pages.
const LARGE_PAGE: u64 = 1 << 16;

/// Bytes of an address.
const ADDRESS: u64 = 8;

type File<'b> = ElfFile64<'b, LittleEndian>;

/// Reads a linked file.
///
/// # Errors
/// The file is damaged, cannot be loaded, or has a relocation that is not understood.
pub(super) fn read(object: &mut Tables, file: &File) -> Result<(), String> {
    let mut image = Image::new(object, file)?;
    let dynamic = image.dynamic(file)?;
    image.constants(file, !dynamic.0.is_empty());
    image.check_names(file, &dynamic)?;
    let names = image.symbols(file);
    image.relocations(&dynamic, &names)
}

/// Reads an executable at a fixed address, which no loader changes.
///
/// # Errors
/// The file is damaged, cannot be loaded, or is linked dynamically.
pub(super) fn read_static(object: &mut Tables, file: &ElfFile<impl Header>) -> Result<(), String> {
    let mut headers = file.elf_program_headers().iter();
    let is_dynamic = headers
        .any(|header| [elf::PT_DYNAMIC, elf::PT_INTERP].contains(&header.p_type(LittleEndian)));
    if is_dynamic || file.kind() != ObjectKind::Executable {
        return Err("of linked files for RISC-V only static executables are read".into());
    }
    let mut image = Image::new(object, file)?;
    image.constants(file, false);
    image.symbols(file);
    Ok(())
}

/// The places of dynamic symbols by their numbers, or the reasons why they are not known.
type Symbols = BTreeMap<u64, Result<u64, &'static str>>;

/// The dynamic section: values by tags.
#[derive(Default)]
struct Dynamic(BTreeMap<i64, u64>);

impl Dynamic {
    /// The value of a tag; zero if it has none.
    fn get(&self, tag: elf::DynamicTag) -> u64 {
        self.0.get(&tag.0).copied().unwrap_or_default()
    }
}

/// Entries with relocations that no loader reads, or one alone.
const UNKNOWN: [elf::DynamicTag; 4] =
    [elf::DT_REL, elf::DT_ANDROID_REL, elf::DT_ANDROID_RELA, elf::DT_ANDROID_RELR];

const THREAD: &str = "it is the address of a variable of a thread";

/// How the loader writes an address.
#[derive(Clone, Copy)]
enum Write {
    Nothing,
    /// The address of a place in the file.
    Relative,
    /// The address of a symbol.
    Symbol,
    /// The same in a slot of the global offset table.
    Slot,
    /// The address of a function that the loader chooses.
    Chosen,
    /// The place of a variable of a thread; a descriptor has two words.
    Thread,
    Descriptor,
    /// A copy of a variable.
    Copy,
}

/// The relocations that loaders for x86-64 do.
fn of_x86(kind: elf::RelocationType) -> Option<Write> {
    Some(match kind {
        elf::R_X86_64_NONE => Write::Nothing,
        elf::R_X86_64_RELATIVE => Write::Relative,
        elf::R_X86_64_64 => Write::Symbol,
        elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => Write::Slot,
        elf::R_X86_64_IRELATIVE => Write::Chosen,
        elf::R_X86_64_DTPMOD64 | elf::R_X86_64_DTPOFF64 | elf::R_X86_64_TPOFF64 => Write::Thread,
        elf::R_X86_64_TLSDESC => Write::Descriptor,
        elf::R_X86_64_COPY => Write::Copy,
        _ => return None,
    })
}

/// The relocations that loaders for AArch64 do.
fn of_aarch64(kind: elf::RelocationType) -> Option<Write> {
    Some(match kind {
        elf::R_AARCH64_NONE => Write::Nothing,
        elf::R_AARCH64_RELATIVE => Write::Relative,
        elf::R_AARCH64_ABS64 => Write::Symbol,
        elf::R_AARCH64_GLOB_DAT | elf::R_AARCH64_JUMP_SLOT => Write::Slot,
        elf::R_AARCH64_IRELATIVE => Write::Chosen,
        elf::R_AARCH64_TLS_DTPMOD | elf::R_AARCH64_TLS_DTPREL | elf::R_AARCH64_TLS_TPREL => {
            Write::Thread
        }
        elf::R_AARCH64_TLSDESC => Write::Descriptor,
        elf::R_AARCH64_COPY => Write::Copy,
        _ => return None,
    })
}

/// A file that is being read.
struct Image<'o, 'b> {
    object: &'o mut Tables,
    /// The lowest address in the file, and the end of the highest segment.
    base: u64,
    end: u64,
    /// Addresses of segments that are loaded, with their bytes in the file and their flags.
    segments: Vec<(u64, &'b [u8], elf::ProgramFlags)>,
    /// The number of undefined symbols.
    outside: u64,
}

impl<'o, 'b> Image<'o, 'b> {
    /// The segments of a file.
    fn new(object: &'o mut Tables, file: &ElfFile<'b, impl Header>) -> Result<Self, String> {
        let is_fixed = file.kind() == ObjectKind::Executable;
        let mut image = Image { object, base: 0, end: 0, segments: Vec::new(), outside: 0 };
        image.map(file)?;
        image.object.fixed = is_fixed.then_some((image.base, image.end));
        Ok(image)
    }

    /// The place of an address in the file, if it is in the image or at its end.
    fn place(&self, address: u64) -> Option<u64> {
        (self.base..=self.end).contains(&address).then(|| STRIDE + (address - self.base))
    }

    /// Bytes at an address, before the loader writes any.
    fn bytes(&self, address: u64, size: u64) -> Result<&'b [u8], String> {
        let found = self.segments.iter().find_map(|(start, bytes, _)| {
            let from = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(from..)?.get(..usize::try_from(size).ok()?)
        });
        found.ok_or_else(|| format!("the file has no {size} bytes at {address:#x}"))
    }

    /// The table of `size` bytes at an address.
    fn table<T: pod::Pod>(&self, address: u64, size: u64) -> Result<&'b [T], String> {
        let table = pod::slice_from_all_bytes(self.bytes(address, size)?);
        table.map_err(|()| format!("the table at {address:#x} has a part of an entry"))
    }

    /// The segments that the loader maps.
    fn map(&mut self, file: &ElfFile<'b, impl Header>) -> Result<(), String> {
        for header in file.elf_program_headers() {
            if header.p_type(LittleEndian) != elf::PT_LOAD {
                continue;
            }
            let bytes = header.data(LittleEndian, file.data());
            let bytes = bytes.map_err(|()| "a segment is not in the file")?;
            let (start, flags) =
                (header.p_vaddr(LittleEndian).into(), header.p_flags(LittleEndian));
            let end = u64::checked_add(start, header.p_memsz(LittleEndian).into());
            let end = end.filter(|&end| end < 1 << 47);
            let end = end.ok_or("a segment is too long")?;
            if flags.contains(elf::PF_W) && flags.contains(elf::PF_X) {
                let hint = "a linker script gives code and data segments of their own";
                return Err(format!("the code at {start:#x} can be written; help: {hint}"));
            }
            let is_first = self.segments.is_empty();
            // The loader maps whole pages.
            if !is_first && start / PAGE < self.end.div_ceil(PAGE)
                || start % PAGE != header.p_offset(LittleEndian).into() % PAGE
                || start + bytes.len() as u64 > end
            {
                return Err(format!("the loader does not map the segment at {start:#x}"));
            }
            if is_first {
                self.base = start - start % PAGE;
            }
            self.end = end;
            self.segments.push((start, bytes, flags));
        }
        match self.end - self.base < LARGEST && !self.segments.is_empty() {
            true => Ok(()),
            false => Err("the file has no segments, or they are too long".into()),
        }
    }

    /// Code and constants. Of a segment that can be written only the part is constant that the
    /// loader protects after its relocations.
    fn constants(&mut self, file: &ElfFile<impl Header>, is_relocated: bool) {
        let headers = file.elf_program_headers().iter();
        let mut protected =
            headers.filter(|header| header.p_type(LittleEndian) == elf::PT_GNU_RELRO);
        let (from, to) = match (protected.next(), protected.next()) {
            (Some(header), None) if is_relocated => {
                let start: u64 = header.p_vaddr(LittleEndian).into();
                let end = start.saturating_add(header.p_memsz(LittleEndian).into());
                let page = match self.object.processor {
                    Processor::Aarch64 => LARGE_PAGE,
                    _ => PAGE,
                };
                (start, end - end % page)
            }
            _ => (0, 0),
        };
        let frames = self.frames(file).unwrap_or_default();
        for &(start, bytes, flags) in &self.segments {
            let (mut first, mut last) = (start, start + bytes.len() as u64);
            if flags.contains(elf::PF_W) {
                (first, last) = (first.max(from), last.min(to));
            }
            // Without the tables of frames, each in turn.
            let tables = frames.iter().filter(|table| first <= table.start && table.end <= last);
            let cuts = tables.flat_map(|table| [table.start, table.end]);
            let cuts: Vec<u64> = [first].into_iter().chain(cuts).chain([last]).collect();
            for cut in cuts.chunks(2) {
                let range =
                    cut[0].wrapping_sub(start) as usize..cut[1].wrapping_sub(start) as usize;
                let Some(bytes) = bytes.get(range).filter(|_| cut[0] < cut[1]) else { continue };
                let (bytes, is_code) = (bytes.to_vec(), flags.contains(elf::PF_X));
                let section = Section { bytes, is_code, is_constant: true, align: PAGE };
                self.object.sections.insert(STRIDE + (cut[0] - self.base), section);
            }
        }
    }

    /// The tables of frames, in order: that which is searched, and that which it describes. No
    /// function reads them, but they have the address of each function.
    fn frames(&self, file: &ElfFile<impl Header>) -> Option<Vec<Range<u64>>> {
        let mut headers = file.elf_program_headers().iter();
        let header = headers.find(|header| header.p_type(LittleEndian) == elf::PT_GNU_EH_FRAME)?;
        let start: u64 = header.p_vaddr(LittleEndian).into();
        let searched = start..start.checked_add(header.p_memsz(LittleEndian).into())?;
        let field = |at: u64| Some(u32::from_le_bytes(self.bytes(at, 4).ok()?.try_into().ok()?));
        // The second byte: the distance from the field, in four bytes with a sign.
        if field(start)? >> 8 & 0xff != 0x1b {
            return None;
        }
        let first = start
            .wrapping_add(4)
            .wrapping_add_signed((field(start.wrapping_add(4))? as i32).into());
        let mut end = first;
        loop {
            let length = field(end)?;
            end = end.checked_add(4)?.checked_add(length.into())?;
            if length == 0 {
                break;
            }
        }
        let mut tables = vec![searched, first..end];
        tables.sort_by_key(|table| table.start);
        (tables[0].end <= tables[1].start).then_some(tables)
    }

    /// The entries of the dynamic section; empty if the loader relocates nothing.
    fn dynamic(&self, file: &File) -> Result<Dynamic, String> {
        let headers = file.elf_program_headers().iter();
        let mut headers = headers.filter(|header| header.p_type(LittleEndian) == elf::PT_DYNAMIC);
        let Some(header) = headers.next() else { return Ok(Dynamic::default()) };
        if headers.next().is_some() {
            return Err("the file has two dynamic sections".into());
        }
        let (start, size) = (header.p_vaddr(LittleEndian), header.p_filesz(LittleEndian));
        let entries: &[elf::Dyn64<LittleEndian>] = self.table(start, size)?;
        let entries = entries.iter().map(|entry| (entry.d_tag.get(LittleEndian), entry));
        let entries = entries.take_while(|(tag, _)| *tag != elf::DT_NULL);
        // The loader takes the last entry of a tag.
        Ok(Dynamic(entries.map(|(tag, entry)| (tag.0, entry.d_val.get(LittleEndian))).collect()))
    }

    /// Checks that linkers and the loader read the same tables of dynamic symbols and names.
    fn check_names(&self, file: &File, dynamic: &Dynamic) -> Result<(), String> {
        let table = file.elf_dynamic_symbol_table();
        for (index, tag) in
            [(table.section(), elf::DT_SYMTAB), (table.string_section(), elf::DT_STRTAB)]
        {
            if table.is_empty() {
                continue;
            }
            let bytes = file.section_by_index(index).and_then(|section| section.data());
            let bytes = bytes.map_err(wrong)?;
            if self.bytes(dynamic.get(tag), bytes.len() as u64)? != bytes {
                return Err("the loader reads another table of symbols than linkers".into());
            }
        }
        Ok(())
    }

    /// The functions, and the places of the dynamic symbols.
    fn symbols(&mut self, file: &ElfFile<impl Header>) -> Symbols {
        let mut dynamic = Symbols::new();
        for symbol in file.dynamic_symbols() {
            let place = self.symbol(&symbol, true);
            dynamic.insert(symbol.index().0 as u64, place);
        }
        for symbol in file.symbols() {
            // Any reason not to know a symbol matters where a relocation names it.
            let _ = self.symbol(&symbol, false);
        }
        dynamic
    }

    fn symbol(
        &mut self,
        symbol: &ElfSymbol<impl Header>,
        is_dynamic: bool,
    ) -> Result<u64, &'static str> {
        // A version follows the name.
        let name = symbol.name().unwrap_or_default();
        let name = name.split_once('@').map_or(name, |(name, _)| name).to_string();
        let absent = "the symbol is not in the file";
        let place = match symbol.section() {
            SymbolSection::Section(_) if symbol.kind() != SymbolKind::Tls => {
                let place = self.place(symbol.address()).ok_or(absent)?;
                match symbol.kind() {
                    SymbolKind::Text => self.object.add_function(symbol, name, place),
                    SymbolKind::Data => self.object.add_variable(symbol, name, place),
                    _ => {}
                }
                place
            }
            SymbolSection::Undefined if is_dynamic => {
                self.outside += 1;
                let place = STRIDE * (1 + self.outside);
                if !name.is_empty() {
                    self.object.names.insert(place, name.clone());
                    self.object.undefined.insert(place, name);
                }
                place
            }
            _ => return Err(absent),
        };
        replaced(symbol).map_or(Ok(place), Err)
    }

    /// The addresses that the loader writes.
    fn relocations(&mut self, dynamic: &Dynamic, symbols: &Symbols) -> Result<(), String> {
        let is_rela = [0, elf::DT_RELA.0 as u64].contains(&dynamic.get(elf::DT_PLTREL));
        if !is_rela || UNKNOWN.iter().any(|&tag| dynamic.0.contains_key(&tag.0)) {
            return Err(
                "the file has relocations of a kind that its processor does not have".into()
            );
        }
        for (start, size) in [(elf::DT_RELA, elf::DT_RELASZ), (elf::DT_JMPREL, elf::DT_PLTRELSZ)] {
            let (start, size) = (dynamic.get(start), dynamic.get(size));
            if size == 0 {
                continue;
            }
            for entry in self.table::<elf::Rela64<LittleEndian>>(start, size)? {
                self.relocation(entry, symbols)?;
            }
        }
        let (start, size) = (dynamic.get(elf::DT_RELR), dynamic.get(elf::DT_RELRSZ));
        if size > 0 {
            let table = self.table(start, size)?;
            for offset in RelrIterator::<elf::FileHeader64<LittleEndian>>::new(LittleEndian, table)
            {
                let bytes = self.bytes(offset, ADDRESS)?.try_into().expect("eight bytes");
                self.relative(offset, u64::from_le_bytes(bytes))?;
            }
        }
        Ok(())
    }

    fn relocation(
        &mut self,
        entry: &elf::Rela64<LittleEndian>,
        symbols: &Symbols,
    ) -> Result<(), String> {
        let (offset, info) = (entry.r_offset.get(LittleEndian), entry.r_info.get(LittleEndian));
        let addend = entry.r_addend.get(LittleEndian);
        let named = symbols.get(&(info >> 32)).copied().unwrap_or(Err("it has no symbol"));
        let kind = elf::RelocationType(info as u32);
        let write = match self.object.processor {
            Processor::Aarch64 => of_aarch64(kind),
            _ => of_x86(kind),
        };
        let write = write.ok_or_else(|| {
            format!("the relocation of type {} at {offset:#x} is not understood", kind.0)
        })?;
        match write {
            Write::Nothing => Ok(()),
            Write::Relative => self.relative(offset, addend as u64),
            Write::Symbol => {
                let near = addend.unsigned_abs() < LARGEST;
                let far = Err("the address is far from its symbol");
                let target = if near { named } else { far };
                self.write(offset, target.map(|place| place.wrapping_add_signed(addend)))
            }
            Write::Slot => {
                if let (Some(slot), Ok(target)) = (self.place(offset), named) {
                    self.object.slots.insert(slot, target);
                }
                self.write(offset, named)
            }
            Write::Chosen => self.write(offset, Err("the loader chooses the function (IFUNC)")),
            Write::Thread => self.write(offset, Err(THREAD)),
            Write::Descriptor => {
                self.write(offset, Err(THREAD))?;
                self.write(offset.wrapping_add(ADDRESS), Err(THREAD))
            }
            // The loader copies a variable here, which is no constant of the file.
            Write::Copy if self.bytes(offset, 1).is_err() => Ok(()),
            Write::Copy => Err(format!("the loader copies a variable over bytes at {offset:#x}")),
        }
    }

    /// The loader writes an address in the file.
    fn relative(&mut self, offset: u64, address: u64) -> Result<(), String> {
        let target = self.place(address).ok_or("the address is not in the file");
        self.write(offset, target)
    }

    /// The loader writes the address of a place.
    fn write(&mut self, offset: u64, target: Result<u64, &'static str>) -> Result<(), String> {
        let place = self.place(offset).filter(|_| self.end - offset >= ADDRESS);
        let place = place.ok_or_else(|| format!("no relocation can be at {offset:#x}"))?;
        let kind = target.map_or_else(Kind::Unknown, |_| Kind::Absolute);
        let relocation =
            Relocation { size: ADDRESS as usize, kind, target: target.unwrap_or_default() };
        match self.object.relocations.insert(place, relocation) {
            None => Ok(()),
            Some(_) => Err(format!("two relocations are at {offset:#x}")),
        }
    }
}
