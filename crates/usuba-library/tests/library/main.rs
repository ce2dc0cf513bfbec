//! The output of `usubac dist`, compiled and called.
//!
//! - `subject`: a folder, loaded; `modes`: the expected results of modes; `fuzz`: the fuzzer.
//! - `grid`: functions for grids of threads, built for this host.
//! - `hash`: Skein; `merkle`: hash functions with one length of output, HMAC and HKDF; `sponge`:
//!   outputs of any length, KMAC, and trees of RFC 9861.
//! - `published`, `published_sponges`: test vectors of RFCs and of Wycheproof, and libsodium.
//! - `seal`: Poly1305 and authenticated encryption; `sign`: signatures, beside `fips205`.
//! - `secrets`: sponge functions under valgrind.
//! - `rust`: the Rust crate.
//! - `sizes`: bytes of C, and functions that return sizes.
//! - `manifest`: manifests and units against the symbols and types of a C compiler.
//!
//! The tests cover:
//!
//! - every function of a folder on blocks and in its modes, on every backend of this machine, at
//!   random lengths, positions and offsets, in place and apart, against the oracle crates
//!   or `reference.rs`, and the modes as their standards define them;
//! - test vectors of the modes;
//! - wrong arguments: an error, and nothing is written;
//! - the symbols of the linker; one file as C99 and as C++; examples; the library built, installed
//!   and used;
//! - random calls under the sanitizers.
//!
//! In the whole run (`make test-all`) every folder by gcc and by clang, else one of each
//! kind by either.

mod fips205;
mod fuzz;
mod grid;
mod hash;
#[path = "../loaded/mod.rs"]
mod loaded;
mod mac;
mod manifest;
mod merkle;
mod modes;
mod pieces;
mod poly1305;
mod published;
mod published_sponges;
mod rust;
mod seal;
mod secrets;
mod segments;
mod sign;
mod sizes;
mod sponge;
mod subject;

use std::path::{Path, PathBuf};
use std::process::Command;
use usuba_gen::{asks, asks_rarely, level};

use tempfile::TempDir;
use usuba::isa::{self, Target};
use usuba_ciphers::{Cipher, HashMode, Scheme};
use usuba_library::{Description, File, Kind, Request};
use usuba_run::cc::{self, Family};

use fuzz::fuzzer;
use loaded::{SANITIZED, sanitizes};
use modes::Modes;
use subject::{
    BLOCKS, Noise, STRICT, Subject, apply, call, compiler, compilers, request, root, run, write,
};

/// A block cipher with blocks of 16 bytes and two programs, one with smaller blocks, a stream
/// cipher, a permutation, and a stream cipher with a state.
const SHORT: [&str; 5] = ["gift", "rectangle", "salsa20", "gimli", "trivium"];

/// Folders with authenticated encryption and message authentication codes.
const SEALS: [&str; 8] = [
    "poly1305",
    "chacha20poly1305",
    "xsalsa20poly1305",
    "ascon",
    "aes_gcm",
    "aes_cmac",
    "aes_ccm",
    "aes_ocb",
];

/// Rounds of the fuzzer, in the quick run and in the whole one.
const ROUNDS: [u64; 2] = [60, 2_000];

fn everything(folder: &str) {
    for compiler in compilers(asks!("{folder} by every compiler")) {
        everything_by(folder, &compiler);
    }
}

fn everything_by(folder: &str, compiler: &Path) {
    everything_of(Subject::new(folder, compiler, &usuba_library::usual()));
}

fn everything_of(subject: Subject) {
    if subject.cipher.scheme == Some(Scheme::Poly1305) {
        poly1305::check(&subject);
    }
    if subject.single.primitives.is_empty() {
        return;
    }
    assert_eq!(subject.force("no such backend"), 5);
    for primitive in &subject.single.primitives {
        match primitive.kind {
            Kind::Hash(HashMode::Skein) => hash::check(&subject, primitive),
            Kind::Hash(HashMode::MerkleDamgard | HashMode::Sponge) => {
                merkle::check(&subject, primitive);
            }
            Kind::Hash(_) => sponge::check(&subject, primitive),
            Kind::Mac => mac::check(&subject, primitive),
            Kind::Seal(mode) => seal::check(&subject, primitive, mode),
            Kind::Sign(_) => sign::check(&subject, primitive),
            _ => blocks_and_modes(&subject, primitive),
        }
    }
}

