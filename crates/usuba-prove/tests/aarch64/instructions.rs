//! Every instruction of the model, against an emulator.
//!
//! ```text
//! case_7:  ldp x2, x3, [x0];  ...;  umulh x4, x2, x3;  stp x4, x5, [x1];  ...;  ret
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use usuba::ir::random::Random;
use usuba_decode::aarch64::decode;
use usuba_object::aarch64::Aarch64;
use usuba_object::simulate;
use usuba_run::cc::run;

use super::decoder::codes;
use super::{Assembly, machine, read};

/// Bytes of an input: x2, x3, v0, v1, v2, and memory; of an output: x4, x5, v2, v3, zeros, and
/// memory.
const BYTES: usize = 128;

const CONDITIONS: [&str; 14] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

/// Vectors by their lanes.
const VECTORS: [&str; 7] = ["8b", "16b", "4h", "8h", "2s", "4s", "2d"];

/// The forms on general-purpose registers: instructions that read x2 and x3, and write x4 and x5.
fn general() -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for r in ["x", "w"] {
        let size = if r == "x" { 64 } else { 32 };
        for operation in ["add", "sub", "adds", "subs"] {
            forms.push(format!("{operation} {r}4, {r}2, {r}3"));
            forms.push(format!("{operation} {r}4, {r}2, {r}3, lsl #3"));
            forms.push(format!("{operation} {r}4, {r}2, {r}3, lsr #{}", size - 1));
            forms.push(format!("{operation} {r}4, {r}2, {r}3, asr #5"));
            forms.push(format!("{operation} {r}4, {r}2, #0x123"));
            forms.push(format!("{operation} {r}4, {r}2, #0xfff, lsl #12"));
            for extend in ["uxtb", "uxth", "uxtw", "sxtb", "sxth", "sxtw"] {
                forms.push(format!("{operation} {r}4, {r}2, w3, {extend} #2"));
            }
        }
        forms.push(format!("sub {r}4, {r}2, {r}2"));
        for operation in ["and", "orr", "eor", "bic", "orn", "eon", "ands", "bics"] {
            forms.push(format!("{operation} {r}4, {r}2, {r}3"));
            forms.push(format!("{operation} {r}4, {r}2, {r}3, ror #7"));
        }
        let wide = ["0x1", "0xff00", "0x7fffffff", "0xaaaaaaaaaaaaaaaa", "0xe000000000000001"];
        let short = ["0x1", "0xff00", "0x7fffffff", "0xaaaaaaaa", "0xe0000001"];
        for value in if r == "x" { wide } else { short } {
            for operation in ["and", "orr", "eor", "ands"] {
                forms.push(format!("{operation} {r}4, {r}2, #{value}"));
            }
        }
        // Flags.
        for condition in CONDITIONS {
            for flags in [
                format!("subs {r}4, {r}2, {r}3"),
                format!("subs {r}4, {r}2, {r}2"),
                format!("adds {r}4, {r}2, {r}3"),
                format!("ands {r}4, {r}2, {r}3"),
                format!("adds {r}9, {r}2, {r}2; sbcs {r}4, {r}2, {r}3"),
                format!("adds {r}9, {r}2, {r}2; adcs {r}4, {r}3, {r}3"),
                format!("subs {r}4, {r}2, {r}3; ccmp {r}3, {r}2, #5, {condition}"),
                format!("subs {r}4, {r}2, {r}3; ccmn {r}3, #17, #10, {condition}"),
            ] {
                forms.push(format!("{flags}; csel {r}5, {r}2, {r}3, {condition}"));
            }
            forms.push(format!("subs {r}4, {r}2, {r}3; csinc {r}5, {r}2, {r}3, {condition}"));
            forms.push(format!("subs {r}4, {r}2, {r}3; csinc {r}5, {r}3, {r}3, {condition}"));
            forms.push(format!("subs {r}4, {r}2, {r}3; csinv {r}5, {r}2, {r}3, {condition}"));
            forms.push(format!("subs {r}4, {r}2, {r}3; csneg {r}5, {r}2, {r}3, {condition}"));
            forms.push(format!("subs {r}4, {r}2, {r}3; cset {r}5, {condition}"));
            forms.push(format!(
                "subs {r}4, {r}2, {r}3; mov {r}5, #1; b.{condition} 1f; mov {r}5, #2; 1:"
            ));
        }
        forms.push(format!("subs {r}9, {r}2, {r}3; adc {r}4, {r}2, {r}3; sbc {r}5, {r}3, {r}2"));
        // Constants and fields.
        forms.push(format!("movz {r}4, #0x1234, lsl #16; movn {r}5, #0x8765"));
        forms.push(format!("mov {r}4, {r}2; movk {r}4, #0xabcd, lsl #16"));
        for field in ["ubfm", "sbfm", "bfm"] {
            for (right, top) in
                [(0, 7), (3, 10), (5, 4), (size - 3, size - 4), (7, size - 1), (size - 1, 0)]
            {
                forms.push(format!("mov {r}4, {r}3; {field} {r}4, {r}2, #{right}, #{top}"));
            }
        }
        forms.extend([0, 1, 13, size - 1].map(|at| format!("extr {r}4, {r}2, {r}3, #{at}")));
        for shift in ["lslv", "lsrv", "asrv", "rorv"] {
            forms.push(format!("{shift} {r}4, {r}2, {r}3"));
            forms.push(format!("mov {r}9, #{}; {shift} {r}4, {r}2, {r}9", size + 5));
        }
        forms.extend(["rbit", "rev16", "rev", "clz"].map(|one| format!("{one} {r}4, {r}2")));
        forms.push(format!("udiv {r}4, {r}2, {r}3; sdiv {r}5, {r}2, {r}3"));
        forms.push(format!("udiv {r}4, {r}2, {r}4; sdiv {r}5, {r}2, {r}5"));
        forms.push(format!("madd {r}4, {r}2, {r}3, {r}2; msub {r}5, {r}2, {r}3, {r}3"));
        forms.push(format!("mul {r}4, {r}2, {r}3"));
        // Branches.
        for branch in ["cbz", "cbnz"] {
            forms.push(format!("mov {r}4, #1; {branch} {r}2, 1f; mov {r}4, #2; 1:"));
        }
        for branch in ["tbz", "tbnz"] {
            forms.push(format!("mov {r}4, #1; {branch} {r}2, #{}, 1f; mov {r}4, #2; 1:", size - 1));
        }
    }
    for form in [
        "rev32 x4, x2",
        "add x4, x2, x3, uxtx #3; sub x5, x2, x3, sxtx #4",
        "smaddl x4, w2, w3, x3; smsubl x5, w2, w3, x2",
        "umaddl x4, w2, w3, x3; umsubl x5, w2, w3, x2",
        "umull x4, w2, w3; smull x5, w2, w3",
        "umulh x4, x2, x3; smulh x5, x2, x3",
        "1: add x5, x5, #1; and x4, x5, #7; cbnz x4, 1b",
        "nop; hint #34; hint #25; hint #29; b 1f; mov x4, #1; 1:",
        "mov x5, x30; bl 1f; b 2f; 1: add x4, x2, #3; ret; 2: mov x30, x5; mov x5, #0",
        "mov x5, x30; bl function; mov x30, x5; mov x5, x10",
        "mov x5, x30; adrp x9, function; add x9, x9, :lo12:function; blr x9; mov x30, x5; mov x5, x10",
        "b.al 1f; mov x4, #1; 1: b.nv 2f; mov x5, #2; 2:",
        "adr x9, 1f; br x9; mov x4, #1; 1:",
        "adrp x9, table+8; add x9, x9, :lo12:table+8; ldr x4, [x9]; ldr x5, [x9, #-8]",
        "adrp x9, table; ldr x4, [x9, :lo12:table]; ldrh w5, [x9, :lo12:table]",
        "adrp x9, table; ldr q3, [x9, :lo12:table]; ldr d2, [x9, :lo12:table]",
        "ldr x4, table; ldr w5, table+4; ldr q3, table; ldr d2, table; ldrsw x9, table+4; add x4, x4, x9",
        // The frame.
        "sub sp, sp, #32; stp x2, x3, [sp]; str q0, [sp, #16]; ldr q3, [sp]; ldp x4, x5, [sp, #16]; add sp, sp, #32",
        "stp x2, x3, [sp, #-48]!; stp d8, d9, [sp, #16]; fmov d8, x2; fmov x4, d8; ldp d8, d9, [sp, #16]; \
         ldp x9, x10, [sp], #48; add x5, x9, x10",
        "str x19, [sp, #-16]!; mov x19, x2; add x4, x19, x3; ldr x19, [sp], #16",
        "mov x9, #6; and x9, x9, #3; orr x9, x9, #8; ldrb w4, [x0, x9]",
    ] {
        forms.push(form.into());
    }
    forms
}

