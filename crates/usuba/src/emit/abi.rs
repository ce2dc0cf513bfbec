//! The C interface of the original compiler, for drivers that were written for it.
//!
//!     node f (a:u16x4, k:const u16) returns (b:u16x4)
//!     void f__ (DATATYPE a__[4], DATATYPE k__, DATATYPE b__[4])
//!
//! Names end in two underscores, and every quote is two more. Every word is a `DATATYPE`, which
//! the header of the target defines; arrays keep their dimensions, bitslicing appends the word
//! size; single words are passed by value, single results by pointer. The function is a wrapper
//! around a `static` kernel. It computes into arrays of its own and copies them, since old
//! drivers may pass the same array as input and output.

use std::fmt::Write;

use super::c::{COptions, Emitted, kernel};
use super::header;
use crate::ir::{Port, Program};
use crate::target::{Layout, Target, word_lane, word_type};

/// The header of the original for each target, and the register width that it must be told.
fn original(target: &Target) -> (&'static str, u32) {
    match target.name {
        "sse" => ("SSE.h", 128),
        "avx2" => ("AVX.h", 256),
        "avx512" => ("AVX512.h", 512),
        "neon" => ("Neon.h", 128),
        _ => ("STD.h", target.bits),
    }
}

/// The name of the original for an Usuba identifier.
pub fn spell(name: &str) -> String {
    format!("{name}'").replace('\'', "__")
}

/// Prints the kernel of `program` behind the interface of the original.
pub fn usubac(program: &Program, target: &Target, options: &COptions) -> Emitted {
    let entry = program.entry();
    let base = if options.name.is_empty() { &entry.name } else { &options.name };
    let name = format!("{}{}", options.prefix, spell(base));
    let inner = COptions {
        prefix: String::new(),
        name: format!("{name}kernel"),
        hidden: true,
        ..options.clone()
    };
    let mut emitted = kernel(program, target, &inner);
    let (include, register) = original(target);
    // General-purpose words of V all have the type of the widest, where the original took the
    // first parameter and truncated the others.
    let bits = match emitted.layout {
        Layout::Words => {
            let words = entry.params.iter().chain(&entry.results).map(|port| port.word);
            word_lane(words.max().unwrap_or(8)) as u32
        }
        _ => register,
    };
    let data = if target.simd { target.register } else { word_type(bits as u8) };
    let (prototype, body) = wrapper(program, &emitted, &name, data);
    let marker = "#include <stdint.h>\n";
    let after = emitted.text.find(marker).expect("the kernel includes its types") + marker.len();
    let define = format!(
        "\n#ifndef BITS_PER_REG\n#define BITS_PER_REG {bits}\n#endif\n#include \"{include}\"\n"
    );
    emitted.text.insert_str(after, &define);
    emitted.text.push('\n');
    emitted.text.push_str(&header::declaration(&prototype));
    let _ = write!(emitted.text, "\n{prototype}\n{{\n{body}}}\n");
    emitted.name = name;
    emitted.prototype = prototype;
    emitted
}

/// The prototype and the body of the wrapper; `data` is what `DATATYPE` stands for.
fn wrapper(program: &Program, emitted: &Emitted, name: &str, data: &str) -> (String, String) {
    let entry = program.entry();
    let slicing = program.slicing;
    let shape = |port: &Port| -> String {
        port.value_dims(slicing).iter().map(|d| format!("[{d}]")).collect()
    };
    let mut declared = Vec::new();
    let mut before = String::new();
    let mut after = String::new();
    let mut actual = Vec::new();
    for (i, (port, text)) in entry.params.iter().zip(&emitted.params).enumerate() {
        let (c_name, dims) = (spell(&port.name), shape(port));
        declared.push(format!("DATATYPE {c_name}{dims}"));
        let address = if dims.is_empty() { format!("&{c_name}") } else { c_name };
        if text.c_type == data {
            actual.push(format!("(const DATATYPE *){address}"));
            continue;
        }
        let _ = writeln!(before, "    {} in{i}[{}];", text.c_type, text.registers);
        let copy = format!("in{i}[i] = ({})((const DATATYPE *){address})[i]", text.c_type);
        let _ = writeln!(before, "    for (int i = 0; i < {}; i++) {copy};", text.registers);
        actual.push(format!("in{i}"));
    }
    for (i, (port, text)) in entry.results.iter().zip(&emitted.results).enumerate() {
        let (c_name, dims) = (spell(&port.name), shape(port));
        let star = if dims.is_empty() { "*" } else { "" };
        declared.push(format!("DATATYPE {star}{c_name}{dims}"));
        let _ = writeln!(before, "    {} out{i}[{}];", text.c_type, text.registers);
        let copy = format!("((DATATYPE *){c_name})[i] = out{i}[i]");
        let _ = writeln!(after, "    for (int i = 0; i < {}; i++) {copy};", text.registers);
        actual.push(format!("out{i}"));
    }
    let list = if declared.is_empty() { "void".to_string() } else { declared.join(", ") };
    let call = format!("    {}({});\n", emitted.name, actual.join(", "));
    (format!("void {name} ({list})"), before + &call + &after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{NodeId, Op, Slicing};
    use crate::target::find;

    /// `node f (a:u16x4, k:const u16) returns (b:u16x4) let b = a ^ (k,k,k,k) tel`
    fn program(slicing: Slicing) -> Program {
        let mut build = Builder::new("f", slicing);
        let a = build.param(Port::new("a", 16, &[4]));
        let k = build.param(Port::new("k", 16, &[]).constant());
        let pairs = (0..a.len()).map(|i| [a[i], k[i % k.len()]]);
        let outs = pairs.map(|pair| build.op(Op::Xor, &pair)).collect();
        let node = build.finish(vec![(Port::new("b", 16, &[4]), outs)]);
        Program { nodes: vec![node], entry: NodeId(0), slicing }
    }

    #[test]
    fn prototypes_are_those_of_the_original() {
        let gp64 = find("std").expect("a target");
        let vertical = usubac(&program(Slicing::V), gp64, &COptions::default());
        assert_eq!(vertical.prototype, "void f__ (DATATYPE a__[4], DATATYPE k__, DATATYPE b__[4])");
        assert!(vertical.text.contains("#define BITS_PER_REG 16\n"));
        let sliced = usubac(&program(Slicing::B), gp64, &COptions::default());
        assert_eq!(
            sliced.prototype,
            "void f__ (DATATYPE a__[4][16], DATATYPE k__[16], DATATYPE b__[4][16])"
        );
        assert_eq!(spell("f'"), "f____");
    }
}
