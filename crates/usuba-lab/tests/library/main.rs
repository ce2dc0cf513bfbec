//! What `usubac dist` writes, compiled and called.
//!
//! - `subject`: a folder, loaded; `modes`: what modes should answer; `fuzz`: the fuzzer.
//! - `hash`: Skein; `merkle`: hash functions of Merkle and Damgård, HMAC and HKDF.
//! - `rust`: the Rust crate.
//!
//! What is tested:
//!
//! - every function of a folder on blocks and in its modes, on every backend of this machine, at
//!   random lengths, positions and offsets, in place and apart, against the oracle crates
//!   or `reference.rs`, and the modes as their standards define them;
//! - published answers of the modes;
//! - wrong arguments: an error, and nothing is written;
//! - what the linker sees; one file as C99 and as C++; examples; the library built, installed and
//!   used;
//! - random calls under the sanitizers.
//!
//! With RANDOM_PROGRAMS set (`make test-all`) every folder by gcc and by clang, else one of each
//! kind by either.

mod fuzz;
mod hash;
mod merkle;
mod modes;
mod rust;
mod subject;

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use usuba::target::{self, Target};
use usuba_lab::cc::{self, Family};
use usuba_lab::cipher::{self, Cipher, HashMode};
use usuba_lab::dist::{self, Description, File, Kind, Request};

use fuzz::fuzzer;
use modes::Modes;
use subject::{
    BLOCKS, Loaded, NULL, Noise, STRICT, Subject, apply, call, compiler, compilers, request, root,
    run, write,
};

/// A block cipher with blocks of 16 bytes and two programs, one with smaller blocks, a stream
/// cipher, a permutation, and a stream cipher with a state.
const SHORT: [&str; 5] = ["gift", "rectangle", "chacha20", "gimli", "trivium"];

fn long() -> bool {
    std::env::var_os("RANDOM_PROGRAMS").is_some()
}

/// Rounds of the fuzzer: a tenth of RANDOM_PROGRAMS in the long run.
fn rounds() -> String {
    let programs = std::env::var("RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok());
    programs.map_or(60, |programs: u64| programs / 10).to_string()
}

fn everything(folder: &str) {
    for compiler in compilers(long()) {
        everything_by(folder, &compiler);
    }
}

fn everything_by(folder: &str, compiler: &Path) {
    everything_of(Subject::new(folder, compiler, &dist::usual()));
}

fn everything_of(subject: Subject) {
    assert_eq!(subject.force("no such backend"), 5);
    for primitive in &subject.single.primitives {
        match primitive.kind {
            Kind::Hash(HashMode::Skein) => hash::check(&subject, primitive),
            Kind::Hash(HashMode::MerkleDamgard) => merkle::check(&subject, primitive),
            _ => blocks_and_modes(&subject, primitive),
        }
    }
}

/// A primitive that is no hash function.
fn blocks_and_modes(subject: &Subject, primitive: &Description) {
    let mut noise = Noise(primitive.name.len() as u64);
    let key = noise.bytes(primitive.key);
    // Key streams that are made of two others have no blocks of their own.
    let own: &[_] = match primitive.kind {
        Kind::Extended { .. } | Kind::Running { .. } => &[],
        _ => &primitive.operations,
    };
    let mut cases: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for operation in own {
        let input = noise.bytes(operation.input * BLOCKS);
        let output = subject.reference(&operation.function, &key, &input, operation.input);
        cases.push((input, output));
    }
    let modes = Modes::new(subject, primitive, &mut noise, &key);
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        let context = match primitive.key {
            0 => Vec::new(),
            _ => subject.key(primitive, &key),
        };
        for (operation, (input, output)) in own.iter().zip(&cases) {
            let sizes = (operation.input, operation.output);
            let name = format!("usuba_{}_blocks", operation.name);
            let mut counts: Vec<usize> = (1..10).chain([BLOCKS]).collect();
            counts.extend((0..10).map(|_| noise.below(BLOCKS)));
            for count in counts {
                let (from, to) = (&input[..count * sizes.0], &output[..count * sizes.1]);
                let same = sizes.0 == sizes.1 && count % 2 == 0;
                apply(from, to, same, noise.below(64), |from, to| match context[..] {
                    [] => call!(subject.loaded, &name, from, to, count),
                    _ => call!(subject.loaded, &name, context.as_ptr(), from, to, count),
                });
            }
        }
        match own {
            [] => stream_vectors(subject, primitive),
            _ => vectors(subject, primitive),
        }
        modes.check(&subject, &context, &mut noise);
    }
}