/// Loads and stores. Memory of the input is behind the operands, and is copied behind the results.
fn accesses() -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for load in [
        "ldrb w4", "ldrh w4", "ldr w4", "ldr x4", "ldrsb w4", "ldrsb x4", "ldrsh w4", "ldrsh x4",
        "ldrsw x4",
    ] {
        let unscaled = load.replace("ldr", "ldur");
        forms.push(format!(
            "{load}, [x0, #80]; {unscaled}, [x0, #67]; mov x5, x4; {load}, [x0, #72]"
        ));
        forms.push(format!("mov x9, x0; {load}, [x9, #70]!; sub x5, x9, x0"));
        forms.push(format!("add x9, x0, #70; {load}, [x9], #-5; sub x5, x9, x0"));
        forms.push(format!(
            "mov x9, #64; {load}, [x0, x9]; mov w9, #65; mov x5, x4; {load}, [x0, w9, uxtw]"
        ));
        forms.push(format!("mov x9, #-8; add x10, x0, #100; {load}, [x10, x9, sxtx]; mov x5, x4; mov w9, #-4; {load}, [x10, w9, sxtw]"));
    }
    for load in ["ldr b3", "ldr h3", "ldr s3", "ldr d3", "ldr q3"] {
        let unscaled = load.replace("ldr", "ldur");
        forms.push(format!("{load}, [x0, #80]; {unscaled}, [x0, #67]"));
        forms.push(format!("mov x9, x0; {load}, [x9, #70]!; sub x5, x9, x0"));
        forms.push(format!("mov x9, #66; {load}, [x0, x9]"));
    }
    for store in
        ["strb w2", "strh w2", "str w2", "str x2", "str b0", "str h0", "str s0", "str d0", "str q0"]
    {
        let unscaled = store.replace("str", "stur");
        forms.push(format!("{store}, [x1, #80]; {unscaled}, [x1, #67]"));
        forms.push(format!(
            "mov x9, x1; {store}, [x9, #70]!; add x9, x1, #100; {store}, [x9], #3; sub x5, x9, x1"
        ));
        forms.push(format!("mov x9, #66; {store}, [x1, x9]"));
    }
    forms.push("mov x9, #2; ldr x4, [x0, x9, lsl #3]; ldr w5, [x0, w9, uxtw #2]; str q1, [x1, x9, lsl #4]; str q1, [x1, #64]".into());
    for (load, zero) in [
        ("ldp w4, w5", ""),
        ("ldp x4, x5", ""),
        ("ldpsw x4, x5", ""),
        ("ldp s2, s3", ""),
        ("ldp d2, d3", ""),
        ("ldp q2, q3", ""),
    ] {
        forms.push(format!("{zero}{load}, [x0, #80]"));
        forms.push(format!("mov x9, x0; {load}, [x9, #64]!; mov x10, x9; {load}, [x10], #16; sub x11, x10, x0; add x4, x4, x11"));
    }
    for store in ["stp w2, w3", "stp x2, x3", "stp s0, s1", "stp d0, d1", "stp q0, q1"] {
        forms.push(format!("{store}, [x1, #64]"));
        forms.push(format!(
            "mov x9, x1; {store}, [x9, #64]!; add x9, x1, #96; {store}, [x9], #16; sub x5, x9, x1"
        ));
    }
    for lanes in VECTORS {
        forms.push(format!("add x9, x0, #64; ld1 {{v3.{lanes}}}, [x9]; ld1 {{v16.{lanes}, v17.{lanes}}}, [x9], #{0}; \
                            eor v2.16b, v16.16b, v17.16b; sub x5, x9, x0", if ["8b", "4h", "2s"].contains(&lanes) { 16 } else { 32 }));
        for count in 2..=4 {
            let list: Vec<String> = (16..16 + count).map(|at| format!("v{at}.{lanes}")).collect();
            let list = list.join(", ");
            let sums: String = (17..16 + count)
                .map(|at| format!("add v16.2d, v16.2d, v16.2d; eor v16.16b, v16.16b, v{at}.16b; "))
                .collect();
            forms.push(format!("add x9, x0, #64; ld{count} {{{list}}}, [x9]; {sums} mov v3.16b, v16.16b; ld1 {{{list}}}, [x9]; {sums} mov v2.16b, v16.16b"));
            forms.push(format!("mov v16.16b, v0.16b; mov v17.16b, v1.16b; mov v18.16b, v2.16b; not v19.16b, v0.16b; \
                                add x9, x1, #64; mov x10, #0; st{count} {{{list}}}, [x9]; st1 {{{list}}}, [x9], x10; st{count} {{{list}}}, [x9]; sub x5, x9, x1"));
        }
        let bytes = match &lanes[lanes.len() - 1..] {
            "b" => 1,
            "h" => 2,
            "s" => 4,
            _ => 8,
        };
        forms.push(format!("add x9, x0, #77; ld1r {{v3.{lanes}}}, [x9], #{bytes}; sub x5, x9, x0"));
    }
    for (lane, bytes) in [("b[5]", 1), ("h[3]", 2), ("s[2]", 4), ("d[1]", 8)] {
        let (size, at) = lane.split_at(1);
        forms.push(format!("add x9, x0, #77; ld1 {{v2.{size}}}{at}, [x9], #{bytes}; add x10, x1, #70; st1 {{v0.{size}}}{at}, [x10]; sub x5, x9, x0"));
    }
    forms
}

