//! Users' files with one changed bit, byte, relocation or symbol: none may be proved unless it
//! computes the same.
//!
//! ```text
//! usuba_chacha20.o  →  a mutant  →  prove --dist  →  proved: it runs beside the unchanged file
//! ```
//!
//! A unit whose mutant is proved runs on the processor, apart from this process, and must write the
//! same bytes. A mutant that is proved safe must return, stay in its buffers, keep the registers of
//! its caller, and take the same path for other secrets.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use usuba::Output;
use usuba::ir::random::Random;
use usuba::isa::{self, Target};
use usuba_gen::{asks_rarely, level};
use usuba_library::manifest::Manifest;
use usuba_library::{Blocks, Request, Unit, UnitKind, Written};
use usuba_object::arithmetic;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::memory::{Access, Field};
use usuba_object::safety::{self, Bytes, Returns, Room};
use usuba_object::x86::X86;
use usuba_prove::{Outcome, exported, unit};
use usuba_run::cc::{self, Family};

use super::file_changes::{Sites, mutant, sites};
use super::mutants::{flat, inputs, packed};
use super::native::{self, Call, Driver, Parameter, Results, TRACED};

/// A user's file: the folder, the compiler, whether it is linked, the functions that are mutated,
/// and mutants of each in the whole run.
type Subject = (&'static str, Family, bool, &'static [&'static str], usize);

const CHACHA20: &[&str] = &[
    "chacha20_key0_init",
    "chacha8_block_V_gp64",
    "hchacha20_V_gp64",
    "chacha20_block_W_avx2_128",
    "chacha8_block_V_avx2",
];
const SALSA20: &[&str] = &[
    "salsa20_key0_init",
    "hsalsa20_V_gp64",
    "salsa20_k16_block_V_gp64",
    "salsa20_8_k16_block_V_avx2",
    "hsalsa20_W_avx2",
];
const POLY1305: &[&str] = &[
    "poly_reduce",
    "poly_four",
    "poly_double_avx2",
    "poly_narrow_avx2",
    "poly_single_avx2",
    "poly_times_avx2",
    "poly1305_begin",
];
const RECTANGLE: &[&str] = &["rectangle80_encrypt_V_gp64", "rectangle80_decrypt_V_gp64"];
const CURVE25519: &[&str] = &[
    "fe_unpack",
    "fe_mul",
    "fe_freeze",
    "fe_square",
    "fe_next_points",
    "fe_quotient",
    "fl_carry_avx2",
    "fl_pack_avx2",
    "fl_mul_avx2",
    "fl_cswap_avx2",
    "ge_fraction",
    "sc_below",
    "sc_reduce",
    "sha512_begin",
    "sha256_begin",
];

const SUBJECTS: [Subject; 10] = [
    ("chacha20", Family::Gcc, false, CHACHA20, 110),
    ("poly1305", Family::Gcc, true, POLY1305, 100),
    ("salsa20", Family::Clang, false, SALSA20, 110),
    ("chacha20", Family::Clang, true, CHACHA20, 100),
    ("poly1305", Family::Clang, false, POLY1305, 300),
    ("salsa20", Family::Gcc, true, SALSA20, 100),
    ("rectangle", Family::Gcc, false, RECTANGLE, 50),
    ("rectangle", Family::Clang, true, RECTANGLE, 50),
    ("curve25519", Family::Gcc, false, CURVE25519, 100),
    ("curve25519", Family::Clang, true, CURVE25519, 80),
];

/// The subjects that the short run takes by turns, how many of them, and its mutants of a function.
const SHORT: (usize, usize, usize) = (6, 2, 6);

/// The most instructions of a safety proof.
const LONGEST: u64 = 200_000;

/// A function that is mutated, and its calls on the processor.
struct Function {
    symbol: String,
    proof: Proof,
    calls: Vec<Call>,
    /// The bytes that the unchanged function writes.
    right: Vec<Results>,
    sites: Sites,
}

/// The proved claims.
#[allow(clippy::large_enum_variant)]
enum Proof {
    /// It computes its program, if the units that it calls do.
    Unit(Unit, Output, Option<Output>, Vec<(Unit, Output)>),
    /// It is safe.
    Safe(safety::Function),
}

/// The outcomes of mutants.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    /// No ELF file, refused, refuted or unknown.
    damaged: usize,
    refused: usize,
    refuted: usize,
    unknown: usize,
    /// Refuted, and seen to differ on the processor.
    differ: usize,
    /// Proved, and refused by the linker or the loader.
    not_linked: usize,
    /// Proved, and the same on the processor.
    equal: usize,
}

impl Seen {
    fn plus(self, other: Seen) -> Seen {
        Seen {
            damaged: self.damaged + other.damaged,
            refused: self.refused + other.refused,
            refuted: self.refuted + other.refuted,
            unknown: self.unknown + other.unknown,
            differ: self.differ + other.differ,
            not_linked: self.not_linked + other.not_linked,
            equal: self.equal + other.equal,
        }
    }

    fn total(&self) -> usize {
        let Seen { damaged, refused, refuted, unknown, not_linked, equal, .. } = self;
        damaged + refused + refuted + unknown + not_linked + equal
    }
}

#[test]
fn no_wrong_mutant_of_a_file_is_proved() {
    let Some(driver) = Driver::new() else { return };
    let (among, count, few) = SHORT;
    let first = level::turn() as usize * count;
    let mutants = |(at, subject): (usize, &Subject)| {
        let (folder, family, is_linked, names, many) = *subject;
        let form = if is_linked { "linked" } else { "alone" };
        let is_short = (0..count).any(|next| at == (first + next) % among);
        let most = |name: &&'static str| match asks_rarely!("{name} by {family:?} {form}") {
            true => (*name, many),
            false => (*name, if is_short { few } else { 0 }),
        };
        let all: Vec<(&str, usize)> =
            names.iter().map(most).filter(|(_, most)| *most > 0).collect();
        let seen = seen(&driver, subject, &all, (at as u64) << 32);
        println!("{folder} {family:?} {form}: units {:?}, safety {:?}", seen[0], seen[1]);
        seen
    };
    // Case distinctions of a proof are nested calls.
    let threads = rayon::ThreadPoolBuilder::new().stack_size(64 << 20).build().expect("threads");
    let seen: Vec<[Seen; 2]> =
        threads.install(|| SUBJECTS.par_iter().enumerate().map(mutants).collect());
    let totals = [0, 1].map(|kind| seen.iter().fold(Seen::default(), |sum, s| sum.plus(s[kind])));
    println!("all: units {:?}, safety {:?}", totals[0], totals[1]);
    // A fault that is found on symbols is one on the processor.
    let [Seen { refuted, differ, .. }, _] = totals;
    assert!(2 * differ > refuted, "{differ} of {refuted} differ");
    let wanted = [60, 5000][level::is_whole() as usize];
    let total: usize = totals.iter().map(Seen::total).sum();
    assert!(total >= wanted || cc::find_native("gp64", Family::Clang).is_err(), "{total} mutants");
}

