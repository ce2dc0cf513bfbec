//! Objects for RISC-V and AArch64.

use std::fs;
use std::path::Path;

use usuba_prove::compiler;
use usuba_run::cc::{Family, Foreign};

use super::{err, folder, out, usubac};

/// Objects for another machine are proved, whoever compiled them, and refused on other targets.
fn objects_for_another_machine_are_proved(foreign: Foreign, target: &str, more: &[&str]) -> bool {
    let dir = folder();
    let on = usuba::isa::find(target).expect("a target");
    let mut has_both = true;
    for (name, family) in [("gcc", Family::Gcc), ("clang", Family::Clang)] {
        let compiler = match compiler::Compiler::find_foreign(on, foreign, family) {
            Ok(compiler) => compiler,
            Err(skip) => {
                println!("{skip}");
                has_both = false;
                continue;
            }
        };
        let cc = format!("{}{name}", foreign.prefix());
        let flags = format!("prove f.ua -V --entry f --binary --target {target} --cc {cc}");
        let proved = usubac(dir.path(), &flags, &[]);
        let said = out(&proved);
        assert!(proved.status.success(), "{said}{}", err(&proved));
        let first = format!("in V on {target}: PROVED\n");
        for part in [&*first, &*format!("by {cc} "), "in constant time"] {
            assert!(said.contains(part), "{said}");
        }
        let none = usubac(dir.path(), &format!("{flags} --plant gate@object"), &[]);
        assert!(err(&none).contains("no place for the fault after object"), "{}", err(&none));
        let other = usubac(dir.path(), &flags.replace(target, "avx2"), &[]);
        assert_eq!(other.status.code(), Some(1));
        let has = format!("{} such C", foreign.targets());
        assert!(err(&other).contains(&has), "{}", err(&other));
        let made = usubac(dir.path(), &format!("f.ua -V --entry f --target {target} -o f.c"), &[]);
        assert!(made.status.success(), "{}", err(&made));
        let text = fs::read_to_string(dir.path().join("f.c")).expect("a kernel");
        let object = compiler.object(&text, "c", more).expect("it compiles");
        fs::write(dir.path().join("f.o"), object).expect("written");
        let given = format!("prove f.ua -V --entry f --target {target} --object f.o");
        let proved = usubac(dir.path(), &given, &[]);
        assert!(proved.status.success(), "{}{}", out(&proved), err(&proved));
        let other = usubac(dir.path(), &given.replace(target, "avx2"), &[]);
        let says = format!("the object is for {}", foreign.name());
        assert!(err(&other).contains(&says), "{}", err(&other));
        let wrong = usubac(dir.path(), &given.replace("--entry f", "--entry g --symbol f"), &[]);
        assert_eq!(wrong.status.code(), Some(1), "{}", out(&wrong));
    }
    has_both
}

/// One of some ciphers is proved, with each of its functions, by both compilers for another machine:
/// its kernels, or its functions over blocks.
fn a_cipher_is_proved(foreign: Foreign, target: &str, names: &[&str], objects: &str) {
    let dir = folder();
    let name = names[usuba_gen::level::turn_of(names.len() as u64) as usize];
    let [gcc, clang] = ["gcc", "clang"].map(|name| format!("{}{name}", foreign.prefix()));
    let flags = format!("prove {name} --target {target} {objects} --cc {gcc},{clang} --no-cache");
    let proved = usubac(dir.path(), &flags, &[]);
    let said = out(&proved);
    assert!(proved.status.success(), "{name}: {said}{}", err(&proved));
    match objects {
        "--binary" => {
            let has = |by: &String| said.contains(&format!("by {by} "));
            assert!([gcc, clang].iter().all(has), "{said}");
        }
        _ => assert!(said.contains("functions of the byte interface PROVED"), "{said}"),
    }
}

#[test]
fn objects_for_riscv_are_proved() {
    let foreign = Foreign::Riscv;
    if objects_for_another_machine_are_proved(foreign, "gp32", &["-Os", "-march=rv32imc"]) {
        // Words of 32 and of 64 bits, single bits, and tables.
        let names =
            ["ascon", "chacha20", "sha2", "gift", "xoodoo", "simon", "salsa20", "rectangle"];
        a_cipher_is_proved(foreign, "gp32", &names, "--binary");
    }
}

#[test]
fn objects_for_aarch64_are_proved() {
    let foreign = Foreign::Aarch64;
    let has_both = ["neon", "gp64"].map(|target| {
        objects_for_another_machine_are_proved(
            foreign,
            target,
            &["-O2", "-mbranch-protection=standard"],
        )
    });
    if has_both == [true; 2] {
        // `not-proved.md` says which function of RECTANGLE is missing.
        let names = [
            "ace",
            "aes",
            "ascon",
            "chacha20",
            "clyde",
            "des",
            "drygascon",
            "gift",
            "gimli",
            "noekeon",
            "photon",
            "present",
            "prince",
            "pyjamask",
            "salsa20",
            "sha2",
            "simon",
            "skinny",
            "sm4",
            "spongent",
            "subterranean",
            "trivium",
            "xoodoo",
        ];
        let mut objects = ["--binary", "--interface"];
        objects.rotate_left(usuba_gen::level::turn_of(2) as usize);
        a_cipher_is_proved(foreign, "neon", &names, objects[0]);
        a_cipher_is_proved(foreign, "gp64", &names, objects[1]);
        // Products, carries and borrows: one node of the field and of the scalars.
        let nodes = [
            ("curve25519/limbs51.ua", "mul"),
            ("curve25519/limbs51.ua", "add_affine"),
            ("order25519/limbs63.ua", "reduce"),
            ("poly1305/words64.ua", "chain"),
        ];
        let (file, node) = nodes[usuba_gen::level::turn_of(nodes.len() as u64) as usize];
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic").join(file);
        let flags = format!(
            "prove {} --entry {node} -V --target gp64 --binary --cc aarch64-gcc,aarch64-clang",
            path.display()
        );
        let proved = usubac(folder().path(), &flags, &[]);
        assert!(proved.status.success(), "{}{}", out(&proved), err(&proved));
    }
    // Without a compiler for it the target has no objects.
    let none = usubac(folder().path(), "prove f.ua -V --entry f --target neon --binary", &[]);
    assert!(err(&none).contains("--cc aarch64-gcc,aarch64-clang"), "{}", err(&none));
}
