//! Object files (ELF): the code of a function, and the constants that it reads.
//!
//! ```text
//! 0: vpxor ymm0, ymm1, [rip + 0]     R_X86_64_PC32 .rodata + 28      a constant of the object
//! 8: call 0                          R_X86_64_PLT32 memset           not in the object
//! ```
//!
//! Sections get addresses far from each other, relocations are applied as by a linker, and
//! undefined symbols get addresses without content. Writable sections are not readable in the
//! model, since a kernel has no global state.
//!
//! *Reference:* System V ABI, AMD64 supplement (relocations).

use std::collections::BTreeMap;

use object::{
    Architecture, BinaryFormat, Object as _, ObjectKind, ObjectSection, ObjectSymbol,
    RelocationFlags, RelocationTarget, SectionKind, elf,
};

/// The distance between the addresses of sections.
const STRIDE: u64 = 1 << 24;

/// The code and constants of an object file.
#[derive(Clone, Debug)]
pub struct Object {
    sections: BTreeMap<u64, Section>,
    /// Names by their addresses: functions, and undefined symbols.
    names: BTreeMap<u64, String>,
    /// Addresses of functions by their names.
    functions: BTreeMap<String, u64>,
}

#[derive(Clone, Debug)]
struct Section {
    bytes: Vec<u8>,
    is_code: bool,
    /// The alignment of the section.
    align: u64,
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
    /// Reads an ELF file for x86-64.
    ///
    /// # Errors
    /// The file is another one, is damaged, or has a relocation that is not understood.
    pub fn read(file: &[u8]) -> Result<Object, String> {
        let wrong = |error: object::Error| format!("the object cannot be read: {error}");
        if let Some(kind) = another_kind(file) {
            return Err(format!("the file is {kind}; `cc -c` makes an object"));
        }
        let file = object::File::parse(file).map_err(wrong)?;
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
        let mut object = Object {
            sections: BTreeMap::new(),
            names: BTreeMap::new(),
            functions: BTreeMap::new(),
        };
        let mut places = BTreeMap::new();
        for section in file.sections() {
            let is_code = section.kind() == SectionKind::Text;
            let is_constant =
                matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyString);
            if !is_code && !is_constant {
                continue;
            }
            if section.size() >= STRIDE {
                return Err("the object has a section that is too long".into());
            }
            let address = STRIDE * (places.len() as u64 + 1);
            places.insert(section.index().0, address);
            let bytes = section.data().map_err(wrong)?.to_vec();
            // Zero says as little as one.
            let align = section.align().max(1);
            object.sections.insert(address, Section { bytes, is_code, align });
        }
        // Undefined symbols come after all sections.
        let mut absent = STRIDE * (places.len() as u64 + 1);
        let mut addresses = BTreeMap::new();
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default().to_string();
            let known = symbol.section_index().and_then(|index| places.get(&index.0));
            let address = match known {
                Some(start) => start.wrapping_add(symbol.address()),
                None => {
                    absent += 16;
                    absent
                }
            };
            addresses.insert(symbol.index().0, address);
            if symbol.kind() == object::SymbolKind::Text && known.is_some() {
                object.functions.insert(name.clone(), address);
            }
            if symbol.kind() == object::SymbolKind::Text || known.is_none() {
                object.names.entry(address).or_insert(name);
            }
        }
        for section in file.sections() {
            let Some(&start) = places.get(&section.index().0) else { continue };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return Err("the object has a relocation without a symbol".into());
                };
                let target = addresses.get(&symbol.0).ok_or("a relocation has no symbol")?;
                let target = target.wrapping_add(relocation.addend() as u64);
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return Err("the object has a relocation that is not one of ELF".into());
                };
                let here = start.wrapping_add(offset);
                let (value, size) = match r_type {
                    elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => (target.wrapping_sub(here), 4),
                    elf::R_X86_64_PC64 => (target.wrapping_sub(here), 8),
                    // All addresses here are small, so these fit.
                    elf::R_X86_64_32 | elf::R_X86_64_32S => (target, 4),
                    elf::R_X86_64_64 => (target, 8),
                    other => return Err(format!("relocations of type {other} are not known")),
                };
                let section = object.sections.get_mut(&start).expect("it was just put there");
                let at = usize::try_from(offset).ok();
                let place = at.and_then(|at| section.bytes.get_mut(at..at.checked_add(size)?));
                let place = place.ok_or("a relocation is outside of its section")?;
                place.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Ok(object)
    }

    /// Checks that there is a function of this name.
    ///
    /// # Errors
    /// There is none; the message lists the functions of the object.
    pub fn expect(&self, function: &str) -> Result<(), String> {
        if self.functions.contains_key(function) {
            return Ok(());
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

    /// The address of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        self.functions.get(name).copied()
    }

    /// The bytes of code from an address on, up to `most`; none if there is no code.
    pub fn code(&self, address: u64, most: usize) -> &[u8] {
        self.bytes(address, true).map_or(&[], |bytes| &bytes[..bytes.len().min(most)])
    }

    /// `count` bytes of constants at an address.
    pub fn constant(&self, address: u64, count: usize) -> Option<&[u8]> {
        self.bytes(address, false)?.get(..count)
    }

    fn bytes(&self, address: u64, is_code: bool) -> Option<&[u8]> {
        let (start, section) = self.sections.range(..=address).next_back()?;
        if section.is_code != is_code {
            return None;
        }
        section.bytes.get((address - start) as usize..)
    }

    /// Whether an address is a multiple of `align`, for every placement of its section.
    pub fn is_aligned(&self, address: u64, align: u64) -> bool {
        let section = self.sections.range(..=address).next_back();
        section.is_some_and(|(start, section)| {
            section.align.is_multiple_of(align) && (address - start).is_multiple_of(align)
        })
    }

    /// A name for an address, for messages: a symbol or a place in a function.
    pub fn name(&self, address: u64) -> String {
        match self.names.range(..=address).next_back() {
            Some((start, name)) if *start == address => name.clone(),
            Some((start, name)) if address - start < STRIDE => {
                format!("{name}+{:#x}", address - start)
            }
            _ => format!("{address:#x}"),
        }
    }
}
