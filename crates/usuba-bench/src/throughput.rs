//! Throughput measurement: instructions of each class per cycle on this machine.
//!
//! ```text
//! v0 = xor(v0, a); v1 = xor(v1, a); … v11 = xor(v11, a)    twelve chains, 96 instructions a turn
//! ```
//!
//! The C of an instruction comes from the target's table. After each one, an empty assembler
//! statement claims to modify the result. The compiler therefore cannot merge, move or drop the
//! instruction; the statement costs nothing. The number of chains exceeds every latency. Each class
//! is measured alone and alternating with each other class. Two classes share a resource if the
//! pair is slower than its slower class alone would allow.

use std::collections::BTreeMap;
use std::fmt::Write;

use usuba::isa::{self, ANY, Inst, Row, Target, word_lane, word_type};

use crate::work::{Class, Shared, Throughput};
use usuba_run::cc::Machine;
use usuba_run::native::{Build, Failure, Kernel, Suite, Timing};

/// Independent results: more than latency times instructions per cycle.
const CHAINS: usize = 10;

/// Instructions per loop iteration: few enough for every micro-op cache.
const TURN: usize = 120;

/// Iterations per call.
const TURNS: usize = 100;

/// Registers that loads and stores cycle through.
const CELLS: usize = 16;

/// The tolerated shortfall of a pair against its expected throughput.
const TOLERANCE: f64 = 0.08;

/// The repeated body of one micro-kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Body {
    Classes(Class, Class),
    Load,
    Store,
    Nothing,
}

/// Measures `target` with the compiler of `machine`, which must be native.
///
/// # Errors
/// The micro-kernels do not compile, or cannot be timed.
pub fn measure(
    target: &'static Target,
    machine: &Machine,
    timing: Timing,
) -> Result<Throughput, Failure> {
    let classes: Vec<Class> =
        Class::ALL.into_iter().filter(|&class| sample(target, class, 0).is_some()).collect();
    let mut bodies = vec![Body::Load, Body::Store, Body::Nothing];
    for (at, &a) in classes.iter().enumerate() {
        bodies.extend(classes[at..].iter().map(|&b| Body::Classes(a, b)));
    }
    let text = text(target, &bodies);
    let cells = CELLS * target.bits as usize / 8;
    let kernels: Vec<Kernel> = (0..bodies.len())
        .map(|body| Kernel {
            text: text.clone(),
            symbol: "micro".into(),
            align: 64,
            calls: vec![vec![vec![body as u8]]],
            outputs: vec![cells],
        })
        .collect();
    let flags: &[&str] = &["-O2"];
    let builds = kernels.iter().map(|kernel| Build { machine, flags, kernel }).collect();
    let suite = Suite::compile(builds)?;
    let samples = suite.time(&(0..bodies.len()).collect::<Vec<_>>(), timing)?;
    let rate = |number: usize| (TURN * TURNS) as f64 / samples[number].steady(0.5);
    let rates: Vec<(Body, f64)> =
        bodies.iter().enumerate().map(|(number, &body)| (body, rate(number))).collect();
    Ok(summary(&rates))
}

/// Derives the throughputs from instructions per cycle.
fn summary(rates: &[(Body, f64)]) -> Throughput {
    let mut machine = Throughput::default();
    for &(body, rate) in rates {
        match body {
            Body::Load => machine.loads = rate,
            Body::Store => machine.stores = rate,
            Body::Nothing => machine.issue = rate,
            Body::Classes(a, b) => {
                machine.computing = machine.computing.max(rate);
                if a == b {
                    machine.per_cycle.insert(a, rate);
                }
            }
        }
    }
    // The issue rate is at least the computing rate, even if a compiler makes `nop`s slow.
    machine.issue = machine.issue.max(machine.computing);
    let alone: &BTreeMap<Class, f64> = &machine.per_cycle;
    machine.shared = rates
        .iter()
        .filter_map(|&(body, rate)| match body {
            Body::Classes(a, b) if a != b => {
                let free = 2.0 * alone.get(&a)?.min(*alone.get(&b)?);
                let bound = free.min(machine.computing);
                let shared = rate < bound * (1.0 - TOLERANCE);
                shared.then_some(Shared { classes: [a, b], per_cycle: rate })
            }
            _ => None,
        })
        .collect();
    machine
}

/// The file with all micro-kernels; the first byte of `which` selects one.
fn text(target: &Target, bodies: &[Body]) -> String {
    let register = register(target);
    let mut text = String::from("#include <stdint.h>\n#include <string.h>\n");
    if !target.header.is_empty() {
        let _ = writeln!(text, "#include <{}>", target.header);
    }
    for (number, body) in bodies.iter().enumerate() {
        let _ = write!(
            text,
            "static void micro_{number}({register} *cells) {{\n    \
             const {register} a = cells[0], b = cells[1];\n    long left;\n"
        );
        for chain in 0..CHAINS {
            let _ = writeln!(text, "    {register} v{chain} = cells[{}];", chain % CELLS);
        }
        let _ = writeln!(text, "    for (left = 0; left < {TURNS}; left++) {{");
        for at in 0..TURN {
            let _ = writeln!(text, "        {}", statement(target, *body, at));
        }
        text += "    }\n";
        for chain in 0..CHAINS {
            let _ = writeln!(text, "    cells[{}] = v{chain};", chain % CELLS);
        }
        text += "    (void)a; (void)b;\n}\n";
    }
    let _ = write!(
        text,
        "void micro(const uint8_t *which, uint8_t *memory);\n\
         void micro(const uint8_t *which, uint8_t *memory) {{\n    \
         {register} *cells = ({register} *)(void *)memory;\n    switch (*which) {{\n"
    );
    for number in 0..bodies.len() {
        let _ = writeln!(text, "    case {number}: micro_{number}(cells); break;");
    }
    text + "    }\n}\n"
}

