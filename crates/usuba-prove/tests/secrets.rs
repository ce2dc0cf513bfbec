//! Machine code under valgrind, with undefined keys and blocks.
//!
//! ```text
//! undefined(key), undefined(in)          memcheck follows each of their bits
//! init(&ctx, key); blocks(&ctx, in, out) a branch or an address that depends on one is reported
//! kernel(p0, p1, ..., r0)                the same without the byte interface
//! defined(out)
//! ```
//!
//! This test repeats the claims of proofs of object files for other code (the byte interface and
//! the key schedule, too) and by other means: memcheck observes an execution, independent of our
//! models. It runs every function of every cipher in every slicing, on the targets of this machine
//! that valgrind knows; the others are skipped by name. All of it is part of the long runs only, or
//! of a run that names folders.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use usuba_gen::{asks, asks_rarely, level};
use usuba_run::objects::Cache;

use rayon::prelude::*;
use usuba::Options;
use usuba::emit::c::COptions;
use usuba::isa::{self, Target};
use usuba_ciphers::Cipher;
use usuba_prove::byte_interface;
use usuba_run::cc::{self, Machine};
use usuba_run::functions::Built;
use usuba_run::memcheck::{self, REQUESTS};

/// Features that valgrind 3.19 to 3.24 does not execute.
const UNKNOWN: &[&str] = &["avx512f", "gfni"];

/// How to build code for a target that valgrind can run.
fn machine(target: &Target) -> Result<Machine, String> {
    memcheck::valgrind()?;
    let flag = |feature: &&&str| target.cflags.contains(&format!("-m{feature}").as_str());
    if let Some(feature) = UNKNOWN.iter().find(flag) {
        return Err(format!("valgrind does not know {feature}"));
    }
    let machine = cc::find(target.name).map_err(|skip| skip.why)?;
    match machine.is_native() && cfg!(target_arch = "x86_64") {
        true => Ok(machine),
        false => Err("it runs in an emulator, or on another processor".into()),
    }
}

/// The reports of valgrind on a program, or an empty text.
///
/// # Errors
/// It cannot be built, or dies.
fn reports(machine: &Machine, files: &[String]) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut objects = Vec::new();
    for (number, text) in files.iter().enumerate() {
        let (source, object) = (format!("f{number}.c"), format!("f{number}.o"));
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path(&source), text).map_err(|error| error.to_string())?;
        let mut command = machine.compile();
        command
            .args(memcheck::LINES)
            .args(["-O2", "-c", "-o"])
            .arg(path(&object))
            .arg(path(&source));
        run(&mut command)?;
        objects.push(path(&object));
    }
    let program = folder.path().join("run");
    run(machine.compile().arg("-o").arg(&program).args(&objects))?;
    memcheck::examined(&program)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = Cache::user().run(command).map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// C that runs all of one function: each of its loops and tails once, and the kernel alone.
fn driver(built: &Built, number: usize, key: usize) -> String {
    let Built { name, kernel, single, input, output, .. } = built;
    let batch = kernel.instances() as usize;
    // A batch, a set if there are any, and a tail of it; more than half a batch is a tail, too.
    let counts = match single {
        Some(single) => vec![batch + single.instances() as usize + 1, batch / 2 + 1],
        None => vec![batch + 1],
    };
    let most = counts[0];
    let mut text = format!(
        "void secret_{number}(void);\nvoid secret_{number}(void) {{\n    \
         static uint8_t in[{}], out[{}];\n    usuba_undefined(in, sizeof in);\n",
        most * input,
        most * output
    );
    let context = match built.keyed() {
        true => {
            let _ = write!(
                text,
                "    static uint8_t key[{key}];\n    static {name}_ctx ctx;\n    \
                 usuba_undefined(key, sizeof key);\n    {name}_init(&ctx, key);\n"
            );
            "&ctx, "
        }
        false => "",
    };
    for blocks in counts {
        let _ = writeln!(text, "    {name}_blocks({context}in, out, {blocks});");
    }
    text += "    usuba_defined(out, sizeof out);\n";
    let mut args = Vec::new();
    for (at, port) in kernel.params.iter().chain(&kernel.results).enumerate() {
        let _ = writeln!(text, "    static {} p{at}[{}];", port.c_type, port.registers);
        if at < kernel.params.len() {
            let _ = writeln!(text, "    usuba_undefined(p{at}, sizeof p{at});");
        }
        args.push(format!("p{at}"));
    }
    let _ = writeln!(text, "    {}({});\n}}", kernel.name, args.join(", "));
    text
}

