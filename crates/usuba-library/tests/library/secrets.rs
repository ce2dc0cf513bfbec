//! Sponge functions, authenticated encryption and signatures under valgrind: no branch and no address depends on keys and
//! messages.

use std::process::Command;

use usuba_gen::{asks, level};
use usuba_library::{File, Request};
use usuba_run::memcheck::{self, REQUESTS};

use super::subject::{compiler, request, root, run, write};

/// Calls of everything that takes secrets.
const SECRETS: &str = include_str!("secrets.c");

/// The same of signatures, and of authenticated encryption from a permutation and from a block cipher.
const SIGNATURES: &str = include_str!("signatures.c");
const SEALED: &str = include_str!("sealed.c");
const COUNTED: &str = include_str!("counted.c");

/// The folders with their calls.
const SPONGES: (&str, &str) = ("keccak", SECRETS);
const SIGNED: (&str, &str) = ("slh_dsa", SIGNATURES);
const DUPLEX: (&str, &str) = ("ascon", SEALED);

/// Modes of block ciphers: the folder, the function, its calls of `counted.c`, and bytes of the longest
/// message, which is more than a part that is encrypted at a time.
const MODES: [(&str, &str, &str, usize); 6] = [
    ("aes_gcm", "aes128_gcm", "MODE(aes128_gcm, 16, 16); PIECES(aes128_gcm, 16)", 17_000),
    ("aes_gcm", "aes128_gcm_siv", "MODE(aes128_gcm_siv, 16, 16)", 8_200),
    ("aes_gcm", "xaes256_gcm", "MODE(xaes256_gcm, 32, 16)", 8_200),
    ("aes_ccm", "aes128_ccm_8", "MODE(aes128_ccm_8, 16, 8); SEGMENTS(aes128_ccm_8, 16, 8)", 8_200),
    ("aes_ocb", "aes128_ocb", "MODE(aes128_ocb, 16, 16)", 8_200),
    ("aes_cmac", "aes128_cmac", "CODE(aes128_cmac, 16)", 2_000),
];

/// The reports on a mode, with messages up to `longest`.
fn counted(
    (folder, function, calls, _): (&str, &str, &str, usize),
    longest: usize,
    flags: &[&str],
    change: impl Fn(&str) -> String,
) -> String {
    let names = format!("#define FOLDER(name) usuba_{folder}_##name\n#define MODES {calls}\n");
    let calls = format!("{names}#define LONGEST {longest}\n{COUNTED}");
    reports((folder, &calls), &[function], flags, change)
}

/// The reports of valgrind, of a library that `change` has changed; the short run has one instruction
/// set, the long one also the widest that valgrind knows.
fn reports(
    (folder, calls): (&str, &str),
    functions: &[&str],
    flags: &[&str],
    change: impl Fn(&str) -> String,
) -> String {
    let mut targets = usuba_library::usual();
    let wanted: &[_] = if asks!() { &["gp64", "avx2"] } else { &["gp64"] };
    targets.retain(|target| wanted.contains(&target.name));
    let mut cipher = usuba_ciphers::read(&root().join(folder)).expect("the folder is there");
    if !functions.is_empty() {
        let functions: Vec<String> = functions.iter().map(|name| name.to_string()).collect();
        cipher = cipher.only(&functions).expect("they are there");
    }
    let request = Request { targets, ..request("usuba_") };
    let single = usuba_library::single(&request, &cipher, Some("it")).expect("it compiles");
    let folder = tempfile::tempdir().expect("a folder");
    let changed = |file: &File| File { path: file.path.clone(), text: change(&file.text) };
    write(folder.path(), &single.files.iter().map(changed).collect::<Vec<_>>());
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    write(folder.path(), &[file("requests.h", REQUESTS), file("secrets.c", calls)]);
    let mut compile = Command::new(compiler());
    let public = "-DUSUBA_PUBLIC(memory,length)=usuba_defined(memory,length)";
    compile.args(memcheck::LINES).args(flags);
    compile.args(["-include", "requests.h", public, "-o", "calls", "secrets.c", "it.c"]);
    run(folder.path(), &mut compile);
    memcheck::examined(&folder.path().join("calls")).expect("it ends well")
}

#[test]
fn no_branch_and_no_address_of_a_sponge_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    for flags in [&["-O2"][..], &["-O3"]] {
        let said = reports(SPONGES, &[], flags, str::to_string);
        assert!(said.is_empty(), "{flags:?}: {said}");
    }
    let old = "usuba_copy(out, bytes + place, length);";
    let planted = |text: &str| text.replace(old, &format!("if (bytes[place]) {old}"));
    let said = reports(SPONGES, &[], &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_sponge_give"), "{said}");
}

/// Keys of small trees: a signature has the same parts, and most of its hashes are in kernels.
#[test]
fn no_branch_and_no_address_of_a_signature_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let said = reports(SIGNED, &[], &["-O2"], str::to_string);
    assert!(said.is_empty(), "{said}");
    // Digits of a root are public only once the library says so.
    let old = "USUBA_PUBLIC(roots, forest->count * n);";
    let said = reports(SIGNED, &[], &["-O2"], |text| text.replace(old, ""));
    assert!(said.contains("uninitialised") && said.contains("usuba_slh_"), "{said}");
}

#[test]
fn no_branch_and_no_address_of_a_duplex_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let said = reports(DUPLEX, &[], &["-O2"], str::to_string);
    assert!(said.is_empty(), "{said}");
    let planted = |text: &str| text.replace("block[left] = 1;", "if (state[0]) block[left] = 1;");
    let said = reports(DUPLEX, &[], &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_ascon_last"), "{said}");
}

#[test]
fn no_branch_and_no_address_of_a_mode_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let turn = level::turn() as usize % MODES.len();
    for (at, mode) in MODES.into_iter().enumerate() {
        if asks!("{}", mode.1) || at == turn {
            let said = counted(mode, mode.3, &["-O2"], str::to_string);
            assert!(said.is_empty(), "{}: {said}", mode.1);
        }
    }
    let old = "if (length < 16) chain[length] ^= 0x80;";
    let planted =
        |text: &str| text.replace(old, "if (length < 16 && chain[0]) chain[length] ^= 0x80;");
    let said = counted(MODES[5], 1_009, &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_cmac_last"), "{said}");
    if !asks!("a branch in the tag of GCM") {
        return;
    }
    let old = "(uint8_t)(chain[i] ^ mask[i]);";
    let planted =
        |text: &str| text.replace(old, "chain[i] ? (uint8_t)(chain[i] ^ mask[i]) : mask[i];");
    let said = counted(MODES[0], 1_009, &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_gcm_tag"), "{said}");
}
