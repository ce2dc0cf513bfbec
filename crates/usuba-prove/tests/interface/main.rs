//! Functions around kernels, proved in object files.
//!
//! - `bytes`: functions over any number of blocks, and key schedules.
//! - `wipe`: kernels with zeroization.

mod bytes;
mod wipe;

use std::path::Path;

use usuba::isa;
use usuba_ciphers::Cipher;
use usuba_run::cc::{self, Family};

/// A cipher folder.
fn cipher(folder: &str) -> Cipher {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(folder);
    usuba_ciphers::read(&root).expect("the folder can be read")
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
