//! The C file of a calibration: a function in assembler for each chain and each stream.
//!
//! ```text
//! calibrate_3:  … 120 instructions …  dec %r14d; jnz 1b      one row, TURNS times
//! ```
//!
//! The functions are statements of the assembler outside of C functions, so that no C compiler
//! touches them and no flag for an instruction set is needed. `calibrate.c` calls one of them, or
//! follows pointers through a buffer of one of the sizes.

use std::fmt::Write;

use super::rows::{File, Row};

const TEMPLATE: &str = include_str!("calibrate.c");

const INCLUDES: &str = "\
#include <stddef.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

";

/// Instructions of a row in one turn: a multiple of the registers of every stream.
const UNROLLED: usize = 120;

/// Turns of one call.
const TURNS: usize = 100;

/// Instructions of a row in one call.
pub const INSTRUCTIONS: usize = UNROLLED * TURNS;

/// Bytes of memory that a row works on.
pub const MEMORY: usize = 4096;

/// Loads of one call that follows pointers.
pub const STEPS: usize = 8192;

/// Registers of streams of general-purpose registers, with their low bytes.
const STREAM: [(&str, &str); 10] = [
    ("%rax", "%al"),
    ("%rcx", "%cl"),
    ("%rsi", "%sil"),
    ("%r8", "%r8b"),
    ("%r9", "%r9b"),
    ("%r10", "%r10b"),
    ("%r11", "%r11b"),
    ("%rbx", "%bl"),
    ("%rbp", "%bpl"),
    ("%r13", "%r13b"),
];

/// A general-purpose register that keeps its value.
const CONSTANT: &str = "%r12";

/// One function: a chain or a stream of a row.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub row: &'a Row,
    pub chained: bool,
}

/// The C file with the functions of `parts`, and buffers of `sizes` bytes, ascending.
pub fn file(parts: &[Part], sizes: &[usize]) -> String {
    let mut text = String::from(INCLUDES);
    let mut cases = String::new();
    for (number, part) in parts.iter().enumerate() {
        let _ = write!(text, "__asm__(\n{});\n", quoted(&function(number, part)));
        let name = format!("calibrate_{number}");
        let _ = writeln!(text, "void {name}(void *memory) __asm__(\"{name}\");");
        let _ = write!(cases, " case {number}: {name}(memory); break;");
    }
    let sizes_text: Vec<String> = sizes.iter().map(|size| size.to_string()).collect();
    let largest = sizes.last().copied().unwrap_or(MEMORY);
    let _ = write!(
        text,
        "#define CASES{cases}\n#define ROWS {}\n#define SIZES {}\n#define LARGEST {largest}\n\
         #define STEPS {STEPS}\n{TEMPLATE}",
        parts.len(),
        sizes_text.join(", "),
    );
    text
}

/// The lines of a function as the strings of an assembler statement.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("    \"{line}\\n\"\n")).collect()
}

/// The function of a part, after the calling convention of x86-64 outside of Windows.
fn function(number: usize, part: &Part) -> String {
    let file = part.row.file;
    let saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"];
    let mut text = format!(".text\n.p2align 6\ncalibrate_{number}:\n");
    for register in saved {
        let _ = writeln!(text, "push %{register}");
    }
    match file {
        File::General => {
            let _ = writeln!(text, "mov $3,{CONSTANT}\nmov $5,%edx");
            for (register, _) in STREAM {
                let _ = writeln!(text, "mov {CONSTANT},{register}");
            }
        }
        _ => {
            let load = if file == File::Zmm { "vmovdqu64" } else { "vmovdqu" };
            for index in 0..count(file) + kept(file) {
                let _ = writeln!(text, "{load} (%rdi),{}", register(file, index));
            }
            if file == File::Zmm {
                text += "mov $0x5555,%eax\nkmovw %eax,%k1\n";
            }
        }
    }
    let _ = write!(text, "mov ${TURNS},%r14d\n.p2align 6\n1:\n");
    let form = if part.chained { part.row.chain } else { part.row.stream };
    for at in 0..UNROLLED {
        for line in form.split("; ") {
            let _ = writeln!(text, "{}", instruction(line, file, at, part.chained, form));
        }
    }
    text += "dec %r14d\njnz 1b\n";
    if file != File::General {
        text += "vzeroupper\n";
    }
    for register in saved.iter().rev() {
        let _ = writeln!(text, "pop %{register}");
    }
    text + "ret\n"
}