/// The outcomes of mutants of a file, by functions and numbers of mutants: as units, and as safe
/// functions.
fn seen(driver: &Driver, subject: &Subject, all: &[(&str, usize)], seed: u64) -> [Seen; 2] {
    let (folder, family, is_linked, names, _) = *subject;
    let mut seen = [Seen::default(); 2];
    let made = || made(driver, folder, family, is_linked);
    let Some(made) = (!all.is_empty()).then(made).flatten() else { return seen };
    let shared = if is_linked { made.file.clone() } else { linked(driver, &made) };
    let mut is_any = all.len() < names.len();
    for (at, &(name, most)) in all.iter().enumerate() {
        for function in functions(driver, &made, &shared, name) {
            is_any = true;
            let kind = usize::from(matches!(function.proof, Proof::Safe(_)));
            let seed = seed | ((2 * at + kind) as u64) << 16;
            for round in 0..most as u64 {
                let mut random = Random::new(seed | round);
                seen[kind] = seen[kind].plus(mutated(driver, &made, &function, &mut random));
            }
        }
    }
    assert!(is_any, "{folder} has none of its functions");
    seen
}

/// The output of a folder in one file, as a user compiles it.
pub struct Made {
    written: Written,
    pub file: Vec<u8>,
    pub object: Object,
    pub is_linked: bool,
}

/// `None` without the compiler.
fn made(driver: &Driver, folder: &str, family: Family, is_linked: bool) -> Option<Made> {
    let written = written(folder, &["gp64", "avx2"]);
    let mut file = compiled(&written, family, |text| text.to_string())?;
    if is_linked {
        file = driver.linked(&file).expect("it links");
    }
    let object = Object::read(&file, Extensions::ALL).expect("an object");
    Some(Made { written, file, object, is_linked })
}