/// The vectors of every function, one by one.
fn vectors(subject: &Subject, primitive: &Description) {
    for operation in &primitive.operations {
        let functions = &subject.cipher.functions;
        let function =
            functions.iter().find(|f| f.name == operation.function).expect("it is there");
        for vector in subject.cipher.vectors(function).expect("they can be read") {
            let name = format!("usuba_{}_blocks", operation.name);
            apply(&vector.input, &vector.output, false, 1, |from, to| match primitive.key {
                0 => call!(subject.loaded, &name, from, to, 1),
                _ => {
                    let context = subject.key(primitive, &vector.key);
                    call!(subject.loaded, &name, context.as_ptr(), from, to, 1)
                }
            });
        }
    }
}

/// The known answers of a key stream that two functions make.
fn stream_vectors(subject: &Subject, primitive: &Description) {
    let name = |what: &str| format!("usuba_{}_{what}", primitive.name);
    let mut streams = subject.cipher.streams.iter();
    let stream = streams.find(|stream| stream.name == primitive.name).expect("it is there");
    for vector in subject.cipher.answers(&stream.vectors).expect("they can be read") {
        let context = subject.key(primitive, &vector.key);
        let (context, nonce) = (context.as_ptr(), vector.input.as_ptr());
        let length = vector.output.len();
        apply(&[], &vector.output, false, 1, |_, to| match primitive.kind {
            Kind::Running { .. } => {
                let mut state = vec![0u64; 512];
                let begin =
                    call!(subject.loaded, &name("begin"), state.as_mut_ptr(), context, nonce);
                assert_eq!(begin, 0);
                call!(subject.loaded, &name("keystream"), state.as_ptr(), to, length)
            }
            _ => call!(subject.loaded, &name("keystream"), context, nonce, 0, to, length),
        });
    }
}

#[test]
fn a_wide_block_cipher_on_every_backend() {
    everything(SHORT[0]);
}

#[test]
fn a_narrow_block_cipher_on_every_backend() {
    everything(SHORT[1]);
}

#[test]
fn a_stream_cipher_on_every_backend() {
    everything(SHORT[2]);
}

#[test]
fn a_permutation_on_every_backend() {
    everything(SHORT[3]);
}

#[test]
fn a_key_stream_with_a_state_on_every_backend() {
    everything(SHORT[4]);
}

