//! Manifests and units against the symbols and the types of a C compiler.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use usuba::isa;
use usuba_ciphers::Cipher;
use usuba_library::declarations::{Function, Parameter, Struct};
use usuba_library::size::Size;
use usuba_library::{Manifest, Request, UnitKind, Written, regenerate};
use usuba_run::cc::{self, Family};

use crate::loaded::{SANITIZED, sanitizes};
use crate::subject::{root, run, write};

fn cipher(name: &str) -> Cipher {
    usuba_ciphers::read(&root().join(name)).expect("the folder is there")
}

/// A request for some targets in this version.
fn request(targets: &[&str]) -> Request {
    let targets = targets.iter().filter_map(|name| isa::find(name)).collect();
    let version = env!("CARGO_PKG_VERSION").to_string();
    Request { targets, prefix: "own_usuba_".into(), version, functions: Vec::new() }
}

fn single(name: &str, targets: &[&str]) -> Written {
    let single = usuba_library::single(&request(targets), &cipher(name), Some("it"));
    single.expect("it compiles")
}

/// Compiles `stem`.c in `folder` to an object; `None` without gcc.
fn object(folder: &Path, stem: &str, flags: &[&str]) -> Option<()> {
    let gcc = cc::find_native("gp64", Family::Gcc).ok()?;
    let mut compile = Command::new(&gcc.compiler);
    run(
        folder,
        compile.args(["-std=c99", "-c", "-o", "it.o"]).args(flags).arg(format!("{stem}.c")),
    );
    Some(())
}

/// The symbols of the object in `folder` that `nm` shows with these flags.
fn symbols(folder: &Path, flags: &[&str]) -> BTreeSet<String> {
    let text = run(folder, Command::new("nm").args(flags).arg("it.o"));
    text.lines().filter_map(|line| line.rsplit(' ').next()).map(String::from).collect()
}

/// Each unit is a function of the object and compiles alone, and each function over blocks and each
/// key setup is a unit: of ciphers with keys, with chaining values and of arithmetic.
#[test]
fn units_are_functions() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["rectangle", "sha2", "curve25519"] {
        let Written { files, units, .. } = single(name, &["gp64", "avx2", "avx512_ifma", "neon"]);
        write(folder.path(), &files);
        let flags = ["-O0", "-fkeep-static-functions", "-fkeep-inline-functions"];
        let Some(()) = object(folder.path(), "it", &flags) else { return };
        let names = symbols(folder.path(), &["--defined-only"]);
        let text = std::fs::read_to_string(folder.path().join("it.c")).expect("C");
        for unit in &units {
            // An object for AArch64 has the others.
            let is_here = !unit.task.options.target.processor.hosts.is_empty()
                && unit.task.options.target.processor.runs_on("x86_64");
            let is_there = text.contains(&format!(" {}(", unit.symbol));
            let is_function = names.contains(&unit.symbol) || !is_here && is_there;
            assert!(is_function, "{} is no function", unit.symbol);
            let program = unit.compile().expect("it compiled before").program;
            if let UnitKind::Blocks(blocks) | UnitKind::Xored(blocks) | UnitKind::Chained(blocks) =
                &unit.kind
            {
                let batch = usuba::emit::instances(&program, unit.task.options.target);
                assert_eq!(blocks.batch, batch as usize, "{}", unit.symbol);
                assert!(blocks.batch.is_multiple_of(blocks.unit), "{}", unit.symbol);
            }
        }
        let of_blocks = |name: &str| {
            let mut parts = name.rsplit('_');
            let (target, slicing) = (parts.next(), parts.next());
            target.and_then(isa::find).is_some() && slicing.is_some_and(|s| "VHBW".contains(s))
        };
        let of_keys = |name: &str| name.contains("_key") && name.ends_with("_init");
        for name in names.iter().filter(|name| of_blocks(name) || of_keys(name)) {
            let known = units.iter().any(|unit| unit.symbol == *name);
            assert!(known || name.ends_with("_xor_sse"), "{name} is no unit");
        }
    }
}

