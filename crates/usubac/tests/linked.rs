//! `usubac prove --dist`: rows of a user's file, and the errors before them.

#[path = "linked/mutants.rs"]
mod mutants;
#[path = "linked/nacl.rs"]
mod nacl;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mutants::{Mutant, OF_CODES, OF_CURVES, OF_HASHES, OF_MODES, OF_SEALS, OF_STREAMS};
use serde_json::Value;
use usuba_gen::{asks, level};
use usuba_prove::{compiler::Compiler, machine_faults};
use usuba_run::cc::{self, Family, Foreign};

fn usubac(folder: &Path, arguments: &str) -> Output {
    let ciphers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    let command = command.args(arguments.split(' ')).arg("--ciphers").arg(ciphers);
    command.current_dir(folder).output().expect("usubac runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The compilers of this machine for x86-64: name with version, and path.
fn compilers() -> Vec<(String, PathBuf)> {
    let target = usuba::isa::find("gp64").expect("a target");
    let mut found = Vec::new();
    for family in [Family::Gcc, Family::Clang] {
        let machine = cc::find_to_compile(target, family);
        match Compiler::find(target, family).and_then(|compiler| Ok((compiler.name, machine?))) {
            Ok((name, machine)) => found.push((name, machine.compiler)),
            Err(skip) => println!("{skip}"),
        }
    }
    found
}

/// The rows of the only member, by function.
fn rows(output: &Output) -> Vec<Value> {
    let report: Value = serde_json::from_str(&out(output)).expect("JSON");
    report["members"][0]["rows"].as_array().expect("rows").clone()
}

fn row(rows: &[Value], function: &str) -> Vec<String> {
    let row = rows.iter().find(|row| row["function"] == function).expect(function);
    let answers = row["answers"].as_array().expect("answers").iter();
    answers.map(|answer| answer.as_str().unwrap_or("open").to_string()).collect()
}

/// A C file of RECTANGLE, as a user compiles it: the machine code computes the program, its parts
/// are proved in their callers, and functions without a specification say so. One changed instruction,
/// another manifest and none are seen.
#[test]
fn a_linked_file_has_a_row_for_every_function() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let made = usubac(path, "dist rectangle --target gp64");
    assert!(made.status.success(), "{}", err(&made));
    let compile = |flags: &[&str]| {
        let made =
            Command::new(&cc).args(flags).arg("usuba_rectangle.c").current_dir(path).status();
        assert!(made.expect("the compiler runs").success());
    };
    compile(&["-O2", "-fno-inline", "-c"]);
    let prove = |more: &str| usubac(path, &format!("prove --dist usuba_rectangle.o{more}"));
    let run = prove(" --format json --cache cache");
    assert_eq!(run.status.code(), Some(1), "{}", err(&run));
    let found = rows(&run);
    let proved = ["proved"; 5];
    for at in ["usuba_rectangle80_key0_init", "usuba_rectangle80_made0"] {
        assert_eq!(row(&found, at)[..3], proved[..3], "{at}");
        assert_eq!(row(&found, at)[4], "proved", "{at}");
    }
    let blocks = "usuba_rectangle128_encrypt_blocks";
    let names: BTreeSet<&str> = found.iter().filter_map(|row| row["function"].as_str()).collect();
    let core = found.iter().find(|row| {
        let specification = row["specification"].as_str().unwrap_or_default();
        let pack = format!("{}_pack", row["function"].as_str().unwrap_or_default());
        specification.starts_with("each block by encrypt") && names.contains(&*pack)
    });
    let core = core.expect("a function over blocks")["function"].as_str().expect("a name");
    assert_eq!(row(&found, core)[..3], proved[..3]);
    assert_eq!(row(&found, &format!("{core}_pack"))[..3], ["callers"; 3]);
    assert_eq!(row(&found, blocks)[4], "open");
    // The same answers come from the cache, in an archive with the object, and as text.
    assert_eq!(out(&prove(" --format json --cache cache")), out(&run));
    let text = out(&prove(" --cache cache"));
    assert!(text.starts_with("usuba_rectangle.o of usuba_rectangle: "), "{text}");
    assert!(text.contains("computes its specification: 0 of "), "{text}");
    let archived = Command::new("ar")
        .args(["rc", "libusuba_rectangle.a", "usuba_rectangle.o"])
        .current_dir(path)
        .status();
    if archived.is_ok_and(|status| status.success()) {
        let archive = usubac(path, "prove --dist libusuba_rectangle.a --format json --cache cache");
        assert_eq!(rows(&archive), found);
    }
    // No code.
    let empty = path.join("empty.o");
    fs::write(path.join("empty.c"), "int empty;\n").expect("written");
    let made = Command::new(&cc).args(["-c", "empty.c"]).current_dir(path).status();
    assert!(made.expect("the compiler runs").success() && empty.is_file());
    let none = usubac(path, "prove --dist empty.o");
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("has no function of usuba_rectangle"), "{}", err(&none));
    // Another instruction.
    let object = path.join("usuba_rectangle.o");
    let bytes = fs::read(&object).expect("an object");
    let kernel = format!("{core}_kernel");
    let planted = machine_faults::planted(&bytes, &kernel, machine_faults::Fault::Gate)
        .or_else(|| machine_faults::planted(&bytes, core, machine_faults::Fault::Gate));
    fs::write(&object, planted.expect("a logic operation")).expect("written");
    let wrong = prove(" --format json --cache cache");
    assert_eq!(row(&rows(&wrong), core)[4], "open");
    // One function, and one that is not there.
    assert_eq!(rows(&prove(&format!(" --format json --function {core}"))).len(), 1);
    let none = prove(" --function none");
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("found no function `none`"), "{}", err(&none));
    // Another manifest, and none.
    let manifest = path.join("usuba_rectangle.manifest.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replacen("gp64", "sse", 1)).expect("written");
    let other = prove("");
    assert_eq!(other.status.code(), Some(1));
    assert!(err(&other).contains("the sources make another") && out(&other).is_empty());
    fs::remove_file(&manifest).expect("it is there");
    let none = prove("");
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("found no manifest of usuba_rectangle.o, expected"));
    assert!(err(&none).contains("help: "));
}