/// With its example; in the short run on the least that has lanes.
#[test]
fn a_hash_function_on_every_backend() {
    let mut targets = dist::usual();
    targets.retain(|target| long() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(long()) {
        let subject = Subject::new("skein", &compiler, &targets);
        let folder = subject.loaded.folder();
        let mut compile = Command::new(&compiler);
        compile.args(["-std=c99", "-I.", "-o", "example"]).args(STRICT);
        compile.arg(beside().join("examples/hash.c"));
        run(folder, compile.args(["./it.so", "-Wl,-rpath,."]));
        let text = run(folder, &mut Command::new(folder.join("example")));
        assert!(text.starts_with("hash 71b7bce6fe6452227b9ced6014249e5b\n"), "{text}");
        assert!(text.contains("agrees by"), "{text}");
        everything_of(subject);
    }
}

/// On the least that has lanes in the short run.
#[test]
fn hash_functions_with_padding_on_every_backend() {
    let mut targets = dist::usual();
    targets.retain(|target| long() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(long()) {
        everything_of(Subject::new("sha2", &compiler, &targets));
    }
}

/// Measured costs belong to the kernels of today, wherever they can be measured here.
#[test]
fn ladders_follow_from_measurements() {
    let folders = cipher::find(&root()).expect("the folders can be read");
    let short = |cipher: &&Cipher| long() || cipher.folder.ends_with("gimli");
    for cipher in folders.iter().filter(short) {
        let text = dist::ladders(&request("usuba_"), cipher).expect("it compiles");
        let guessed = |line: &&str| line.ends_with(", not measured") && !line.contains(" on neon");
        let lines: Vec<&str> = text.lines().filter(guessed).collect();
        assert!(lines.is_empty(), "`usubac dist --measure` was not run again: {lines:?}");
    }
}

/// The table for documents: kernels for some instruction sets only are in it by that name.
#[test]
fn status_of_a_folder_with_kernels_for_some_targets() {
    let folders =
        ["sm4", "gimli"].map(|name| cipher::read(&root().join(name)).expect("it is there"));
    let targets: Vec<_> = target::all().collect();
    let text = dist::status(&folders, &targets).expect("it compiles");
    let row = |name: &str| {
        let start = format!("| `{name}` |");
        let row = text.lines().find(|line| line.starts_with(&start)).expect("it has a row");
        row.split(" | ").map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(row("sm4")[1..3], ["V with gfni, B", "yes"]);
    assert_eq!(row("gimli")[1..3], ["V, B", "yes"]);
}

/// All other folders, in the long run.
#[test]
fn every_folder_on_every_backend() {
    if !long() {
        return;
    }
    for cipher in cipher::find(&root()).expect("the folders can be read") {
        let name = cipher.folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        if !SHORT.contains(&&*name) && name != "skein" && name != "sha2" {
            everything(&name);
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// NIST SP 800-38A (F.2.2, F.5.1), IEEE 1619-2018 (vectors 2 and 15), RFC 8439 (2.4.2).
#[test]
fn published_answers_of_the_modes() {
    let single = |folder: &str| {
        let cipher = cipher::read(&root().join(folder)).expect("the folder is there");
        let targets = vec![target::find("gp64").expect("it exists")];
        let request = Request { targets, ..request("usuba_") };
        dist::single(&request, &cipher, None).expect("it compiles")
    };
    let aes = Loaded::new(&single("aes"), &["-O0"]);
    let key = |bytes: &str| {
        let (mut context, bytes) = (vec![0u64; 512], hex(bytes));
        let status =
            call!(aes, "usuba_aes128_init", context.as_mut_ptr(), bytes.as_ptr(), bytes.len());
        assert_eq!(status, 0);
        context
    };
    let plain = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
                     30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710");
    let main = key("2b7e151628aed2a6abf7158809cf4f3c");
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let text = hex("874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
                    5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee");
    apply(&plain, &text, false, 3, |from, to| {
        call!(aes, "usuba_aes128_ctr", main.as_ptr(), counter.as_ptr(), 0, from, to, plain.len())
    });
    let start = hex("000102030405060708090a0b0c0d0e0f");
    let text = hex("7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
                    73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7");
    apply(&text, &plain, true, 3, |from, to| {
        call!(aes, "usuba_aes128_cbc_decrypt", main.as_ptr(), start.as_ptr(), from, to, text.len())
    });
    let units = [
        (
            ["11111111111111111111111111111111", "22222222222222222222222222222222"],
            "33333333330000000000000000000000",
            "4444444444444444444444444444444444444444444444444444444444444444",
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        ),
        (
            ["fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0", "bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0"],
            "9a785634120000000000000000000000",
            "000102030405060708090a0b0c0d0e0f10",
            "6c1625db4671522d3d7599601de7ca09ed",
        ),
    ];
    for ([first, second], tweak, plain, text) in units {
        let (first, second) = (key(first), key(second));
        let (tweak, plain, text) = (hex(tweak), hex(plain), hex(text));
        for (name, from, to) in [
            ("usuba_aes128_xts_encrypt", &plain, &text),
            ("usuba_aes128_xts_decrypt", &text, &plain),
        ] {
            apply(from, to, false, 3, |from, to| {
                let (first, second) = (first.as_ptr(), second.as_ptr());
                call!(aes, name, first, second, tweak.as_ptr(), from, to, plain.len())
            });
        }
    }
    let chacha = Loaded::new(&single("chacha20"), &["-O0"]);
    let bytes: Vec<u8> = (0..32).collect();
    let mut context = vec![0u64; 512];
    let context = context.as_mut_ptr();
    assert_eq!(call!(chacha, "usuba_chacha20_init", context, bytes.as_ptr(), 32), 0);
    let nonce = hex("000000000000004a00000000");
    let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
                  the future, sunscreen would be it.";
    let text = hex("6e2e359a2568f98041ba0728dd0d6981 e97e7aec1d4360c20a27afccfd9fae0b
                    f91b65c5524733ab8f593dabcd62b357 1639d624e65152ab8f530c359f0861d8
                    07ca0dbf500d6a6156a38e088a22b65e 52bc514d16ccf806818ce91ab7793736
                    5af90bbf74a35be6b40b8eedf2785e42 874d");
    // The first block counts 1 there.
    apply(plain, &text, true, 5, |from, to| {
        call!(chacha, "usuba_chacha20_xor", context, nonce.as_ptr(), 64, from, to, plain.len())
    });
    wrong_arguments(&aes, &chacha, context);
}

/// Every kind of mistake: the status that names it, and a buffer that stays as it was.
fn wrong_arguments(aes: &Loaded, chacha: &Loaded, chacha_key: *mut u64) {
    const ERROR_NULL: c_int = 1;
    const ERROR_LENGTH: c_int = 2;
    const ERROR_COUNTER: c_int = 3;
    const ERROR_OVERLAP: c_int = 4;
    let mut context = vec![0xa5u64; 512];
    let untouched = context.clone();
    let bytes = [7u8; 16];
    let key = context.as_mut_ptr();
    assert_eq!(call!(aes, "usuba_aes128_init", key, NULL, 16), ERROR_NULL);
    assert_eq!(call!(aes, "usuba_aes128_init", NULL, bytes.as_ptr(), 16), ERROR_NULL);
    for length in [0, 15, 17, 24, 32, usize::MAX] {
        assert_eq!(call!(aes, "usuba_aes128_init", key, bytes.as_ptr(), length), ERROR_LENGTH);
    }
    assert_eq!(context, untouched);
    let key = context.as_mut_ptr();
    assert_eq!(call!(aes, "usuba_aes128_init", key, bytes.as_ptr(), 16), 0);
    let mut buffer = vec![0xa5u8; 4096];
    let start = [0xffu8; 16];
    let (from, to) = (buffer.as_ptr(), buffer[2048..].as_mut_ptr());
    let start = start.as_ptr();
    let near = from.wrapping_add(16);
    let ctr = "usuba_aes128_ctr";
    let expected = [
        (call!(aes, ctr, NULL, start, 0, from, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, NULL, 0, from, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, NULL, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, from, NULL, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, NULL, NULL, 0), 0),
        // The last counter is good for one block.
        (call!(aes, ctr, key, start, 0, from, to, 17), ERROR_COUNTER),
        (call!(aes, ctr, key, start, 16, from, to, 1), ERROR_COUNTER),
        (call!(aes, ctr, key, bytes.as_ptr(), 0, from, near, 17), ERROR_OVERLAP),
        (call!(aes, ctr, key, bytes.as_ptr(), 0, near, from, 17), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, start, from, to, 17), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, NULL, from, to, 16), ERROR_NULL),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, start, near, from, 32), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_xts_encrypt", key, key, start, from, to, 15), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_xts_encrypt", key, NULL, start, from, to, 16), ERROR_NULL),
        (
            call!(aes, "usuba_aes128_xts_decrypt", key, key, start, from, to, (16 << 20) + 1),
            ERROR_LENGTH,
        ),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, NULL, to, 1), ERROR_NULL),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, from, to, usize::MAX), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, from, near, 2), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, NULL, NULL, 0), 0),
        // 2^32 blocks of 64 bytes, and not one more.
        (
            call!(chacha, "usuba_chacha20_keystream", chacha_key, start, 64u64 << 32, to, 1),
            ERROR_COUNTER,
        ),
        (
            call!(
                chacha,
                "usuba_chacha20_keystream",
                chacha_key,
                start,
                (64u64 << 32) - 64,
                to,
                65
            ),
            ERROR_COUNTER,
        ),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at}");
    }
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
    let (from, to) = (buffer.as_ptr(), buffer[2048..].as_mut_ptr());
    assert_eq!(call!(aes, ctr, key, start, 0, from, to, 16), 0, "the last counter");
    let end = (64u64 << 32) - 64;
    assert_eq!(call!(chacha, "usuba_chacha20_keystream", chacha_key, start, end, to, 64), 0);
}