/// The forms on vectors: instructions that read v0, v1 and v2, and write v2 and v3.
fn vectors() -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for lanes in ["8b", "16b"] {
        for gate in ["and", "bic", "orr", "orn", "eor", "bsl", "bit", "bif"] {
            forms.push(format!("{gate} v2.{lanes}, v0.{lanes}, v1.{lanes}"));
        }
        forms.push(format!(
            "eor v2.{lanes}, v0.{lanes}, v0.{lanes}; orr v3.{lanes}, v1.{lanes}, v1.{lanes}"
        ));
        for one in ["not", "rbit", "cnt", "rev16"] {
            forms.push(format!("{one} v3.{lanes}, v0.{lanes}"));
        }
        for at in [1, 5, 7] {
            forms.push(format!("ext v3.{lanes}, v0.{lanes}, v1.{lanes}, #{at}"));
        }
        for (byte, mode) in [(0x5a, ""), (0xff, "")] {
            forms.push(format!("movi v3.{lanes}, #{byte}{mode}"));
        }
        let tables =
            "mov v16.16b, v0.16b; not v17.16b, v0.16b; mov v18.16b, v2.16b; not v19.16b, v2.16b";
        for count in 1..=4 {
            let list: Vec<String> = (16..16 + count).map(|at| format!("v{at}.16b")).collect();
            let list = list.join(", ");
            forms.push(format!("{tables}; tbl v3.{lanes}, {{{list}}}, v1.{lanes}; tbx v2.{lanes}, {{{list}}}, v1.{lanes}"));
            // Few numbers are outside of the table.
            forms.push(format!("{tables}; movi v20.16b, #31; and v1.16b, v1.16b, v20.16b; tbl v3.{lanes}, {{{list}}}, v1.{lanes}; tbx v2.{lanes}, {{{list}}}, v1.{lanes}"));
            // A look-up in constants.
            forms.push(format!("adrp x9, table; ldr q16, [x9, :lo12:table]; not v17.16b, v16.16b; rev64 v18.16b, v16.16b; rev64 v19.16b, v17.16b; tbl v3.{lanes}, {{{list}}}, v1.{lanes}"));
        }
    }
    for lanes in VECTORS {
        let bits: usize = match &lanes[lanes.len() - 1..] {
            "b" => 8,
            "h" => 16,
            "s" => 32,
            _ => 64,
        };
        for operation in [
            "add", "sub", "cmtst", "cmeq", "cmgt", "cmge", "cmhi", "cmhs", "sshl", "ushl", "addp",
            "zip1", "zip2", "uzp1", "uzp2", "trn1", "trn2",
        ] {
            forms.push(format!("{operation} v3.{lanes}, v0.{lanes}, v1.{lanes}"));
        }
        forms.push(format!("cmeq v3.{lanes}, v0.{lanes}, v0.{lanes}"));
        for operation in ["mul", "mla", "mls", "smax", "umax", "smin", "umin"] {
            if bits < 64 {
                forms.push(format!("{operation} v2.{lanes}, v0.{lanes}, v1.{lanes}"));
            }
        }
        for shift in ["sshl", "ushl"] {
            forms.push(format!("movi v4.16b, #3; {shift} v3.{lanes}, v0.{lanes}, v4.{lanes}; movi v4.16b, #0xf9; {shift} v2.{lanes}, v0.{lanes}, v4.{lanes}"));
        }
        for (one, zero) in [
            ("abs", ""),
            ("neg", ""),
            ("cmeq", ", #0"),
            ("cmgt", ", #0"),
            ("cmge", ", #0"),
            ("cmlt", ", #0"),
            ("cmle", ", #0"),
        ] {
            forms.push(format!("{one} v3.{lanes}, v0.{lanes}{zero}"));
        }
        if bits < 64 {
            forms.push(format!("clz v3.{lanes}, v0.{lanes}; rev64 v2.{lanes}, v0.{lanes}"));
        }
        if bits < 32 {
            forms.push(format!("rev32 v3.{lanes}, v0.{lanes}"));
        }
        if bits >= 32 {
            forms.push(format!("fneg v3.{lanes}, v0.{lanes}; fabs v2.{lanes}, v0.{lanes}"));
            forms.push(format!("fmov v3.{lanes}, #-2.5; fmov v2.{lanes}, #0.1875"));
        }
        for count in [1, bits / 2, bits - 1] {
            forms.push(format!(
                "shl v3.{lanes}, v0.{lanes}, #{count}; sli v2.{lanes}, v0.{lanes}, #{count}"
            ));
            forms.push(format!(
                "sshr v3.{lanes}, v0.{lanes}, #{count}; sri v2.{lanes}, v0.{lanes}, #{count}"
            ));
            forms.push(format!(
                "ushr v3.{lanes}, v0.{lanes}, #{count}; usra v2.{lanes}, v0.{lanes}, #{count}"
            ));
            forms.push(format!("ssra v2.{lanes}, v0.{lanes}, #{count}"));
        }
        forms.push(format!(
            "shl v3.{lanes}, v0.{lanes}, #3; usra v3.{lanes}, v0.{lanes}, #{}",
            bits - 3
        ));
        forms.push(format!(
            "sshr v3.{lanes}, v0.{lanes}, #{bits}; ushr v2.{lanes}, v0.{lanes}, #{bits}"
        ));
        let letter = &lanes[lanes.len() - 1..];
        forms.push(format!(
            "dup v3.{lanes}, v0.{letter}[1]; dup v2.{lanes}, {}2",
            if bits == 64 { "x" } else { "w" }
        ));
        if !["2s", "2d"].contains(&lanes) {
            forms.push(format!("addv {letter}3, v0.{lanes}"));
        }
    }
    // Constants.
    for (lanes, bits) in [("2s", 32), ("4s", 32), ("4h", 16), ("8h", 16)] {
        for shift in (0..bits).step_by(8) {
            for operation in ["movi", "mvni", "orr", "bic"] {
                forms.push(format!("{operation} v2.{lanes}, #0xa5, lsl #{shift}"));
            }
        }
        if bits == 32 {
            for shift in [8, 16] {
                forms.push(format!(
                    "movi v2.{lanes}, #0xa5, msl #{shift}; mvni v3.{lanes}, #0x5a, msl #{shift}"
                ));
            }
        }
    }
    forms.push("movi v2.2d, #0xff00ff0000ffff00; movi d3, #0xff0000ffff0000ff".into());
    // Results of another size.
    for (from, upper, to) in [("8b", "16b", "8h"), ("4h", "8h", "4s"), ("2s", "4s", "2d")] {
        for operation in ["addl", "subl", "mull", "mlal", "mlsl"] {
            for sign in ["s", "u"] {
                forms.push(format!("{sign}{operation} v2.{to}, v0.{from}, v1.{from}"));
                forms.push(format!("{sign}{operation}2 v2.{to}, v0.{upper}, v1.{upper}"));
            }
        }
        for sign in ["s", "u"] {
            forms.push(format!(
                "{sign}addw v2.{to}, v0.{to}, v1.{from}; {sign}subw2 v3.{to}, v0.{to}, v1.{upper}"
            ));
            forms.push(format!(
                "{sign}addw2 v2.{to}, v0.{to}, v1.{upper}; {sign}subw v3.{to}, v0.{to}, v1.{from}"
            ));
            forms.push(format!(
                "{sign}shll v2.{to}, v0.{from}, #3; {sign}shll2 v3.{to}, v0.{upper}, #1"
            ));
        }
        let bits: usize = match to {
            "8h" => 8,
            "4s" => 16,
            _ => 32,
        };
        forms.push(format!("shll v2.{to}, v0.{from}, #{bits}; shll2 v3.{to}, v0.{upper}, #{bits}"));
        forms.push(format!("xtn v3.{from}, v0.{to}; xtn2 v2.{upper}, v0.{to}"));
        forms.push(format!("shrn v3.{from}, v0.{to}, #3; shrn2 v2.{upper}, v0.{to}, #{bits}"));
        if bits > 8 {
            let lane = if bits == 16 { "h[5]" } else { "s[3]" };
            for sign in ["s", "u"] {
                for operation in ["mull", "mlal", "mlsl"] {
                    forms.push(format!("{sign}{operation} v2.{to}, v0.{from}, v1.{lane}; {sign}{operation}2 v3.{to}, v0.{upper}, v1.{lane}"));
                }
            }
            for operation in ["mul", "mla", "mls"] {
                forms.push(format!("{operation} v2.{upper}, v0.{upper}, v1.{lane}; {operation} v3.{from}, v0.{from}, v1.{lane}"));
            }
        }
    }
    // Moves of lanes.
    for (size, last) in [("b", 15), ("h", 7), ("s", 3)] {
        forms.push(format!("mov v2.{size}[{last}], w2; mov v2.{size}[1], v0.{size}[{last}]; umov w4, v0.{size}[{last}]"));
        if size != "s" {
            forms.push(format!("smov w4, v0.{size}[{last}]; smov x5, v0.{size}[1]"));
        }
    }
    for form in [
        "smov x4, v0.s[3]; umov x5, v0.d[1]; mov v2.d[0], x2; mov v2.d[1], v1.d[0]",
        "fmov d2, x2; fmov s3, w3; fmov x4, d0; fmov w5, s1",
        "fmov v2.d[1], x2; fmov x4, v0.d[1]; fmov d3, d0",
        "fmov s2, s0; mov d3, v0.d[1]",
        "mov s2, v0.s[3]; mov h3, v0.h[5]",
        "add d2, d0, d1; sub d3, d0, d1",
        "cmeq d2, d0, d1; cmhi d3, d0, d1",
        "cmge d2, d0, #0; neg d3, d0",
        "shl d2, d0, #13; ushr d3, d0, #13",
        "ushl d3, d0, d1; addp d2, v0.2d",
        "movi v0.8h, #7; pmull v2.8h, v0.8b, v1.8b; pmull2 v3.8h, v0.16b, v1.16b",
        "mov x9, x1; fmov d16, x9; fmov x10, d16; str x2, [x10, #64]",
        "ins v16.d[1], x1; umov x9, v16.d[1]; mov v17.d[0], v16.d[1]; fmov x10, d17; str x2, [x9, #64]; str x3, [x10, #72]",
    ] {
        forms.push(form.into());
    }
    forms
}

