//! The C interface of the OCaml compiler of Mercadier and Dagand, for drivers written for it.
//!
//!     node f (a:u16x4, k:const u16) returns (b:u16x4)
//!     void f__ (DATATYPE a__[4], DATATYPE k__, DATATYPE b__[4])
//!
//! Names end in two underscores, and every quote is two more; one that begins with an underscore
//! gets a `u` before it, since such names belong to C compilers. Every word is a `DATATYPE`, which
//! the header of the target defines; arrays keep their dimensions, bitslicing appends the word
//! size; single words are passed by value, single results by pointer. The function is a wrapper
//! around a `static` kernel. It computes into arrays of its own and copies them, since old
//! drivers may pass the same array as input and output, or bitsliced words that are narrower than
//! a register. Of interleaved instances each keeps its own
//! parameters, `a__` and `a____2`, which the wrapper puts side by side for the kernel.

use std::fmt::Write;

use super::c::{COptions, Emitted, kernel};
use super::header::{self, PortText};
use crate::ir::{Port, Program};
use crate::isa::{Layout, Target, word_lane, word_type};

/// The C name that the OCaml compiler gives an Usuba identifier.
pub fn spell(name: &str) -> String {
    let first = if name.starts_with('_') { "u" } else { "" };
    format!("{first}{name}'").replace('\'', "__")
}

