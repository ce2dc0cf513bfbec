//! The byte interface on every target of this machine: packing, broadcasting of keys, unpacking,
//! tails, misaligned buffers and work in place, for shapes that take every way through the
//! generator.
//!
//! The programs rotate each word of the input by one place and add the complement of a key word,
//! and a word of a second input if there is one, so that a bit in a wrong place, word or instance
//! shows. The test computes the expected results from the definition of the byte layouts, bit by
//! bit.
//!
//! Above 600 lines because shapes of all slicings go through one set of definitions.

use usuba::emit::bytes::{self, ByteLayout, Function, Key, Parameter};
use usuba::emit::c::{COptions, kernel};
use usuba::ir::{Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use usuba::isa::{self, Target};
use usuba::passes::pipeline::run_pass;
use usuba::passes::{PassOptions, interleave};
use usuba_run::cc;
use usuba_run::native::{self, Kernel};

/// Input and output of a test function; its key has the shape and layout of the input.
#[derive(Clone)]
struct Case {
    name: String,
    slicing: Slicing,
    bits: u8,
    input: Vec<u32>,
    output: Vec<u32>,
    layouts: (ByteLayout, ByteLayout),
    /// Whether words may share a general-purpose register.
    packed: bool,
    second: Option<Second>,
}

/// Another input in the same block.
#[derive(Clone)]
struct Second {
    dims: Vec<u32>,
    layout: ByteLayout,
    /// Whether it comes before the first one.
    before: bool,
}

fn words(dims: &[u32]) -> usize {
    dims.iter().map(|&d| d as usize).product()
}

impl Case {
    fn port(&self, name: &str, dims: &[u32], constant: bool) -> Port {
        Port { name: name.into(), word: self.bits, dims: dims.to_vec(), constant, bytes: None }
    }

    fn block(&self, dims: &[u32]) -> usize {
        (words(dims) * self.bits as usize).div_ceil(8)
    }

    /// Bytes of all inputs.
    fn from(&self) -> usize {
        self.block(&self.input) + self.second.as_ref().map_or(0, |second| self.block(&second.dims))
    }

    fn to(&self) -> usize {
        self.block(&self.output)
    }

    /// The bytes of the first input, and of the second.
    fn split<'a>(&self, block: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        match &self.second {
            Some(second) if second.before => {
                let (second, first) = block.split_at(self.block(&second.dims));
                (first, second)
            }
            _ => block.split_at(self.block(&self.input)),
        }
    }

    /// `y[i] = (x[i mod A] <<< 1) ^ ~k[i mod A] ^ z[i mod B]`
    fn program(&self) -> Program {
        let sliced = self.slicing == Slicing::B;
        let (per, bits) = if sliced { (self.bits as usize, 1) } else { (1, self.bits) };
        // In W a value is a row.
        let vector = match self.slicing {
            Slicing::W => self.input.last().map_or(1, |&d| d as usize),
            _ => 1,
        };
        let values = |dims: &[u32]| words(dims) * per / vector;
        let (from, to) = (values(&self.input), values(&self.output));
        let mut params =
            vec![self.port("x", &self.input, false), self.port("k", &self.input, true)];
        let second = self.second.as_ref().map(|second| self.port("z", &second.dims, false));
        params.extend(second);
        let more = self.second.as_ref().map_or(0, |second| values(&second.dims));
        let mut node = Node {
            name: self.name.clone(),
            params,
            results: vec![self.port("y", &self.output, false)],
            bits: vec![bits; 2 * from + more],
            origins: Default::default(),
            body: Vec::new(),
            outs: Vec::new(),
            inline: Inline::Auto,
        };
        let push = |node: &mut Node, op: Op, args: &[Val]| {
            let dst = node.fresh(bits);
            node.body.push(Eqn::Op(OpEqn { dst, op, args: args.iter().copied().collect() }));
            dst
        };
        for i in 0..to {
            let rotated = if sliced {
                let (word, bit) = (i / per % words(&self.input), i % per);
                Val((word * per + (bit + 1) % per) as u32)
            } else {
                let x = Val((i % from) as u32);
                match self.slicing {
                    _ if bits == 1 => x,
                    Slicing::H => {
                        let pattern: Vec<u8> = (0..bits).map(|p| (p + 1) % bits).collect();
                        push(&mut node, Op::Shuffle(pattern.into()), &[x])
                    }
                    _ => push(&mut node, Op::Rotl(1), &[x]),
                }
            };
            let key = push(&mut node, Op::Not, &[Val((from + i % from) as u32)]);
            let mut sum = push(&mut node, Op::Xor, &[rotated, key]);
            if more > 0 {
                let z = Val((2 * from + i % more) as u32);
                sum = push(&mut node, Op::Xor, &[sum, z]);
            }
            node.outs.push(sum);
        }
        let program = Program::new(vec![node], NodeId(0), self.slicing);
        Program { packed: self.packed, vector: vector as u8, ..program }
    }

    /// The result of the program on one block, from the definitions.
    fn expected(&self, key: &[u8], block: &[u8]) -> Vec<u8> {
        let (first, second) = self.split(block);
        let x = decode(self.layouts.0, &self.input, self.bits, first);
        let z = match &self.second {
            Some(Second { dims, layout, .. }) => decode(*layout, dims, self.bits, second),
            None => vec![0],
        };
        let k = decode(self.layouts.0, &self.input, self.bits, key);
        let mask = u64::MAX >> (64 - self.bits);
        let rotl = |w: u64| (w << 1 | w >> (self.bits - 1)) & mask;
        let y: Vec<u64> = (0..words(&self.output))
            .map(|i| rotl(x[i % x.len()]) ^ (!k[i % k.len()] & mask) ^ z[i % z.len()])
            .collect();
        encode(self.layouts.1, &self.output, self.bits, &y)
    }
}