/// The functions of all cases.
fn cases(forms: &[String]) -> String {
    let mut text = String::from(
        ".arch armv8-a\n.section .rodata\n.balign 16\n.globl table\n\
         table: .quad 0x123456789abcdef0, 0x0fedcba987654321\n.text\n\
         .globl function\n.type function, @function\nfunction: add x10, x2, x3\nret\n",
    );
    for (number, form) in forms.iter().enumerate() {
        let (name, body) = (format!("case_{number}"), form.replace(';', "\n"));
        let _ = writeln!(
            text,
            ".globl {name}\n.type {name}, @function\n{name}:\nldp q4, q5, [x0, #64]\n\
             stp q4, q5, [x1, #64]\nldp q4, q5, [x0, #96]\nstp q4, q5, [x1, #96]\n\
             ldp x2, x3, [x0]\nldp q0, q1, [x0, #16]\nldr q2, [x0, #48]\nmovi v3.2d, #0\n\
             mov x4, #0\nmov x5, #0\n{body}\nstp x4, x5, [x1]\nstp q2, q3, [x1, #16]\n\
             stp xzr, xzr, [x1, #48]\nret\n.size {name}, . - {name}"
        );
    }
    text
}

/// A program that runs all cases on inputs.
fn driver(cases: usize, inputs: &[Vec<u8>]) -> String {
    let bytes = |input: &Vec<u8>| {
        let all: Vec<String> = input.iter().map(u8::to_string).collect();
        format!(".byte {}\n", all.join(","))
    };
    let data: String = inputs.iter().map(bytes).collect();
    let addresses: String = (0..cases).map(|number| format!(".quad case_{number}\n")).collect();
    let place = |register: &str, name: &str| {
        format!("adrp {register}, {name}\nadd {register}, {register}, :lo12:{name}\n")
    };
    format!(
        ".text\n.globl _start\n_start:\n{}{}1:\n{}{}2:\n{}mov x0, x21\nldr x9, [x19]\nblr x9\n\
         mov x0, #1\n{}mov x2, #{BYTES}\nmov x8, #64\nsvc #0\n\
         add x21, x21, #{BYTES}\ncmp x21, x22\nb.ne 2b\nadd x19, x19, #8\ncmp x19, x20\nb.ne 1b\n\
         mov x0, #0\nmov x8, #93\nsvc #0\n\
         .data\n.balign 64\ninputs:\n{data}inputs_end:\n.balign 64\noutput: .fill {BYTES}, 1, 0\n\
         .balign 8\ncases:\n{addresses}cases_end:\n",
        place("x19", "cases"),
        place("x20", "cases_end"),
        place("x21", "inputs"),
        place("x22", "inputs_end"),
        place("x1", "output"),
        place("x1", "output"),
    )
}