/// Kernels in assembly language are proved with the C that calls them: a wrong instruction opens the
/// row, and so does a kernel that is not in the file.
#[test]
fn kernels_in_assembly_language_are_proved_in_a_linked_file() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let made = usubac(path, "dist chacha20 --function hchacha20 --target avx2");
    assert!(made.status.success(), "{}", err(&made));
    let run = |program: &Path, arguments: &str| {
        let mut command = Command::new(program);
        let made = command.args(arguments.split(' ')).current_dir(path).status();
        assert!(made.expect("the program runs").success(), "{arguments}");
    };
    run(&cc, "-O2 -c -DUSUBA_ASSEMBLY usuba_chacha20.c -o c.o");
    run(&cc, "-c usuba_chacha20.S -o kernels.o");
    run(Path::new("ld"), "-r c.o kernels.o -o usuba_chacha20.o");
    let core = "usuba_hchacha20_V_avx2";
    let prove = |file: &str| {
        let asked = format!(
            "prove --dist {file} --manifest usuba_chacha20.manifest.toml --function {core} \
             --format json"
        );
        let output = usubac(path, &asked);
        let found = rows(&output);
        row(&found, core)
    };
    let right = prove("usuba_chacha20.o");
    assert_eq!(right[..3], ["proved"; 3]);
    assert_eq!(right[4], "proved");
    assert_eq!(prove("c.o")[4], "open", "without its kernel");
    let object = path.join("usuba_chacha20.o");
    let bytes = fs::read(&object).expect("an object");
    let kernel = format!("{core}_kernel");
    let planted = machine_faults::planted(&bytes, &kernel, machine_faults::Fault::Gate);
    fs::write(&object, planted.expect("a logic operation")).expect("written");
    assert_eq!(prove("usuba_chacha20.o")[4], "open");
}

