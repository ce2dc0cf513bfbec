//! Many codes of each form, against the disassembler of the GNU binutils.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use usuba::ir::random::Random;
use usuba_decode::aarch64::decode;
use usuba_run::cc::run;

use super::{Assembly, machine};

/// The text of each code by the disassembler.
fn disassembled(codes: &[u32]) -> Option<Vec<String>> {
    let assembly = Assembly::new(&machine()?, "");
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    let file = assembly.path("codes");
    fs::write(&file, bytes).expect("a file can be written");
    let mut command = assembly.tool("objdump");
    command.args(["-D", "-z", "-b", "binary", "-m", "aarch64", "-M", "no-aliases"]).arg(file);
    let text = run(&mut command).expect("the disassembler runs");
    let line = |line: &str| {
        let (place, rest) = line.trim().split_once(":\t")?;
        let place = u64::from_str_radix(place, 16).ok()?;
        let (_, text) = rest.split_once('\t')?;
        let text = text.split("//").next()?.split('<').next()?.trim();
        Some(plain(text, place))
    };
    Some(text.lines().filter_map(line).collect())
}

/// The text with one blank, and distances for targets.
fn plain(text: &str, place: u64) -> String {
    let (name, rest) = text.split_once(['\t', ' ']).unwrap_or((text, ""));
    let rest = rest.trim();
    let is_near = name == "b"
        || name.starts_with("b.")
        || ["bl", "adr", "adrp", "cbz", "cbnz", "tbz", "tbnz"].contains(&name)
        || name.starts_with("ldr") && !rest.contains('[');
    let (before, target) = rest.rsplit_once(", ").unwrap_or(("", rest));
    if is_near && let Some(target) = target.strip_prefix("0x") {
        let target = u64::from_str_radix(target, 16).unwrap_or(0);
        let place = if name == "adrp" { place & !0xfff } else { place };
        let distance = target.wrapping_sub(place) as i64;
        let comma = if before.is_empty() { "" } else { ", " };
        return format!("{name} {before}{comma}{distance}");
    }
    match rest {
        "" => name.into(),
        // Zero, however it is shifted.
        _ => format!("{name} {}", rest.replace("#0x0, lsl #12", "#0x0")),
    }
}

/// Bits that all codes of a form have, by their mask.
const FORMS: [(u32, u32); 46] = [
    (0x1f00_0000, 0x1000_0000), // adr
    (0x1f80_0000, 0x1100_0000), // sums with constants
    (0x1f80_0000, 0x1200_0000), // logic with constants
    (0x1f80_0000, 0x1280_0000), // constants
    (0x1f80_0000, 0x1300_0000), // fields
    (0x1f80_0000, 0x1380_0000), // extr
    (0x7c00_0000, 0x1400_0000), // b, bl
    (0x7e00_0000, 0x3400_0000), // cbz
    (0x7e00_0000, 0x3600_0000), // tbz
    (0xff00_0010, 0x5400_0000), // b.eq
    (0xff00_fc1f, 0xd600_0000), // br
    (0xffff_f01f, 0xd503_201f), // hints
    (0x1f00_0000, 0x0a00_0000), // logic
    (0x1f20_0000, 0x0b00_0000), // sums
    (0x1f20_0000, 0x0b20_0000), // sums with extensions
    (0x1fe0_0000, 0x1a00_0000), // carries
    (0x1fe0_0000, 0x1a40_0000), // ccmp
    (0x1fe0_0000, 0x1a80_0000), // csel
    (0x1fe0_0000, 0x1ac0_0000), // shifts, divisions
    (0x7fff_c000, 0x5ac0_0000), // rev
    (0x1f00_0000, 0x1b00_0000), // products
    (0x3b00_0000, 0x1800_0000), // ldr of constants
    (0x3a00_0000, 0x2800_0000), // pairs
    (0x3b20_0000, 0x3800_0000), // ldur, and moved bases
    (0x3b20_0c00, 0x3820_0800), // with an index
    (0x3b00_0000, 0x3900_0000), // with an offset
    (0xbfbf_0000, 0x0c00_0000), // ld1
    (0xbfa0_0000, 0x0c80_0000), // ld1, with a moved base
    (0xbfbf_0000, 0x0d00_0000), // lanes
    (0xbfa0_0000, 0x0d80_0000), // lanes, with a moved base
    (0x9f20_0400, 0x0e20_0400), // vectors of one size
    (0xdf20_0400, 0x5e20_0400), // scalars
    (0x9f20_0c00, 0x0e20_0000), // of two sizes
    (0x9f3e_0c00, 0x0e20_0800), // of one vector
    (0xdf3e_0c00, 0x5e20_0800), // of one scalar
    (0x9f80_0400, 0x0f00_0400), // shifts
    (0x9ff8_0c00, 0x0f00_0400), // constants
    (0xdf80_0400, 0x5f00_0400), // shifts of scalars
    (0x9f00_0400, 0x0f00_0000), // with a lane
    (0xbf20_8c00, 0x0e00_0800), // permutations
    (0xbfe0_8400, 0x2e00_0000), // ext
    (0xbfe0_8c00, 0x0e00_0000), // tbl
    (0x9fe0_8400, 0x0e00_0400), // copies
    (0xffe0_fc00, 0x5e00_0400), // copies to scalars
    (0x7f20_fc00, 0x1e20_0000), // fmov
    (0xbf3f_fc00, 0x0e31_b800), // addv
];