/// A manifest has the symbols that an object exports and needs, and the layouts of the compiler, and
/// the output follows from it: of keys, keystream states, hash trees, a library, and NaCl.
#[test]
fn manifests_describe_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let ciphers = usuba_library::nacl_ciphers(&root()).expect("the folders are there");
    let nacl = usuba_library::nacl(&request(&["gp64"]), &ciphers, &mut |_| {});
    let (one, several) = (&["gp64"][..], &["gp64", "avx2", "neon"][..]);
    let names = [("aes", one), ("threefish", one), ("trivium", several), ("chacha20", several)];
    let singles = names.map(|(name, targets)| single(name, targets));
    for written in singles.into_iter().chain([nacl.expect("it compiles")]) {
        let Manifest { package, functions, externals, dispatch, structs, .. } = &written.manifest;
        write(folder.path(), &written.files);
        let Some(()) = object(folder.path(), package, &["-O2"]) else { return };
        let symbols = |flags: &[&str]| symbols(folder.path(), flags);
        let exported = symbols(&["-g", "--defined-only"]);
        let described = functions.iter().map(|function| function.name.clone()).collect();
        assert_eq!(exported, described, "{package}");
        let mut needed = symbols(&["-u"]);
        needed.retain(|name| !name.starts_with("_") && externals.iter().all(|f| f.name != *name));
        assert_eq!(needed, BTreeSet::new(), "{package}");
        let all = symbols(&[]);
        let cell = dispatch.as_ref().map(|dispatch| &dispatch.cell);
        assert_eq!(cell.is_some(), all.iter().any(|name| name.ends_with("_choice")), "{package}");
        assert!(cell.is_none_or(|cell| all.contains(cell)), "{package}");
        let mut text = format!("#include \"{package}.h\"\n");
        for own in structs {
            let (name, size, align) = (&own.name, own.size, own.align);
            text += &format!("_Static_assert(sizeof({name}) == {size}, \"{name}\");\n");
            text += &format!("_Static_assert(_Alignof({name}) == {align}, \"{name}\");\n");
            for field in &own.fields {
                let (part, offset, bytes) = (&field.name, field.offset, field.bytes);
                text += &format!(
                    "_Static_assert(offsetof({name}, {part}) == {offset} && \
                     sizeof((({name} *)0)->{part}) == {bytes}, \"{name}.{part}\");\n"
                );
            }
        }
        std::fs::write(folder.path().join("layouts.c"), text).expect("the folder is there");
        object(folder.path(), "layouts", &["-std=c11"]);
        again(&written);
    }
    let library = usuba_library::library(&request(several), &[cipher("gimli")], &mut |_| {});
    again(&library.expect("it compiles"));
}

/// Lengths of calls: none, keys of all sizes, blocks of CBC and XTS, and others.
const LENGTHS: [u64; 13] = [0, 1, 5, 8, 10, 16, 24, 32, 48, 64, 80, 128, 144];

/// Functions access no more than the memory that the manifest describes, at any of the lengths, and
/// nearly all have a result: a program calls them under the sanitizers, with memory of these sizes.
#[test]
fn calls_stay_in_the_described_memory() {
    let Ok(gcc) = cc::find_native("gp64", Family::Gcc) else { return };
    if !sanitizes(&gcc.compiler) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let ciphers = usuba_library::nacl_ciphers(&root()).expect("the folders are there");
    let nacl = usuba_library::nacl(&request(&["gp64"]), &ciphers, &mut |_| {});
    let names = ["noekeon", "threefish", "skinny", "trivium", "gimli"];
    let singles = names.map(|name| single(name, &["gp64"]));
    for written in singles.into_iter().chain([nacl.expect("it compiles")]) {
        let Manifest { package, functions, structs, .. } = &written.manifest;
        write(folder.path(), &written.files);
        let mut text = format!("#include \"{package}.c\"\n{HARNESS}");
        for own in structs {
            text += &format!("static {} *of_{0};\n", own.name);
        }
        text += "int main(void)\n{\n";
        for Struct { name, size, .. } in structs {
            text += &format!("    of_{name} = ({name} *)region({size}, 0);\n");
        }
        for length in LENGTHS {
            text.extend(functions.iter().map(|function| call(function, structs, length)));
        }
        std::fs::write(folder.path().join("calls.c"), text + "    return 0;\n}\n").expect("a file");
        let mut compile = Command::new(&gcc.compiler);
        run(folder.path(), compile.args(SANITIZED).args(["-w", "-o", "calls", "calls.c"]));
        let mut program = Command::new(folder.path().join("calls"));
        let text = run(folder.path(), program.env("ASAN_OPTIONS", "detect_leaks=0"));
        let done: BTreeSet<&str> = text.lines().collect();
        let open = functions.iter().map(|function| &*function.name);
        let open: Vec<&str> = open.filter(|name| !done.contains(name)).collect();
        // Tags and constants are wrong, and parameters of all zeros have no tree.
        let wrong = ["check", "verify", "open", "open_detached", "verify_detached", "verify_many"];
        let nacl = ["open_afternm", "core_salsa20", "core_hsalsa20"];
        let fails = |name: &&&str| {
            let is_wrong = |end: &&str| name.ends_with(&format!("_{end}"));
            !name.contains("_tree_") && !wrong.iter().chain(&nacl).any(is_wrong)
        };
        let failed: Vec<&&str> = open.iter().filter(fails).collect();
        assert!(failed.is_empty(), "{package}: {failed:?}");
    }
}

/// Memory of an exact size, and the end of each call.
const HARNESS: &str = "#include <stdio.h>
#include <stdlib.h>
static void *region(size_t size, int byte)
{
    void *memory = malloc(size);
    memset(memory, byte, size);
    return memory;
}
static void done(const char *name, int status)
{
    if (!status) puts(name);
}
void randombytes(unsigned char *bytes, unsigned long long length)
{
    memset(bytes, 7, (size_t)length);
}
";

/// The number of elements of a call that has several, and of bits.
const COUNT: u64 = 3;