impl Case {
    /// The program with `copies` interleaved instances.
    fn interleaved(&self, copies: u32) -> Program {
        let mut program = self.program();
        let interleave = interleave::Choice { factor: Some(copies), grain: 2 };
        run_pass(
            &interleave::PASS,
            &mut program,
            &PassOptions { interleave, ..Default::default() },
        );
        program
    }
}

/// Where bit `bit` (0 = most significant) of word `word` lies: byte, and bit from the least
/// significant.
fn place(layout: ByteLayout, dims: &[u32], bits: u8, word: usize, bit: usize) -> (usize, usize) {
    let m = bits as usize;
    let flat = word * m + bit;
    match layout {
        ByteLayout::Be => (flat / 8, 7 - flat % 8),
        ByteLayout::LeBits => (flat / 8, flat % 8),
        ByteLayout::Le => {
            let from_low = m - 1 - bit;
            (word * m / 8 + from_low / 8, from_low % 8)
        }
        ByteLayout::Planes => {
            let a = dims.last().map_or(1, |&d| d as usize);
            let at = word / a * a * m + bit * a + word % a;
            (at / 8, 7 - at % 8)
        }
    }
}

fn decode(layout: ByteLayout, dims: &[u32], bits: u8, bytes: &[u8]) -> Vec<u64> {
    let word = |w: usize| {
        (0..bits as usize).fold(0, |sum, b| {
            let (byte, at) = place(layout, dims, bits, w, b);
            sum << 1 | (bytes[byte] >> at & 1) as u64
        })
    };
    (0..words(dims)).map(word).collect()
}

fn encode(layout: ByteLayout, dims: &[u32], bits: u8, values: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; (values.len() * bits as usize).div_ceil(8)];
    for (w, value) in values.iter().enumerate() {
        for b in 0..bits as usize {
            let (byte, at) = place(layout, dims, bits, w, b);
            bytes[byte] |= ((value >> (bits as usize - 1 - b) & 1) as u8) << at;
        }
    }
    bytes
}

