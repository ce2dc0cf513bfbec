//! Small functions of C, compiled, against the same functions in Rust.

use std::path::PathBuf;
use std::process::Command;

use usuba_replay::trace::Trace;

use super::{Array, riscv};

const COMPILER: &str = "riscv64-unknown-elf-gcc";

const READ: Array = Array { bytes: 16, is_read: true, is_written: false };
const WRITTEN: Array = Array { bytes: 16, is_read: false, is_written: true };
const BOTH: Array = Array { bytes: 16, is_read: true, is_written: true };

/// The object of a text of C; `None` without the compiler.
fn object(name: &str, text: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("usuba-witness-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let path = |end: &str| -> PathBuf { folder.join(format!("{name}.{end}")) };
    std::fs::write(path("c"), text).expect("a file for the test");
    let mut command = Command::new(COMPILER);
    command.args(["-mabi=ilp32", "-ffreestanding", "-mno-relax", "-c"]).args(flags);
    let done = command.arg("-o").arg(path("o")).arg(path("c")).status();
    let Ok(done) = done else {
        println!("skipped `{name}`: there is no {COMPILER}");
        return None;
    };
    assert!(done.success(), "`{name}` does not compile");
    Some(std::fs::read(path("o")).expect("the object"))
}

/// The trace of `f` in a text, the same for several flags.
fn traces(name: &str, text: &str, arrays: &[Array], pointers: &[usize]) -> Vec<Trace> {
    let all: [(&str, &[&str]); 4] = [
        ("long", &["-march=rv32im", "-O2"]),
        ("short", &["-march=rv32imc", "-Os"]),
        ("slow", &["-march=rv32imc", "-O0"]),
        ("near", &["-march=rv32im", "-O2", "-mcmodel=medany"]),
    ];
    let mut traces = Vec::new();
    for (kind, flags) in all {
        if let Some(object) = object(&format!("{name}-{kind}"), text, flags) {
            let trace = riscv(&object, "f", arrays, pointers);
            traces.push(trace.unwrap_or_else(|error| panic!("{name}, {kind}: {error}")));
        }
    }
    traces
}

/// The reason why `f` has no trace.
fn refused(name: &str, text: &str, arrays: &[Array], wanted: &str) {
    let Some(object) = object(name, text, &["-march=rv32im", "-O1"]) else { return };
    let pointers: Vec<usize> = (0..arrays.len()).collect();
    let error = riscv(&object, "f", arrays, &pointers).expect_err(name);
    assert!(error.contains(wanted), "{name}: {error}");
}

/// Words without a pattern.
fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 32
    };
    (0..count).map(next).collect()
}

#[test]
fn operators_are_those_of_c() {
    let text = "#include <stdint.h>
        void f(uint32_t *out, const uint32_t *a) {
            uint32_t x = a[0], y = a[1];
            out[0] = (x + y) ^ (x << 7 | x >> 25) ^ (uint32_t)((int32_t)y >> 3);
            out[1] = x * y - ((x & y) | ~y);
            out[2] = ((uint64_t)x * y >> 32) + (x < y);
            out[3] = ((int32_t)x < (int32_t)y) + (x == y) + 0x12345678;
        }";
    for trace in traces("operators", text, &[WRITTEN, READ], &[0, 1]) {
        for seed in 1..20 {
            let inputs = random(seed, 4);
            let (x, y) = (inputs[0] as u32, inputs[1] as u32);
            let wanted = [
                x.wrapping_add(y) ^ x.rotate_left(7) ^ (y as i32 >> 3) as u32,
                x.wrapping_mul(y).wrapping_sub(x & y | !y),
                (((u64::from(x) * u64::from(y)) >> 32) as u32).wrapping_add((x < y) as u32),
                0x1234_5678 + ((x as i32) < y as i32) as u32 + (x == y) as u32,
            ];
            assert_eq!(trace.run(&inputs), wanted.map(u64::from));
        }
    }
}

