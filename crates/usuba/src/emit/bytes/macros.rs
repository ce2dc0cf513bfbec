//! The C macros that transposition is written in, one table per register file.
//!
//! Macros and not functions: a file uses few of them, and unused functions draw warnings.

use crate::emit::template::{context, template};
use crate::isa::{Inst, Target};

/// The prefix of the macros for vector registers.
pub const VECTOR: &str = "USUBA_";

/// The prefix of the macros for general-purpose registers of `bits` bits.
pub fn scalar_prefix(bits: u32) -> &'static str {
    if bits == 64 { "USUBA64_" } else { "USUBA32_" }
}

/// The macros for `target`, guarded so that several functions of one file share them.
pub fn vector(target: &Target) -> String {
    let r = target.registers.expect("a target with lanes describes its registers");
    let t = target.register;
    // Targets that extend another one share its macros in one file.
    let base = target.base.unwrap_or(target);
    let row = |inst, lane| base.row(inst, lane).map(|row| row.text(lane));
    let needed = |inst, lane| row(inst, lane).expect("each vector target has these rows");
    let (and, xor) = (needed(Inst::And, 64), needed(Inst::Xor, 64));
    let of = |template: &str, a: &str, b: &str| template.replace("{1}", b).replace("{0}", a);
    // Any function of three bits, or two instructions.
    let three = |table: &str, two: String| match row(Inst::Lut3, 64) {
        Some(lut3) => lut3.replace("{k}", table),
        None => two,
    };
    let mut text = String::from("#ifndef USUBA_LOAD\n");
    let mut define = |head: &str, template: &str| {
        let body = template
            .replace("{0}", "(a_)")
            .replace("{1}", "(b_)")
            .replace("{2}", "(c_)")
            .replace("{k}", "(k_)");
        text += &format!("#define {VECTOR}{head} \\\n    ({body})\n");
    };
    define("LOAD(a_)", r.load);
    define("STORE(a_, b_)", r.store);
    if !r.gather.is_empty() {
        define("GATHER(a_, b_)", r.gather);
        define("SCATTER(a_, b_, c_)", r.scatter);
    }
    if target.has_groups() {
        define("EVEN(a_, b_)", r.groups.0);
        define("ODD(a_, b_)", r.groups.1);
    }
    define("AND(a_, b_)", &and);
    define("OR(a_, b_)", &needed(Inst::Or, 64));
    define("XOR(a_, b_)", &xor);
    define("ADD32(a_, b_)", &needed(Inst::Add, 32));
    define("XOR_AND(a_, b_, c_)", &three("0x28", of(&and, &xor, "{2}")));
    define("XOR3(a_, b_, c_)", &three("0x96", of(&xor, "{0}", &of(&xor, "{1}", "{2}"))));
    if !r.select.is_empty() {
        define("SELECT(a_, b_, c_)", r.select);
    }
    define("SHL(a_, k_)", &needed(Inst::Shl, 64));
    define("SHR(a_, k_)", &needed(Inst::Shr, 64));
    let own = |template: &str, inst, bits: u8| match template {
        "" => needed(inst, bits)
            .replace("{k}", "({0})")
            .replace("{lo}", "({0})")
            .replace("{hi}", "({1})"),
        template => template.replace("{n}", &bits.to_string()),
    };
    define("SPLAT(a_)", &own(r.lanes[3], Inst::Splat, 64));
    for (bits, template) in [8, 16, 32, 64].into_iter().zip(r.lanes) {
        define(&format!("LANES{bits}(a_)"), &own(template, Inst::Splat, bits));
    }
    for bits in [8, 16, 32, 64] {
        define(&format!("LOW{bits}(a_, b_)"), &own(r.zip.0, Inst::ZipLow, bits));
        define(&format!("HIGH{bits}(a_, b_)"), &own(r.zip.1, Inst::ZipHigh, bits));
    }
    define("BYTES(a_, b_)", &own(r.bytes, Inst::Splat128, 64));
    define("SHUFFLE(a_, b_)", r.shuffle);
    define("EQUAL(a_, b_)", r.equal);
    let mut both = |name: &str, one: &str, other: &str| {
        text += &format!(
            "#define {VECTOR}{name}(a_, b_) do {{ {t} t_ = {VECTOR}{one}(a_, b_); \\\n    \
             (b_) = {VECTOR}{other}(a_, b_); (a_) = t_; }} while (0)\n"
        );
    };
    for bits in [8, 16, 32, 64] {
        both(&format!("ZIP{bits}"), &format!("LOW{bits}"), &format!("HIGH{bits}"));
    }
    if target.has_groups() {
        both("GROUPS", "EVEN", "ODD");
    }
    text + &masked(VECTOR, t, !r.select.is_empty(), None) + "#endif\n"
}

/// The macros for general-purpose registers of `bits` bits, with guard. Memory is read byte by
/// byte, which C compilers turn into one load where the machine allows it.
pub fn scalar(bits: u32, target: &Target) -> String {
    let p = scalar_prefix(bits);
    let row = target.row(Inst::Lut3, bits as u8).filter(|_| !target.simd);
    let select = row.map(|row| row.text(bits as u8)).map(|row| {
        let places = [("{0}", "(c_)"), ("{1}", "(a_)"), ("{2}", "(b_)"), ("{k}", "0xca")];
        places.iter().fold(row, |text, (place, value)| text.replace(place, value))
    });
    let bytes = target.processor.device.filter(|_| bits == 32).map(|device| device.bytes);
    let masked = masked(p, &format!("uint{bits}_t"), select.is_some(), bytes);
    template!("templates/scalar.h.in").render(context! { p, bits, masked, select })
}

/// Exchanges by masks and shifts, the same on all registers; see `plan::Step` for which bits.
/// Where `select` is one instruction, exchanging between two registers takes four, and where `bytes`
/// selects bytes of two, exchanging whole bytes takes two.
fn masked(p: &str, register: &str, select: bool, bytes: Option<&str>) -> String {
    template!("templates/masked.h.in").render(context! { p, register, select, bytes })
}