/// The registers of a stream.
fn count(file: File) -> usize {
    match file {
        File::General => STREAM.len(),
        File::Xmm | File::Ymm => 12,
        File::Zmm => 24,
    }
}

/// The vector registers that keep their values; their numbers follow the registers of a stream.
fn kept(file: File) -> usize {
    if file == File::Zmm { 7 } else { 4 }
}

fn register(file: File, index: usize) -> String {
    match file {
        File::General => STREAM[index].0.to_string(),
        File::Xmm => format!("%xmm{index}"),
        File::Ymm => format!("%ymm{index}"),
        File::Zmm => format!("%zmm{index}"),
    }
}

/// Instruction `at` of a stream or a chain with its operands; `form` is the text of all its lines.
fn instruction(line: &str, file: File, at: usize, chained: bool, form: &str) -> String {
    let n = count(file);
    let constant = |index: usize| match file {
        File::General => CONSTANT.to_string(),
        _ => register(file, n + index % kept(file)),
    };
    // A chain without previous registers stays in register 0.
    let fixed = chained && !form.contains("{p}");
    let near = |ahead: usize| match (chained, fixed) {
        (true, _) if ahead > 0 && ahead < n - 1 => constant(0),
        (_, true) => register(file, 0),
        _ => register(file, (at + ahead) % n),
    };
    let width = match file {
        File::General => 8,
        File::Xmm => 16,
        File::Ymm => 32,
        File::Zmm => 64,
    };
    let low = if file == File::General { STREAM[if fixed { 0 } else { at % n }].1 } else { "" };
    let places = [
        ("{d}", near(0)),
        ("{a}", near(0)),
        ("{l}", low.to_string()),
        ("{p}", near(n - 1)),
        ("{o}", near(1)),
        ("{x}", near(7 % n)),
        ("{y}", near(17 % n)),
        ("{b}", constant(0)),
        ("{c}", constant(at)),
        ("{m}", format!("{}(%rdi)", 64 + at % 16 * width)),
        ("{w}", format!("{}(%rdi)", 64 + at % 16 * 4)),
        ("{0}", "64(%rdi)".to_string()),
        ("{{", "{".to_string()),
        ("}}", "}".to_string()),
    ];
    places.into_iter().fold(line.to_string(), |text, (place, value)| text.replace(place, &value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::rows;

    #[test]
    fn operands_are_filled_in() {
        let form = "vpternlogd $150,{y},{x},{d}";
        let stream = |at| instruction(form, File::Zmm, at, false, form);
        assert_eq!(stream(0), "vpternlogd $150,%zmm17,%zmm7,%zmm0");
        assert_eq!(stream(20), "vpternlogd $150,%zmm13,%zmm3,%zmm20");
        let chain = instruction(form, File::Zmm, 5, true, form);
        assert_eq!(chain, "vpternlogd $150,%zmm24,%zmm24,%zmm0");
        let copy = "mov {p},{d}";
        assert_eq!(instruction(copy, File::General, 1, true, copy), "mov %rax,%rcx");
        let load = "vpxord {w}{{1to16}},{a},{d}";
        let filled = instruction(load, File::Zmm, 2, false, load);
        assert_eq!(filled, "vpxord 72(%rdi){1to16},%zmm2,%zmm2");
    }

    #[test]
    fn no_place_is_left_open() {
        for row in rows::all() {
            for chained in [false, true] {
                let text = function(0, &Part { row: &row, chained });
                let open = ["{d}", "{a}", "{b}", "{m}", "{{", "}}"];
                assert!(open.iter().all(|place| !text.contains(place)), "{text}");
            }
            assert_eq!(UNROLLED % count(row.file), 0);
        }
    }
}