/// A kernel that links others is proved with them: a wrong instruction in one opens both rows. The
/// long run takes X25519, which calls it through another kernel.
#[test]
fn a_caller_is_proved_with_its_callees() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let made = usubac(path, "dist curve25519 --target gp64");
    assert!(made.status.success(), "{}", err(&made));
    let is_whole = level::is_whole();
    let callee = "usuba_fe_freeze";
    let (caller, direct) = match is_whole {
        true => ("usuba_fe_x25519", "usuba_fe_quotient"),
        false => ("usuba_fe_quotient", callee),
    };
    for (name, cc) in compilers().into_iter().take(if is_whole { 2 } else { 1 }) {
        let made =
            Command::new(cc).args(["-O2", "-c", "usuba_curve25519.c"]).current_dir(path).status();
        assert!(made.expect("the compiler runs").success());
        let prove = || {
            let chosen = format!("--function {caller} --function {callee}");
            rows(&usubac(path, &format!("prove --dist usuba_curve25519.o --format json {chosen}")))
        };
        let found = prove();
        assert_eq!(row(&found, caller)[4], "proved", "{name}");
        let calls = &found.iter().find(|row| row["function"] == caller).expect("a row")["calls"];
        assert!(calls.as_array().expect("names").iter().any(|name| name == direct), "{calls}");
        let object = path.join("usuba_curve25519.o");
        let bytes = fs::read(&object).expect("an object");
        let wrong = machine_faults::planted(&bytes, callee, machine_faults::Fault::Gate);
        fs::write(&object, wrong.expect("a logic operation")).expect("written");
        let found = prove();
        for function in [caller, callee] {
            assert_eq!(row(&found, function)[4], "open", "{name}: {function}");
        }
    }
}

/// AES, whose backends take several sources of one function: an exported function is proved with all
/// of them, and with a wrong instruction in one of them it is not.
#[test]
fn a_file_with_several_sources_of_a_function_is_proved() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let made = usubac(path, "dist aes --target gp64,avx2");
    assert!(made.status.success(), "{}", err(&made));
    let made = Command::new(&cc).args(["-O2", "-c", "usuba_aes.c"]).current_dir(path).status();
    assert!(made.expect("the compiler runs").success());
    let asked = "prove --dist usuba_aes.o --function usuba_aes128_encrypt_blocks --format json";
    let answers = || rows(&usubac(path, asked))[0]["answers"].clone();
    let found = answers();
    assert!((0..3).all(|claim| found[claim] == "proved"), "{found}");
    let text = "each block of out = aes128_encrypt(key, block of in), nblocks 0, 1, 2, 3, 5";
    assert!(found[4]["sizes"].as_str().is_some_and(|sizes| sizes.starts_with(text)), "{found}");
    if asks!("a wrong instruction in one of several sources") {
        let object = path.join("usuba_aes.o");
        let bytes = fs::read(&object).expect("an object");
        let core = "usuba_aes128_encrypt_fixsliced_H_gp64";
        let planted =
            |name: &str| machine_faults::planted(&bytes, name, machine_faults::Fault::Gate);
        let wrong = planted(&format!("{core}_kernel_merged")).or_else(|| planted(core));
        fs::write(&object, wrong.expect("a logic operation")).expect("written");
        let why = answers()[4]["open"].as_str().unwrap_or_default().to_string();
        assert!(why.contains("which is not proved"), "{why}");
    }
}

/// Modes of a block cipher, and messages in pieces, are safe, end and are constant-time for all lengths.
/// A run takes one cipher; the long run takes all.
#[test]
fn modes_and_pieces_are_safe_for_all_lengths() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let all: [(&str, &[&str]); 8] = [
        ("noekeon", &["noekeon_xts_encrypt"]),
        ("noekeon", &["noekeon_cbc_decrypt"]),
        ("noekeon", &["noekeon_ctr"]),
        ("keccak", &["sha3_256_update", "sha3_256_final", "shake128_squeeze", "kmac128_verify"]),
        ("keccak", &["cshake128_begin", "kmac128_begin", "hmac_sha3_256_verify"]),
        ("skein", &["skein256_update", "skein256_verify"]),
        ("aes_cmac", &["aes128_cmac_update", "aes128_cmac_final"]),
        ("aes_ccm", &["aes128_ccm_seal_detached"]),
    ];
    let turn = level::turn_of(all.len() as u64) as usize;
    for (cipher, functions) in if level::is_whole() { &all[..] } else { &all[turn..=turn] } {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let made = usubac(path, &format!("dist {cipher} --target gp64"));
        assert!(made.status.success(), "{}", err(&made));
        let file = format!("usuba_{cipher}.c");
        let made = Command::new(&cc).args(["-O2", "-c", &file]).current_dir(path).status();
        assert!(made.expect("the compiler runs").success());
        let functions = functions.iter().map(|name| format!("usuba_{name}"));
        let functions = functions.collect::<Vec<String>>().join(",");
        let asked = format!("prove --dist usuba_{cipher}.o --format json --function {functions}");
        for row in rows(&usubac(path, &asked)) {
            let answers = &row["answers"];
            assert!((0..3).all(|claim| answers[claim] == "proved"), "{row}");
            assert!(*cipher != "noekeon" || answers[4]["sizes"].is_string(), "{row}");
        }
    }
}