/// Every shape of a slicing with every layout that applies to it.
fn cases(slicing: Slicing, target: &Target) -> Vec<Case> {
    let shapes: Vec<(u8, &[u32], &[u32])> = match slicing {
        Slicing::V => vec![
            (8, &[16], &[16]),
            (16, &[4], &[4]),
            (16, &[5], &[5]),
            (32, &[4], &[4]),
            (32, &[2, 4], &[2, 4]),
            (32, &[3], &[3]),
            (32, &[4], &[16]),
            (64, &[], &[]),
            (64, &[5], &[5]),
            (24, &[2], &[2]),
            (4, &[5], &[5]),
            (4, &[2, 4], &[2, 4]),
            (4, &[2, 8], &[2, 8]),
        ],
        Slicing::H if target.simd => vec![
            (16, &[4], &[4]),
            (16, &[8], &[8]),
            (16, &[2, 8], &[2, 8]),
            (16, &[3], &[3]),
            (16, &[12], &[12]),
            (8, &[16], &[16]),
            (8, &[2], &[4]),
            (4, &[16], &[16]),
            (4, &[5], &[5]),
            (2, &[8], &[8]),
        ],
        Slicing::H => vec![
            (16, &[4], &[4]),
            (16, &[3], &[3]),
            (16, &[8], &[8]),
            (32, &[2], &[2]),
            (32, &[1], &[3]),
            (8, &[16], &[16]),
            (4, &[5], &[5]),
            (2, &[8], &[8]),
        ],
        Slicing::B => vec![
            (1, &[64], &[64]),
            (1, &[257], &[257]),
            (1, &[5], &[5]),
            (16, &[4], &[4]),
            (16, &[5], &[5]),
            (32, &[4], &[16]),
            (64, &[2], &[2]),
            (8, &[3], &[3]),
        ],
        // Vectors, which narrower registers do not hold, and several of which wider ones hold.
        Slicing::W => {
            let shapes: [(u8, &[u32], &[u32]); 5] = [
                (32, &[4], &[4]),
                (32, &[2, 4], &[4, 4]),
                (8, &[16], &[16]),
                (64, &[4], &[4]),
                (64, &[8], &[8]),
            ];
            let fits = |dims: &[u32], bits: u8| {
                target.simd && dims.last().is_some_and(|&d| d * bits as u32 <= target.bits)
            };
            shapes.into_iter().filter(|(bits, input, _)| fits(input, *bits)).collect()
        }
    };
    let mut cases = Vec::new();
    for (bits, input, output) in shapes {
        for &(_, from) in ByteLayout::ALL {
            for &(_, to) in ByteLayout::ALL {
                // Mixed layouts matter for the order of lanes: one or two shapes show it. In
                // bitslicing a layout is but the names of registers: one shape shows them all.
                let usual = from == to && (slicing != Slicing::B || from == ByteLayout::Be);
                let several = bits == 16 && words(input) == 4;
                if !usual && !several && (slicing == Slicing::B || bits != 64) {
                    continue;
                }
                let name = format!("f{}", cases.len());
                let (input, output) = (input.to_vec(), output.to_vec());
                let layouts = (from, to);
                let case = Case {
                    name,
                    slicing,
                    bits,
                    input,
                    output,
                    layouts,
                    second: None,
                    packed: false,
                };
                let packs = slicing == Slicing::V
                    && !target.simd
                    && (bits as u32) < target.bits
                    && bits.is_power_of_two();
                let packed =
                    Case { name: format!("f{}", cases.len() + 1), packed: true, ..case.clone() };
                cases.push(case);
                cases.extend(packs.then_some(packed));
            }
        }
    }
    cases
}

