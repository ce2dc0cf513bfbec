//! Instructions in the place of nodes of standard includes: the right one is proved, and each other
//! one, or another order of its operands, is refuted.

use usuba_object::compare::{Demands, Verdict};

use super::faults::Functions;

/// A program that calls a node, on vectors in W.
fn program(include: &str, node: &str, ty: &str, operands: &[&str]) -> String {
    let list = operands.join(", ");
    format!(
        "include \"std:{include}\"\nnode f ({list}: {ty}) returns (r: {ty})\n\
         let r = {node}({list}) tel\n"
    )
}

/// A function that loads its operands to xmm1 and the following registers, computes, and stores xmm1.
fn body(operands: usize, instruction: &str) -> String {
    let pointers = ["rdi", "rsi", "rdx", "rcx"];
    let loads = (0..operands).map(|at| format!("movdqu xmm{}, [{}]; ", at + 1, pointers[at]));
    let loads: String = loads.collect();
    format!("{loads}{instruction}; movdqu [{}], xmm1; ret", pointers[operands])
}

/// A standard include, a target, the type of vectors, the operands, and the nodes and the instructions,
/// of which each is the node in its place.
type Kind<'a> = (&'a str, &'a str, &'a str, &'a [&'a str], &'a [&'a str], &'a [String]);

#[test]
fn an_instruction_is_its_node_and_no_other() {
    let rounds = ["aesenc", "aesenclast", "aesdec", "aesdeclast"];
    let rounds = rounds.map(|name| format!("{name} xmm1, xmm2"));
    let products = [0x00, 0x10, 0x01, 0x11].map(|k| format!("pclmulqdq xmm1, xmm2, {k}"));
    let messages = ["sha256msg1", "sha256msg2"].map(|name| format!("{name} xmm1, xmm2"));
    let steps = [
        "movdqa xmm0, xmm3; sha256rnds2 xmm1, xmm2".to_string(),
        "movdqa xmm0, xmm3; sha256rnds2 xmm2, xmm1; movdqa xmm1, xmm2".to_string(),
        "pshufd xmm0, xmm3, 0xe1; sha256rnds2 xmm1, xmm2".to_string(),
    ];
    let kinds: [Kind; 4] = [
        (
            "aes.ua",
            "avx2_aes",
            "u<W>8x16",
            &["x", "y"],
            &["aes_round", "aes_last_round", "aes_inverse_round", "aes_inverse_last_round"],
            &rounds,
        ),
        (
            "clmul.ua",
            "avx2_clmul",
            "u<W>64x2",
            &["x", "y"],
            &["clmul00", "clmul01", "clmul10", "clmul11"],
            &products,
        ),
        (
            "sha2.ua",
            "avx2_sha",
            "u<W>32x4",
            &["x", "y"],
            &["sha256_message1", "sha256_message2"],
            &messages,
        ),
        ("sha2.ua", "avx2_sha", "u<W>32x4", &["x", "y", "z"], &["sha256_rounds2"], &steps),
    ];
    for (include, target, ty, operands, nodes, instructions) in kinds {
        let bodies: Vec<String> =
            instructions.iter().map(|instruction| body(operands.len(), instruction)).collect();
        for (right, node) in nodes.iter().enumerate() {
            let functions = Functions::of(&program(include, node, ty, operands), target, &bodies);
            for (at, instruction) in instructions.iter().enumerate() {
                let answer = functions.ask(at, Demands::default(), false);
                let is_expected = match at == right {
                    true => matches!(answer, Verdict::Proved(_)),
                    false => matches!(answer, Verdict::Refuted(_)),
                };
                assert!(is_expected, "{node} by `{instruction}`: {answer:?}");
            }
        }
    }
}