/// Small code, in which gcc tests a loop over blocks at its head, before there is a turn.
#[test]
fn loops_that_test_at_their_heads_are_proved() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    assert!(usubac(path, "dist salsa20 --target gp64").status.success());
    let made = Command::new(&cc).args(["-Os", "-c", "usuba_salsa20.c"]).current_dir(path).status();
    assert!(made.expect("the compiler runs").success());
    let asked = "prove --dist usuba_salsa20.o --format json --function usuba_salsa20_blocks";
    for row in rows(&usubac(path, asked)) {
        let answers = &row["answers"];
        assert!((0..4).all(|claim| answers[claim] == "proved"), "{row}");
        assert!(answers[4]["sizes"].is_string(), "{row}");
    }
}

/// Exported functions compute their specifications at all sizes that are tried, and wrong ones do not.
/// A run takes one change of one file, another one for each commit; the long run takes all.
#[test]
fn exported_functions_compute_their_specifications() {
    let Some((_, cc)) = compilers().into_iter().next() else { return };
    let all = [
        ("sha2", OF_HASHES),
        ("chacha20", OF_STREAMS),
        ("poly1305", OF_CODES),
        ("xsalsa20poly1305", OF_SEALS),
        ("curve25519", OF_CURVES),
        ("noekeon", OF_MODES),
    ];
    let count: usize = all.iter().map(|(_, mutants)| mutants.len()).sum();
    let mut turn = level::turn_of(count as u64) as usize;
    for (cipher, mutants) in all {
        if !level::is_whole() && turn >= mutants.len() {
            turn -= mutants.len();
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let made = usubac(path, &format!("dist {cipher} --target gp64"));
        assert!(made.status.success(), "{}", err(&made));
        let (file, object) = (format!("usuba_{cipher}.c"), format!("usuba_{cipher}.o"));
        let prove = |function: &str| {
            let made = Command::new(&cc).args(["-O1", "-c", &file]).current_dir(path).status();
            assert!(made.expect("the compiler runs").success());
            let asked = format!("prove --dist {object} --format json --function {function}");
            let rows = rows(&usubac(path, &asked));
            rows[0]["answers"][4].clone()
        };
        let right = fs::read_to_string(path.join(&file)).expect("C");
        let chosen = if level::is_whole() { mutants } else { &mutants[turn..=turn] };
        for Mutant { from, to, function } in chosen {
            assert!(right.contains(from), "{from} is gone");
            fs::write(path.join(&file), &right).expect("written");
            let answer = prove(function);
            assert!(answer == "proved" || answer["sizes"].is_string(), "{function}: {answer}");
            fs::write(path.join(&file), right.replacen(from, to, 1)).expect("written");
            let answer = prove(function);
            assert!(answer["open"].is_string(), "{to}: {answer}");
        }
        if !level::is_whole() {
            return;
        }
    }
}

/// Changes of the C of a function that XORs blocks to a text.
const OF_XORS: &[(&str, &str)] = &[
    ("in+=256,text+=256", "in+=128,text+=256"),
    ("in+=256,text+=256", "in+=256,text+=128"),
    ("text+=256,out+=256", "text+=256,out+=128"),
    ("nblocks>=8;nblocks-=8,in+=64,text", "nblocks>8;nblocks-=8,in+=64,text"),
    ("y + 4 * c, text + 64 * c, out", "y + 4 * c, text, out"),
    ("y + 4 * c, text + 64 * c, out", "y + 4 * c, in + 64 * c, out"),
    ("XOR(r1, USUBA_LOAD(text + 16))", "XOR(r1, USUBA_LOAD(text))"),
    ("XOR(r1, USUBA_LOAD(text + 16))", "AND(r1, USUBA_LOAD(text + 16))"),
    ("USUBA_STORE(bytes + 32, USUBA_XOR(r2,", "USUBA_STORE(bytes + 32, (r2,"),
    ("XOR(r3, USUBA_LOAD(text + 48))", "XOR(r3, USUBA_LOAD(text + 49))"),
];

/// The XOR of blocks and of a text, for any number of units of blocks, in each way to call it: in the
/// object of each compiler as it is, and open after a change of its C, another one for each commit; the
/// long run takes all.
#[test]
fn functions_that_xor_are_proved() {
    let function = "usuba_rectangle80_encrypt_V_sse_xor";
    for (name, cc) in compilers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let made = usubac(path, "dist rectangle --target gp64,sse");
        assert!(made.status.success(), "{}", err(&made));
        let file = path.join("usuba_rectangle.c");
        let right = fs::read_to_string(&file).expect("C");
        let prove = |text: &str| {
            fs::write(&file, text).expect("written");
            let mut made = Command::new(&cc);
            let made = made.args(["-O2", "-w", "-c"]).arg(&file).current_dir(path);
            assert!(made.status().expect("the compiler runs").success());
            let asked =
                format!("prove --dist usuba_rectangle.o --format json --function {function}");
            row(&rows(&usubac(path, &asked)), function)
        };
        assert_eq!(prove(&right)[4], "proved", "{name}");
        let (head, rest) = right.split_once("V_sse_unpack_xor(const").expect("it is there");
        let turn = level::turn_of(OF_XORS.len() as u64) as usize;
        let chosen = OF_XORS.iter().enumerate().filter(|(at, _)| level::is_whole() || *at == turn);
        for (_, (from, to)) in chosen {
            assert!(rest.contains(from), "{from} is gone");
            let changed = format!("{head}V_sse_unpack_xor(const{}", rest.replacen(from, to, 1));
            assert_eq!(prove(&changed)[4], "open", "{to} by {name}");
        }
    }
}

