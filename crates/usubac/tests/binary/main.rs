//! `usubac prove --binary` and `--object`: the verdicts on right objects, on wrong objects, and on
//! other files.
//!
//! `foreign` has objects for other machines than x86-64.

mod foreign;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use usuba_prove::{compiler, machine_faults};
use usuba_run::cc::Family;

/// The words of a node whose accesses have displacements, and its right answer.
const PROGRAM: &str = "node f (x:u32[3], k:u32[3]) returns (y:u32[3])\n\
    let y[0] = x[1] ^ k[0]; y[1] = x[0] & k[2]; y[2] = (x[2] <<< 7) ^ k[1] tel\n\
    node g (x:u32) returns (y:u32) let y = ~x tel\n";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    dir
}

fn usubac(dir: &Path, args: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    let command = command.args(args.split(' ')).current_dir(dir).env("COLUMNS", "100");
    command.envs(environment.iter().copied()).output().expect("usubac runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The name of a compiler that this machine has.
fn compiler() -> Option<(&'static str, Family)> {
    let all = [("gcc", Family::Gcc), ("clang", Family::Clang)];
    let target = usuba::isa::find("gp64").expect("a target");
    let found =
        all.into_iter().find(|&(_, family)| match compiler::Compiler::find(target, family) {
            Ok(_) => true,
            Err(skip) => {
                println!("{skip}");
                false
            }
        });
    if found.is_none() {
        println!("skipped: there is no compiler for x86-64");
    }
    found
}

/// The object of the entry of the program, as a user would compile it.
fn object(dir: &Path, family: Family, flags: &str) -> Vec<u8> {
    let made = usubac(dir, &format!("f.ua -V -o f.c {flags}"), &[]);
    assert!(made.status.success(), "{}", err(&made));
    let text = fs::read_to_string(dir.join("f.c")).expect("a kernel");
    compiler::object(&text, "c", "gp64", family, &[]).expect("it compiles")
}

#[test]
fn objects_are_proved_refuted_and_refused() {
    let Some((cc, _)) = compiler() else { return };
    let dir = folder();
    let flags = format!("prove f.ua -V --entry f --binary --cc {cc}");
    let proved = usubac(dir.path(), &flags, &[]);
    let said = out(&proved);
    assert!(proved.status.success(), "{said}{}", err(&proved));
    for part in ["in V on gp64: PROVED\n", "object", "in constant time", "of the frame", "model"] {
        assert!(said.contains(part), "{said}");
    }
    let proved = out(&usubac(dir.path(), &format!("{flags} --format json"), &[]));
    let json: Value = serde_json::from_str(&proved).expect("JSON");
    let claims = json["claims"].as_array().expect("claims");
    let object = &claims.last().expect("one")["object"];
    assert!(object["instructions"].as_u64() > Some(3), "{object}");
    assert!(!object["left_registers"].as_array().expect("a list").is_empty(), "{object}");
    assert_eq!(object["sha256"].as_str().map(str::len), Some(64), "{object}");

    let refuted = usubac(dir.path(), &format!("{flags} --plant gate@object"), &[]);
    let said = out(&refuted);
    assert_eq!(refuted.status.code(), Some(1), "{said}");
    assert!(said.contains("f in V on gp64: REFUTED\n"), "{said}");
    assert!(said.contains(&format!("in the object by {cc} ")), "{said}");
    assert!(said.contains(" `f` gives y[") && said.contains(" and should give "), "{said}");

    let refused = usubac(dir.path(), &format!("{flags} --plant address@object"), &[]);
    let said = out(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(": REFUSED\n") && said.contains("a rule is broken: at f"), "{said}");
    assert!(said.contains("are not inside of `"), "{said}");
    let refused = usubac(dir.path(), &format!("{flags} --plant address@object --format json"), &[]);
    let json: Value = serde_json::from_str(&out(&refused)).expect("JSON");
    assert_eq!(json["verdict"], "REFUSED");

    let none = usubac(dir.path(), &format!("{flags} --plant equation@object"), &[]);
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("no place for the fault after object"), "{}", err(&none));
}

/// A cipher with a key schedule, and how its words lie in bytes.
const CIPHER: &str = "node f (x:u32[2], k:const u32[2]) returns (y:u32[2])\n\
    let y[0] = x[1] ^ k[0]; y[1] = (x[0] <<< 7) ^ k[1] tel\n\
    node keys (k:u32[2]) returns (rk:u32[2]) let rk[0] = k[1]; rk[1] = k[0] <<< 3 tel\n";
const DESCRIPTION: &str = "title = \"f\"\nspec = \"none\"\nsource = \"c.ua\"\n\
    [[function]]\nname = \"f_encrypt\"\nnode = \"f\"\nslicings = [\"V\"]\n\
    input = { param = \"x\", bytes = \"be\" }\noutput = { param = \"y\", bytes = \"be\" }\n\
    key = { param = \"k\", schedule = \"keys\", bytes = \"be\" }\n\
    vectors = \"none.txt\"\ndirection = \"encrypt\"\n";

/// A target that stands for no machine of its own is proved where a function names it.
#[test]
fn kernels_of_named_targets_are_proved() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("ciphers/c");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("c.ua"), CIPHER).expect("written");
    for (targets, named) in [("", false), ("targets = [\"gp64\", \"avx2_64\"]\n", true)] {
        fs::write(folder.join("cipher.toml"), format!("{DESCRIPTION}{targets}")).expect("written");
        let proved = usubac(dir.path(), "prove --all --ciphers ciphers", &[]);
        let said = out(&proved);
        assert!(proved.status.success(), "{said}{}", err(&proved));
        assert_eq!(said.contains("V/avx2_64"), named, "{said}");
        assert!(said.contains("V/avx512 ") && !said.contains("V/avx2_128"), "{said}");
    }
}