#[test]
fn bytes_tables_calls_and_loops() {
    let text = "#include <stdint.h>
        void *memcpy(void *, const void *, unsigned long);
        void *memset(void *, int, unsigned long);
        static const uint8_t order[16] = {3, 1, 4, 15, 9, 2, 6, 5, 0, 8, 7, 11, 10, 13, 14, 12};
        static const uint8_t *const orders[2] = {order + 1, order};
        __attribute__((noinline)) static uint32_t turn(uint32_t x, int n) {
            return n ? turn(x * 3, n - 1) : x;
        }
        void f(uint8_t *out, const uint8_t *in) {
            uint8_t copy[16];
            memcpy(copy, in, 16);
            for (int i = 0; i < 16; i++) out[i] = copy[orders[1][i]];
            uint16_t h;
            memcpy(&h, in + 2, 2);
            out[15] = turn(h, 3) >> 8;
            const int8_t *s = (const int8_t *)in;
            out[14] = (uint32_t)(int32_t)s[5] >> 20;
        }";
    let order = [3, 1, 4, 15, 9, 2, 6, 5, 0, 8, 7, 11, 10, 13, 14, 12];
    for trace in traces("bytes", text, &[READ, WRITTEN], &[1, 0]) {
        for seed in 1..20 {
            let inputs = random(seed, 4);
            let bytes: Vec<u8> = inputs.iter().flat_map(|w| (*w as u32).to_le_bytes()).collect();
            let mut wanted = order.map(|at: usize| bytes[at]);
            let half = u32::from(u16::from_le_bytes([bytes[2], bytes[3]]));
            wanted[15] = ((half * 27) >> 8) as u8;
            wanted[14] = (i32::from(bytes[5] as i8) as u32 >> 20) as u8;
            let words = wanted.as_chunks::<4>().0.iter();
            let words: Vec<u64> = words.map(|word| u32::from_le_bytes(*word).into()).collect();
            assert_eq!(trace.run(&inputs), words);
        }
    }
}

#[test]
fn arrays_that_are_read_and_written_and_end_in_bytes() {
    let text = "#include <stdint.h>
        void f(uint8_t *a, uint8_t *end) {
            for (uint8_t *at = a; at != a + 6; at++) *at ^= end[0];
            end[1] = a[5];
        }";
    let arrays = [Array { bytes: 6, ..BOTH }, Array { bytes: 2, ..BOTH }];
    for trace in traces("ends", text, &arrays, &[0, 1]) {
        assert_eq!(trace.inputs, [32, 8, 8, 8, 8]);
        let wanted = [0x0403_0201 ^ 0x5555_5555, 5 ^ 0x55, 6 ^ 0x55, 0x55, 6 ^ 0x55];
        assert_eq!(trace.run(&[0x0403_0201, 5, 6, 0x55, 9]), wanted);
    }
}

#[test]
fn whole_words_are_not_cut() {
    let text = "#include <stdint.h>
        void *memcpy(void *, const void *, unsigned long);
        void *memset(void *, int, unsigned long);
        void f(uint32_t *out, const uint32_t *in) {
            uint32_t x[4];
            memcpy(x, in, 16);
            memset(out, 0, 16);
            out[0] = x[1] ^ x[2];
        }";
    for trace in traces("whole", text, &[WRITTEN, READ], &[0, 1]) {
        assert_eq!(trace.words.len(), 4, "{trace}");
    }
}

#[test]
fn what_has_no_trace_is_refused() {
    let arrays = [WRITTEN, READ];
    let case = |name: &str, body: &str, wanted: &str| {
        let text = format!(
            "typedef unsigned u; u g(u); int side;
             void f(u *out, const u *in) {{ out[0] = out[1] = out[2] = out[3] = 1; {body} }}"
        );
        refused(name, &text, &arrays, wanted);
    };
    case("branch", "if (in[0] == 5) { out[in[1] & 1] = 7; }", "depends on an input");
    case("index", "out[in[0] & 3] = 7;", "depends on an input");
    case("outside", "out[4] = 7;", "outside of");
    case("constant", "((u *)in)[1] = 7;", "array");
    case("quotient", "out[1] = in[0] / in[1];", "depends on an input");
    case("call", "out[1] = g(in[0]);", "");
    case("aligned", "*(volatile u *)((char *)out + 1) = in[0];", "not aligned");
    case("side", "side = 1;", "");
    refused("unset", "void f(unsigned *out) { out[0] = 1; }", &[WRITTEN], "written");
    let text = "void f(void) { __asm__ volatile(\"li s1, 5\"); }";
    refused("saved", text, &[], "");
}
