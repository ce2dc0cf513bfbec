//! Functions around kernels, proved in object files.
//!
//! - `bytes`: functions over any number of blocks, and key schedules.
//! - `wipe`: kernels with zeroization.

mod bytes;
mod wipe;

use std::path::Path;

use usuba::isa::{self, Target};
use usuba_ciphers::Cipher;
use usuba_prove::compiler::Compiler;
use usuba_run::cc::{self, Family, Foreign};

/// A cipher folder.
fn cipher(folder: &str) -> Cipher {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(folder);
    usuba_ciphers::read(&root).expect("the folder can be read")
}

/// The compilers for AArch64 that this machine has.
fn for_aarch64(target: &'static Target) -> Vec<Compiler> {
    let found = [Family::Gcc, Family::Clang]
        .map(|family| Compiler::find_foreign(target, Foreign::Aarch64, family));
    let found = found.into_iter().filter_map(|found| match found {
        Ok(compiler) => Some(compiler),
        Err(skip) => {
            println!("{skip}");
            None
        }
    });
    found.collect()
}

/// The compilers that this machine has, for a target. Nothing is executed, so the processor need
/// not have its instructions.
fn families(target: &str) -> Vec<Family> {
    let target = isa::find(target).expect("a target");
    [Family::Gcc, Family::Clang]
        .into_iter()
        .filter(|&family| match cc::find_to_compile(target, family) {
            Ok(_) => true,
            Err(skip) => {
                println!("{skip}");
                false
            }
        })
        .collect()
}
