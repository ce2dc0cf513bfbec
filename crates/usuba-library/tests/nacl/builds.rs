//! Warnings of compilers about the files, and their code on a small processor.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use usuba_gen::asks;

use usuba_run::cc::{self, Family, System};

use crate::loaded::{SANITIZED, sanitizes};
use crate::object::{
    STRICT, VARIANTS, beside, compiler, curve, nacl, request, run, write, written,
};

/// A program without a C library: makes keys, signs, verifies and agrees on a secret, and answers 0
/// on success. For each of these it writes a line: the bytes of stack that it took, and how many of
/// the bytes left there depend on its secret.
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
                if !asks!() && ((at + which) % 2 != number || at == which) {
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

/// NaCl and the file of Curve25519 need only memcpy, memset, and the random numbers of the user.
#[test]
fn nothing_is_needed_beside_it() {
    let Some(gcc) = compiler(Family::Gcc) else { return };
    for (files, name) in [(nacl(), "usuba-nacl.c"), (curve(), "it.c")] {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), files);
        let mut compile = Command::new(&gcc);
        compile.args(["-ffreestanding", "-fno-stack-protector", "-O0"]);
        // A function without a declaration is a function of some C library.
        compile.arg("-Werror=implicit-function-declaration");
        run(folder.path(), compile.args(["-c", name, "-o", "it.o"]));
        let data = std::fs::read(folder.path().join("it.o")).expect("it was just made");
        let object = object::File::parse(&*data).expect("an object");
        let needed: Vec<&str> = object
            .symbols()
            .filter(|symbol| symbol.is_undefined())
            .map(|symbol| symbol.name().expect("a name"))
            .filter(|name| !name.is_empty() && *name != "_GLOBAL_OFFSET_TABLE_")
            .collect();
        let known = ["memcpy", "memset", "randombytes"];
        assert!(needed.iter().all(|name| known.contains(name)), "{name}: {needed:?}");
        // No state: nothing that can be written.
        let written = |kind| matches!(kind, SectionKind::Data | SectionKind::UninitializedData);
        for section in object.sections().filter(|section| written(section.kind())) {
            let part = section.name().expect("a name");
            // Addresses in constants are written when a program starts.
            let constant = part.starts_with(".data.rel.ro");
            assert!(section.size() == 0 || constant, "{name}: {part}");
        }
    }
}

#[test]
fn a_prefix_is_on_all_names() {
    if !asks!() {
        return;
    }
    let request = usuba_library::Request { prefix: "my_".into(), ..request() };
    let files = written(&request);
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
    let number = |text: &str| text.parse().expect("a number");
    let (mut stack, mut left) = (Vec::new(), Vec::new());
    for (taken, there) in text.lines().map(|line| line.split_once(' ').expect("two numbers")) {
        stack.push(number(taken));
        left.push(number(there));
    }
    // The result of verification is public.
    assert_eq!([left[0], left[1], left[3]], [0; 3], "{flags:?}");
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
        (&["-O2"], 31_000, [1_600; 4]),
        (&["-Os"], 29_000, [1_600; 4]),
        (&["-Os", "-DUSUBA_SMALL"], 18_000, [1_600; 4]),
    ];
    let count = if asks!() { 3 } else { 1 };
    for (flags, most, stacks) in &cases[3 - count..] {
        let Some((text, stack)) = on_riscv(folder.path(), flags) else { return };
        println!("{flags:?}: {text} bytes, stack {stack:?}");
        assert!(text <= *most, "{flags:?}: {text} bytes");
        assert_eq!(stack.len(), 4);
        assert!(stack.iter().zip(stacks).all(|(s, most)| s <= most), "{flags:?}: {stack:?}");
    }
}

/// The fuzzer `lib/c/test/nacl.c`, built as `it` beside the files of NaCl.
fn fuzzer(folder: &Path, compile: &mut Command) {
    write(folder, nacl());
    compile.args(["-g1", "-std=c99", "-o", "it"]).args(STRICT);
    run(folder, compile.args(["-I", "."]).arg(beside("c/test/nacl.c")).arg("usuba-nacl.c"));
}

