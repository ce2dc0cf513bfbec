//! Objects: relocatable ELF files of 32 bits for RISC-V, as compilers write them.
//!
//! ```text
//! header --- section headers --- .text         code
//!                            |-- .rela.text    relocations of section `info`
//!                            |-- .symtab       symbols, with names in section `link`
//! ```

use std::collections::HashMap;

use crate::Run;

/// An object file.
pub(crate) struct Object {
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
}

/// A section, by its number in the file.
pub(crate) struct Section {
    pub(crate) bytes: Vec<u8>,
    /// Its address is a multiple of this.
    pub(crate) align: u32,
    pub(crate) is_code: bool,
    /// It is in memory, and no program changes it.
    pub(crate) is_constant: bool,
    /// By the offset that they change; without hints to linkers.
    pub(crate) relocations: HashMap<u32, Vec<Relocation>>,
}

/// A name with the place that it stands for.
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) section: Place,
    pub(crate) value: u32,
}

/// Where a symbol is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Undefined,
    Section(usize),
    /// A number, a block that the linker allocates, or something else without a section.
    Other,
}

/// A change that the linker makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Relocation {
    pub(crate) kind: Kind,
    pub(crate) symbol: usize,
    pub(crate) addend: u32,
}

/// The kind of a relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A word in data is an address.
    Word,
    Branch,
    Jump,
    Call,
    /// The upper 20 bits of an address, rounded.
    High,
    /// The lower 12 bits, in a load or sum, or in a store.
    LowLoad,
    LowStore,
    /// The same of a distance from the instruction.
    HighNear,
    LowLoadNear,
    LowStoreNear,
    Unknown(u8),
}

const CODE: u32 = 4;
const IN_MEMORY: u32 = 2;
const WRITABLE: u32 = 1;

const SYMBOLS: u32 = 2;
const RELOCATIONS: u32 = 4;
const NO_BYTES: u32 = 8;
const RELOCATIONS_WITHOUT_ADDENDS: u32 = 9;

/// Linkers may shorten the code here, or the padding. Neither changes the function of the code.
const RELAX: u8 = 51;
const ALIGN: u8 = 43;

/// The fields of a section header.
struct Header {
    kind: u32,
    flags: u32,
    offset: u32,
    size: u32,
    link: u32,
    info: u32,
    align: u32,
}

impl Object {
    /// Reads a file.
    pub(crate) fn read(file: &[u8]) -> Run<Object> {
        let is_relocatable = half(file, 16)? == 1 && half(file, 18)? == 243;
        if file.get(..6) != Some(&b"\x7fELF\x01\x01"[..]) || !is_relocatable {
            return Err("the file is no relocatable ELF object of 32 bits for RISC-V".into());
        }
        let (table, count) = (word(file, 32)?, half(file, 48)?);
        let mut headers = Vec::new();
        for at in 0..u32::from(count) {
            headers.push(header(file, table.wrapping_add(at.wrapping_mul(40)))?);
        }
        let mut object = Object { sections: Vec::new(), symbols: Vec::new() };
        for header in &headers {
            object.sections.push(section(file, header)?);
        }
        let mut tables = headers.iter().filter(|header| header.kind == SYMBOLS);
        if let Some(table) = tables.next() {
            let names = headers.get(table.link as usize).ok_or("the names of symbols lack")?;
            object.symbols = symbols(contents(file, table)?, contents(file, names)?)?;
        }
        if tables.next().is_some() {
            return Err("the object has two tables of symbols".into());
        }
        for header in &headers {
            match header.kind {
                RELOCATIONS => object.relocate(contents(file, header)?, header.info)?,
                RELOCATIONS_WITHOUT_ADDENDS => {
                    return Err("the object has relocations without addends".into());
                }
                _ => {}
            }
        }
        Ok(object)
    }

    /// Adds the relocations of a section.
    fn relocate(&mut self, entries: &[u8], section: u32) -> Run<()> {
        let section = self.sections.get_mut(section as usize);
        let section = section.ok_or("relocations of a section that lacks")?;
        for at in (0..entries.len() as u32).step_by(12) {
            let (offset, info) = (word(entries, at)?, word(entries, at + 4)?);
            let kind = match info as u8 {
                RELAX => continue,
                ALIGN if section.is_code => continue,
                1 => Kind::Word,
                16 | 44 => Kind::Branch,
                17 | 45 => Kind::Jump,
                18 | 19 => Kind::Call,
                23 => Kind::HighNear,
                24 => Kind::LowLoadNear,
                25 => Kind::LowStoreNear,
                26 => Kind::High,
                27 => Kind::LowLoad,
                28 => Kind::LowStore,
                other => Kind::Unknown(other),
            };
            let symbol = (info >> 8) as usize;
            let relocation = Relocation { kind, symbol, addend: word(entries, at + 8)? };
            section.relocations.entry(offset).or_default().push(relocation);
        }
        Ok(())
    }