/// A primitive that is no hash function.
fn blocks_and_modes(subject: &Subject, primitive: &Description) {
    let mut noise = Noise(primitive.name.len() as u64);
    let key = noise.bytes(primitive.key);
    // Keystreams of two functions have no blocks of their own.
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
        modes.check(subject, &context, &mut noise);
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

/// The test vectors of a keystream that two functions make.
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

/// With its example; the short run uses the smallest target with lanes.
#[test]
fn a_hash_function_on_every_backend() {
    let mut targets = usuba_library::usual();
    targets.retain(|target| asks!() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(asks!()) {
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

/// The short run uses the smallest target with lanes.
#[test]
fn hash_functions_with_padding_on_every_backend() {
    let mut targets = usuba_library::usual();
    targets.retain(|target| asks!() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(asks!()) {
        everything_of(Subject::new("sha2", &compiler, &targets));
        everything_of(Subject::new("keccak", &compiler, &targets));
        if asks!() {
            // Kernels in one loop.
            let portable = [isa::ALL[0]];
            for folder in ["sha2", "keccak"] {
                everything_of(Subject::with(folder, &compiler, &portable, &["-DUSUBA_SMALL"]));
            }
        }
    }
}

/// The short run uses the smallest target with wide registers.
#[test]
fn authenticated_encryption_on_every_backend() {
    let mut targets = usuba_library::usual();
    targets.retain(|target| asks!() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(asks!()) {
        for folder in SEALS {
            everything_of(Subject::new(folder, &compiler, &targets));
        }
        // Words of 32 bits, in straight lines and in loops.
        for more in [&["-DUSUBA_WORD_BITS=32"][..], &["-DUSUBA_WORD_BITS=32", "-DUSUBA_SMALL"]] {
            let portable = [isa::ALL[0]];
            poly1305::check(&Subject::with("poly1305", &compiler, &portable, more));
        }
    }
}

/// The short run uses the smallest target with lanes, and the parameter sets with fast signatures.
#[test]
fn signatures_on_every_backend() {
    let mut targets = usuba_library::usual();
    targets.retain(|target| asks!() || ["gp64", "avx2"].contains(&target.name));
    for compiler in compilers(asks!()) {
        sign::other_parameters(&compiler, &targets);
        everything_of(Subject::with("slh_dsa", &compiler, &targets, sign::FAST));
        if asks!() {
            let portable = [isa::ALL[0]];
            let small = [sign::FAST, &["-DUSUBA_SMALL"]].concat();
            everything_of(Subject::with("slh_dsa", &compiler, &portable, &small));
        }
    }
}

/// Measured costs belong to the present kernels, on each target of this machine.
#[test]
fn ladders_follow_from_measurements() {
    let folders = usuba_ciphers::find(&root()).expect("the folders can be read");
    // A function of aes_gcm has no kernel on most backends.
    let short = |cipher: &&Cipher| cipher.folder.ends_with("aes_gcm") || asks!("{}", cipher.title);
    for cipher in folders.iter().filter(short) {
        let text = usuba_library::ladders(&request("usuba_"), cipher).expect("it compiles");
        let guessed = |line: &&str| line.ends_with(", not measured") && !line.contains(" on neon");
        let lines: Vec<&str> = text.lines().filter(guessed).collect();
        assert!(lines.is_empty(), "`usubac dist --measure` was not run again: {lines:?}");
    }
}

/// The table for documents: kernels for some instruction sets only are in it by that name.
#[test]
fn status_of_a_folder_with_kernels_for_some_targets() {
    let folders = ["sm4", "gimli", "curve25519", "xsalsa20poly1305"]
        .map(|name| usuba_ciphers::read(&root().join(name)).expect("it is there"));
    let targets: Vec<_> = isa::all().collect();
    let text = usuba_library::status(&folders, &targets).expect("it compiles");
    let row = |name: &str| {
        let start = format!("| `{name}` |");
        let row = text.lines().find(|line| line.starts_with(&start)).expect("it has a row");
        row.split(" | ").map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(row("sm4")[1..3], ["V with gfni, B", "yes"]);
    assert_eq!(row("gimli")[1..3], ["V, B, W", "yes"]);
    assert_eq!(row("ed25519")[1..3], ["arithmetic", "where multiplication is"]);
    assert_eq!(row("xsalsa20poly1305")[1], "`salsa20`, `poly1305`");
}

/// All other folders, in the long run.
#[test]
fn every_folder_on_every_backend() {
    for name in folders() {
        if !SHORT.contains(&&*name)
            && !["skein", "sha2", "keccak", "slh_dsa"].contains(&&*name)
            && !SEALS.contains(&&*name)
            && asks!("{name}")
        {
            everything(&name);
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The symbols of one file begin with its prefix, also in C++, and two files go into one program.
#[test]
fn prefixes_and_languages() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut objects = Vec::new();
    for (name, prefix) in [("gimli", "mine_"), ("chacha20", "usuba_"), ("gimli", "usuba_")] {
        let cipher = usuba_ciphers::read(&root().join(name)).expect("the folder is there");
        let single = usuba_library::single(&request(prefix), &cipher, None).expect("it compiles");
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
    let all = usuba_ciphers::find(&root()).expect("the folders can be read");
    let name = |c: &Cipher| c.folder.file_name().expect("a name").to_string_lossy().into_owned();
    all.iter().map(name).collect()
}

/// Random lengths, offsets and keys under the sanitizers; many more in the long run.
#[test]
fn sanitizers_find_nothing() {
    // All modes of block ciphers, and by turns a keystream, authenticators and hash functions.
    let others = [
        "chacha20",
        "chacha20poly1305",
        "poly1305",
        "sha2",
        "skein",
        "keccak",
        "slh_dsa",
        "ascon",
        "aes_gcm",
        "aes_cmac",
        "aes_ccm",
        "aes_ocb",
    ];
    let few = ["noekeon", others[level::turn() as usize % others.len()]];
    let compiler = compiler();
    if !sanitizes(&compiler) {
        return;
    }
    for name in folders() {
        let whole = asks_rarely!("{name}");
        if !whole && !few.contains(&&*name) {
            continue;
        }
        let mut targets = usuba_library::usual();
        if !whole {
            // The smallest target with dispatch; hash functions consist mostly of code outside of
            // kernels.
            let hashes = ["sha2", "skein", "keccak", "slh_dsa"].contains(&&*name);
            let least: &[_] = if hashes { &["gp64"] } else { &["gp64", "avx2"] };
            targets.retain(|target| least.contains(&target.name));
        }
        let mut compile = Command::new(&compiler);
        compile.arg("-g").args(SANITIZED);
        let folder = fuzzer_of(&name, targets, compile);
        let rounds = ROUNDS[whole as usize].to_string();
        run(folder.path(), Command::new(folder.path().join("fuzz")).arg(&rounds));
        println!("{name}: {rounds} rounds");
    }
}

/// The fuzzer of a cipher folder, built as `fuzz` in a new folder.
fn fuzzer_of(name: &str, targets: Vec<&'static Target>, mut compile: Command) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let cipher = usuba_ciphers::read(&root().join(name)).expect("the folder is there");
    let request = Request { targets, ..request("usuba_") };
    let single = usuba_library::single(&request, &cipher, None).expect("it compiles");
    write(folder.path(), &single.files);
    let text = fuzzer(&name.replace('-', "_"), &cipher, &single);
    write(folder.path(), &[File { path: "fuzz.c".into(), text }]);
    compile.args(["-std=c99", "-o", "fuzz", "fuzz.c", "-I"]).arg(beside().join("c/test"));
    run(folder.path(), compile.args(STRICT).arg(&single.files[1].path));
    folder
}

/// The same files on another processor, in an emulator where there is none: test vectors and random
/// calls.
#[test]
fn one_file_on_aarch64() {
    let machine = match cc::find("neon") {
        Ok(machine) => machine,
        Err(skip) => return println!("{skip}"),
    };
    for name in folders() {
        let (level, rounds) = match asks!("{name}") {
            true => ("-O1", "100"),
            false if name == "rectangle" => ("-O0", "20"),
            false => continue,
        };
        let mut compile = machine.compile();
        compile.args(["-static", level]);
        let folder = fuzzer_of(&name, usuba_library::usual(), compile);
        let mut fuzz = machine.command(&folder.path().join("fuzz"));
        let text = run(folder.path(), fuzz.arg(rounds));
        assert_eq!(text, "gp64\nneon\n");
        println!("{name}: {rounds} rounds");
    }
}

/// The examples around one file, built as they say.
#[test]
fn examples_of_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let cipher = usuba_ciphers::read(&root().join("chacha20")).expect("the folder is there");
    let single = usuba_library::single(&request("usuba_"), &cipher, None).expect("it compiles");
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

/// The example of authenticated encryption, from two files.
#[test]
fn an_example_of_two_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut compile = Command::new(compiler());
    compile.args(["-std=c99", "-O0", "-I.", "-o", "seal"]).args(STRICT);
    for name in ["sha2", "chacha20poly1305"] {
        let cipher = usuba_ciphers::read(&root().join(name)).expect("the folder is there");
        let request = Request { targets: vec![isa::ALL[0]], ..request("usuba_") };
        let single = usuba_library::single(&request, &cipher, None).expect("it compiles");
        write(folder.path(), &single.files);
        compile.arg(&single.files[1].path);
    }
    run(folder.path(), compile.arg(beside().join("examples/seal.c")));
    let text = run(folder.path(), &mut Command::new(folder.path().join("seal")));
    let wanted = "Whoever changes a bit of this is found out.\nand that was forged\n";
    assert!(text.starts_with(wanted), "{text}");
}

/// Folders with hash functions of one construction share its declarations in a header.
#[test]
fn constructions_are_declared_once() {
    let read = |name| usuba_ciphers::read(&root().join(name)).expect("the folder is there");
    let request = Request { targets: vec![isa::ALL[0]], ..request("usuba_") };
    let ciphers = ["keccak", "ascon"].map(read);
    let written = usuba_library::library(&request, &ciphers, &mut |_| {}).expect("it compiles");
    let header =
        written.files.iter().find(|file| file.path == "include/usuba.h").expect("a header");
    assert_eq!(header.text.matches("} usuba_sponge_progress;").count(), 1);
    assert!(header.text.contains("} usuba_sha3_256_state;"));
    assert!(header.text.contains("} usuba_ascon_hash256_state;"));
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
    let read = |name| usuba_ciphers::read(&root().join(name)).expect("the folder is there");
    let ciphers = ["chacha20", "gimli", "rectangle"].map(read);
    let request = Request { version: "1.2.3".into(), ..request("usuba_") };
    let files = usuba_library::library(&request, &ciphers, &mut |_| {}).expect("it compiles").files;
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
