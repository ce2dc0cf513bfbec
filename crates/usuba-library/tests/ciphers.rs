//! Every cipher folder, on every slicing and every target of this machine.
//!
//! - `reference.rs` computes the vectors, and so does the oracle crate where there is one;
//! - `typed::eval` computes the vectors;
//! - the C of every function, slicing and target computes the vectors and, on batches of 1, N-1,
//!   N, N+1 and 2N+1 blocks (N instances of a call), in place and from odd addresses, the results
//!   of `reference.rs`;
//! - a few ciphers do so with interleave factors of two and three;
//! - in long runs, each of these numbers of blocks both in place and apart, and 10,000 blocks;
//!   and SM4 encrypts a block a million times, as its standard requires.
//!
//! The quick run has each cipher on one target, and of a large family a part of the kernels; the
//! whole run has everything (`usuba_gen::level`). A target that this machine cannot run is an
//! ignored test that says so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial};
use usuba::diag::Sources;
use usuba::emit::c::Emitted;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::PipelineOptions;
use usuba::typed;
use usuba_ciphers::{Beside, Cipher, Function};
use usuba_gen::level::asks;
use usuba_run::cc::{self, Machine};
use usuba_run::functions::Built;
use usuba_run::native::{self, Build, Kernel, Suite};
use usuba_run::validated::Proofs;

mod models {
    include!(concat!(env!("OUT_DIR"), "/ciphers.rs"));
}

fn ciphers() -> &'static [Cipher] {
    static FOUND: OnceLock<Vec<Cipher>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        usuba_ciphers::find(&root).expect("the cipher folders can be read")
    })
}

fn name(cipher: &Cipher) -> String {
    cipher.folder.file_name().unwrap_or_default().to_string_lossy().replace('-', "_")
}