/// The output of a folder in one file.
pub fn written(folder: &str, targets: &[&str]) -> Written {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(folder);
    let cipher = usuba_ciphers::read(&root).expect("the folder can be read");
    let targets = targets.iter().map(|name| isa::find(name).expect("a target")).collect();
    let request =
        Request { targets, prefix: "usuba_".into(), version: "0".into(), functions: Vec::new() };
    usuba_library::single(&request, &cipher, None).expect("it compiles")
}

/// The object of an output by the default flags of a build, where `edit` changes the C; `None`
/// without the compiler.
pub fn compiled(
    written: &Written,
    family: Family,
    edit: impl Fn(&str) -> String,
) -> Option<Vec<u8>> {
    let machine = cc::find_native("gp64", family).map_err(|skip| println!("{skip}")).ok()?;
    let there = tempfile::tempdir().expect("a folder");
    for file in &written.files {
        let text = if file.path.ends_with(".c") { edit(&file.text) } else { file.text.clone() };
        std::fs::write(there.path().join(&file.path), text).expect("it can be written");
    }
    let mut command = Command::new(machine.compiler);
    let command = command.args(["-O2", "-w", "-c", "-o", "file.o"]).current_dir(there.path());
    let made = command.arg(format!("{}.c", written.manifest.package)).status();
    assert!(made.expect("the compiler runs").success(), "{}", written.manifest.package);
    Some(std::fs::read(there.path().join("file.o")).expect("an object"))
}

/// A function of a file that is proved, and runs; perhaps also as one of fixed size. None if a compiler
/// executes it in line, or the processor lacks its instructions.
fn functions(driver: &Driver, made: &Made, shared: &[u8], name: &str) -> Vec<Function> {
    let units = &made.written.units;
    let (symbol, mut random) = (format!("usuba_{name}"), Random::new(3));
    let unit = units.iter().find(|unit| unit.symbol == symbol);
    let runs = unit.is_none_or(|unit| cc::runs_here(unit.section));
    if made.object.function(&symbol).is_none() || !runs {
        return Vec::new();
    }
    let (proof, calls) = match unit {
        Some(unit) => of_unit(unit, units, &mut random),
        None => {
            let Manifest { functions: declared, structs, .. } = &made.written.manifest;
            let declared = declared.iter().find(|function| function.name == symbol);
            let contract = exported::contract(declared.expect("it is declared"), structs, 8);
            let contract = contract.expect("its sizes are fixed");
            let calls = of_contract(&contract, &mut random);
            (Proof::Safe(contract), calls)
        }
    };
    let fixed = fixed(&proof).map(|contract| {
        let calls = of_contract(&contract, &mut random);
        (Proof::Safe(contract), calls)
    });
    let mut all = Vec::new();
    for (proof, calls) in [(proof, calls)].into_iter().chain(fixed) {
        let right = driver.run(shared, &calls).expect("it is right").expect("it is loaded");
        let sites = self::sites(made, &symbol);
        let function = Function { symbol: symbol.clone(), proof, calls, right, sites };
        let answer = proved(&function, &made.object);
        if !answer.as_ref().is_ok_and(Outcome::is_proved) {
            println!("{symbol} is not proved by this compiler: {answer:?}");
            assert!(all.is_empty(), "it is right, and not safe");
            break;
        }
        all.push(function);
    }
    all
}

fn linked(driver: &Driver, made: &Made) -> Vec<u8> {
    driver.linked(&made.file).expect("it links")
}

/// Numbers of blocks.
const BLOCKS: [usize; 8] = [0, 1, 2, 3, 5, 8, 17, 40];

/// Blocks of a safety proof.
const FIXED: usize = 3;

/// The words of the key of a function over blocks: how many, and bits of each.
fn words(output: &Output, param: &str) -> (usize, usize) {
    let groups = output.program.params();
    let port = &groups.iter().find(|group| group[0].name == param).expect("the key")[0];
    (port.words(), port.word as usize)
}

