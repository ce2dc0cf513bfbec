//! Batched X25519 against single calls, on each instruction set of the processor, under the
//! sanitizers.

use std::process::Command;
use usuba_gen::asks;

use usuba::isa;
use usuba_library::Request;
use usuba_run::cc::Family;

use crate::loaded::{SANITIZED, sanitizes};
use crate::object::{STRICT, compiler, request, root, run, write};

/// With lanes of 64 bits, on limbs of 25.5 and 52 bits. Kernels of plain `avx512` use the same
/// limbs as `avx2`, and wait for the long run.
const TARGETS: [&str; 4] = ["gp64", "avx2", "avx512", "avx512_ifma"];

#[test]
fn many_are_as_many_single_ones() {
    if !cfg!(target_arch = "x86_64") {
        return println!("skipped: wide registers are those of x86-64");
    }
    let wanted = TARGETS.into_iter().filter(|name| asks!() || *name != "avx512");
    let targets = wanted.map(|name| isa::find(name).expect("a target")).collect();
    let cipher = usuba_ciphers::read(&root().join("curve25519")).expect("the folder is there");
    let request = Request { targets, ..request() };
    let files = usuba_library::single(&request, &cipher, Some("it")).expect("it compiles").files;
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &files);
    let driver = include_str!("many.c");
    std::fs::write(folder.path().join("driver.c"), driver).expect("the folder can be written");
    for (at, family) in [Family::Gcc, Family::Clang].into_iter().enumerate() {
        let Some(compiler) = compiler(family).filter(|_| at == 0 || asks!()) else { continue };
        if !sanitizes(&compiler) {
            continue;
        }
        let mut compile = Command::new(&compiler);
        compile.args(STRICT).args(SANITIZED);
        compile.args(["-std=c99", "-o", "it", "driver.c", "it.c"]);
        run(folder.path(), &mut compile);
        run(folder.path(), &mut Command::new(folder.path().join("it")));
        // Batches do not depend on lanes, but on the words of arithmetic and on the memory for tables.
        for memory in [None, Some("-DUSUBA_SMALL")] {
            let mut compile = Command::new(&compiler);
            compile.args(STRICT).args(SANITIZED).args(["-DUSUBA_WORD_BITS=32", "-O1"]);
            compile.args(memory).args(["-std=c99", "-o", "short", "driver.c", "it.c"]);
            run(folder.path(), &mut compile);
            run(folder.path(), Command::new(folder.path().join("short")).arg("batches"));
        }
    }
}