fn main() {
    let mut trials = Vec::new();
    for cipher in ciphers() {
        let name = name(cipher);
        trials.push(Trial::test(format!("{name}::reference"), || references(cipher)));
        trials.push(Trial::test(format!("{name}::eval"), || evaluator(cipher)));
    }
    if asks("sm4::million") {
        trials.push(Trial::test("sm4::million", million));
    }
    let mut machines = Vec::new();
    for target in isa::all().chain(isa::NARROW.iter().copied()) {
        match cc::find(target.name) {
            Ok(machine) => machines.push((target, machine)),
            Err(skip) => {
                let title = format!("skipped {}: {}", target.name, skip.why);
                trials.push(Trial::test(title, || Ok(())).with_ignored_flag(true));
            }
        }
    }
    for (number, cipher) in ciphers().iter().enumerate() {
        for (target, machine) in &machines {
            let made = cipher.functions.iter().any(|function| function.is_for(target));
            let wanted = quick(cipher, number, &machines) == Some(target.name);
            if made && (wanted || is_whole(cipher, target)) {
                let title = format!("{}::{}", name(cipher), target.name);
                let (target, machine) = (*target, machine.clone());
                trials.push(Trial::test(title, move || natives(cipher, target, &machine)));
            }
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The target on which the quick run has a cipher: all targets take turns, and another one comes
/// with another commit. Registers that are narrower than the registers of the machine serve W alone
/// and are left to the whole run.
fn quick(
    cipher: &Cipher,
    number: usize,
    machines: &[(&'static Target, cc::Machine)],
) -> Option<&'static str> {
    let serves = |target: &Target| {
        let narrow = isa::NARROW.iter().any(|narrow| narrow.name == target.name);
        !narrow && cipher.functions.iter().any(|function| function.is_for(target))
    };
    let made: Vec<_> = machines.iter().filter(|(target, _)| serves(target)).collect();
    let turn = number + usuba_gen::level::turn() as usize;
    made.get(turn % made.len().max(1)).map(|(target, _)| target.name)
}

/// A fixed sequence of bytes (SplitMix64), different for every seed.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

/// `reference.rs` computes the hashes of longer messages in the long run only.
const SHORT: usize = 500;

fn references(cipher: &Cipher) -> Result<(), Failed> {
    let folder = name(cipher);
    for function in &cipher.functions {
        let vectors = cipher.vectors(function)?;
        for (at, v) in vectors.iter().enumerate() {
            let got = models::reference(&folder, &function.name, &v.key, &v.input);
            if got != v.output {
                return Err(format!("{}: vector {at} differs", function.name).into());
            }
        }
        let (key, block) = (vectors[0].key.len(), vectors[0].input.len());
        for seed in 0..20 {
            let (key, input) = (noise(seed, key), noise(!seed, block));
            let Some(oracle) = models::oracle(&folder, &function.name, &key, &input) else {
                continue;
            };
            if models::reference(&folder, &function.name, &key, &input) != oracle {
                return Err(format!("{}: the oracle differs", function.name).into());
            }
        }
    }
    for hash in &cipher.hashes {
        for (at, v) in cipher.hashes_of(hash)?.iter().enumerate() {
            if v.input.len() > SHORT && !asks(format!("vector {at} of {}", hash.name)) {
                continue;
            }
            let got = models::reference(&folder, &hash.name, &v.parameters(), &v.input);
            if got != v.output {
                return Err(format!("{}: vector {at} differs", hash.name).into());
            }
        }
    }
    Ok(())
}

/// The reference semantics computes the vectors, and the programs have no warnings.
fn evaluator(cipher: &Cipher) -> Result<(), Failed> {
    for function in &cipher.functions {
        let path = cipher.folder.join(&function.source);
        let mut sources = Sources::default();
        let root = sources.add(path.display().to_string(), std::fs::read_to_string(&path)?);
        let (node, flags) = (Some(&*function.node), typed::Flags::default());
        let checked = usuba::front(&mut sources, root, &mut Beside, node, flags);
        let warnings = checked.map_or_else(|findings| findings, |checked| checked.warnings);
        if !warnings.is_empty() {
            return Err(format!("{}: {warnings:?}", path.display()).into());
        }
    }
    Ok(cipher.verify(None)?)
}

/// Functions of one node that differ in their keys only: one kernel serves them all.
type Group<'a> = Vec<&'a Function>;

fn groups<'a>(
    cipher: &'a Cipher,
    target: &Target,
) -> BTreeMap<(usize, &'a str, &'a str), Group<'a>> {
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    for function in cipher.functions.iter().filter(|function| function.is_for(target)) {
        for (at, slicing) in SLICINGS.iter().enumerate() {
            if function.slicings_on(target).any(|s| s == *slicing) {
                let key = (at, &*function.source, &*function.node);
                groups.entry(key).or_default().push(function);
            }
        }
    }
    groups
}

const SLICINGS: [Slicing; 4] = [Slicing::V, Slicing::H, Slicing::B, Slicing::W];

/// The tested interleave factors: the default, and for some ciphers others that users may request.
/// These ciphers have keys and none, with a schedule and without, in V, H and B.
fn choices(cipher: &Cipher, source: &str, slicing: Slicing) -> Vec<Choice> {
    let more = match (&*name(cipher), source, slicing) {
        ("rectangle", ..) => [2, 3].as_slice(),
        ("ascon" | "chacha20", _, Slicing::V) | ("aes", "aes_h.ua", Slicing::H) => &[3],
        _ => &[],
    };
    let asked = more.iter().map(|&factor| Choice { factor: Some(factor), grain: 3 });
    [Choice::AUTO].into_iter().chain(asked).collect()
}

/// The expected output of a call, with the words for a failure.
struct Expected {
    what: String,
    bytes: Vec<u8>,
}

/// Kernels of a cipher that each target has by default. The kernels of a large family take turns:
/// each is on some target.
const MOST: usize = 3;

/// Whether every kernel of a cipher is on this target and optimised there.
fn is_whole(cipher: &Cipher, target: &Target) -> bool {
    asks(format!("{}::{}", name(cipher), target.name))
}

/// How the C of a kernel is compiled. An optimising compiler takes two to four times as long, so
/// that it works on one scalar and one SIMD target only and on files below [`OPTIMISED`] bytes,
/// but on all of them in a long run.
fn level(whole: bool, target: &Target, kernel: &Kernel) -> &'static str {
    let short = kernel.text.len() < OPTIMISED && ["gp64", "avx512"].contains(&target.family());
    if whole || short { "-O1" } else { "-O0" }
}

/// See [`level`]: longer kernels take two thirds of the time and are a quarter of the kernels.
const OPTIMISED: usize = 150_000;

fn natives(cipher: &Cipher, target: &'static Target, machine: &Machine) -> Result<(), Failed> {
    let mut kernels = Vec::new();
    let mut wanted: Vec<Vec<Expected>> = Vec::new();
    let groups = groups(cipher, target);
    let whole = is_whole(cipher, target);
    let turns = if whole { 1 } else { groups.len().div_ceil(MOST).min(isa::ALL.len()) };
    let turn = isa::ALL.iter().position(|other| other.name == target.name).unwrap_or(0);
    for (number, ((slicing, source, _), functions)) in groups.into_iter().enumerate() {
        if !(number + turn).is_multiple_of(turns) {
            continue;
        }
        let slicing = SLICINGS[slicing];
        for choice in choices(cipher, source, slicing) {
            for (kernel, expected) in group(cipher, &functions, slicing, target, choice)? {
                kernels.push(kernel);
                wanted.push(expected);
            }
        }
    }
    let flags = |level| [level, "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    let flags: Vec<_> = kernels.iter().map(|kernel| flags(level(whole, target, kernel))).collect();
    let builds = kernels.iter().zip(&flags);
    let builds = builds.map(|(kernel, flags)| Build { machine, flags, kernel }).collect();
    for (answer, expected) in Suite::compile(builds)?.run().into_iter().zip(wanted) {
        let outputs = answer.map_err(|failure| format!("{}: {failure}", expected[0].what))?;
        for (output, expected) in outputs.iter().zip(&expected) {
            if !output[0].starts_with(&expected.bytes) {
                return Err(format!("{} computes something else", expected.what).into());
            }
        }
    }
    Ok(())
}

/// One C file for the functions of a group: the kernel once, an interface for each, and `drive`.
/// Long messages are calls of their own: all calls of a kernel have inputs of one size.
fn group(
    cipher: &Cipher,
    functions: &[&Function],
    slicing: Slicing,
    target: &'static Target,
    interleave: Choice,
) -> Result<Vec<(Kernel, Vec<Expected>)>, Failed> {
    let mut options = PipelineOptions::default();
    options.pass.interleave = interleave;
    let proofs = Proofs::asked(is_whole(cipher, target));
    let mut text = String::new();
    let mut cases = String::new();
    let mut parts: [Vec<(Call, Expected)>; 2] = Default::default();
    let mut shared: Vec<String> = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        // Kernels of one batch are linked together.
        let side_by_side = interleave.factor.map(|f| f.to_string()).unwrap_or_default();
        let title = format!("{}_{slicing:?}{side_by_side}", function.name);
        let built = usuba_run::functions::build(
            cipher, function, &title, slicing, target, &options, proofs,
        )?;
        let kernels: Vec<&Emitted> = [&built.kernel].into_iter().chain(&built.single).collect();
        let length: usize = kernels.iter().map(|kernel| kernel.text.len()).sum();
        let rest = &built.text[length..];
        let first = shared.is_empty();
        for (at, kernel) in kernels.into_iter().enumerate() {
            if first {
                text += &kernel.text;
                shared.push(kernel.name.clone());
            } else {
                let _ = writeln!(text, "#define {} {}", kernel.name, shared[at]);
            }
        }
        text += rest;
        cases += &case(number, &built);
        for request in requests(cipher, function, &built, slicing, target, number)? {
            let blocks = u16::from_le_bytes([request.0[0][1], request.0[0][2]]) as usize;
            parts[(blocks >= LONG) as usize].push(request);
        }
    }
    let _ = write!(
        text,
        "\n#ifdef __cplusplus\nextern \"C\"\n#endif\n\
         void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out);\n\
         void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out)\n{{\n    \
         const size_t blocks = how[1] | (size_t)how[2] << 8;\n    (void)key;\n    \
         switch (how[0]) {{\n{cases}    default: break;\n    }}\n}}\n"
    );
    let kernel = |part: Vec<(Call, Expected)>| {
        let (mut calls, expected): (Vec<Call>, Vec<Expected>) = part.into_iter().unzip();
        for part in 0..3 {
            let size = calls.iter().map(|call| call[part].len()).max().unwrap_or(0);
            calls.iter_mut().for_each(|call| call[part].resize(size, 0xaa));
        }
        let most = expected.iter().map(|e| e.bytes.len()).max().unwrap_or(0);
        let (text, symbol) = (text.clone(), "drive".into());
        (Kernel { text, symbol, align: 1, calls, outputs: vec![most] }, expected)
    };
    Ok(parts.into_iter().filter(|part| !part.is_empty()).map(kernel).collect())
}

/// The case of `drive` for one function; `how[3]` says whether it works in place.
fn case(number: usize, built: &Built) -> String {
    let Built { name, input, output, .. } = built;
    let (context, argument) = match built.keyed() {
        true => (format!("static {name}_ctx ctx; {name}_init(&ctx, key); "), "&ctx, "),
        false => (String::new(), ""),
    };
    let run = |from: &str| format!("{name}_blocks({argument}{from}, out, blocks);");
    let body = match input == output {
        true => format!(
            "if (how[3]) {{ memcpy(out, in, blocks * {input}); {} }} else {{ {} }}",
            run("out"),
            run("in")
        ),
        false => run("in"),
    };
    format!("    case {number}: {{ {context}{body} break; }}\n")
}

type Call = Vec<Vec<u8>>;

fn requests(
    cipher: &Cipher,
    function: &Function,
    built: &Built,
    slicing: Slicing,
    target: &Target,
    number: usize,
) -> Result<Vec<(Call, Expected)>, Failed> {
    let folder = name(cipher);
    let copies = built.kernel.copies;
    let what = format!("{copies} x {} in {slicing:?} on {}", function.name, target.name);
    let how = |blocks: usize, same: bool| {
        vec![number as u8, blocks as u8, (blocks >> 8) as u8, same as u8]
    };
    let mut requests = Vec::new();
    let vectors = cipher.vectors(function)?;
    for (at, vector) in vectors.iter().enumerate() {
        let call = vec![how(1, true), vector.key.clone(), vector.input.clone()];
        let what = format!("{what}, vector {at},");
        requests.push((call, Expected { what, bytes: vector.output.clone() }));
    }
    let batch = built.kernel.instances() as usize;
    let lanes = built.kernel.lanes as usize;
    let most = 2 * batch + 1;
    let key = noise(number as u64, vectors[0].key.len());
    let whole = is_whole(cipher, target);
    let long = if whole { LONG + 1 } else { 0 };
    let input = noise(7, most.max(long) * built.input);
    let output = answers((&folder, &function.name), whole, &key, &input, built.input);
    let mut sizes = vec![0, 1, lanes - 1, lanes, lanes + 1, batch - 1, batch, batch + 1, most];
    if whole {
        sizes.extend([LONG, LONG + 1]);
    }
    sizes.sort_unstable();
    sizes.dedup();
    for blocks in sizes {
        // Odd numbers of blocks go in place, even ones apart, and in long runs both ways.
        let ways = [blocks % 2 == 1, blocks % 2 == 0];
        let short = !whole || blocks >= LONG;
        for &same in &ways[..if short { 1 } else { 2 }] {
            let call = vec![how(blocks, same), key.clone(), input[..blocks * built.input].to_vec()];
            let bytes = output[..blocks * built.output].to_vec();
            let what = format!("{what}, {blocks} blocks, in place: {same},");
            requests.push((call, Expected { what, bytes }));
        }
    }
    Ok(requests)
}

/// Blocks of a long message.
const LONG: usize = 10_000;

/// The output blocks: by the oracle crate in a long run where there is one, else by
/// `reference.rs`. The longest answer for each function and key is kept: all slicings and targets
/// of a long run ask for it.
fn answers(
    (folder, function): (&str, &str),
    whole: bool,
    key: &[u8],
    input: &[u8],
    size: usize,
) -> Vec<u8> {
    static KEPT: Mutex<BTreeMap<Question, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let question = (folder.to_string(), function.to_string(), key.to_vec(), input.len());
    let kept = KEPT.lock().expect("nobody panics with it").get(&question).cloned();
    if let Some(kept) = kept {
        return kept.to_vec();
    }
    let one = |block: &[u8]| {
        let oracle = if whole { models::oracle(folder, function, key, block) } else { None };
        oracle.unwrap_or_else(|| models::reference(folder, function, key, block))
    };
    let answer: Vec<u8> = input.chunks(size).flat_map(one).collect();
    if whole {
        let kept = Arc::new(answer.clone());
        KEPT.lock().expect("nobody panics with it").insert(question, kept);
    }
    answer
}

/// Folder, function, key, and bytes of the input, which all begin alike.
type Question = (String, String, Vec<u8>, usize);

/// GB/T 32907-2016, appendix A, example 2.
fn million() -> Result<(), Failed> {
    let cipher = ciphers().iter().find(|cipher| name(cipher) == "sm4").expect("a folder");
    let target = isa::find("gp64").expect("a target");
    let machine = cc::find(target.name).map_err(|skip| skip.why)?;
    let options = PipelineOptions::default();
    let built = usuba_run::functions::build(
        cipher,
        &cipher.functions[0],
        "sm4",
        Slicing::B,
        target,
        &options,
        Proofs::Always,
    )?;
    let text = format!(
        "{}\nvoid drive(const uint8_t *key, const uint8_t *in, uint8_t *out);\n\
         void drive(const uint8_t *key, const uint8_t *in, uint8_t *out)\n{{\n    \
         static sm4_ctx ctx;\n    sm4_init(&ctx, key);\n    memcpy(out, in, 16);\n    \
         for (long i = 0; i < 1000000; i++) sm4_blocks(&ctx, out, out, 1);\n}}\n",
        built.text
    );
    let block = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128.to_be_bytes().to_vec();
    let calls = vec![vec![block.clone(), block]];
    let kernel = Kernel { text, symbol: "drive".into(), align: 1, calls, outputs: vec![16] };
    let answer = native::run(&machine, &["-O2"], &[kernel]).remove(0);
    let outputs = answer.map_err(|failure| failure.to_string())?;
    let expected = 0x5952_98c7_c6fd_271f_0402_f804_c33d_3f66_u128.to_be_bytes();
    match outputs[0][0] == expected {
        true => Ok(()),
        false => Err("another block after a million encryptions".into()),
    }
}