/// All functions of a cipher that a target has: how many kernels ran, and the reports.
fn cipher_reports(cipher: &Cipher, target: &'static Target) -> Result<(usize, String), String> {
    let machine = machine(target)?;
    let mut files = Vec::new();
    for function in cipher.functions.iter().filter(|function| function.is_for(target)) {
        let key = cipher.vectors(function)?[0].key.len();
        for &slicing in &function.slicings {
            let name = format!("{}_{slicing:?}", function.name);
            let c = COptions { name, ..COptions::default() };
            // Other tests cover the passes.
            let options = Options { c, ..byte_interface::options(slicing, target) };
            let built = usuba_run::functions::build_as(cipher, function, slicing, &options)?;
            let driver = driver(&built, files.len(), key);
            files.push(format!("{}{REQUESTS}{driver}", built.text));
        }
    }
    let count = files.len();
    let mut main = String::new();
    for number in 0..count {
        let _ = writeln!(main, "void secret_{number}(void);");
    }
    main += "int main(void) {\n";
    for number in 0..count {
        let _ = writeln!(main, "    secret_{number}();");
    }
    main += "    return 0;\n}\n";
    files.push(main);
    Ok((count, reports(&machine, &files)?))
}

#[test]
fn no_secret_decides_what_runs_or_where() {
    // FOLDERS restricts a run to folders, separated by commas.
    let wanted = std::env::var("FOLDERS").ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut ciphers = usuba_ciphers::find(&root).expect("the cipher folders can be read");
    ciphers.retain(|cipher| {
        let name = cipher.folder.file_name().unwrap_or_default().to_string_lossy();
        wanted.as_ref().is_none_or(|all| all.split(',').any(|one| one == name))
    });
    let mut targets = Vec::new();
    for target in isa::all() {
        match machine(target) {
            Ok(_) => targets.push(target),
            Err(why) => println!("skipped {}: {why}", target.name),
        }
    }
    let jobs: Vec<(&Cipher, &'static Target)> =
        ciphers.iter().flat_map(|c| targets.iter().map(move |&target| (c, target))).collect();
    let asked = |&(cipher, target): &(&Cipher, &Target)| {
        wanted.is_some() || asks_rarely!("{} on {}", cipher.title, target.name)
    };
    let jobs: Vec<_> = jobs.into_iter().filter(asked).collect();
    let done: Vec<Result<usize, String>> = jobs
        .par_iter()
        .map(|&(cipher, target)| {
            let what = format!("{} on {}", cipher.title, target.name);
            match cipher_reports(cipher, target) {
                Ok((count, said)) if said.is_empty() => {
                    println!("{what}: {count} kernels");
                    Ok(count)
                }
                Ok((_, said)) | Err(said) => {
                    println!("{what}: not so");
                    Err(format!("{what}: {said}"))
                }
            }
        })
        .collect();
    let failed: Vec<&String> = done.iter().filter_map(|answer| answer.as_ref().err()).collect();
    let kernels: usize = done.iter().flatten().sum();
    println!("{kernels} kernels on {} targets", targets.len());
    let list: Vec<&str> = failed.iter().map(|text| text.as_str()).collect();
    assert!(list.is_empty(), "{}", list.join("\n"));
    let enough = !level::is_whole() || wanted.is_some() || kernels > 50 * targets.len();
    assert!(targets.is_empty() || enough, "only {kernels} kernels");
}

/// Code that violates each rule, and the same without the fault.
#[test]
fn planted_secrets_are_reported() {
    if !asks!() {
        return;
    }
    let target = isa::find("gp64").expect("a target");
    let machine = match machine(target) {
        Ok(machine) => machine,
        Err(why) => return println!("skipped: {why}"),
    };
    let with = |use_of_it: &str| {
        let text = format!(
            "{REQUESTS}static volatile uint8_t table[256], sink;\nint main(void) {{\n    \
             static uint8_t in[16];\n    usuba_undefined(in, sizeof in);\n    \
             const volatile uint8_t *secret = in;\n    {use_of_it}\n    \
             usuba_defined(in, sizeof in);\n    return 0;\n}}\n"
        );
        reports(&machine, &[text]).expect("it is built and ends")
    };
    assert_eq!(with("sink = (uint8_t)((secret[0] ^ secret[1]) & secret[2]);"), "");
    assert_eq!(with("sink = (uint8_t)(secret[0] + 3 * secret[1]);"), "");
    let branch = with("if (secret[3] & 4) { sink = 1; table[7] = 2; sink = table[8]; }");
    assert!(branch.contains("Conditional jump or move depends on uninitialised"), "{branch}");
    let index = with("sink = table[secret[5]];");
    assert!(index.contains("Use of uninitialised value"), "{index}");
    let place = with("table[secret[5]] = 1;");
    assert!(place.contains("Use of uninitialised value"), "{place}");
}