#[test]
fn the_byte_interface_is_proved() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    write("c.ua", CIPHER);
    let flags = format!("prove c.ua -V --entry f --interface --cc {cc}");
    let none = usubac(dir.path(), &flags, &[]);
    assert!(!none.status.success() && err(&none).contains("cipher.toml"), "{}", err(&none));
    write("cipher.toml", DESCRIPTION);
    let proved = usubac(dir.path(), &format!("{flags} --certify"), &[]);
    let said = out(&proved);
    assert!(proved.status.success(), "{said}{}", err(&proved));
    for part in [
        "keys in V on gp64 proved to be its source",
        "f_encrypt_blocks, apart by ",
        "f_encrypt_blocks, in place by ",
        "f_encrypt_init by ",
        "for any number of blocks: 1 loop",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let json = out(&usubac(dir.path(), &format!("{flags} --format json"), &[]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let claims = json["claims"].as_array().expect("claims");
    let of = |kind: &str| claims.iter().filter(|claim| claim["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("beside").len(), of("interface").len()), (1, 3), "{claims:?}");
    assert!(of("interface")[0]["object"]["loops"].as_u64() == Some(1), "{claims:?}");
    // The kernel alone is not asked for; it is in the functions.
    assert_eq!(of("object").len(), 0, "{claims:?}");
    let cleared = out(&usubac(dir.path(), &format!("{flags} --wipe"), &[]));
    assert_eq!(cleared.matches("secrets in 0 of").count(), 3, "{cleared}");
    assert_eq!(cleared.matches("and in no register").count(), 3, "{cleared}");
    assert!(!said.contains("and in no register"), "{said}");

    let text = fs::read_to_string(dir.path().join("proof/gp64.toml")).expect("a certificate");
    assert_eq!(text.matches("[[proof.interface]]").count(), 3, "{text}");
    assert!(text.contains("[[proof.beside]]") && text.contains("description = "), "{text}");
    assert!(text.contains("-fno-stack-protector"), "{text}");
    let check = || usubac(dir.path(), "verify c.ua", &[]);
    assert!(out(&check()).ends_with("PROVED again\n"), "{}", out(&check()));
    // The same bytes in another order.
    let key = "schedule = \"keys\", bytes = ";
    let [be, le] = ["be", "le"].map(|order| format!("{key}\"{order}\""));
    write("cipher.toml", &DESCRIPTION.replace(&be, &le));
    assert!(out(&check()).ends_with("STALE, the words lie in other bytes\n"), "{}", out(&check()));
    write("cipher.toml", DESCRIPTION);
    write("c.ua", &CIPHER.replace("<<< 3", "<<< 4"));
    assert!(out(&check()).contains("STALE, "), "{}", out(&check()));

    // A description that names another node than the one that is proved.
    let other = usubac(dir.path(), &flags.replace("--entry f", "--entry keys"), &[]);
    assert!(err(&other).contains("has no function of keys"), "{}", err(&other));

    // In all folders, and once more from the cache.
    fs::create_dir(dir.path().join("all")).expect("a folder");
    fs::create_dir(dir.path().join("all/c")).expect("a folder");
    write("all/c/c.ua", CIPHER);
    write("all/c/cipher.toml", DESCRIPTION);
    for before in ["", ", 2 of them before"] {
        let all =
            format!("--ciphers all --cache kept --target gp64 --cc {cc} --interface --binary");
        let said = usubac(dir.path(), &format!("prove --all {all}"), &[]);
        let text = out(&said);
        assert!(said.status.success(), "{text}{}", err(&said));
        assert!(text.contains("2 of 2 PROVED in ") && text.contains(before), "{text}");
        assert!(text.contains("\n3 functions of the byte interface PROVED"), "{text}");
    }
}

#[test]
fn certificates_name_objects() {
    let Some((cc, family)) = compiler() else { return };
    let dir = folder();
    let certify = |more: &str| {
        let made = usubac(dir.path(), &format!("prove f.ua -V --entry f --certify {more}"), &[]);
        assert!(made.status.success(), "{}{}", out(&made), err(&made));
        fs::read_to_string(dir.path().join("proof/gp64.toml")).expect("a certificate")
    };
    let check = || usubac(dir.path(), "verify f.ua", &[]);
    let text = certify(&format!("--binary --cc {cc}"));
    assert!(text.contains("[[proof.object]]") && text.contains("symbol = \"f\""), "{text}");
    assert!(out(&check()).ends_with("PROVED again\n"), "{}", out(&check()));
    // A hash that nothing has.
    let at = text.rfind("sha256 = \"").expect("a hash") + "sha256 = \"".len();
    let wrong = format!("{}{}{}", &text[..at], "0".repeat(8), &text[at + 8..]);
    fs::write(dir.path().join("proof/gp64.toml"), wrong).expect("written");
    let stale = check();
    assert_eq!(stale.status.code(), Some(1));
    assert!(out(&stale).contains("makes another object of it"), "{}", out(&stale));
    // A file is named too, and looked for beside the program.
    let file = object(dir.path(), family, "--entry f");
    fs::write(dir.path().join("mine.o"), &file).expect("written");
    let text = certify("--object mine.o");
    assert!(text.contains("by = \"mine.o\""), "{text}");
    assert!(out(&check()).ends_with("PROVED again\n"), "{}", out(&check()));
    let wrong = machine_faults::planted(&file, "f", machine_faults::Fault::Gate).expect("a gate");
    fs::write(dir.path().join("mine.o"), wrong).expect("written");
    let refuted = check();
    assert_eq!(refuted.status.code(), Some(1));
    assert!(out(&refuted).contains("REFUTED"), "{}", out(&refuted));
}

/// The help for an open question about an object answers it.
#[test]
fn open_questions_are_answered_by_the_flags_of_their_help() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let program = "node cube (x:u64) returns (y:u64) let y = x * x * x tel\n\
        node power (x,k:u64) returns (y:u64) let y = (cube(x ^ k) * (x ^ k)) ^ k tel\n";
    fs::write(dir.path().join("p.ua"), program).expect("written");
    let flags = format!("prove p.ua -V --entry power --binary --cc {cc}");
    let open = out(&usubac(dir.path(), &flags, &[]));
    let (_, more) = open.split_once("with `").expect("a help");
    let (more, _) = more.split_once('`').expect("its end");
    let proved = usubac(dir.path(), &format!("{flags} {more}"), &[]);
    assert!(proved.status.success(), "{more}: {}{}", out(&proved), err(&proved));
}

/// `prove --all` makes the objects that `prove FILE` makes with the same flags.
#[test]
fn proofs_of_folders_and_of_files_are_about_the_same_objects() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("c");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("c.ua"), CIPHER).expect("written");
    let description = DESCRIPTION.replace("[\"V\"]", "[\"B\"]");
    fs::write(folder.join("cipher.toml"), description).expect("written");
    // The hash of the object of `f`.
    let made = |flags: String| {
        let said = usubac(dir.path(), &format!("{flags} --cc {cc} --binary --format json"), &[]);
        assert!(said.status.success(), "{flags}: {}{}", out(&said), err(&said));
        let text = out(&said);
        let mut proofs = serde_json::Deserializer::from_str(&text).into_iter::<Value>().flatten();
        let proof = proofs.find(|proof| proof["entry"] == "f").expect("a proof");
        let claims = proof["claims"].as_array().expect("claims");
        claims.iter().find_map(|claim| claim["object"]["sha256"].as_str().map(str::to_string))
    };
    let mut seen = Vec::new();
    for flags in ["--key-registers", "--wipe", "--prefix own_"] {
        let all = made(format!("prove --all --ciphers . --no-cache --target avx2 {flags}"));
        let one = made(format!("prove c/c.ua -B --entry f --target avx2 {flags}"));
        assert!(all.is_some() && all == one, "{flags}: {all:?} and {one:?}");
        assert!(!seen.contains(&all), "{flags} changes nothing");
        seen.push(all);
    }
}

/// A product of two words and one that calls it.
const NUMBERS: &str = "value num (a:u64[2]) = a[0] + a[1] * 2^64\n\
    node mul (a,b:u64 in [0, 2^50)) returns (r:u64[2])\n\
    ensures num(r) == a * b\n\
    vars q, t: u128\n\
    let (q, t) = split(u128(a) * u128(b), 64); r[0] = u64(t); r[1] = u64(q) tel\n\
    node more (a,b:u64 in [0, 2^49)) returns (r:u64[2])\n\
    let r = mul(a + b, b) tel\n";

#[test]
fn certificates_name_contracts_and_kernels_that_are_called() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let write = |text: &str| fs::write(dir.path().join("n.ua"), text).expect("written");
    write(NUMBERS);
    let flags = format!("prove n.ua -V --entry more --prefix n_ --link mul --binary --cc {cc}");
    let proved = usubac(dir.path(), &format!("{flags} --certify"), &[]);
    let said = out(&proved);
    assert!(proved.status.success(), "{said}{}", err(&proved));
    assert!(said.contains("contract mul") && said.contains("mul proved by"), "{said}");
    let text = fs::read_to_string(dir.path().join("proof/gp64.toml")).expect("a certificate");
    assert!(text.contains("[[proof.contract]]") && text.contains("node = \"mul\""), "{text}");
    assert!(text.contains("--link mul --prefix n_"), "{text}");
    let check = || usubac(dir.path(), "verify n.ua", &[]);
    assert!(out(&check()).ends_with("PROVED again\n"), "{}{}", out(&check()), err(&check()));
    // Another text, whose contract does not hold.
    write(&NUMBERS.replace("== a * b", "== a * b + 1"));
    let wrong = check();
    assert!(!wrong.status.success() && err(&wrong).contains("does not hold"), "{}", err(&wrong));
    // The callee asks for less than the caller may hand over.
    write(&NUMBERS.replace("(a,b:u64 in [0, 2^50))", "(a,b:u64 in [0, 2^49))"));
    let open = usubac(dir.path(), &flags, &[]);
    assert!(!open.status.success(), "{}", out(&open));
}

