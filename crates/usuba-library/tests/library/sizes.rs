//! Sizes: files stay short, and functions return the sizes of a header.
//!
//! `docs/book/src/reference/sizes.md` has the bytes of all files; `BLESS=1` writes it.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use usuba::isa::{self, Target};
use usuba_ciphers::Cipher;
use usuba_gen::asks;
use usuba_library::{Request, Written};

use crate::subject::{STRICT, compiler, request, root, run, write};

/// Bytes of a C file for one instruction set, and for all of them.
const ONE: usize = 1_300_000;
const ALL: usize = 2_500_000;

/// Instruction sets with a column of their own.
const COLUMNS: [&str; 5] = ["gp64", "sse", "avx2", "avx512", "neon"];

const ABOUT: &str = "\
# Sizes of C files

`usubac dist NAME` writes one C file with every function of a cipher, its modes, and the choice of \
the instruction set at run time.
This table has the megabytes of that file: for one instruction set, which includes portable code, \
and for all of them.
`--target` chooses instruction sets, and `--function` some functions of a cipher; `dist` ends with \
a table of the bytes of each function.
A test keeps each file below ONE MB for one instruction set and below ALL MB for all, and compares \
this page.

";

fn single(cipher: &Cipher, targets: Vec<&'static Target>) -> Written {
    let request = Request { targets, ..request("usuba_") };
    usuba_library::single(&request, cipher, None).expect("it compiles")
}

fn page() -> PathBuf {
    root().join("../docs/book/src/reference/sizes.md")
}

/// The bytes of the C file, all of which are in the table of its functions.
fn bytes(cipher: &Cipher, targets: Vec<&'static Target>) -> usize {
    let Written { files, extents, .. } = single(cipher, targets);
    let length = files[1].text.len();
    assert_eq!(extents.iter().map(|extent| extent.bytes).sum::<usize>(), length);
    length
}

/// Every folder in the whole run. The page may be off by a twentieth, so that not every change of a
/// kernel changes it.
#[test]
fn files_are_short() {
    let blesses = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let known = fs::read_to_string(page()).unwrap_or_default();
    let mut rows = String::new();
    for cipher in usuba_ciphers::find(&root()).expect("the folders can be read") {
        let name = cipher.folder.file_name().expect("a folder").to_string_lossy().into_owned();
        if !(blesses || asks!("{name}")) {
            continue;
        }
        let mut cells = Vec::new();
        for target in usuba_library::usual() {
            // Wide registers have the longest files; the others are within their bounds.
            let column = COLUMNS.contains(&target.name);
            if !(column || usuba_gen::level::is_whole() && !blesses) {
                continue;
            }
            let length = bytes(&cipher, vec![target]);
            assert!(length < ONE, "{name} for {}: {length} bytes, at most {ONE}", target.name);
            if column {
                cells.push((target.name, length));
            }
        }
        cells.sort_by_key(|(target, _)| COLUMNS.iter().position(|column| column == target));
        let length = bytes(&cipher, usuba_library::usual());
        assert!(length < ALL, "{name} for all targets: {length} bytes, at most {ALL}");
        cells.push(("all", length));
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        let start = format!("| `{name}` |");
        let mut row = start.clone();
        for (_, length) in &cells {
            write!(row, " {:.2} |", megabytes(*length)).expect("a string takes it");
        }
        rows += &format!("{row}\n");
        if blesses {
            continue;
        }
        let old = known.lines().find(|line| line.starts_with(&start));
        let old =
            old.map(|line| line[start.len()..].split('|').filter_map(|n| n.trim().parse().ok()));
        let old: Vec<f64> = old.into_iter().flatten().collect();
        let is_near = |(old, (_, new)): (&f64, &(&str, usize))| {
            (old - megabytes(*new)).abs() <= 0.01 + megabytes(*new) / 20.0
        };
        assert!(
            old.len() == cells.len() && old.iter().zip(&cells).all(is_near),
            "found {row}, expected {old:?}; `cargo xtask bless sizes` writes {}",
            page().display()
        );
    }
    if blesses {
        let columns: String = COLUMNS.iter().map(|column| format!(" {column} |")).collect();
        let lines = "---:|".repeat(COLUMNS.len() + 1);
        let megabytes = |bytes: usize| format!("{:.1}", bytes as f64 / 1e6);
        let about = ABOUT.replace("ONE", &megabytes(ONE)).replace("ALL", &megabytes(ALL));
        let text = format!("{about}| cipher |{columns} all |\n|---|{lines}\n{rows}");
        fs::write(page(), text).expect("the page can be written");
    }
}