/// The symbols of one file begin with its prefix, also in C++, and two files go into one program.
#[test]
fn prefixes_and_languages() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut objects = Vec::new();
    for (name, prefix) in [("gimli", "mine_"), ("chacha20", "usuba_"), ("gimli", "usuba_")] {
        let cipher = cipher::read(&root().join(name)).expect("the folder is there");
        let single = dist::single(&request(prefix), &cipher, None).expect("it compiles");
        write(folder.path(), &single.files);
        let source = &single.files[1].path;
        let object = format!("{source}.o");
        let mut compile = Command::new(compiler());
        run(
            folder.path(),
            compile.args(["-std=c99", "-c"]).args(STRICT).args([source, "-o", &object]),
        );
        let mut nm = Command::new("nm");
        let symbols = run(folder.path(), nm.args(["-g", "--defined-only", &object]));
        assert!(symbols.lines().count() > 4);
        for line in symbols.lines() {
            let symbol = line.split(' ').next_back().expect("a name");
            assert!(symbol.starts_with(prefix), "{symbol}");
        }
        let cxx = cc::find_native("gp64", Family::Any).expect("it was there").has_cxx();
        if cxx {
            let mut compile = Command::new(compiler());
            compile.args(["-std=c++11", "-x", "c++", "-fsyntax-only"]).args(STRICT);
            run(folder.path(), compile.arg(source));
        }
        objects.push(object);
    }
    let main = "#include \"usuba_gimli.h\"\n#include \"usuba_chacha20.h\"\n#include \"mine_gimli.h\"\n\
                int main(void) {\n    static uint8_t a[48], b[48];\n    \
                if (usuba_gimli_force_backend(\"gp64\")) return 1;\n    \
                if (usuba_gimli_permute(a, 1) || mine_gimli_permute(b, 1)) return 2;\n    \
                return a[0] == b[0] && usuba_chacha20_backend() ? 0 : 3;\n}\n";
    write(folder.path(), &[File { path: "main.c".into(), text: main.into() }]);
    let mut link = Command::new(compiler());
    run(folder.path(), link.args(STRICT).args(["main.c", "-o", "main"]).args(&objects));
    run(folder.path(), &mut Command::new(folder.path().join("main")));
}