    /// The place of a function.
    pub(crate) fn function(&self, name: &str) -> Run<(usize, u32)> {
        let mut places = Vec::new();
        // Sections have symbols without names.
        let is_named = |symbol: &&Symbol| !name.is_empty() && symbol.name == name;
        for symbol in self.symbols.iter().filter(is_named) {
            if let Place::Section(section) = symbol.section
                && self.sections.get(section).is_some_and(|section| section.is_code)
            {
                places.push((section, symbol.value));
            }
        }
        match places[..] {
            [place] => Ok(place),
            [] => Err(format!("the object has no function `{name}`")),
            _ => Err(format!("the object has several functions `{name}`")),
        }
    }

    /// The symbol of a relocation.
    pub(crate) fn symbol(&self, relocation: &Relocation) -> Run<&Symbol> {
        let symbol = self.symbols.get(relocation.symbol);
        let symbol = symbol.ok_or("a relocation has a symbol that lacks")?;
        match symbol.section {
            Place::Section(section) if section >= self.sections.len() => {
                Err(format!("`{}` is in a section that lacks", symbol.name))
            }
            _ => Ok(symbol),
        }
    }

    /// The section and offset that a relocation speaks of.
    pub(crate) fn target(&self, relocation: &Relocation) -> Run<(usize, u32)> {
        let symbol = self.symbol(relocation)?;
        match symbol.section {
            Place::Section(section) => Ok((section, symbol.value.wrapping_add(relocation.addend))),
            _ => Err(format!("`{}` is not in the object", symbol.name)),
        }
    }
}

fn header(file: &[u8], at: u32) -> Run<Header> {
    let field = |number: u32| word(file, at.wrapping_add(4 * number));
    Ok(Header {
        kind: field(1)?,
        flags: field(2)?,
        offset: field(4)?,
        size: field(5)?,
        link: field(6)?,
        info: field(7)?,
        align: field(8)?,
    })
}

fn section(file: &[u8], header: &Header) -> Run<Section> {
    let is_in_memory = header.flags & IN_MEMORY != 0;
    let has_bytes = is_in_memory && header.kind != NO_BYTES;
    let align = header.align.max(1);
    if !align.is_power_of_two() {
        return Err(format!("a section with an alignment of {align}"));
    }
    Ok(Section {
        bytes: if has_bytes { contents(file, header)?.to_vec() } else { Vec::new() },
        align,
        is_code: has_bytes && header.flags & CODE != 0,
        is_constant: has_bytes && header.flags & WRITABLE == 0,
        relocations: HashMap::new(),
    })
}

fn contents<'a>(file: &'a [u8], header: &Header) -> Run<&'a [u8]> {
    let rest = file.get(header.offset as usize..);
    let bytes = rest.and_then(|rest| rest.get(..header.size as usize));
    bytes.ok_or_else(|| "a section lies outside of the file".into())
}

fn symbols(entries: &[u8], names: &[u8]) -> Run<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for at in (0..entries.len() as u32).step_by(16) {
        let name = names.get(word(entries, at)? as usize..).ok_or("a name of a symbol lacks")?;
        let name = name.split(|&byte| byte == 0).next().unwrap_or(&[]);
        let section = match half(entries, at + 14)? {
            0 => Place::Undefined,
            number @ 1..0xff00 => Place::Section(usize::from(number)),
            _ => Place::Other,
        };
        let name = String::from_utf8_lossy(name).into_owned();
        symbols.push(Symbol { name, section, value: word(entries, at + 4)? });
    }
    Ok(symbols)
}

/// The number of four bytes, the least significant first.
fn word(bytes: &[u8], at: u32) -> Run<u32> {
    Ok(u32::from(half(bytes, at)?) | u32::from(half(bytes, at.wrapping_add(2))?) << 16)
}

/// The number of two bytes.
fn half(bytes: &[u8], at: u32) -> Run<u16> {
    let at = at as usize;
    match (bytes.get(at), bytes.get(at.wrapping_add(1))) {
        (Some(&low), Some(&high)) => Ok(u16::from_le_bytes([low, high])),
        _ => Err("the object ends too early".into()),
    }
}