/// Whether a code is no instruction here though the disassembler has a text of a known name.
fn is_refused(text: &str, code: u32) -> bool {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let operands: Vec<&str> = rest.split(", ").collect();
    let is_scalar = !rest.starts_with('v');
    let is_general = operands[0].starts_with(['w', 'x']);
    match name {
        // Later extensions.
        "abs" | "cnt" | "smax" | "smin" | "umax" | "umin" => is_general,
        // Floating-point numbers.
        "fmov" => rest.contains('h') || is_scalar && rest.contains('#'),
        "fabs" | "fneg" => rest.contains('h') || is_scalar,
        // Lanes of several vectors.
        "ld2" | "ld3" | "ld4" | "st2" | "st3" | "st4" => rest.contains("}["),
        // A field that must have ones.
        "smulh" | "umulh" => code >> 10 & 31 != 31,
        "hint" => !["#0x0", "#0x19", "#0x1d", "#0x20", "#0x22", "#0x24", "#0x26"].contains(&rest),
        // Results that are not defined: two loads into one register, or a base that is written twice.
        _ => {
            let registers = operands.iter().take_while(|operand| !operand.contains('['));
            let registers: Vec<&str> = registers.copied().collect();
            let base = rest.split('[').nth(1).and_then(|at| at.split([',', ']']).next());
            let is_moved = rest.contains("]!") || rest.contains("], #");
            let number = |register: &str| register.trim_start_matches(['w', 'x']).to_string();
            let is_twice = registers.len() == 2 && registers[0] == registers[1];
            let is_base = base.is_some_and(|base| {
                registers.iter().any(|register| number(register) == number(base))
            });
            is_twice && name.starts_with("ld") || is_moved && is_general && is_base
        }
    }
}

/// Random codes of each form.
pub fn codes() -> Vec<u32> {
    let mut random = Random::new(17);
    let mut codes = Vec::new();
    for (mask, value) in FORMS {
        for _ in 0..4000 {
            codes.push(random.word() as u32 & !mask | value);
        }
    }
    codes
}

#[test]
fn codes_are_those_of_a_disassembler() {
    let codes = codes();
    let Some(texts) = disassembled(&codes) else { return };
    assert_eq!(texts.len(), codes.len());
    let name = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    let named = codes.iter().filter_map(|&code| Some(name(&decode(code)?.to_string())));
    let names: BTreeSet<String> = named.collect();
    let (mut wrong, mut known) = (String::new(), 0);
    for (&code, expected) in codes.iter().zip(&texts) {
        let found = decode(code).map(|found| found.to_string());
        known += usize::from(found.is_some());
        let is_right = match &found {
            Some(found) => found == expected,
            None => !names.contains(&name(expected)) || is_refused(expected, code),
        };
        if !is_right {
            let _ = writeln!(wrong, "{code:#010x}: {found:?} and not {expected:?}");
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{wrong}", wrong.lines().count());
    assert!(known > codes.len() / 4, "{known} of {}", codes.len());
}