/// Random words, and words at the edges.
fn inputs(count: usize) -> Vec<Vec<u8>> {
    let edges = [0, 1, u64::MAX, 1 << 63, i64::MAX as u64, 0xffff_ffff, 0x8000_0000_8000_0000];
    let mut random = Random::new(23);
    let word = |random: &mut Random| match random.below(3) {
        0 => edges[random.below(edges.len())],
        _ => random.word(),
    };
    (0..count)
        .map(|_| (0..BYTES / 8).flat_map(|_| word(&mut random).to_le_bytes()).collect())
        .collect()
}

#[test]
fn instructions_are_those_of_an_emulator() {
    let Some(machine) = machine() else { return };
    let forms = [general(), accesses(), vectors()].concat();
    let inputs = inputs(20);
    let assembly = Assembly::new(&machine, &cases(&forms));
    let file = assembly.object();
    let object = read(&file);
    fs::write(assembly.path("driver.s"), driver(forms.len(), &inputs)).expect("a file");
    let program = assembly.path("program");
    let mut link = machine.compile();
    link.args(["-nostdlib", "-static"]);
    run(link.args([assembly.path("cases.o"), assembly.path("driver.s")]).arg("-o").arg(&program))
        .expect("it links");
    let ran = machine.command(&program).output().expect("the emulator runs");
    assert!(ran.status.success(), "the cases crash: {}", ran.status);
    let expected: Vec<&[u8]> = ran.stdout.chunks(BYTES).collect();
    assert_eq!(expected.len(), forms.len() * inputs.len());
    let mut wrong = Vec::new();
    let mut covered = BTreeSet::new();
    for (number, form) in forms.iter().enumerate() {
        let symbol = format!("case_{number}");
        let expected = &expected[number * inputs.len()..][..inputs.len()];
        let symbolic = simulate::symbolic::<Aarch64>(&object, &symbol, &inputs, BYTES);
        for (run, &expected) in expected.iter().enumerate() {
            if let Ok(found) = &symbolic
                && found[run] != expected
            {
                wrong.push(format!("{form} on symbols: {:?}", &inputs[run][..16]));
            }
            match simulate::numeric::<Aarch64>(&object, &symbol, &inputs[run], BYTES) {
                Ok(found) if found == expected => {}
                Ok(found) => wrong.push(format!(
                    "{form} on numbers {:?}: {found:?}\nand not {expected:?}",
                    &inputs[run][..64]
                )),
                Err(fault) => {
                    wrong.push(format!("{form}: {fault}"));
                    break;
                }
            }
        }
        covered.extend(mnemonics(&object, &symbol));
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
    // Every mnemonic that the decoder knows.
    let names = codes().into_iter().filter_map(decode).map(|found| name(&found.to_string()));
    let missing: BTreeSet<String> = names.filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "compared with nothing: {missing:?}");
}

fn name(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_string()
}

/// The mnemonics of a case.
fn mnemonics(object: &usuba_object::elf::Object, symbol: &str) -> BTreeSet<String> {
    let mut place = object.function(symbol).expect("the case");
    let mut found = BTreeSet::new();
    while object.name(place).split('+').next() == Some(symbol) {
        let Ok(code) = object.code(place, 4).try_into() else { break };
        let Some(instruction) = decode(u32::from_le_bytes(code)) else { break };
        found.insert(name(&instruction.to_string()));
        place += 4;
    }
    found
}