/// Instruction `at` of a turn with its fence.
fn statement(target: &Target, body: Body, at: usize) -> String {
    let (chain, cell) = (at % CHAINS, at % CELLS);
    let kind = target.constraint;
    match body {
        Body::Nothing => "__asm__ volatile(\"nop\");".into(),
        Body::Load => format!(
            "__asm__ volatile(\"\" : : \"{kind}\"(((volatile {} *)cells)[{cell}]) : \"memory\");",
            register(target)
        ),
        Body::Store => {
            format!("cells[{cell}] = v{chain}; __asm__ volatile(\"\" : : : \"memory\");")
        }
        Body::Classes(a, b) => {
            // Alternating, and in each chain first one class and then the other.
            let class = if (at + at / CHAINS).is_multiple_of(2) { a } else { b };
            let (row, lane) = sample(target, class, at).expect("only classes that are there");
            let expression = filled(row, lane, &format!("v{chain}"));
            format!("v{chain} = {expression}; __asm__ volatile(\"\" : \"+{kind}\"(v{chain}));")
        }
    }
}

/// The C type of a register.
fn register(target: &Target) -> &'static str {
    if target.simd { target.register } else { word_type(target.bits as u8) }
}

/// An instruction pattern of the class, in the lane width of most programs.
fn sample(target: &Target, class: Class, at: usize) -> Option<(&'static Row, u8)> {
    let lanes: &[u8] = if target.simd { &[32, 64, 16, 8] } else { &[word_lane(target.bits as u8)] };
    let insts: &[Inst] = match class {
        Class::Logic => &[Inst::Xor, Inst::And],
        Class::Ternary => &[Inst::Lut3],
        Class::Add => &[Inst::Add],
        Class::Shift => &[Inst::Shl, Inst::Shr],
        Class::Rotate => &[Inst::Rotl],
        Class::Shuffle => &[Inst::Bytes],
        Class::Multiply => &[Inst::Mul],
        Class::Affine => &[Inst::Affine],
        Class::Round => &[Inst::AesRound, Inst::Sha256Rounds2],
    };
    if class == Class::Rotate && !target.simd {
        return Some((&ROTATE, word_lane(target.bits as u8)));
    }
    let inst = insts[at / 2 % insts.len()];
    lanes.iter().find_map(|&lane| target.row(inst, lane).map(|row| (row, lane)))
}

/// The pattern that C compilers recognize as a rotation.
static ROTATE: Row = isa::inst(
    Inst::Rotl,
    ANY,
    "({t})({0} << {k} | {0} >> (8 * sizeof({t}) - {k}))",
    isa::Timing::Doit,
);

/// The C of `row` on the operand `v` and fixed further operands.
fn filled(row: &Row, lane: u8, v: &str) -> String {
    let shift = if row.inst == Inst::Lut3 { "0x1e" } else { "5" };
    let (low, high) = ("0x0302010f0005040aULL", "0x0d060b0e09080c07ULL");
    let mut text = row.text(lane);
    for (place, value) in
        [("{0}", v), ("{1}", "a"), ("{2}", "b"), ("{k}", shift), ("{hi}", high), ("{lo}", low)]
    {
        text = text.replace(place, value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba_run::cc::{self, Family};

    #[test]
    fn pairs_that_slow_each_other_down_are_found() {
        use Class::*;
        let rates = [
            (Body::Classes(Logic, Logic), 4.0),
            (Body::Classes(Shift, Shift), 2.0),
            (Body::Classes(Rotate, Rotate), 2.0),
            (Body::Classes(Logic, Shift), 3.9),
            (Body::Classes(Shift, Rotate), 2.0),
            (Body::Load, 3.0),
            (Body::Store, 1.0),
            (Body::Nothing, 3.0),
        ];
        let machine = summary(&rates);
        assert_eq!(machine.shared, [Shared { classes: [Shift, Rotate], per_cycle: 2.0 }]);
        assert_eq!((machine.computing, machine.issue), (4.0, 4.0));
    }

    #[test]
    fn this_machine_can_be_measured() {
        let timing = Timing { rounds: 5, cycles: 20_000 };
        for target in isa::ALL {
            let Ok(machine) = cc::find_native(target.name, Family::Any) else { continue };
            let throughput = measure(target, &machine, timing);
            let throughput = throughput.unwrap_or_else(|e| panic!("{}: {e}", target.name));
            let rates = throughput.per_cycle.values();
            let all = rates.chain([&throughput.loads, &throughput.stores, &throughput.issue]);
            for rate in all {
                assert!((0.05..20.0).contains(rate), "{}: {throughput:?}", target.name);
            }
            let logic = throughput.per_cycle[&Class::Logic];
            assert!(logic <= throughput.computing, "{}: {throughput:?}", target.name);
        }
    }
}