/// A call in C, with `length` for each length, and one object of each struct in all calls.
fn call(function: &Function, structs: &[Struct], length: u64) -> String {
    let value = |name: &str| match name {
        "count" | "nblocks" => COUNT,
        "index" | "position" | "byte" => 0,
        "bits" => 8 * length,
        "strlen(name)" => 4,
        _ => length,
    };
    let bytes = |size: &Size| {
        let terms = size.terms().map(|(factor, names)| {
            factor * names.iter().map(|name| value(name) as i64).product::<i64>()
        });
        terms.sum::<i64>().max(0) as u64 / size.divisor()
    };
    let mut text = String::from("    {\n");
    let mut arguments = Vec::new();
    for (at, Parameter { name, c_type, memory }) in function.parameters.iter().enumerate() {
        let Some(memory) = memory else {
            arguments.push(value(name).to_string());
            continue;
        };
        let base = c_type.trim_start_matches("const ").trim_end_matches(" *");
        if structs.iter().any(|own| own.name == base) {
            arguments.push(format!("of_{base}"));
            continue;
        }
        let size = bytes(&memory.bytes);
        text += &format!("        void *m{at} = region({size}, 9);\n");
        if let Some(each) = &memory.each {
            for element in 0..COUNT {
                let region = format!("region({}, 9)", bytes(each));
                text += &format!("        ((void **)m{at})[{element}] = {region};\n");
            }
        } else if base == "size_t" {
            for element in 0..COUNT {
                text += &format!("        ((size_t *)m{at})[{element}] = {length};\n");
            }
        } else if base == "char" {
            text += &format!("        memcpy(m{at}, \"gp64\", {size});\n");
        }
        arguments.push(format!("({c_type})m{at}"));
    }
    let (name, arguments) = (&function.name, arguments.join(", "));
    text + &match &*function.returns {
        "int" => format!("        done(\"{name}\", {name}({arguments}));\n    }}\n"),
        _ => format!("        {name}({arguments});\n        done(\"{name}\", 0);\n    }}\n"),
    }
}

/// Reads the manifest of an output, and writes the output again from it.
fn again(written: &Written) {
    let file = written.files.last().expect("a manifest");
    let manifest = Manifest::parse(Path::new(&file.path), &file.text).expect("it was written");
    assert_eq!(manifest, written.manifest);
    let again = regenerate(&manifest, &root()).expect("it was written");
    assert!(again.files == written.files, "{}", file.path);
}

/// Requests that could reach a path or an identifier, other versions, and changed contents are
/// errors, and any line can be lost or doubled.
#[test]
fn damaged_manifests_are_errors() {
    let written = single("gimli", &["gp64"]);
    let file = written.files.last().expect("a manifest");
    let path = Path::new("it.manifest.toml");
    let answer = |text: &str| {
        Manifest::parse(path, text).and_then(|found| regenerate(&found, &root()).map(drop))
    };
    assert_eq!(answer(&file.text), Ok(()));
    for (from, to, message) in [
        ("format = 1", "format = 2", "it.manifest.toml:1:1: found format 2, expected 1"),
        ("version = \"", "version = \"9", "expected \"0."),
        ("\"single\"", "\"double\"", "unknown variant"),
        ("\"single\"", "\"nacl\"", "expected `package = \"own-usuba-nacl\"`"),
        ("\"own_usuba_\"", "\"own usuba\"", "found the prefix \"own usuba\""),
        ("package = \"it\"", "package = \"../it\"", "found the package \"../it\""),
        ("targets = [\"gp64\"]", "targets = [\"mmx\"]", "found the target \"mmx\""),
        (
            "targets = [\"gp64\"]",
            "targets = [\"sse\"]",
            "behind `path = \"it.h\"`, found `sha256 = ",
        ),
        ("[\"gimli\"]", "[\"../ciphers/gimli\"]", "found the folder \"../ciphers/gimli\""),
        ("[\"gimli\"]", "[\"..\"]", "found the folder \"..\""),
        ("[\"gimli\"]", "[]", "found 0 folders"),
        ("[\"gimli\"]", "[\"ascon\"]", "behind `path = \"it.h\"`, found `sha256 = "),
        ("\nform", "\nfolder = 1\nform", "unknown field"),
        ("bytes = \"", "bytes = \"(", "expected a number, a parameter or an operator"),
    ] {
        let changed = file.text.replacen(from, to, 1);
        assert_ne!(changed, file.text, "{from}");
        let found = answer(&changed).expect_err(to);
        assert!(found.contains(message), "{to}: {found}");
    }
    let manifest = |text: &str| Manifest::parse(path, text).is_ok_and(|m| m == written.manifest);
    let lines: Vec<&str> = file.text.lines().filter(|line| !line.is_empty()).collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
        assert!(!manifest(&without), "without `{line}`");
        let twice = [&lines[..at + 1], &lines[at..]].concat().join("\n");
        assert!(!manifest(&twice), "twice `{line}`");
    }
}