/// A unit, and calls in its contract.
fn of_unit(unit: &Unit, units: &[Unit], random: &mut Random) -> (Proof, Vec<Call>) {
    let output = unit.compile().expect("it compiles");
    let schedule = match &unit.kind {
        UnitKind::Key { schedule: Some(schedule), .. } => {
            let unit = units.iter().find(|unit| unit.symbol == *schedule);
            Some(unit.expect("its key schedule").compile().expect("it compiles"))
        }
        _ => None,
    };
    let calls = match &unit.kind {
        UnitKind::Blocks(of) | UnitKind::Xored(of) => {
            let is_xored = matches!(unit.kind, UnitKind::Xored(_));
            let others = [(of.input == of.output, Way::In), (is_xored, Way::Text)];
            let ways = others.into_iter().filter_map(|(is, way)| is.then_some(way));
            let ways: Vec<Way> = ways.chain([Way::Apart]).collect();
            let blocks: BTreeSet<usize> = match is_xored {
                false => BLOCKS.into_iter().chain([of.batch, of.batch + 1]).collect(),
                true => [0, of.unit, 2 * of.unit, of.batch, of.batch + of.unit].into(),
            };
            let both = blocks.into_iter().flat_map(|n| ways.iter().map(move |&way| (n, way)));
            let call = |(n, way)| of_blocks((&unit.symbol, of, is_xored), &output, n, way, random);
            both.map(call).collect()
        }
        _ => of_arrays(unit, &output, schedule.as_ref(), random),
    };
    let mut callees: Vec<(Unit, Output)> = Vec::new();
    let mut left: Vec<&String> = unit.calls().iter().collect();
    while let Some(name) = left.pop() {
        let callee = units.iter().find(|unit| unit.symbol == *name).expect("a unit");
        if callees.iter().all(|(known, _)| known.symbol != *name) {
            left.extend(callee.calls());
            callees.push((callee.clone(), callee.compile().expect("it compiles")));
        }
    }
    (Proof::Unit(unit.clone(), output, schedule, callees), calls)
}

/// The buffer of results: their own, or the one of the blocks or of the text.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Apart,
    In,
    Text,
}

/// A call of a function over blocks, which may XOR them to a text.
fn of_blocks(
    (symbol, of, is_xored): (&str, &Blocks, bool),
    output: &Output,
    count: usize,
    way: Way,
    random: &mut Random,
) -> Call {
    let (words, bits) = of.function.key.as_ref().map_or((0, 8), |key| words(output, &key.param));
    let size = bits.next_power_of_two().max(8) / 8;
    let key = |random: &mut Random| -> Vec<u8> {
        let word = |random: &mut Random| random.word() & (u64::MAX >> (64 - bits));
        (0..words).flat_map(|_| word(random).to_le_bytes()[..size].to_vec()).collect()
    };
    let key = (0..2).map(|_| key(random)).collect();
    let mut buffer = |access, bytes: usize| {
        let content = (0..2).map(|_| native::bytes(random, bytes * count)).collect();
        Parameter::Buffer { align: 1, access, content }
    };
    let mut read =
        |of: Way, bytes| buffer(if way == of { Access::Both } else { Access::Read }, bytes);
    let blocks = read(Way::In, of.input);
    let text = is_xored.then(|| read(Way::Text, of.output));
    let key = Parameter::Buffer { align: size as u64, access: Access::Read, content: key };
    let results = match way {
        Way::Apart => buffer(Access::Write, of.output),
        Way::In | Way::Text => Parameter::Same(1 + (way == Way::Text) as usize),
    };
    let results = [results, Parameter::Number(count as u64)];
    let parameters = [key, blocks].into_iter().chain(text).chain(results).collect();
    let is_traced = !is_xored && count == FIXED;
    Call { symbol: symbol.to_string(), parameters, runs: 2, is_traced }
}

