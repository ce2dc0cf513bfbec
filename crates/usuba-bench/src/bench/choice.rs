//! Selection of the benchmarked functions from the cipher folders.

use usuba::ir::Slicing;

use super::{Side, Subject};
use usuba_ciphers::Cipher;
use usuba_run::native::Timing;

/// The filter of a table.
#[derive(Clone, Default, Debug)]
pub struct Choice {
    /// Only folders of these names, if any.
    pub ciphers: Vec<String>,
    /// Only these targets, if any.
    pub targets: Vec<String>,
    /// Only these slicings, if any.
    pub slicings: Vec<Slicing>,
    /// Every function of a folder, not only the first of each slicing.
    pub all: bool,
    /// No timing, if absent.
    pub timing: Option<Timing>,
}

/// The selected functions with each of their slicings.
pub fn subjects<'a>(ciphers: &'a [Cipher], choice: &Choice, side: &'a Side) -> Vec<Subject<'a>> {
    let mut subjects: Vec<Subject> = Vec::new();
    for cipher in ciphers {
        let name = cipher.folder.file_name().unwrap_or_default().to_string_lossy();
        if !choice.ciphers.is_empty() && !choice.ciphers.iter().any(|c| *c == name) {
            continue;
        }
        for function in &cipher.functions {
            for &slicing in &function.slicings {
                let unwanted = !choice.slicings.is_empty() && !choice.slicings.contains(&slicing);
                let folder = &cipher.folder;
                let shown = |s: &Subject| s.cipher.folder == *folder && s.slicing == slicing;
                if unwanted || !choice.all && subjects.iter().any(shown) {
                    continue;
                }
                subjects.push(Subject { cipher, function, slicing, side });
            }
        }
    }
    subjects
}
