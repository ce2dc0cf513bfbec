//! Kernels behind the interface of the original compiler, called as its drivers do.

use usuba::emit::abi::usubac;
use usuba::emit::c::COptions;
use usuba::ir::build::Builder;
use usuba::ir::{NodeId, Op, Port, Program, Slicing};
use usuba::target;
use usuba_lab::cc;
use usuba_lab::native::{self, Kernel};

/// `node f (a:u16x4, k:const u16) returns (b:u16x4) let b = a ^ (k,k,k,k) tel`
fn program() -> Program {
    let mut build = Builder::new("f", Slicing::V);
    let a = build.param(Port::new("a", 16, &[4]));
    let k = build.param(Port::new("k", 16, &[]).constant());
    let outs = a.iter().map(|&v| build.op(Op::Xor, &[v, k[0]])).collect();
    let node = build.finish(vec![(Port::new("b", 16, &[4]), outs)]);
    Program { nodes: vec![node], entry: NodeId(0), slicing: Slicing::V }
}

#[test]
fn a_driver_may_use_one_array_for_input_and_output() {
    let machine = cc::find("gp64").expect("a host compiler");
    let emitted = usubac(&program(), target::find("gp64").expect("a target"), &COptions::default());
    let text = emitted.text
        + "void driver(const uint16_t *a, const uint16_t *k, uint16_t *b);\n\
           void driver(const uint16_t *a, const uint16_t *k, uint16_t *b)\n\
           {\n\
               DATATYPE state[4] = { a[0], a[1], a[2], a[3] };\n\
               f__(state, *k, state);\n\
               for (int i = 0; i < 4; i++) b[i] = state[i];\n\
           }\n";
    let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let kernel = Kernel {
        text,
        symbol: "driver".into(),
        align: 8,
        calls: vec![vec![bytes(&[1, 2, 0xffff, 0x8000]), bytes(&[0x0f0f])]],
        outputs: vec![8],
    };
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include/usubac");
    let flags = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", include];
    let outputs = native::run_one(&machine, &flags, kernel).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outputs[0][0], bytes(&[0x0f0e, 0x0f0d, 0xf0f0, 0x8f0f]));
}