/// Objects of a folder; functions without any are named, and nothing is proved twice.
#[test]
fn objects_of_folders_are_proved_once() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let ciphers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let flags = "trivium -V --target gp64,neon --cache cache --binary";
    let flags = format!("prove --ciphers {} {flags} --cc {cc}", ciphers.display());
    for again in [false, true] {
        let output = usubac(dir.path(), &flags, &[]);
        let said = out(&output);
        assert!(output.status.success(), "{said}{}", err(&output));
        assert!(said.contains(" of them before") == again, "{said}");
        assert!(said.contains(" objects PROVED: ") && said.contains(cc), "{said}");
        assert!(said.contains("SKIPPED: objects: `neon` is not"), "{said}");
    }
}

/// Kernels that use nothing of an extension equal the kernels of the target, and the output says
/// so. Arithmetic is proved where its folder says, and a second run reports in JSON, too.
#[test]
fn what_is_shared_or_left_out_is_said() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("ciphers/c/c.ua", CIPHER),
        ("ciphers/c/cipher.toml", DESCRIPTION),
        ("arithmetic/n/n.ua", NUMBERS),
        ("arithmetic/n/targets.toml", "\"n.ua\" = [\"gp64\"]\n"),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let targets = "--target gp64 --target avx512_ifma --target avx512_gfni --target avx512";
    let flags = format!("prove --all --ciphers ciphers --cache kept {targets} --binary --cc {cc}");
    let run = |more: &str| {
        let output = usubac(dir.path(), &format!("{flags}{more}"), &[]);
        assert!(output.status.success(), "{}{}", out(&output), err(&output));
        out(&output)
    };
    let said = run("");
    let left_out = "SKIPPED: n/n.ua on avx512_ifma, avx512_gfni, avx512: it is for gp64\n";
    for part in [
        "10 of 10 PROVED in ",
        "10 objects PROVED: 10 by ",
        "SHARED: 2 of 2 kernels for avx512_gfni are, to the byte, those of avx512\n",
        "SHARED: 2 of 2 kernels for avx512_ifma are, to the byte, those of avx512 or avx512_gfni\n",
        left_out,
        "time over all cores: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let lines = run(" --format json");
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let lines: Vec<serde_json::Value> = lines.lines().map(json).collect();
    let (totals, proofs) = lines.split_last().expect("totals");
    assert!(proofs.len() == 10 && proofs.iter().all(|p| p["before"] == true), "{proofs:?}");
    let totals = &totals["totals"];
    assert_eq!((totals["proved"].as_u64(), totals["before"].as_u64()), (Some(10), Some(10)));
    assert_eq!(totals["shared"][0]["shared"].as_u64(), Some(2), "{totals}");

    let path = dir.path().join("arithmetic/n/targets.toml");
    for (text, why) in [
        ("\"m.ua\" = []\n", "targets.toml:1:1: found `m.ua`, expected a program"),
        ("\"n.ua\" = [\"x\"]\n", "`x`"),
        (
            "[link.\"n.ua\"]\nmore = [\"x\"]\n",
            "targets.toml:2:9: found `x`, expected a node of `n.ua`",
        ),
        ("[nodes.\"n.ua\"]\nmore = [\"x\"]\n", "`x`"),
    ] {
        fs::write(&path, text).expect("written");
        let wrong = usubac(dir.path(), &flags, &[]);
        assert!(!wrong.status.success() && err(&wrong).contains(why), "{}", err(&wrong));
    }
}