/// A part of a folder has less C, and no other functions in its header.
#[test]
fn chosen_functions_are_alone() {
    let cipher = usuba_ciphers::read(&root().join("chacha20")).expect("it is there");
    let portable = vec![isa::ALL[0]];
    let request = Request {
        targets: portable.clone(),
        functions: vec!["chacha8".into()],
        version: env!("CARGO_PKG_VERSION").into(),
        ..request("usuba_")
    };
    let part = usuba_library::single(&request, &cipher, None).expect("it compiles");
    let whole = single(&cipher, portable);
    assert!(
        part.files[0].text.contains("usuba_chacha8_xor(")
            && !part.files[0].text.contains("20_xor(")
    );
    assert!(part.files[1].text.len() < whole.files[1].text.len());
    assert_eq!(part.manifest.only, ["chacha8"]);
    let again = usuba_library::regenerate(&part.manifest, &root()).expect("it is as it was");
    assert_eq!(again.files, part.files);
}

/// Each macro of a size and each struct that callers hold has a function, which returns its value.
#[test]
fn functions_return_the_sizes_of_the_header() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, functions) in [
        ("gimli", vec!["usuba_gimli_state_size() == USUBA_GIMLI_BYTES"]),
        (
            "chacha20poly1305",
            vec![
                "usuba_chacha20poly1305_key_size() == 32",
                "usuba_chacha20poly1305_nonce_size() == USUBA_CHACHA20POLY1305_NONCE_BYTES",
                "usuba_chacha20poly1305_tag_size() == 16",
                "usuba_chacha20poly1305_context_size() == sizeof(usuba_chacha20poly1305_key)",
                "usuba_chacha20_block_size() == 64",
                "usuba_poly1305_state_size() == sizeof(usuba_poly1305_state)",
            ],
        ),
        ("sha2", vec!["usuba_sha384_hash_size() == 48", "usuba_sha384_block_size() == 128"]),
    ] {
        let cipher = usuba_ciphers::read(&root().join(name)).expect("it is there");
        let mut request = Request { targets: vec![isa::ALL[0]], ..request("usuba_") };
        if name == "sha2" {
            request.functions = vec!["sha384".into()];
        }
        let written = usuba_library::single(&request, &cipher, Some("it")).expect("it compiles");
        let header = &written.files[0].text;
        let macros =
            header.lines().filter(|line| line.starts_with("#define ") && line.contains("_BYTES "));
        let held = ["_key;", "_state;", "_tree;"];
        let structs = header
            .lines()
            .filter(|line| line.starts_with("} ") && held.iter().any(|end| line.ends_with(end)));
        let declared = header.lines().filter(|line| line.starts_with("USUBA_API size_t "));
        let declared = declared.filter(|line| line.ends_with("_size(void);")).count();
        assert_eq!(declared, macros.count() + structs.count(), "{name}");
        write(folder.path(), &written.files);
        let test = functions.join(" && ");
        let main = format!("#include \"it.h\"\nint main(void)\n{{\n    return !({test});\n}}\n");
        fs::write(folder.path().join("main.c"), main).expect("the folder is ours");
        let mut compile = Command::new(compiler());
        compile.args(["-std=c99", "-O0", "main.c", "it.c", "-o", "it"]).args(STRICT);
        run(folder.path(), &mut compile);
        run(folder.path(), &mut Command::new(folder.path().join("it")));
    }
}