/// Calls of a function on buffers of fixed size, with values in the ranges of its node.
fn of_arrays(
    unit: &Unit,
    output: &Output,
    schedule: Option<&Output>,
    random: &mut Random,
) -> Vec<Call> {
    let (contract, program) = unit::contract(unit, output, schedule).expect("a contract");
    let typed = &output.checked.program;
    let most = match &unit.kind {
        UnitKind::Kernel { .. } => arithmetic::most(&program, &typed.decls[typed.entry]),
        _ => Vec::new(),
    };
    let target = unit.task.options.target;
    let one = |random: &mut Random| -> Vec<Vec<u8>> {
        let mut rows = inputs(&program, target, random);
        for row in &mut rows {
            row.iter_mut().zip(&most).for_each(|(value, &most)| {
                *value = if *value > most {
                    random.below(1 + (most >> 1) as usize) as u64
                } else {
                    *value
                };
            });
        }
        let entry = program.entry();
        let bits: Vec<Vec<bool>> =
            rows.iter().map(|row| flat(row, &entry.bits[..row.len()])).collect();
        let bytes = |array: &usuba_object::kernel_contract::Array| match &array.entry {
            Some(meanings) => packed(meanings, &bits),
            None => vec![0; array.size / 8],
        };
        contract.arrays.iter().map(bytes).collect()
    };
    let runs: Vec<Vec<Vec<u8>>> = (0..8).map(|_| one(random)).collect();
    let parameter = |(at, array): (usize, &usize)| {
        let before = contract.pointers[..at].iter().position(|other| other == array);
        let content = || runs.iter().map(|run| run[*array].clone()).collect();
        let of = &contract.arrays[*array];
        before.map(Parameter::Same).unwrap_or_else(|| Parameter::Buffer {
            align: of.align,
            access: of.access(),
            content: content(),
        })
    };
    let parameters = contract.pointers.iter().enumerate().map(parameter).collect();
    vec![Call { symbol: unit.symbol.clone(), parameters, runs: runs.len(), is_traced: true }]
}

/// Calls in the contract of a safety proof, with several lengths: the runs of each have the same
/// public bytes.
fn of_contract(contract: &safety::Function, random: &mut Random) -> Vec<Call> {
    let has_length = |p: &safety::Parameter| matches!(p, safety::Parameter::Length(_));
    let calls = if contract.parameters.iter().any(has_length) { 4 } else { 1 };
    let call = |at| {
        let lengths: Vec<usize> =
            contract.parameters.iter().map(|_| [0, 1, 64, random.below(300)][at]).collect();
        let bytes = |bytes: Bytes| match bytes {
            Bytes::Fixed(bytes) => bytes,
            Bytes::Times { each, length, more } => {
                (each * lengths[length] as i64 + more).max(0) as usize
            }
            Bytes::Listed { .. } | Bytes::Text { .. } => {
                unreachable!("no function that is mutated takes arrays of pointers or strings")
            }
        };
        let parameter = |(at, parameter): (usize, &safety::Parameter)| match parameter {
            safety::Parameter::Number(value) => Parameter::Number(*value),
            safety::Parameter::Length(_) => Parameter::Number(lengths[at] as u64),
            safety::Parameter::Any => Parameter::Number(random.word()),
            safety::Parameter::Wide(_) => unreachable!("addresses have eight bytes"),
            safety::Parameter::Buffer(room) => {
                let mut content: Vec<Vec<u8>> =
                    (0..4).map(|_| native::bytes(random, bytes(room.bytes))).collect();
                if room.is_public {
                    content = vec![content[0].clone(); 4];
                }
                for Field { offset, bytes, below, .. } in &room.fields {
                    let mut value = content[0][*offset..offset + bytes].to_vec();
                    if let Some(below) = below {
                        value = (random.word() % *below as u64).to_le_bytes().to_vec();
                    }
                    content.iter_mut().for_each(|run| {
                        run[*offset..offset + bytes].copy_from_slice(&value);
                    });
                }
                Parameter::Buffer { align: room.align, access: room.access, content }
            }
        };
        let parameters = contract.parameters.iter().enumerate().map(parameter).collect();
        Call { symbol: contract.symbol.clone(), parameters, runs: 4, is_traced: true }
    };
    (0..calls).map(call).collect()
}

/// A function over blocks as one of fixed size.
fn fixed(proof: &Proof) -> Option<safety::Function> {
    let Proof::Unit(unit, output, ..) = proof else { return None };
    let UnitKind::Blocks(of) = &unit.kind else { return None };
    let room = |name: &str, bytes, align, access| {
        let (name, is_public, fields) = (name.to_string(), false, Vec::new());
        safety::Parameter::Buffer(Room {
            name,
            bytes,
            access,
            align,
            is_public,
            fields,
            each: None,
        })
    };
    let (words, bits) = of.function.key.as_ref().map_or((0, 8), |key| words(output, &key.param));
    let size = bits.next_power_of_two().max(8) / 8;
    let parameters = vec![
        room("key", Bytes::Fixed(words * size), size as u64, Access::Read),
        room("in", Bytes::Fixed(FIXED * of.input), 1, Access::Read),
        room("out", Bytes::Fixed(FIXED * of.output), 1, Access::Write),
        safety::Parameter::Number(FIXED as u64),
    ];
    let (symbol, equal) = (unit.symbol.clone(), Vec::new());
    Some(safety::Function { symbol, parameters, equal, returns: Returns::Nothing })
}