/// On words of one bit, V is bitslicing: one of both is compiled and proved, and the other known.
#[test]
fn the_same_bits_in_two_slicings_are_one_object() {
    let Some((cc, _)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let cipher = CIPHER.replace("u32[2]", "u1[2]").replace(" <<< 7", "").replace(" <<< 3", "");
    let description = DESCRIPTION.replace("[\"V\"]", "[\"V\", \"B\"]");
    for (name, text) in [("ciphers/c/c.ua", cipher), ("ciphers/c/cipher.toml", description)] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let flags = format!(
        "prove --all --ciphers ciphers --no-cache --target gp64 --binary --cc {cc} --format json \
         --jobs 1"
    );
    let output = usubac(dir.path(), &flags, &[]);
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let lines: Vec<serde_json::Value> = out(&output).lines().map(json).collect();
    let claims = lines.iter().filter_map(|line| line["claims"].as_array()).flatten();
    let objects: Vec<bool> = claims
        .filter(|claim| claim["kind"] == "object")
        .map(|claim| claim["object"]["shared"] == true)
        .collect();
    assert_eq!(objects.len(), 4, "two nodes in two slicings");
    assert_eq!(objects.iter().filter(|&&shared| shared).count(), 2, "{objects:?}");
}

/// Ports of bytes in both orders; an object of the other order is another function.
#[test]
fn bytes_have_the_order_of_their_port() {
    let Some((cc, family)) = compiler() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let program = |order: &str, other: &str| {
        format!(
            "node g (x:u32[3] {order}, k:u64 {other}) returns (y:u32[3] {other}, z:u64 {order})\n\
             let y = x ^ (x <<< 1); z = k <<< 9 tel\n"
        )
    };
    for orders in [["le", "be"], ["be", "le"], ["le", "le"]] {
        fs::write(dir.path().join("f.ua"), program(orders[0], orders[1])).expect("written");
        for flags in ["", " --wipe"] {
            let flags = format!("prove f.ua -V --binary --cc {cc}{flags}");
            let proved = usubac(dir.path(), &flags, &[]);
            assert!(proved.status.success(), "{orders:?}: {}{}", out(&proved), err(&proved));
        }
        let bytes = object(dir.path(), family, "--entry g");
        fs::write(dir.path().join("g.o"), bytes).expect("written");
        for wrong in [["be", "be"], [orders[1], orders[0]]] {
            fs::write(dir.path().join("f.ua"), program(wrong[0], wrong[1])).expect("written");
            let refuted = usubac(dir.path(), "prove f.ua -V --object g.o --entry g", &[]);
            let same = wrong == orders;
            assert_eq!(refuted.status.success(), same, "{orders:?} as {wrong:?}");
            assert_eq!(out(&refuted).contains("REFUTED"), !same, "{}", out(&refuted));
        }
    }
}

/// Every file that is no such object is one message, with status 1.
#[test]
fn what_is_no_object_is_said() {
    let Some((cc, family)) = compiler() else { return };
    let dir = folder();
    let right = object(dir.path(), family, "--entry g");
    let path = dir.path().join("g.o");
    let ask = |args: &str| usubac(dir.path(), &format!("prove f.ua -V {args}"), &[]);
    fs::write(&path, &right).expect("written");
    let proved = ask("--object g.o --entry g");
    assert!(proved.status.success(), "{}{}", out(&proved), err(&proved));
    assert!(out(&proved).contains("g.o proved in every lane"), "{}", out(&proved));
    let symbol = ask("--object g.o --entry g --symbol other");
    assert!(err(&symbol).contains("no function `other`; it has g"), "{}", err(&symbol));

    let patched = |at: usize, bytes: &[u8]| {
        let mut file = right.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let files: [(Vec<u8>, &str); 11] = [
        (Vec::new(), "the file is empty"),
        (b"node f".to_vec(), "the file is a text"),
        (b"!<arch>\nmember".to_vec(), "an archive"),
        (b"BC\xc0\xde\x35\x14\0\0".to_vec(), "-flto"),
        (vec![0x7f; 100], "cannot be read"),
        (right[..right.len() / 2].to_vec(), "cannot be read"),
        (right[..70].to_vec(), "cannot be read"),
        // The machine, the kind of file, the byte order.
        (patched(18, &[40, 0]), "only x86-64"),
        (patched(16, &[2, 0]), "no segments"),
        (patched(5, &[2]), "the "),
        // The sections: none.
        (patched(0x3c, &[0, 0, 0, 0]), "no function `g`, and no other one"),
    ];
    for (file, why) in files {
        fs::write(&path, file).expect("written");
        let output = ask("--object g.o --entry g");
        let said = err(&output);
        assert_eq!(output.status.code(), Some(1), "{why}: {said}{}", out(&output));
        assert!(said.starts_with("error: ") && said.contains(why), "{why}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    // No such file, a file without end, one for which there is no machine, no compiler.
    let large = fs::File::create(&path).expect("a file");
    large.set_len(65 << 20).expect("a long file");
    let huge = ask("--object g.o --entry g");
    assert!(err(&huge).contains("larger than 64 MiB"), "{}", err(&huge));
    let missing = ask("--object other.o --entry g");
    assert!(err(&missing).contains("cannot read other.o"), "{}", err(&missing));
    let neon = ask("--binary --target neon --entry g");
    assert!(err(&neon).contains("`neon` is not for x86-64"), "{}", err(&neon));
    let (variable, flags) = (cc.to_uppercase(), format!("prove f.ua -V --binary --cc {cc}"));
    let none = usubac(dir.path(), &flags, &[(&variable, "no-such-compiler")]);
    assert!(err(&none).contains("no object can be made"), "{}", err(&none));
    for output in [symbol, huge, missing, neon, none] {
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(err(&output).lines().count(), 1, "{}", err(&output));
    }
}
