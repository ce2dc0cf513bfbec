//! Runs programs natively and compares every lane of every output with the interpreter.

use usuba::emit::c::{COptions, Emitted, kernel};
use usuba::ir::random::Random;
use usuba::ir::{Port, Program, Slicing, interp, lanes};
use usuba::isa::{self, Target};
use usuba_run::cc::{self, Machine};
use usuba_run::layout::Layout;
use usuba_run::native::{self, Kernel};

/// The flags with which generated code must compile.
pub const STRICT: &[&str] = &["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// A program with the data that it is run on, every instance different.
pub struct Case {
    /// The name of the program, for messages.
    pub what: String,
    pub program: Program,
    pub emitted: Emitted,
    layout: Layout,
    pub kernel: Kernel,
    /// For each call and instance the values of the results.
    expected: Vec<Vec<Vec<u64>>>,
}

impl Case {
    /// Prepares `program`, with `calls` calls on inputs derived from `seed`.
    pub fn new(
        what: String,
        program: Program,
        target: &Target,
        options: COptions,
        calls: usize,
        seed: u64,
    ) -> Case {
        let masks = target.masks && !options.registers;
        let options = COptions { prefix: "t_".into(), ..options };
        let emitted = kernel(&program, target, &options);
        let layout = Layout::new(&program, target.bits, target.simd, masks).expect("a layout");
        assert_eq!(layout.lanes(), emitted.lanes as usize, "{what}: instances of one call");
        // Data are words, of which a vector of W holds several.
        let of_words = lanes::apart(&program);
        let entry = of_words.entry();
        let mut random = Random::new(seed);
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..calls {
            let mut instances: Vec<Vec<u64>> =
                (0..layout.lanes()).map(|_| lane_values(&mut random, &of_words)).collect();
            share_constants(&mut instances, &of_words);
            let words: Vec<Vec<u64>> = instances
                .iter()
                .map(|values| interp::values_to_words(&entry.params, program.slicing, values))
                .collect();
            let mut at = 0;
            let mut pack = |port: &Port| {
                let rows: Vec<Vec<u64>> =
                    words.iter().map(|row| row[at..at + port.words()].to_vec()).collect();
                at += port.words();
                layout.pack(port, &rows)
            };
            let arrays = of_words.params().into_iter();
            inputs.push(arrays.map(|ports| ports.iter().flat_map(&mut pack).collect()).collect());
            let run = |values: &Vec<u64>| interp::run(&of_words, values).expect("it runs");
            expected.push(instances.iter().map(run).collect());
        }
        let [_, outputs] = layout.array_bytes(&program);
        let kernel = Kernel {
            text: emitted.text.clone(),
            symbol: emitted.name.clone(),
            align: if target.simd { target.bits as usize / 8 } else { 8 },
            calls: inputs,
            outputs,
        };
        Case { what, program, emitted, layout, kernel, expected }
    }

    /// Compares the bytes of each result of each call.
    fn check(&self, machine: &Machine, outputs: &native::Outputs) {
        let entry = self.program.entry();
        let slicing = self.program.slicing;
        for (call, (got, expected)) in outputs.iter().zip(&self.expected).enumerate() {
            let mut at = 0;
            let all: Vec<u8> = got.concat();
            let mut rest = &all[..];
            for port in &entry.results {
                let (bytes, others) = rest.split_at(self.layout.port_bytes(port));
                rest = others;
                let clean = self.layout.is_zero_extended(port, bytes);
                assert!(clean, "{machine}: {}: bits above the words of `{}`", self.what, port.name);
                let rows = self.layout.unpack(port, bytes);
                for (lane, row) in rows.iter().enumerate() {
                    let values = interp::words_to_values(std::slice::from_ref(port), slicing, row);
                    for (i, &value) in values.iter().enumerate() {
                        let want = expected[lane][at + i];
                        assert_eq!(
                            value,
                            want,
                            "{machine}: {}: `{}` value {i} (result {}) of lane {lane} in call {call}\n{}",
                            self.what,
                            port.name,
                            at + i,
                            self.emitted.text
                        );
                    }
                }
                at += if slicing == Slicing::W { port.words() } else { port.values(slicing) };
            }
        }
    }
}

/// One value per parameter value: edges as often as anything else.
fn lane_values(random: &mut Random, program: &Program) -> Vec<u64> {
    let entry = program.entry();
    let bits = &entry.bits[..entry.arity(program.slicing)];
    bits.iter()
        .map(|&bits| {
            let mask = usuba::ir::op::mask(bits);
            let edge = [0, mask, 1, 1 << (bits - 1), mask >> 1];
            let word = random.word();
            let pick = random.below(10);
            edge.get(pick).copied().unwrap_or(word) & mask
        })
        .collect()
}

/// Gives every instance the constants of the first.
fn share_constants(instances: &mut [Vec<u64>], program: &Program) {
    let (first, others) = instances.split_first_mut().expect("a call has instances");
    let mut at = 0;
    for port in &program.entry().params {
        let values = at..at + port.values(program.slicing);
        at = values.end;
        if port.constant {
            for row in &mut *others {
                row[values.clone()].copy_from_slice(&first[values.clone()]);
            }
        }
    }
}

/// Runs all cases in one process and compares them.
pub fn check_all(machine: &Machine, flags: &[&str], cases: &[Case]) {
    let kernels: Vec<Kernel> = cases.iter().map(|case| case.kernel.clone()).collect();
    for (case, answer) in cases.iter().zip(native::run(machine, flags, &kernels)) {
        match answer {
            Ok(outputs) => case.check(machine, &outputs),
            Err(failure) => panic!("{machine}: {}: {failure}\n{}", case.what, case.emitted.text),
        }
    }
}

/// Calls `test` for each target that this machine can build and run, and prints the others.
pub fn on_every_machine(mut test: impl FnMut(&'static Target, &Machine)) {
    let mut ran = 0;
    for target in isa::ALL {
        match cc::find(target.name) {
            Ok(machine) => {
                test(target, &machine);
                ran += 1;
            }
            Err(skip) => eprintln!("{skip}"),
        }
    }
    assert!(ran > 0, "a machine without any C compiler tests nothing");
}
