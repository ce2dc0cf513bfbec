//! Changes of a user's file near a function: of code, constants, relocations and symbols.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions};
use object::read::elf::{ElfFile64, ElfSection64, SectionHeader as _};
use object::{LittleEndian, Object as _, ObjectSection, ObjectSymbol, RelocationTarget, elf};
use usuba::ir::random::Random;
use usuba_object::callgraph::CallGraph;

use super::file_mutants::Made;

/// The change of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Code,
    Constant,
    Relocation,
    Symbol,
}

/// The bytes of a file that make a function.
#[derive(Default)]
pub struct Sites {
    code: Vec<usize>,
    constants: Vec<usize>,
    /// Entries of relocations and of symbols.
    relocations: Vec<usize>,
    symbols: Vec<usize>,
}

/// The places of a function and its callees in the file.
pub fn sites(made: &Made, symbol: &str) -> Sites {
    let graph = CallGraph::new(&made.object);
    let mut places = BTreeSet::new();
    let mut next = vec![made.object.function(symbol).expect("it is there")];
    while let Some(place) = next.pop() {
        if places.insert(place) {
            next.extend(graph.calls(place).into_iter().flat_map(|calls| calls.direct.iter()));
        }
    }
    let all = made.object.functions().iter();
    let names: Vec<&str> =
        all.filter(|f| places.contains(&f.place)).map(|f| f.name.as_str()).collect();
    let file = ElfFile64::<LittleEndian>::parse(&*made.file).expect("an ELF file");
    let start = |section: &ElfSection64<LittleEndian>| {
        section.file_range().map_or(0, |(at, _)| at as usize)
    };
    let is_constant = |section: &ElfSection64<LittleEndian>| {
        let flags = section.elf_section_header().sh_flags(LittleEndian);
        let has = |flag| flags.contains(flag);
        has(elf::SHF_ALLOC) && !has(elf::SHF_WRITE) && !has(elf::SHF_EXECINSTR)
    };
    let mut sites = Sites::default();
    let table = file.section_by_name(".symtab").expect("symbols");
    for (at, found) in file.symbols().map(|found| (found.index().0, found)) {
        let is_function = found.kind() == object::SymbolKind::Text;
        let is_own = found.name().is_ok_and(|name| names.contains(&name));
        // Its own symbols more often than others.
        let times = if is_own { 4 } else { usize::from(is_function) };
        sites.symbols.extend(vec![start(&table) + 24 * at; times]);
        let Some(section) = found.section_index().filter(|_| is_own) else { continue };
        let section = file.section_by_index(section).expect("a section");
        let first = found.address() - section.address();
        let range = first..first + found.size();
        let mut filled = BTreeSet::new();
        let entries = section.name().map(|name| file.section_by_name(&format!(".rela{name}")));
        let entries = entries.ok().flatten();
        for (number, (offset, relocation)) in section.relocations().enumerate() {
            if !range.contains(&offset) {
                continue;
            }
            filled.extend(offset..offset + 4);
            sites.relocations.extend(entries.as_ref().map(|entries| start(entries) + 24 * number));
            let RelocationTarget::Symbol(target) = relocation.target() else { continue };
            let target = file.symbol_by_index(target).expect("a symbol");
            let place = target.address().wrapping_add_signed(relocation.addend() + 4);
            let constants = target.section_index().and_then(|at| file.section_by_index(at).ok());
            let Some(constants) = constants.filter(is_constant) else { continue };
            let bytes = place..(place + 32).min(constants.size());
            sites.constants.extend(bytes.map(|at| start(&constants) + at as usize));
        }
        let code = range.clone().filter(|at| !filled.contains(at));
        sites.code.extend(code.map(|at| start(&section) + at as usize));
        let bytes = section.data_range(found.address(), found.size());
        let bytes = bytes.expect("code").unwrap_or_default();
        let named = Decoder::with_ip(64, bytes, found.address(), DecoderOptions::NONE);
        let named = named.into_iter().filter(|i| made.is_linked && i.is_ip_rel_memory_operand());
        for place in named.map(|i| i.ip_rel_memory_address()) {
            let within = |s: &ElfSection64<LittleEndian>| {
                is_constant(s) && (s.address()..s.address() + s.size()).contains(&place)
            };
            let Some(constants) = file.sections().find(within) else { continue };
            let bytes = place..(place + 32).min(constants.address() + constants.size());
            let offset = |at: u64| start(&constants) + (at - constants.address()) as usize;
            sites.constants.extend(bytes.map(offset));
        }
    }
    sites
}

/// A file with one change near a function.
pub fn mutant(made: &Made, sites: &Sites, random: &mut Random) -> (Vec<u8>, Change, usize) {
    let all = [
        (Change::Code, &sites.code, 6),
        (Change::Constant, &sites.constants, 2),
        (Change::Relocation, &sites.relocations, 2),
        (Change::Symbol, &sites.symbols, 2),
    ];
    let mut there = Vec::new();
    for (change, places, weight) in all {
        let weight = if places.is_empty() { 0 } else { weight };
        there.extend(vec![(change, places); weight]);
    }
    let mut file = made.file.clone();
    loop {
        let (change, places) = there[random.below(there.len())];
        let at = places[random.below(places.len())];
        match change {
            Change::Code | Change::Constant => match random.below(4) {
                0 => file[at] = random.word() as u8,
                _ => file[at] ^= 1 << random.below(8),
            },
            // Offset, type, symbol and addend.
            Change::Relocation => match random.below(5) {
                0 => file[at] ^= 1 << random.below(4),
                1 => file[at + 8] = 1 + random.below(42) as u8,
                2 => file[at + 12] = random.below(sites.symbols.len()) as u8,
                3 => file[at + 16 + random.below(8)] ^= 1 << random.below(8),
                _ => file[at + 16] ^= 1 << random.below(8),
            },
            // Type, visibility, section, value and size.
            Change::Symbol => match random.below(6) {
                0 => file[at + 4] ^= 1 << random.below(8),
                1 => file[at + 5] ^= 1 << random.below(8),
                2 => file[at + 6] = random.below(24) as u8,
                3 => file[at + 8 + random.below(2)] ^= 1 << random.below(8),
                4 => {
                    let other = sites.symbols[random.below(sites.symbols.len())];
                    file.copy_within(other + 8..other + 16, at + 8);
                }
                _ => file[at + 16 + random.below(2)] ^= 1 << random.below(8),
            },
        }
        if file != made.file {
            return (file, change, at);
        }
    }
}