/// Blocks of two inputs: the second smaller than a tile, as large as one, larger, and of the same
/// size as the first; before it or behind it.
fn pairs(slicing: Slicing) -> Vec<Case> {
    let shapes: Vec<(u8, [u32; 3])> = match slicing {
        Slicing::V => vec![(32, [4, 12, 16]), (32, [8, 16, 8]), (16, [2, 4, 4]), (64, [2, 1, 2])],
        Slicing::H => vec![(16, [4, 4, 8]), (16, [8, 3, 8]), (16, [2, 6, 8]), (8, [16, 16, 32])],
        Slicing::B => vec![(1, [64, 24, 88]), (1, [128, 128, 128]), (32, [4, 5, 4])],
        Slicing::W => vec![(32, [4, 4, 4])],
    };
    let case = |(number, (bits, [first, second, output])): (usize, (u8, [u32; 3]))| {
        let before = number % 2 == 0;
        let layout = if before { ByteLayout::Be } else { ByteLayout::LeBits };
        Case {
            name: format!("{slicing:?}{number}"),
            slicing,
            bits,
            input: vec![first],
            output: vec![output],
            layouts: (ByteLayout::Be, layout),
            packed: false,
            second: Some(Second { dims: vec![second], layout, before }),
        }
    };
    shapes.into_iter().enumerate().map(case).collect()
}

/// Whether the generator may refuse a layout: `le` without whole bytes, and `planes` under
/// horizontal slicing, or packed, without powers of two or below a register; in W everything except
/// for rows of words.
fn may_refuse(case: &Case) -> bool {
    let woven = |dims: &[u32]| {
        let row = dims.last().map_or(1, |&d| d as usize);
        (case.slicing == Slicing::H || case.packed)
            && (!words(dims).is_power_of_two()
                || !case.bits.is_power_of_two()
                || row * (case.bits as usize) < 32)
    };
    let one = |layout: ByteLayout, dims: &[u32]| match layout {
        ByteLayout::Planes | ByteLayout::LeBits if case.slicing == Slicing::W => true,
        ByteLayout::Le => !case.bits.is_multiple_of(8),
        ByteLayout::Planes => woven(dims),
        _ => false,
    };
    one(case.layouts.0, &case.input) || one(case.layouts.1, &case.output)
}

