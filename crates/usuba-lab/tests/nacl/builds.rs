//! What compilers say of the files, and what becomes of them on a small processor.

use std::path::Path;
use std::process::Command;

use usuba_lab::cc::{self, Family, System};
use usuba_lab::dist;

use crate::long;
use crate::object::{STRICT, VARIANTS, compiler, curve, nacl, request, root, run, write};

/// A program without a C library: signs, verifies and agrees on a secret, and answers 0 if all is as
/// it should be. It writes the bytes of stack that each of these took, as lines of a letter and a
/// number.
const BARE: &str = include_str!("bare.c");

#[test]
fn compilers_have_nothing_to_say() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), nacl());
    let languages = [&["-std=c99"][..], &["-x", "c++", "-std=c++11"]];
    for (which, family) in [Family::Gcc, Family::Clang].into_iter().enumerate() {
        let Some(compiler) = compiler(family) else {
            println!("skipped: there is no {family:?}");
            continue;
        };
        for (at, variant) in VARIANTS.iter().enumerate() {
            for (number, language) in languages.iter().enumerate() {
                // In the short run a half of each.
                if !long() && ((at + which) % 2 != number || at == which) {
                    continue;
                }
                let mut compile = Command::new(&compiler);
                compile.args(STRICT).args(*language).args(*variant);
                compile.args(["-O0", "-c", "usuba-nacl.c", "-o", "it.o"]);
                run(folder.path(), &mut compile);
            }
        }
        let mut compile = Command::new(&compiler);
        compile.args(STRICT).args(["-std=c99", "-c", "usuba-nacl-random.c"]);
        run(folder.path(), compile.args(["-o", "random.o"]));
    }
}

/// The library asks for nothing but memcpy, memset, and the random numbers of its user.
#[test]
fn nothing_is_needed_beside_it() {
    let Some(gcc) = compiler(Family::Gcc) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), nacl());
    let mut compile = Command::new(gcc);
    compile.args(["-ffreestanding", "-fno-stack-protector", "-O0", "-c", "usuba-nacl.c"]);
    run(folder.path(), compile.args(["-o", "it.o"]));
    let data = std::fs::read(folder.path().join("it.o")).expect("it was just made");
    use object::{Object, ObjectSymbol};
    let object = object::File::parse(&*data).expect("an object");
    let needed: Vec<&str> = object
        .symbols()
        .filter(|symbol| symbol.is_undefined())
        .map(|symbol| symbol.name().expect("a name"))
        .filter(|name| !name.is_empty() && *name != "_GLOBAL_OFFSET_TABLE_")
        .collect();
    let known = ["memcpy", "memset", "randombytes"];
    assert!(needed.iter().all(|name| known.contains(name)), "{needed:?}");
    // No state: nothing that can be written.
    use object::{ObjectSection, SectionKind};
    let written = |kind| matches!(kind, SectionKind::Data | SectionKind::UninitializedData);
    for section in object.sections().filter(|section| written(section.kind())) {
        let name = section.name().expect("a name");
        // Addresses in constants are written when a program starts.
        assert!(section.size() == 0 || name.starts_with(".data.rel.ro"), "{name}");
    }
}

#[test]
fn a_prefix_is_on_all_names() {
    if !long() {
        return;
    }
    let request = dist::Request { prefix: "my_".into(), ..request() };
    let files = dist::nacl(&request, &root(), &mut |_| {}).expect("it compiles");
    let sources = files.iter().map(|file| &file.path).filter(|path| path.ends_with(".c"));
    assert!(sources.eq(["my-nacl.c", "my-nacl-random.c"]));
    assert!(files.iter().all(|file| !file.text.contains("usuba_")));
}

/// Bytes of text and constants, and of stack for keys, signing, verifying and X25519.
fn on_riscv(folder: &Path, flags: &[&str]) -> Option<(u64, Vec<u64>)> {
    let machine = cc::find("gp32").ok().filter(|machine| machine.system == System::BareRiscv32);
    let Some(machine) = machine else {
        println!("skipped: there is no compiler or no emulator for RISC-V");
        return None;
    };
    write(folder, curve());
    std::fs::write(folder.join("bare.c"), BARE).expect("the folder can be written");
    let mut compile = machine.compile();
    compile.args(["-ffunction-sections", "-fdata-sections", "-fno-tree-loop-distribute-patterns"]);
    compile.args(["-Wl,--gc-sections", "-o", "it"]).args(flags);
    run(folder, compile.args(["bare.c", "it.c", "-lgcc"]));
    let text = run(folder, &mut machine.command(&folder.join("it")));
    let stack = text.lines().map(|line| line[2..].parse().expect("a number")).collect();
    let data = std::fs::read(folder.join("it")).expect("it was just made");
    use object::{Object, ObjectSection};
    let object = object::File::parse(&*data).expect("a program");
    let constant = |name: &str| name == ".text" || name.starts_with(".rodata");
    let sections = object.sections().filter(|section| section.name().is_ok_and(constant));
    Some((sections.map(|section| section.size()).sum(), stack))
}

/// With its test program; a compiler may need a little more.
#[test]
fn code_for_a_small_processor_is_small() {
    let folder = tempfile::tempdir().expect("a folder");
    // Text at most, and stack at most for keys, signing, verifying and X25519.
    let cases: [(&[&str], u64, [u64; 4]); 3] = [
        (&["-O2"], 42_000, [2_400, 2_600, 4_200, 2_400]),
        (&["-Os"], 37_000, [2_400, 2_600, 4_200, 2_400]),
        (&["-Os", "-DUSUBA_SMALL"], 34_000, [2_900, 2_900, 4_200, 2_400]),
    ];
    let count = if long() { 3 } else { 1 };
    for (flags, most, stacks) in &cases[3 - count..] {
        let Some((text, stack)) = on_riscv(folder.path(), flags) else { return };
        println!("{flags:?}: {text} bytes, stack {stack:?}");
        assert!(text <= *most, "{flags:?}: {text} bytes");
        assert_eq!(stack.len(), 4);
        assert!(stack.iter().zip(stacks).all(|(s, most)| s <= most), "{flags:?}: {stack:?}");
    }
}

/// Random calls under the sanitizers.
#[test]
fn sanitizers_find_nothing() {
    let Some(gcc) = compiler(Family::Gcc) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), nacl());
    let driver = include_str!("sanitize.c");
    std::fs::write(folder.path().join("driver.c"), driver).expect("the folder can be written");
    for variant in &VARIANTS[..if long() { 3 } else { 1 }] {
        let mut compile = Command::new(&gcc);
        compile.args(["-g1", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        run(folder.path(), compile.args(*variant).args(["-o", "it", "driver.c", "usuba-nacl.c"]));
        run(folder.path(), &mut Command::new(folder.path().join("it")));
    }
}