/// The names of ports. After interleaving, the ports `a''2`, `a''3` that follow `a` get its name
/// and their number. A name that is taken gets underscores until it is free.
fn spell_ports<'a>(ports: impl Iterator<Item = &'a Port>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // The last port of the first instance: its name in Usuba and in C, and its number of instances.
    let (mut base, mut first, mut copies) = ("", String::new(), 0);
    for port in ports {
        copies += 1;
        let mut name = if copies > 1 && port.name == format!("{base}''{copies}") {
            format!("{first}__{copies}")
        } else {
            (base, first, copies) = (port.name.as_str(), spell(&port.name), 1);
            first.clone()
        };
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

/// The type for `DATATYPE` in the layout of a kernel, and its `BITS_PER_REG`.
fn data_type(
    program: &Program,
    target: &Target,
    layout: Layout,
    options: &COptions,
) -> (&'static str, u32) {
    // General-purpose words of V all have the type of the widest; the OCaml compiler took the first
    // parameter and truncated the others.
    let bits = match layout {
        Layout::Words => {
            let entry = program.entry();
            let words = entry.params.iter().chain(&entry.results).map(|port| port.word);
            word_lane(words.max().unwrap_or(8)) as u32
        }
        _ => options.data_bits.unwrap_or(target.bits),
    };
    (if target.simd { target.register } else { word_type(bits as u8) }, bits)
}

/// The lines that define `DATATYPE`.
fn includes(target: &Target, (data, bits): (&str, u32)) -> String {
    let include = target.original;
    if include.is_empty() {
        return format!("#ifndef DATATYPE\n#define DATATYPE {data}\n#endif\n");
    }
    format!("#ifndef BITS_PER_REG\n#define BITS_PER_REG {bits}\n#endif\n#include \"{include}\"\n")
}

/// Prints the kernel of `program` behind the interface of the OCaml compiler.
///
/// Names, types and registers of the ports in the answer are the ones of the wrapper.
pub fn usubac(program: &Program, target: &Target, options: &COptions) -> Emitted {
    let entry = program.entry();
    let base = if options.name.is_empty() { &entry.name } else { &options.name };
    let name = format!("{}{}", options.prefix, spell(base));
    let inner = COptions {
        prefix: String::new(),
        name: format!("{name}kernel"),
        hidden: true,
        registers: true,
        ..options.clone()
    };
    let emitted = kernel(program, target, &inner);
    let (data, bits) = data_type(program, target, emitted.layout, options);
    let names = spell_ports(entry.params.iter().chain(&entry.results));
    let texts = |ports: &[Port], names: &[String]| -> Vec<PortText> {
        let text = |(port, name): (&Port, &String)| {
            let ports = std::slice::from_ref(port);
            let text = PortText::new(program, target, emitted.layout, ports, name, true);
            PortText { c_type: data, ..text }
        };
        ports.iter().zip(names).map(text).collect()
    };
    let (of_params, of_results) = names.split_at(entry.params.len());
    let (params, results) = (texts(&entry.params, of_params), texts(&entry.results, of_results));
    let lanes = options.data_bits.unwrap_or(emitted.lanes);
    let mut outer = Emitted { name, params, results, lanes, ..emitted.clone() };
    let (prototype, body) = wrapper(program, &emitted, &outer);
    outer.prototype = prototype;
    let inside = header::comment(program, target, &inner, &emitted);
    let code = emitted.text.strip_prefix(&inside).expect("the kernel opens with its comment");
    outer.text = comment(program, target, options, &outer) + code;
    // The macros come after the kernel, whose names they could hit.
    let _ = write!(outer.text, "\n{}\n", includes(target, (data, bits)));
    outer.text.push_str(&header::declaration(target, &outer.prototype));
    let _ = write!(outer.text, "\n{}\n{{\n{body}}}\n", outer.prototype);
    outer
}

/// The comment on top, with the overlaps that the wrapper allows and a bare kernel does not.
fn comment(program: &Program, target: &Target, options: &COptions, emitted: &Emitted) -> String {
    header::comment(program, target, options, emitted)
        .replace("Inputs and outputs must not overlap.", "An output may be the array of an input.")
}

/// The header file for the output of [`usubac`].
pub fn header(program: &Program, target: &Target, options: &COptions, emitted: &Emitted) -> String {
    let (data, bits) = data_type(program, target, emitted.layout, options);
    let guard = format!("{}_H", emitted.name.to_uppercase());
    let mut text = comment(program, target, options, emitted);
    let _ =
        write!(text, "\n#ifndef {guard}\n#define {guard}\n\n{}", includes(target, (data, bits)));
    let _ = write!(text, "\n{}\n#endif\n", header::declaration(target, &emitted.prototype));
    text
}

/// The prototype and the body of the wrapper `outer` around the kernel `inner`.
fn wrapper(program: &Program, inner: &Emitted, outer: &Emitted) -> (String, String) {
    let shape = |port: &Port| -> String {
        port.value_dims(program.slicing).iter().map(|d| format!("[{d}]")).collect()
    };
    // A loop over the registers of set `set` of an array inside.
    let copy = |set: usize, size: usize, line: &dyn Fn(String) -> String| {
        let at = if set > 0 { format!("{} + i", set * size) } else { "i".to_string() };
        format!("    for (int i = 0; i < {size}; i++) {};\n", line(at))
    };
    let mut declared = Vec::new();
    let mut before = String::new();
    let mut after = String::new();
    let mut actual = Vec::new();
    let mut outside = outer.params.iter();
    for (i, (ports, text)) in program.params().into_iter().zip(&inner.params).enumerate() {
        let ty = text.c_type;
        let mut copies = format!("    {ty} in{i}[{}];\n", text.registers);
        let mut whole = None;
        for (set, (port, out)) in ports.iter().zip(outside.by_ref()).enumerate() {
            let (name, dims) = (&out.name, shape(port));
            declared.push(format!("DATATYPE {name}{dims}"));
            let address = if dims.is_empty() { format!("&{name}") } else { name.clone() };
            let line = |at| format!("in{i}[{at}] = ({ty})((const DATATYPE *){address})[i]");
            copies += &copy(set, out.registers, &line);
            let is_whole = ports.len() == 1 && ty == out.c_type;
            whole = is_whole.then(|| format!("(const DATATYPE *){address}"));
        }
        if whole.is_none() {
            before += &copies;
        }
        actual.push(whole.unwrap_or_else(|| format!("in{i}")));
    }
    let mut outside = outer.results.iter();
    for (i, (ports, text)) in program.results().into_iter().zip(&inner.results).enumerate() {
        let _ = writeln!(before, "    {} out{i}[{}];", text.c_type, text.registers);
        for (set, (port, out)) in ports.iter().zip(outside.by_ref()).enumerate() {
            let (name, dims) = (&out.name, shape(port));
            let star = if dims.is_empty() { "*" } else { "" };
            declared.push(format!("DATATYPE {star}{name}{dims}"));
            let line = |at| format!("((DATATYPE *){name})[i] = out{i}[{at}]");
            after += &copy(set, out.registers, &line);
        }
        actual.push(format!("out{i}"));
    }
    let list = if declared.is_empty() { "void".to_string() } else { declared.join(", ") };
    let call = format!("    {}({});\n", inner.name, actual.join(", "));
    (format!("void {} ({list})", outer.name), before + &call + &after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{NodeId, Op, Slicing};
    use crate::isa::find;

    /// `node f (a:u16x4, k:const u16) returns (b:u16x4) let b = a ^ (k,k,k,k) tel`
    fn program(slicing: Slicing) -> Program {
        let mut build = Builder::new("f", slicing);
        let a = build.param(Port::new("a", 16, &[4]));
        let k = build.param(Port::new("k", 16, &[]).constant());
        let pairs = (0..a.len()).map(|i| [a[i], k[i % k.len()]]);
        let outs = pairs.map(|pair| build.op(Op::Xor, &pair)).collect();
        let node = build.finish(vec![(Port::new("b", 16, &[4]), outs)]);
        Program::new(vec![node], NodeId(0), slicing)
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
        assert_eq!(spell("__asm"), "u__asm__");
    }

    #[test]
    fn copies_of_ports_are_numbered() {
        let names = |names: &[&str]| {
            let ports: Vec<Port> = names.iter().map(|&name| Port::new(name, 8, &[])).collect();
            spell_ports(ports.iter())
        };
        let copies = ["a", "a''2", "a''3", "k", "b'", "b'''2"];
        assert_eq!(names(&copies), ["a__", "a____2", "a____3", "k__", "b____", "b______2"]);
        // Names that are no copies keep every quote, and names that would be equal do not stay so.
        assert_eq!(names(&["a''2", "x", "x''3"]), ["a____2__", "x__", "x____3__"]);
        assert_eq!(names(&["a'", "a__"]), ["a____", "a_____"]);
    }

    #[test]
    fn the_header_defines_the_type_of_its_prototype() {
        let (target, options) = (find("avx2").expect("a target"), COptions::default());
        let program = program(Slicing::V);
        let emitted = usubac(&program, target, &options);
        let text = header(&program, target, &options, &emitted);
        assert!(text.contains("#define BITS_PER_REG 256\n#endif\n#include \"AVX.h\"\n"));
        assert!(text.contains(&format!("{};\n", emitted.prototype)));
        assert!(text.starts_with("/*\n * f__: made by usubac"));
        assert!(emitted.text.starts_with("/*\n * f__: made by usubac"));
        assert!(emitted.text.contains("An output may be the array of an input."));
    }
}
