//! Tests of the batch runner on small kernels.

use super::*;
use crate::cc;

/// `out = a + b` on `n` 32-bit words, with a static helper of the same name in every kernel.
fn adder(n: usize, twist: &str) -> Kernel {
    let text = format!(
        "#include <stdint.h>\n#include <string.h>\n\
         static uint32_t helper(uint32_t a, uint32_t b) {{ return a + b {twist}; }}\n\
         void f(const uint32_t *a, const uint32_t *b, uint32_t *out);\n\
         void f(const uint32_t *a, const uint32_t *b, uint32_t *out) {{\n\
             uint32_t sum[{n}];\n\
             for (int i = 0; i < {n}; i++) sum[i] = helper(a[i], b[i]);\n\
             memcpy(out, sum, sizeof sum);\n\
         }}\n"
    );
    let words = |seed: u32| {
        (0..n as u32).flat_map(|i| i.wrapping_mul(seed).to_le_bytes()).collect::<Vec<u8>>()
    };
    let calls = vec![vec![words(0x9e37_79b9), words(7)], vec![words(1), words(0xdead_beef)]];
    Kernel { text, symbol: "f".into(), align: 4, calls, outputs: vec![4 * n] }
}

fn sum(n: usize, seed: u32) -> Vec<u8> {
    (0..n as u32).flat_map(|i| i.wrapping_mul(seed).to_le_bytes()).collect()
}

#[test]
fn runs_on_every_target_of_this_machine() {
    let mut ran = 0;
    for answer in cc::survey() {
        match answer {
            Err(skip) => eprintln!("{skip}"),
            Ok(machine) => {
                ran += 1;
                let answers = run(&machine, &["-O1"], &[adder(3, ""), adder(50, "+ 1 - 1")]);
                for (answer, n) in answers.into_iter().zip([3, 50]) {
                    let outputs = answer.unwrap_or_else(|e| panic!("{machine}: {e}"));
                    assert_eq!(outputs[0][0], sum(n, 0x9e37_79b9 + 7), "{machine}");
                    assert_eq!(outputs[1][0], sum(n, 0xdead_beef + 1), "{machine}");
                }
            }
        }
    }
    assert!(ran > 0, "a machine without any C compiler tests nothing");
}

#[test]
fn the_failures_name_the_kernel_and_spare_the_others() {
    let wrong = |body: &str| Kernel {
        text: format!("void g(const unsigned char *in, unsigned char *out) {{ {body} }}\n"),
        symbol: "g".into(),
        align: 1,
        calls: vec![vec![vec![1, 2, 3, 4]]],
        outputs: vec![4],
    };
    let kernels = [
        wrong("out[0] = in[0] + nowhere;"),
        wrong("out[0] = in[0]; out[4] = 0;"),
        wrong("out[0] = in[0]; ((unsigned char *)in)[3] = 9;"),
        wrong("out[0] = in[0]; __builtin_trap();"),
        wrong("for (int i = 0; i < 4; i++) out[i] = in[3 - i];"),
        Kernel { align: 3, ..wrong("out[0] = in[0];") },
    ];
    for answer in cc::survey() {
        let Ok(machine) = answer else { continue };
        let answers = run(&machine, &["-O1", "-w"], &kernels);
        let what = |index: usize| answers[index].as_ref().expect_err("it misbehaves");
        assert!(matches!(what(0), Failure::Compile(text) if text.contains("nowhere")), "{machine}");
        assert_eq!(*what(1), Failure::OutOfBounds { call: 0 }, "{machine}");
        assert_eq!(*what(2), Failure::InputChanged { call: 0 }, "{machine}");
        assert!(matches!(what(3), Failure::Crash { call: 0, .. }), "{machine}: {}", what(3));
        assert_eq!(answers[4], Ok(vec![vec![vec![4, 3, 2, 1]]]), "{machine}");
        assert!(matches!(what(5), Failure::Request(_)), "{machine}");
    }
}

#[test]
fn warnings_can_be_asked_for() {
    let machine = cc::find("gp64").expect("a host compiler");
    let strict = ["-Wall", "-Wextra", "-Werror"];
    assert_eq!(compiles(&machine, &strict, false, "int f(int x);\n"), Ok(()));
    let unused = "static int f(int x) { return 0; }\n";
    assert!(matches!(compiles(&machine, &strict, false, unused), Err(Failure::Compile(_))));
    // Valid C, but C++ requires the cast.
    let pointer = "int *f(void *x);\nint *f(void *x) { return x; }\n";
    assert_eq!(compiles(&machine, &strict, false, pointer), Ok(()));
    assert!(matches!(compiles(&machine, &strict, true, pointer), Err(Failure::Compile(_))));
}

/// `out = in` after `additions` dependent additions.
fn chain(additions: usize) -> Kernel {
    let text = format!(
        "void g(const unsigned long *in, unsigned long *out);\n\
         void g(const unsigned long *in, unsigned long *out) {{\n    \
         unsigned long x = in[0], y = in[1];\n    \
         for (int i = 0; i < {additions}; i++) {{ x += y; __asm__ volatile(\"\" : \"+r\"(x)); }}\n    \
         out[0] = x;\n}}\n"
    );
    let calls = vec![vec![vec![1; 16]]];
    Kernel { text, symbol: "g".into(), align: 64, calls, outputs: vec![8] }
}

#[test]
fn the_clock_counts_cycles() {
    let machine = cc::find_native("gp64", cc::Family::Any).expect("a host compiler");
    let kernels = [chain(1_000), chain(10_000)];
    let flags: &[&str] = &["-O2"];
    let builds = kernels.iter().map(|kernel| Build { machine: &machine, flags, kernel }).collect();
    let suite = Suite::compile(builds).expect("it compiles");
    let timing = Timing { rounds: 21, cycles: 20_000 };
    let samples = suite.time(&[0, 1], timing).expect("it runs");
    assert!(samples.iter().all(|samples| samples.all().len() == 21));
    assert!(samples.iter().all(|s| s.percentile(0.1) <= s.median()));
    // The tolerance is wide because a busy machine disturbs single samples.
    let ratio = samples[1].percentile(0.25) / samples[0].percentile(0.25);
    assert!((5.0..20.0).contains(&ratio), "ten times the work took {ratio} times as long");
    let cycles = samples[1].percentile(0.25);
    assert!((5_000.0..40_000.0).contains(&cycles), "10000 additions took {cycles} cycles");
}

#[test]
fn an_emulator_has_no_clock() {
    let Ok(machine) = cc::find("gp32") else { return };
    if machine.is_native() {
        return;
    }
    let kernel = chain(10);
    let builds = vec![Build { machine: &machine, flags: &["-O1"], kernel: &kernel }];
    let suite = Suite::compile(builds).expect("it compiles");
    assert!(matches!(suite.time(&[0], Timing::default()), Err(Failure::Request(_))));
}