/// Random calls under the sanitizers.
#[test]
fn sanitizers_find_nothing() {
    let Some(gcc) = compiler(Family::Gcc).filter(|gcc| sanitizes(gcc)) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (variants, rounds) = if asks!() { (3, "2000") } else { (1, "40") };
    for variant in &VARIANTS[..variants] {
        let mut compile = Command::new(&gcc);
        fuzzer(folder.path(), compile.args(SANITIZED).args(*variant));
        run(folder.path(), Command::new(folder.path().join("it")).arg(rounds));
    }
}

/// Random calls on another processor, or in an emulator of it.
#[test]
fn calls_on_aarch64() {
    if !asks!() {
        return;
    }
    let machine = match cc::find("neon") {
        Ok(machine) => machine,
        Err(skip) => return println!("{skip}"),
    };
    for variant in VARIANTS {
        let folder = tempfile::tempdir().expect("a folder");
        let mut compile = machine.compile();
        fuzzer(folder.path(), compile.args(["-static", "-O1"]).args(variant));
        run(folder.path(), machine.command(&folder.path().join("it")).arg("200"));
    }
}

/// The output of the example.
const SAID: &str = "Only she reads this, and knows from whom it is.\nand that one was changed\n";

/// The package for CMake, installed, found by CMake and by pkg-config, shared and static, and the
/// example with each of them.
#[test]
fn the_package_is_built_installed_and_found() {
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !there("cmake") {
        return println!("skipped: there is no cmake");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).expect("a folder");
        path
    };
    let request = usuba_library::Request { version: "1.2.3".into(), ..request() };
    let files = match asks!() {
        true => &written(&request)[..],
        false => nacl(),
    };
    write(&inside("nacl"), files);
    let place = folder.path().to_str().expect("a plain path").to_string();
    let cmake = |arguments: &[&str]| run(folder.path(), Command::new("cmake").args(arguments));
    let prefix = format!("-DCMAKE_INSTALL_PREFIX={place}/installed");
    let flags = "-DCMAKE_C_FLAGS_RELEASE=-O0 -Wall -Wextra -Wpedantic -Werror";
    cmake(&["-S", "nacl", "-B", "build", &prefix, flags, "-DCMAKE_INSTALL_LIBDIR=lib"]);
    cmake(&["--build", "build"]);
    cmake(&["--install", "build"]);
    // The files that other tests have, too, have no version that CMake would look for.
    let version = if asks!() { "1.2 " } else { "" };
    let user = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\n\
         find_package(usuba-nacl {version}REQUIRED)\nforeach(kind shared static)\n  \
         add_executable(with_${{kind}} nacl.c)\n  \
         target_link_libraries(with_${{kind}} usuba-nacl::${{kind}})\nendforeach()\n"
    );
    let path = inside("user");
    let file = |path: &str, text: String| usuba_library::File { path: path.into(), text };
    let example = beside("examples/nacl.c");
    let text = std::fs::read_to_string(&example).expect("the example is there");
    write(&path, &[file("CMakeLists.txt", user), file("nacl.c", text)]);
    cmake(&["-S", "user", "-B", "used", &format!("-DCMAKE_PREFIX_PATH={place}/installed")]);
    cmake(&["--build", "used"]);
    for kind in ["shared", "static"] {
        let program = folder.path().join("used").join(format!("with_{kind}"));
        assert_eq!(run(folder.path(), &mut Command::new(program)), SAID);
    }
    if !there("pkg-config") {
        return println!("skipped: there is no pkg-config");
    }
    let mut find = Command::new("pkg-config");
    find.env("PKG_CONFIG_PATH", format!("{place}/installed/lib/pkgconfig"));
    let flags = run(folder.path(), find.args(["--cflags", "--libs", "usuba-nacl"]));
    let mut compile = Command::new(compiler(Family::Any).expect("CMake found one"));
    compile.arg(&example).args(flags.split_whitespace()).args(["-o", "found"]);
    run(folder.path(), &mut compile);
    let mut found = Command::new(folder.path().join("found"));
    found.env("LD_LIBRARY_PATH", format!("{place}/installed/lib"));
    assert_eq!(run(folder.path(), &mut found), SAID);
}