/// Where the hand-written C that is not part of the product lies.
fn beside() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

/// The names of all cipher folders.
fn folders() -> Vec<String> {
    let all = cipher::find(&root()).expect("the folders can be read");
    let name = |c: &Cipher| c.folder.file_name().expect("a name").to_string_lossy().into_owned();
    all.iter().map(name).collect()
}

/// Random lengths, offsets and keys under the sanitizers; many more in the long run.
#[test]
fn sanitizers_find_nothing() {
    let folders: Vec<String> = match long() {
        // All modes of block ciphers, a key stream, and hash functions.
        false => ["noekeon", "chacha20", "sha2", "skein"].map(String::from).to_vec(),
        true => folders(),
    };
    for name in folders {
        let mut targets = dist::usual();
        if !long() {
            // The least that has a ladder; of hash functions most is not in kernels.
            let hashes = ["sha2", "skein"].contains(&&*name);
            let least: &[_] = if hashes { &["gp64"] } else { &["gp64", "avx2"] };
            targets.retain(|target| least.contains(&target.name));
        }
        let mut compile = Command::new(compiler());
        compile.args(["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        let folder = fuzzer_of(&name, targets, compile);
        run(folder.path(), Command::new(folder.path().join("fuzz")).arg(rounds()));
        println!("{name}: {} rounds", rounds());
    }
}

/// The fuzzer of a cipher folder, built as `fuzz` in a new folder.
fn fuzzer_of(name: &str, targets: Vec<&'static Target>, mut compile: Command) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let cipher = cipher::read(&root().join(name)).expect("the folder is there");
    let request = Request { targets, ..request("usuba_") };
    let single = dist::single(&request, &cipher, None).expect("it compiles");
    write(folder.path(), &single.files);
    let text = fuzzer(&name.replace('-', "_"), &cipher, &single);
    write(folder.path(), &[File { path: "fuzz.c".into(), text }]);
    compile.args(["-std=c99", "-o", "fuzz", "fuzz.c", "-I"]).arg(beside().join("c/test"));
    run(folder.path(), compile.args(STRICT).arg(&single.files[1].path));
    folder
}

/// The same files on another processor, in an emulator where there is none: known answers and
/// random calls.
#[test]
fn one_file_on_aarch64() {
    let machine = match cc::find("neon") {
        Ok(machine) => machine,
        Err(skip) => return println!("{skip}"),
    };
    let (folders, level, rounds) = match long() {
        false => (vec!["rectangle".to_string()], "-O0", "20".to_string()),
        true => (folders(), "-O1", (rounds().parse::<u64>().expect("a number") / 20).to_string()),
    };
    for name in folders {
        let mut compile = machine.compile();
        compile.args(["-static", level]);
        let folder = fuzzer_of(&name, dist::usual(), compile);
        let mut fuzz = machine.command(&folder.path().join("fuzz"));
        let text = run(folder.path(), fuzz.arg(&rounds));
        assert_eq!(text, "gp64\nneon\n");
        println!("{name}: {rounds} rounds");
    }
}

/// The examples around one file, built as they say.
#[test]
fn examples_of_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let cipher = cipher::read(&root().join("chacha20")).expect("the folder is there");
    let single = dist::single(&request("usuba_"), &cipher, None).expect("it compiles");
    write(folder.path(), &single.files);
    let examples = beside().join("examples");
    let mut compile = Command::new(compiler());
    compile.args(["-std=c99", "-O0", "-I.", "-c", "-o", "cipher.o"]).args(STRICT);
    run(folder.path(), compile.arg(&single.files[1].path));
    let mut compile = Command::new(compiler());
    compile.args(["-std=c99", "-I.", "cipher.o", "-o", "single"]).args(STRICT);
    run(folder.path(), compile.arg(examples.join("single.c")));
    let text = run(folder.path(), &mut Command::new(folder.path().join("single")));
    assert!(text.contains("Whoever has the same key and nonce reads this again."), "{text}");
    if cc::find_native("gp64", Family::Any).expect("it was there").has_cxx() {
        let mut compile = Command::new(compiler());
        compile.args(["-std=c++11", "-I."]).args(STRICT).arg(examples.join("cxx.cpp"));
        run(folder.path(), compile.args(["cipher.o", "-lstdc++", "-o", "cxx"]));
        let text = run(folder.path(), &mut Command::new(folder.path().join("cxx")));
        assert_eq!(text, "76b8e0ada0f13d90\n");
    }
}

/// The library with CMake, installed, found by CMake and by pkg-config, shared and static.
#[test]
fn the_library_is_built_installed_and_found() {
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !there("cmake") {
        println!("skipped: there is no cmake");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name| cipher::read(&root().join(name)).expect("the folder is there");
    let ciphers = ["chacha20", "gimli", "rectangle"].map(read);
    let request = Request { version: "1.2.3".into(), ..request("usuba_") };
    let files = dist::library(&request, &ciphers, &mut |_| {}).expect("it compiles");
    write(&folder.path().join("usuba"), &files);
    let place = folder.path().to_str().expect("a plain path").to_string();
    let cmake = |arguments: &[&str]| run(folder.path(), Command::new("cmake").args(arguments));
    let prefix = format!("-DCMAKE_INSTALL_PREFIX={place}/installed");
    let flags = "-DCMAKE_C_FLAGS_RELEASE=-O0 -Wall -Wextra -Wpedantic -Werror";
    cmake(&["-S", "usuba", "-B", "build", &prefix, flags, "-DCMAKE_INSTALL_LIBDIR=lib"]);
    cmake(&["--build", "build"]);
    cmake(&["--install", "build"]);
    let example = beside().join("examples/library.c");
    let user = "cmake_minimum_required(VERSION 3.13)\nproject(user C)\n\
                find_package(usuba 1.2 REQUIRED)\nforeach(kind shared static)\n  \
                add_executable(with_${kind} library.c)\n  \
                target_link_libraries(with_${kind} usuba::${kind})\nendforeach()\n";
    let text = std::fs::read_to_string(&example).expect("the example is there");
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let user = [file("CMakeLists.txt", user), file("library.c", &text)];
    write(&folder.path().join("user"), &user);
    cmake(&["-S", "user", "-B", "used", &format!("-DCMAKE_PREFIX_PATH={place}/installed")]);
    cmake(&["--build", "used"]);
    for kind in ["shared", "static"] {
        let program = folder.path().join("used").join(format!("with_{kind}"));
        let text = run(folder.path(), &mut Command::new(program));
        assert!(text.starts_with("gp64 agrees\n"), "{text}");
    }
    let mut nm = Command::new("nm");
    let symbols =
        run(folder.path(), nm.args(["-D", "--defined-only", "installed/lib/libusuba.so"]));
    let header = files.iter().find(|file| file.path == "include/usuba.h").expect("it is written");
    for line in symbols.lines() {
        let symbol = line.split(' ').next_back().expect("a name");
        assert!(header.text.contains(&format!("{symbol}(")), "{symbol} is visible");
    }
    if there("pkg-config") {
        let mut find = Command::new("pkg-config");
        find.env("PKG_CONFIG_PATH", format!("{place}/installed/lib/pkgconfig"));
        let flags = run(folder.path(), find.args(["--cflags", "--libs", "usuba"]));
        let mut compile = Command::new(compiler());
        compile.arg(&example).args(flags.split_whitespace()).args(["-o", "found"]);
        run(folder.path(), &mut compile);
    }
}
