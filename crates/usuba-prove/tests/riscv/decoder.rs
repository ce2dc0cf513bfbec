//! Each code of 16 bits, and many of 32 bits, against the disassembler of the GNU binutils.

use std::fmt::Write;

use usuba::ir::random::Random;
use usuba_decode::riscv::decode;
use usuba_run::cc::run;

use super::{Assembly, machine};

/// The text of each code by the disassembler, `None` for codes that it does not know.
fn disassembled(codes: &[u32], size: usize) -> Option<Vec<Option<String>>> {
    let machine = machine()?;
    let assembly = Assembly::new(&machine, "");
    let bytes: Vec<u8> =
        codes.iter().flat_map(|code| code.to_le_bytes()[..size].to_vec()).collect();
    let file = assembly.path("codes");
    std::fs::write(&file, bytes).expect("a file can be written");
    let mut command = assembly.tool("objdump");
    command.args(["-D", "-z", "-b", "binary", "-m", "riscv:rv32", "-M", "no-aliases"]).arg(file);
    let text = run(&mut command).expect("the disassembler runs");
    let line = |line: &str| {
        let (place, rest) = line.trim().split_once(":\t")?;
        let place = u32::from_str_radix(place, 16).ok()?;
        let (_, text) = rest.split_once('\t')?;
        Some((place, plain(text.split('#').next()?.split('<').next()?.trim(), place)))
    };
    let mut found = vec![None; codes.len()];
    for (place, text) in text.lines().filter_map(line) {
        let at = place as usize / size;
        assert!((place as usize).is_multiple_of(size), "a code is longer: {text:?}");
        found[at] = text;
    }
    Some(found)
}

/// The text of an instruction without compression, with distances for targets.
fn plain(text: &str, place: u32) -> Option<String> {
    let (name, rest) = text.split_once(['\t', ' ']).unwrap_or((text, ""));
    let rest = rest.trim();
    let operands: Vec<&str> = rest.split(',').collect();
    let [first, second] = [0, 1].map(|at| operands.get(at).copied().unwrap_or_default());
    let distance = |target: &str| -> Option<i32> {
        let target = u64::from_str_radix(target.trim_start_matches("0x"), 16).ok()?;
        Some((target as u32).wrapping_sub(place) as i32)
    };
    // The disassembler shows counts for 64 bits, too.
    let count = |text: &str| -> Option<u32> {
        u32::from_str_radix(text.trim_start_matches("0x"), 16).ok().filter(|&count| count < 32)
    };
    let known = match name {
        "lui" | "auipc" => {
            let value = u32::from_str_radix(second.trim_start_matches("0x"), 16).ok()?;
            format!("{name} {first},{:#x}", value & 0xfffff)
        }
        "jal" => format!("jal {first},{}", distance(second)?),
        "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" => {
            format!("{name} {first},{second},{}", distance(operands.get(2)?)?)
        }
        "slli" | "srli" | "srai" => {
            format!("{name} {first},{second},{}", count(operands.get(2)?)?)
        }
        "lb" | "lh" | "lw" | "lbu" | "lhu" | "sb" | "sh" | "sw" | "jalr" | "add" | "sub"
        | "sll" | "slt" | "sltu" | "xor" | "srl" | "sra" | "or" | "and" | "addi" | "slti"
        | "sltiu" | "xori" | "ori" | "andi" | "mul" | "mulh" | "mulhsu" | "mulhu" | "div"
        | "divu" | "rem" | "remu" => format!("{name} {rest}"),
        "c.addi4spn" => format!("addi {rest}"),
        "c.addi16sp" if second != "0" => format!("addi sp,sp,{second}"),
        "c.addi" if rest == "zero,0" => "addi zero,zero,0".into(),
        "c.li" if first != "zero" => format!("addi {first},zero,{second}"),
        "c.lui" if first != "zero" => {
            let value = u32::from_str_radix(second.trim_start_matches("0x"), 16).ok()?;
            format!("lui {first},{:#x}", value & 0xfffff)
        }
        "c.mv" if first != "zero" => format!("add {first},zero,{second}"),
        "c.addi" | "c.andi" if first != "zero" && second != "0" || name == "c.andi" => {
            format!("{} {first},{first},{second}", &name[2..])
        }
        "c.slli" | "c.srli" | "c.srai" if first != "zero" => {
            format!("{} {first},{first},{}", &name[2..], count(second)?)
        }
        "c.add" | "c.sub" | "c.xor" | "c.or" | "c.and" if first != "zero" => {
            format!("{} {first},{first},{second}", &name[2..])
        }
        "c.lw" | "c.sw" => format!("{} {rest}", &name[2..]),
        "c.lwsp" if first != "zero" => format!("lw {rest}"),
        "c.swsp" => format!("sw {rest}"),
        "c.j" => format!("jal zero,{}", distance(first)?),
        "c.jal" => format!("jal ra,{}", distance(first)?),
        "c.beqz" | "c.bnez" => {
            format!("{} {first},zero,{}", name[2..].trim_end_matches('z'), distance(second)?)
        }
        "c.jr" | "c.jalr" => {
            let link = if name == "c.jr" { "zero" } else { "ra" };
            format!("jalr {link},0({first})")
        }
        // Floating-point numbers, other extensions, privileged instructions, and hints.
        _ => return None,
    };
    Some(known)
}

fn compare(codes: &[u32], size: usize) {
    let Some(texts) = disassembled(codes, size) else { return };
    let mut wrong = String::new();
    let mut known = 0;
    for (&code, expected) in codes.iter().zip(texts) {
        let found = decode(&code.to_le_bytes());
        assert!(found.is_none_or(|(_, bytes)| bytes == size), "{code:#x} is longer");
        let found = found.map(|(instruction, _)| instruction.to_string());
        known += usize::from(found.is_some());
        if found != expected {
            let _ = writeln!(wrong, "{code:#x}: {found:?} and not {expected:?}");
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{wrong}", wrong.lines().count());
    assert!(known > codes.len() / 4, "{known} of {}", codes.len());
}

#[test]
fn all_compressed_codes_are_those_of_a_disassembler() {
    let codes: Vec<u32> = (0..1 << 16).filter(|code| code & 3 != 3).collect();
    compare(&codes, 2);
}

#[test]
fn codes_are_those_of_a_disassembler() {
    const KINDS: [u32; 9] = [0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33];
    let mut random = Random::new(11);
    let mut code = |kind: u32| {
        let word = (random.word() as u32) & !0x7f | kind;
        match random.below(3) {
            0 => word,
            // The function field of the operations that there are.
            1 => word & !0xfe00_0000,
            _ => word & !0xfe00_0000 | [0x4000_0000, 0x0200_0000][random.below(2)],
        }
    };
    let codes: Vec<u32> = KINDS.iter().flat_map(|&kind| (0..2000).map(move |_| kind)).collect();
    let codes: Vec<u32> = codes.into_iter().map(&mut code).collect();
    compare(&codes, 4);
}
