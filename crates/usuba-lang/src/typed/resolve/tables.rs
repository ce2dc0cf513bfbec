//! Shapes of tables and perms: the number of entries, and the size of each.

use super::Resolver;
use crate::diag::Code;
use crate::syntax::ast;
use crate::typed::types::*;

impl Resolver {
    pub(super) fn table(&mut self, decl: &Decl, list: &ast::IntList) {
        let inputs: usize = decl.params.iter().map(|v| v.ty.atoms()).sum();
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        let whole = |bits: &u8| self.flags.keep_tables || is_whole(*bits, list.values.len());
        if let Some(bits) = word_table(decl).filter(whole) {
            let most = 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX);
            if list.values.len() as u64 > most {
                let text = format!(
                    "a look-up table on {bits}-bit words has {} entries, more than {most}",
                    list.values.len()
                );
                self.error(Code::TableSize, list.span, text);
            }
            self.entries(list, bits as usize);
            return;
        }
        if inputs > MAX_TABLE_INPUTS {
            let text =
                format!("a table with {inputs} input bits; the limit is {MAX_TABLE_INPUTS} inputs");
            self.error(Code::TooLarge, decl.name_span, text).help =
                Some("split the table, or write its equations in a node".into());
            return;
        }
        if outputs == 0 || inputs == 0 || outputs > 64 {
            let text = format!("a table with {inputs} inputs and {outputs} outputs");
            self.error(Code::TableSize, decl.name_span, text).help =
                Some("a table has 1 to 8 input atoms and 1 to 64 output atoms".into());
            return;
        }
        let want = 1usize << inputs;
        if list.values.len() != want {
            let text = format!(
                "table `{}` has {inputs} input atoms, so it needs {want} entries; it has {}",
                decl.name,
                list.values.len()
            );
            let word = word_table(decl);
            let d = self.error(Code::TableSize, list.span, text);
            d.help = Some(match word {
                Some(bits) if (2..=MAX_TABLE_INPUTS).contains(&(bits as usize)) => format!(
                    "u{bits} is one atom: a look-up by the whole word has {} entries; for a \
                     circuit on single bits write b{bits}",
                    1u64 << bits
                ),
                Some(bits) if bits > 1 => format!(
                    "u{bits} is one atom: a look-up by the whole word needs --keep-tables \
                     (not constant-time); for a circuit write b{bits}"
                ),
                _ => "give one entry for each value of the inputs".into(),
            });
        }
        self.entries(list, outputs);
    }

    fn entries(&mut self, list: &ast::IntList, bits: usize) {
        let too_large = |v: u64| bits < 64 && v >> bits != 0;
        if let Some((at, &value)) = list.values.iter().enumerate().find(|(_, v)| too_large(**v)) {
            let text = format!("entry {at} is {value}, which does not fit {bits} output bits");
            self.error(Code::TableEntry, list.span, text).help =
                Some(format!("entries are at most {}", (1u128 << bits) - 1));
        }
    }

    pub(super) fn perm(&mut self, decl: &Decl, list: &ast::IntList) {
        let inputs: usize = decl.params.iter().map(|v| v.ty.atoms()).sum();
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        if list.values.len() != outputs {
            let text = format!(
                "perm `{}` has {outputs} output atoms, so it needs {outputs} entries; it has {}",
                decl.name,
                list.values.len()
            );
            self.error(Code::PermSize, list.span, text).help =
                Some("entry k names the input that output k takes".into());
        }
        let outside = |v: &u64| *v < 1 || *v > inputs as u64;
        if let Some((at, value)) = list.values.iter().enumerate().find(|(_, v)| outside(v)) {
            let text = format!("entry {} is {value}; inputs are numbered 1 to {inputs}", at + 1);
            self.error(Code::PermEntry, list.span, text).help =
                Some("perms count from 1; to permute the bits of a word use Shuffle".into());
        }
    }
}

/// Most input bits of a table that becomes a circuit.
pub const MAX_TABLE_INPUTS: usize = 8;

/// Whether a table from one word of `bits` bits to another has an entry for each word: then it is
/// a look-up by the whole word, and needs no flag.
pub fn is_whole(bits: u8, entries: usize) -> bool {
    (2..=MAX_TABLE_INPUTS as u8).contains(&bits) && entries == 1 << bits
}

/// The word size of a table from exactly one word to one word, if it is known.
pub fn word_table(decl: &Decl) -> Option<u8> {
    let one = |vars: &[Var]| match vars {
        [Var { ty: VarType::Words { atom, dims }, .. }] if dims.iter().all(|&d| d == 1) => {
            atom.bits()
        }
        _ => None,
    };
    one(&decl.results)?;
    one(&decl.params).filter(|&bits| bits > 1)
}