/// The answer about a function in an object, and the branches on secrets that its status tells.
fn proved(function: &Function, object: &Object) -> Result<Outcome, String> {
    match &function.proof {
        Proof::Unit(unit, output, schedule, callees) => {
            let mut proofs = unit::object(unit, output, schedule.as_ref(), object)?;
            for (callee, output) in callees {
                proofs.extend(unit::object(callee, output, None, object)?);
            }
            let outcomes = || proofs.iter().map(|proof| &proof.outcome);
            let open = outcomes().find(|outcome| !outcome.is_proved());
            Ok(open.or(outcomes().next()).expect("one calling mode").clone())
        }
        Proof::Safe(contract) => {
            let target: &Target = isa::find("avx2").expect("a target");
            let mut object = object.clone();
            object.extensions = Extensions::of(target.cflags);
            Ok(match safety::prove::<X86>(&object, contract, LONGEST) {
                Ok(_) => Outcome::Proved(usuba_prove::Evidence::Engines(Default::default())),
                Err(fault) => Outcome::Refused(fault),
            })
        }
    }
}

/// Proves a mutant, and runs it if it is proved.
fn mutated(driver: &Driver, made: &Made, function: &Function, random: &mut Random) -> Seen {
    let (file, change, at) = mutant(made, &function.sites, random);
    let Ok(object) = Object::read(&file, Extensions::ALL) else {
        return Seen { damaged: 1, ..Seen::default() };
    };
    let is_refuted = match proved(function, &object) {
        Ok(Outcome::Proved(_)) => false,
        Ok(Outcome::Refuted(_)) => true,
        Ok(Outcome::Unknown(_)) => return Seen { unknown: 1, ..Seen::default() },
        Ok(Outcome::Refused(_)) | Err(_) => return Seen { refused: 1, ..Seen::default() },
    };
    let name = &function.symbol;
    let (new, old) = (file[at], made.file[at]);
    let place = format!("{name}, {change:?} at {at:#x}: {new:#x} in place of {old:#x}");
    let kept = || {
        let path = std::env::temp_dir().join(format!("mutant-{name}-{at}.o"));
        std::fs::write(&path, &file).map(|()| path.display().to_string()).unwrap_or_default()
    };
    let shared = if made.is_linked { Some(file.clone()) } else { driver.linked(&file) };
    let results = shared.map_or(Ok(None), |shared| driver.run(&shared, &function.calls));
    let is_same = |results: &[Results]| {
        let written = |results: &[Results]| -> Vec<Vec<u8>> {
            results.iter().flatten().flatten().map(|(bytes, _)| bytes.clone()).collect()
        };
        written(results) == written(&function.right)
    };
    if is_refuted {
        let differ = match results {
            Ok(Some(results)) => usize::from(!is_same(&results)),
            Ok(None) => 0,
            Err(_) => 1,
        };
        return Seen { refuted: 1, differ, ..Seen::default() };
    }
    let results = match results {
        Ok(Some(results)) => results,
        Ok(None) => return Seen { not_linked: 1, ..Seen::default() },
        Err(why) => panic!("a wrong mutant is proved: {place}: {why}; kept in {}", kept()),
    };
    let is_right = matches!(function.proof, Proof::Safe(_)) || is_same(&results);
    assert!(is_right, "a wrong mutant is proved: {place}; kept in {}", kept());
    for (found, call) in results.iter().zip(&function.calls).filter(|(_, call)| call.is_traced) {
        let is_same = found[..TRACED]
            .iter()
            .all(|run| [0, 1].map(|at| run[at].1 == found[0][at].1) == [true; 2]);
        assert!(
            is_same,
            "a path of {} depends on a secret: {place}; kept in {}",
            call.symbol,
            kept()
        );
    }
    Seen { equal: 1, ..Seen::default() }
}