/// NaCl in a static program for RV32IM without a library of C: copies are functions of the program. Code
/// that can be written is refused.
#[test]
fn a_program_for_riscv_is_proved() {
    let target = usuba::isa::find("gp32").expect("a target");
    let machine = match cc::find_foreign(target, Foreign::Riscv, Family::Gcc) {
        Ok(machine) => machine,
        Err(skip) => return println!("{skip}"),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let made = usubac(path, "dist --kind nacl --target gp32 -o .");
    assert!(made.status.success(), "{}", err(&made));
    fs::write(path.join("program.c"), include_str!("linked/program.c")).expect("written");
    fs::write(path.join("script"), include_str!("linked/script.ld")).expect("written");
    let compile = |more: &[&str]| {
        let common = ["-Os", "-DUSUBA_SMALL", "-ffreestanding"];
        let made = machine.compile().args(common).args(more).current_dir(path).status();
        assert!(made.expect("the compiler runs").success());
    };
    compile(&["-c", "usuba-nacl.c"]);
    let link = ["-nostdlib", "-static", "-o", "program", "program.c", "usuba-nacl.o"];
    let functions = ["usuba_crypto_verify_32", "usuba_sha256_hash", "usuba_ed25519_sign"];
    let chosen: String = functions.iter().map(|name| format!(" --function {name}")).collect();
    let prove = || {
        let manifest = "--manifest usuba-nacl.manifest.toml --format json --no-cache";
        usubac(path, &format!("prove --dist program {manifest}{chosen}"))
    };
    compile(&link);
    let refused = err(&prove());
    assert!(refused.contains("can be written") && refused.contains("help: "), "{refused}");
    compile(&[&link[..], &["-Wl,-T,script"]].concat());
    let run = prove();
    for name in functions {
        let rows = rows(&run);
        let row = rows.iter().find(|row| row["function"] == name).expect(name);
        let answers = row["answers"].as_array().expect("answers");
        assert!(answers[..3].iter().all(|answer| answer == "proved"), "{row}");
        let is_computed = |answer: &Value| answer == "proved" || answer["sizes"].is_string();
        assert!(name.ends_with("sign") || is_computed(&answers[4]), "{row}");
    }
}
