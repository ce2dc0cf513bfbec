//! Tests of the models of other machines: functions that their compilers write, and a call graph.

use usuba::isa;
use usuba_object::Rule;
use usuba_object::blocks::Turning;
use usuba_object::callgraph::CallGraph;
use usuba_object::elf::Object;
use usuba_object::safety::{Bytes, Function, Parameter, Returns, prove};
use usuba_prove::compiler::Compiler;
use usuba_run::cc::{Family, Foreign};

use super::contracts::contract;
use super::read;

/// The C for `target` of a function with a status, at each of `levels`, is safe for its contract, and
/// not with an output that is a byte shorter. The number of compilers that were found.
pub fn functions_in_c_are_safe<M: Turning>(
    foreign: Foreign,
    target: &str,
    levels: &[&str],
    longest: u64,
) -> usize {
    let mut function: Function = contract(Returns::Status);
    function.equal.push([0, 2]);
    let target = isa::find(target).expect("a target");
    // Some machines have no library of C, whose header declares these functions.
    let declared = "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n\
                    void *memset(void *, int, size_t);";
    let text = include_str!("status.c").replace("#include <string.h>", declared);
    let mut count = 0;
    for family in [Family::Gcc, Family::Clang] {
        let compiler = match Compiler::find_foreign(target, foreign, family) {
            Ok(compiler) => compiler,
            Err(skip) => {
                println!("{skip}");
                continue;
            }
        };
        count += 1;
        for level in levels {
            let bytes = compiler.object(&text, "c", &[level]).expect("it compiles");
            let object = read(&bytes);
            let by = format!("{} {level}", compiler.name);
            let evidence = prove::<M>(&object, &function, longest).expect(&by);
            assert_eq!(evidence.residue.frame, 0, "{by}: {evidence:?}");
            assert!(!evidence.told.is_empty(), "{by}: {evidence:?}");
            let mut short = function.clone();
            let Parameter::Buffer(out) = &mut short.parameters[2] else { unreachable!() };
            out.bytes = Bytes::Fixed(31);
            let fault = prove::<M>(&object, &short, longest).expect_err(&by);
            assert_eq!(fault.rule, Rule::OutOfBounds, "{by}: {fault}");
        }
    }
    count
}

/// The functions of the test below by the instructions of a machine: a call, a jump and a branch to
/// a function, and its address.
pub fn functions(call: &str, jump: &str, branch: &str, address: &str) -> String {
    let end = |name| format!(".size {name}, .-{name}");
    let begin = |name| format!(".type {name}, @function; {name}:");
    let bodies = [("g", format!("{jump} h")), ("h", format!("{branch} k; ret"))];
    let more = [("k", "ret".into()), ("l", format!("{address} m; ret")), ("m", "ret".into())];
    let rest = bodies.into_iter().chain(more);
    let rest = rest.map(|(name, body)| format!("{} {body}; {}", begin(name), end(name)));
    format!("{call} g; ret; {}; {}", end("f"), rest.collect::<Vec<_>>().join("; "))
}

/// Who calls a function of an object, by name; `None` where others may.
pub fn callers(file: &Object, callee: &str) -> Option<Vec<String>> {
    let graph = CallGraph::new(file);
    let callee = file.functions().iter().find(|function| function.name == callee).expect(callee);
    let places = graph.callers(callee.place).ok()?;
    let all = file.functions().iter().filter(|function| places.contains(&function.place));
    Some(all.map(|function| function.name.clone()).collect())
}

/// In the object of [`functions`] all callers are known, except of `m`, whose address is taken, and of
/// `f`, which others see.
pub const CALLERS: [(&str, Option<&str>); 5] =
    [("f", None), ("g", Some("f")), ("h", Some("g")), ("k", Some("h")), ("m", None)];