fn random(length: usize, mut seed: u64) -> Vec<u8> {
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// One way to call a function: blocks, and whether input and output are the same bytes.
type Call = (usize, bool);

fn calls(case: &Case, lanes: usize, copies: usize) -> Vec<Call> {
    let batch = lanes * copies;
    let mut counts =
        vec![0, 1, lanes - 1, lanes, lanes + 1, batch - 1, batch, batch + 1, 2 * batch + 1];
    counts.sort_unstable();
    counts.dedup();
    let same = case.from() == case.to();
    let apart = counts.iter().map(|&n| (n, false));
    apart.chain(counts.iter().filter(|_| same).map(|&n| (n, true))).collect()
}

/// All cases of one target and slicing as one C file, with `drive` to call them. Of those with
/// copies every second one has a kernel for short messages too.
fn file(target: &'static Target, cases: &[Case], copies: u32) -> (String, Vec<Case>) {
    let mut text = String::from("#include <stddef.h>\n#include <string.h>\n");
    let mut arms = String::new();
    let mut kept = Vec::new();
    for case in cases {
        let program = case.interleaved(copies);
        let emitted = kernel(&program, target, &COptions::default());
        let alone = case.program();
        let options = COptions { name: format!("{}_single", case.name), ..COptions::default() };
        let single = kernel(&alone, target, &options);
        let short = copies > 1 && kept.len() % 2 == 0;
        let mut inputs = vec![Parameter { param: "x", bytes: case.layouts.0 }];
        if let Some(second) = &case.second {
            inputs.push(Parameter { param: "z", bytes: second.layout });
            if second.before {
                inputs.swap(0, 1);
            }
        }
        let function = Function {
            name: &format!("{}_bytes", case.name),
            kernel: bytes::Kernel {
                program: &program,
                symbol: &emitted.name,
                complemented_keys: false,
            },
            single: short.then_some(bytes::Kernel {
                program: &alone,
                symbol: &single.name,
                complemented_keys: false,
            }),
            inputs: &inputs,
            output: Parameter { param: "y", bytes: case.layouts.1 },
            key: Some(Key { param: "k", bytes: case.layouts.0, schedule: None }),
            wipe: kept.len() % 3 == 2,
            rolled: kept.len() % 2 == 1,
        };
        match bytes::definitions(&function, target) {
            Err(error) => assert!(may_refuse(case), "{}: {}", describe(case), error.message),
            Ok(definitions) => {
                let (number, name) = (kept.len(), function.name);
                let from = case.from();
                text += &emitted.text;
                text += if short { &single.text } else { "" };
                text += &definitions;
                arms += &format!(
                    "    case {number}: {{\n        {name}_ctx ctx;\n        {name}_init(&ctx, key);\n        \
                     if (how[3]) {{ memcpy(out, in, n * {from}); in = out; }}\n        \
                     {name}_blocks(&ctx, in, out, n);\n        \
                     break;\n    }}\n"
                );
                kept.push(case.clone());
            }
        }
    }
    text += &format!(
        "void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out);\n\
         void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out) {{\n    \
         const size_t n = how[0] | (size_t)how[1] << 8;\n    \
         switch (how[2]) {{\n{arms}    }}\n}}\n"
    );
    (text, kept)
}

fn describe(case: &Case) -> String {
    let Case { slicing, bits, input, output, layouts, second, packed, .. } = case;
    let second = second.as_ref().map_or(String::new(), |second| {
        format!("{} {:?} ", if second.before { "behind" } else { "before" }, second.dims)
    });
    let packed = if *packed { "packed " } else { "" };
    format!("{packed}{slicing:?} u{bits} {input:?} {second}-> {output:?} {layouts:?}")
}

/// Runs every case of `slicing` on `target`; the number of function calls that were compared.
fn check(target: &'static Target, slicing: Slicing, copies: u32) -> usize {
    let mut cases = cases(slicing, target);
    if copies > 1 {
        // How bytes become registers does not depend on the copies: some shapes show that.
        let mut number = 0;
        cases.retain(|_| {
            number += 1;
            number % 7 == copies
        });
    }
    check_cases(target, &cases, copies)
}

fn check_cases(target: &'static Target, cases: &[Case], copies: u32) -> usize {
    let machine = match cc::find(target.name) {
        Ok(machine) => machine,
        Err(skip) => {
            eprintln!("{skip}");
            return 0;
        }
    };
    let (text, cases) = file(target, cases, copies);
    let mut kernels = Vec::new();
    let mut all = Vec::new();
    // One kernel per case, so that the buffers have its size; the text is the same.
    for (number, case) in cases.iter().enumerate() {
        let lanes = usuba::emit::lanes(&case.program(), target) as usize;
        let calls = calls(case, lanes, copies as usize);
        let most = 2 * lanes * copies as usize + 1;
        let (from, to) = (case.from(), case.to());
        let key = random(case.block(&case.input), 7 + number as u64);
        let data = random(from * most, 99 + number as u64);
        let how =
            |&(n, in_place): &Call| vec![n as u8, (n >> 8) as u8, number as u8, in_place as u8];
        kernels.push(Kernel {
            text: text.clone(),
            symbol: "drive".into(),
            align: 1,
            calls: calls.iter().map(|c| vec![how(c), key.clone(), data.clone()]).collect(),
            outputs: vec![to * most],
        });
        all.push((case, calls, key, data));
    }
    let answers = native::run(&machine, &["-O0"], &kernels);
    let mut compared = 0;
    for (answer, (case, calls, key, data)) in answers.into_iter().zip(all) {
        let outputs = answer.unwrap_or_else(|e| panic!("{machine}: {}: {e}", describe(case)));
        let (from, to) = (case.from(), case.to());
        for ((n, in_place), output) in calls.iter().zip(outputs) {
            let blocks = data.chunks(from).take(*n).flat_map(|block| case.expected(&key, block));
            let want: Vec<u8> = blocks.collect();
            let got = &output[0];
            assert_eq!(
                got[..n * to],
                want[..],
                "{machine}: {}: {n} blocks, in place: {in_place}",
                describe(case)
            );
            assert!(got[n * to..].iter().all(|&b| b == 0xa5), "{machine}: {}", describe(case));
            compared += 1;
        }
    }
    compared
}

fn check_all(slicing: Slicing) {
    let compared: usize = isa::ALL.iter().map(|target| check(target, slicing, 1)).sum();
    assert!(compared > 0, "no target of this machine runs {slicing:?}");
}

#[test]
fn vertical() {
    check_all(Slicing::V);
}

#[test]
fn horizontal() {
    check_all(Slicing::H);
}

#[test]
fn bitsliced() {
    check_all(Slicing::B);
}

#[test]
fn words_in_lanes() {
    check_all(Slicing::W);
}

#[test]
fn side_by_side() {
    for (slicing, copies) in [(Slicing::V, 3), (Slicing::H, 2), (Slicing::B, 2), (Slicing::W, 2)] {
        let compared: usize = isa::ALL.iter().map(|target| check(target, slicing, copies)).sum();
        assert!(compared > 0, "no target of this machine runs {slicing:?}");
    }
}

#[test]
fn two_inputs() {
    let all = [Slicing::V, Slicing::H, Slicing::B].map(pairs).concat();
    let compared: usize = isa::ALL.iter().map(|target| check_cases(target, &all, 1)).sum();
    assert!(compared > 0, "no target of this machine runs anything");
    // Which bytes belong to which copy does not depend on the target.
    for name in ["gp64", "avx2"] {
        let target = isa::find(name).expect("it exists");
        check_cases(target, &pairs(Slicing::V), 2);
    }
}

#[test]
fn inputs_are_all_parameters_but_the_key() {
    let case = &pairs(Slicing::V)[0];
    let program = case.program();
    let target = isa::find("gp64").expect("it exists");
    let parameter = |param| Parameter { param, bytes: ByteLayout::Be };
    let refused = |inputs: &[&'static str], key: Option<&'static str>| {
        let inputs: Vec<Parameter> = inputs.iter().map(|param| parameter(*param)).collect();
        let function = Function {
            name: "f",
            kernel: bytes::Kernel { program: &program, symbol: "f", complemented_keys: false },
            single: None,
            inputs: &inputs,
            output: parameter("y"),
            key: key.map(|param| Key { param, bytes: ByteLayout::Be, schedule: None }),
            wipe: false,
            rolled: false,
        };
        bytes::definitions(&function, target).expect_err("it is refused").message
    };
    let left = "parameter `z` of node `V0` is neither an input of the byte interface nor its key";
    assert_eq!(refused(&["x"], Some("k")), left);
    assert_eq!(refused(&["x", "z", "x"], Some("k")), "`x` is named twice as an input or the key");
    assert_eq!(refused(&["x", "z", "k"], Some("k")), "`k` is named twice as an input or the key");
    assert_eq!(refused(&["x", "w"], Some("k")), "node `V0` has no parameter `w`");
    let shared = "`k` is `const`, the same in all instances, and cannot be part of a block";
    assert_eq!(refused(&["x", "z", "k"], None), shared);
}

#[test]
fn compiles_without_warnings_as_c_and_cxx() {
    let strict = ["-fsyntax-only", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    let cxx = ["-fsyntax-only", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    for target in isa::ALL {
        for family in [cc::Family::Gcc, cc::Family::Clang] {
            let machine = match cc::find_with(target.name, family) {
                Ok(machine) => machine,
                Err(skip) => {
                    eprintln!("{skip} ({family:?})");
                    continue;
                }
            };
            for slicing in [Slicing::V, Slicing::H, Slicing::B] {
                let (text, _) = file(target, &cases(slicing, target), 1);
                native::compiles(&machine, &strict, false, &text)
                    .unwrap_or_else(|e| panic!("{machine} {slicing:?}: {e}"));
                if !machine.has_cxx() {
                    eprintln!("skipped C++ for {machine}: the compiler has none");
                    continue;
                }
                native::compiles(&machine, &cxx, true, &text)
                    .unwrap_or_else(|e| panic!("{machine} {slicing:?} as C++: {e}"));
            }
        }
    }
}
