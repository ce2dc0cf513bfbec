//! Sponge functions, authenticated encryption and signatures under valgrind: no branch and no address depends on keys and
//! messages.

use std::process::Command;

use usuba_gen::asks;
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
const COUNTER: (&str, &str) = ("aes_gcm", COUNTED);

/// The reports of valgrind, of a library that `change` has changed; the short run has one instruction
/// set, the long one also the widest that valgrind knows.
fn reports(
    (folder, calls): (&str, &str),
    flags: &[&str],
    change: impl Fn(&str) -> String,
) -> String {
    let mut targets = usuba_library::usual();
    let wanted: &[_] = if asks!() { &["gp64", "avx2"] } else { &["gp64"] };
    targets.retain(|target| wanted.contains(&target.name));
    let cipher = usuba_ciphers::read(&root().join(folder)).expect("the folder is there");
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
        let said = reports(SPONGES, flags, str::to_string);
        assert!(said.is_empty(), "{flags:?}: {said}");
    }
    let old = "usuba_copy(out, bytes + *used, part);";
    let planted =
        |text: &str| text.replace(old, "if (bytes[*used]) usuba_copy(out, bytes + *used, part);");
    let said = reports(SPONGES, &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_sponge_give"), "{said}");
}

/// Keys of small trees: a signature has the same parts, and most of its hashes are in kernels.
#[test]
fn no_branch_and_no_address_of_a_signature_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let said = reports(SIGNED, &["-O2"], str::to_string);
    assert!(said.is_empty(), "{said}");
    // Digits of a root are public only once the library says so.
    let old = "USUBA_PUBLIC(roots, forest->count * n);";
    let said = reports(SIGNED, &["-O2"], |text| text.replace(old, ""));
    assert!(said.contains("uninitialised") && said.contains("usuba_slh_"), "{said}");
}

#[test]
fn no_branch_and_no_address_of_a_duplex_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let said = reports(DUPLEX, &["-O2"], str::to_string);
    assert!(said.is_empty(), "{said}");
    let planted = |text: &str| text.replace("block[left] = 1;", "if (state[0]) block[left] = 1;");
    let said = reports(DUPLEX, &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_ascon_last"), "{said}");
}

#[test]
fn no_branch_and_no_address_of_a_counter_mode_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let said = reports(COUNTER, &["-O2"], str::to_string);
    assert!(said.is_empty(), "{said}");
    let old = "(uint8_t)(chain[i] ^ mask[i]);";
    let planted =
        |text: &str| text.replace(old, "chain[i] ? (uint8_t)(chain[i] ^ mask[i]) : mask[i];");
    let said = reports(COUNTER, &["-O0"], planted);
    assert!(said.contains("uninitialised") && said.contains("usuba_gcm_tag"), "{said}");
}
