//! The machine code of NaCl as users build it: instructions and calls that the prover understands.

use std::collections::BTreeSet;
use std::process::Command;

use iced_x86::{Decoder, DecoderOptions};
use usuba_gen::asks;
use usuba_object::callgraph::CallGraph;
use usuba_object::elf::{Function, Object};
use usuba_object::extensions::Extensions;
use usuba_object::x86::Row;
use usuba_run::cc::Family;

use crate::object::{compiler, nacl, run, write};

/// Flags by which distributions build libraries.
const HARDENED: [&str; 6] = [
    "-fPIC",
    "-fstack-protector-strong",
    "-fstack-clash-protection",
    "-fcf-protection",
    "-shared",
    "-Wl,-z,now",
];

/// NaCl by a compiler with these flags; `None` if there is no such compiler.
fn built(family: Family, flags: &[&str]) -> Option<Object> {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), nacl());
    let mut compile = Command::new(compiler(family)?);
    run(folder.path(), compile.args(flags).args(["usuba-nacl.c", "-o", "it"]));
    let file = std::fs::read(folder.path().join("it")).expect("it was just made");
    Some(Object::read(&file, Extensions::ALL).expect("a file of the compiler"))
}

/// The instructions of a function that no row of the model describes.
fn unmodelled(object: &Object, function: &Function) -> BTreeSet<String> {
    let code = object.code(function.place, function.size as usize);
    let decoder = Decoder::with_ip(64, code, function.place, DecoderOptions::NONE);
    let unknown = decoder.into_iter().filter(|i| i.is_invalid() || Row::of(i).is_none());
    unknown.map(|i| format!("{}: {i}", function.name)).collect()
}

/// Each instruction has a row, and each local function has known callers unless a table of dispatch
/// has its address. Start-up code of the compiler is not ours.
#[test]
fn machine_code_of_nacl_is_understood() {
    for (number, family) in [Family::Gcc, Family::Clang].into_iter().enumerate() {
        for (at, flags) in
            [&["-O2", "-c"][..], &[&["-O2"], &HARDENED[..]].concat()].into_iter().enumerate()
        {
            if !asks!() && at != number {
                continue;
            }
            let Some(object) = built(family, flags) else {
                println!("skipped: there is no {family:?}");
                continue;
            };
            let graph = CallGraph::new(&object);
            let all = object.functions().iter();
            let own = all.filter(|function| function.name.starts_with("usuba_"));
            let mut local = 0;
            for function in own.clone() {
                assert_eq!(unmodelled(&object, function), BTreeSet::new(), "{family:?} {flags:?}");
                let calls = graph.calls(function.place).expect("it is a function");
                for &callee in &calls.direct {
                    let is_function = object.functions().iter().any(|known| known.place == callee);
                    assert!(is_function || object.outside(callee).is_some(), "{}", function.name);
                }
                local += usize::from(!function.is_exported);
                match graph.callers(function.place) {
                    Ok(callers) => assert!(!callers.is_empty(), "{} is dead", function.name),
                    Err("it is exported") => {}
                    Err(reason) => {
                        let is_kernel = function.name.ends_with("_gp64");
                        assert!(
                            is_kernel && reason.contains("taken"),
                            "{}: {reason}",
                            function.name
                        );
                    }
                }
            }
            assert!(
                own.count() > 200 && local > 40,
                "{family:?} {flags:?}: {local} local functions"
            );
        }
    }
}
