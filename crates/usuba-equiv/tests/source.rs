//! Translation validation of lowering, on every cipher, slicing and set of gates; and fault
//! injection in lowering.

mod mutator;

use std::path::Path;
use usuba_gen::asks;

use mutator::Mutator;
use usuba::circuit::Profile;
use usuba::diag::Sources;
use usuba::ir::random::{self, Random};
use usuba::ir::{Program, Slicing, interp, verify};
use usuba::{Slice, front, to_usuba0, typed};
use usuba_ciphers::{Beside, Cipher};
use usuba_equiv::source::Source;
use usuba_equiv::{Engines, Verdict};

const PROFILES: [Profile; 3] = [Profile::Basic, Profile::Andn, Profile::Lut3];

fn ciphers() -> Vec<Cipher> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    usuba_ciphers::find(&root).expect("the cipher folders can be read")
}

fn read(path: &Path, node: &str) -> typed::Program {
    let text = std::fs::read_to_string(path).expect("the program can be read");
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let checked = front(&mut sources, root, &mut Beside, Some(node), Default::default());
    checked.expect("the program is right").program
}

/// The source of a program and the lowered program.
fn both(program: &typed::Program, slicing: Slicing, profile: Profile) -> (Source, Program) {
    let instance = typed::check::entry_instance(program, slicing, None).expect("an entry");
    let source = Source::new(program, &instance, slicing).expect("a meaning");
    let slice = Slice { slicing, word: None, profile, vectors: true, instructions: None };
    (source, to_usuba0(program, slice, &|_, _, _| None).expect("what is in cipher.toml"))
}

#[test]
fn lowering_is_the_source() {
    let mut failed = Vec::new();
    let mut proved = 0;
    for cipher in ciphers() {
        for (number, function) in cipher.functions.iter().enumerate() {
            let program = read(&cipher.folder.join(&function.source), &function.node);
            for &slicing in &function.slicings {
                for (at, profile) in PROFILES.into_iter().enumerate() {
                    // By default functions of a folder, which are much alike, take turns.
                    if number % PROFILES.len() != at
                        && !asks!("{} in {slicing:?} with {profile:?}", function.name)
                    {
                        continue;
                    }
                    let (source, lowered) = both(&program, slicing, profile);
                    match source.prove(&lowered) {
                        Verdict::Proved(_) => proved += 1,
                        verdict => failed.push(format!(
                            "{} in {slicing:?} with {profile:?}: {verdict:?}",
                            function.name
                        )),
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(proved > 100, "{proved} programs were proved");
}

/// Sums, differences and products on bits have the circuits of lowering, so value numbering suffices;
/// no engine searches among carries, most of which are alike on random inputs.
#[test]
fn carries_are_those_of_lowering() {
    let text = "node main (x:u32, y:u32, z:u32) returns (s:u32) let
        s = (x - ((y | 0x80000001) + z) - (z >> 31)) * (5 - (y & z))
    tel";
    let mut sources = Sources::default();
    let root = sources.add("sums.ua", text);
    let checked = front(&mut sources, root, &mut Beside, Some("main"), Default::default());
    let program = checked.expect("the program is right").program;
    for profile in PROFILES {
        let (source, lowered) = both(&program, Slicing::B, profile);
        let verdict = source.prove(&lowered);
        let Verdict::Proved(stats) = verdict else { panic!("{profile:?}: {verdict:?}") };
        assert_eq!(stats.engines, Engines::GRAPH, "{profile:?}");
    }
}

/// The reference equations agree with `typed::eval` on the inputs that are tried.
#[test]
fn the_source_is_what_eval_computes() {
    for cipher in ciphers() {
        // Some folders have arithmetic alone.
        let Some(function) = cipher.functions.first() else { continue };
        let program = read(&cipher.folder.join(&function.source), &function.node);
        let slicing = function.slicings[0];
        let instance = typed::check::entry_instance(&program, slicing, None).expect("an entry");
        let source = Source::new(&program, &instance, slicing).expect("a meaning").program;
        let entry = source.entry();
        let mut random = Random::new(3);
        for _ in 0..2 {
            let input = random::inputs(&mut random, &source);
            let words = interp::values_to_words(&entry.params, slicing, &input);
            let wanted = typed::eval(&program, &instance, &words).expect("inputs that fit");
            let found = interp::run(&source, &input).expect("inputs that fit");
            let found = interp::values_to_words(&entry.results, slicing, &found);
            assert_eq!(found, wanted, "{}", function.name);
        }
    }
}

/// Wrong table entries, rotations, operands and ports: a fault that the interpreter can distinguish
/// from the source is refuted with a counterexample.
#[test]
fn faults_of_lowering_are_refuted() {
    let wanted = [
        ("rectangle", Slicing::V),
        ("rectangle", Slicing::H),
        ("rectangle", Slicing::B),
        ("chacha20", Slicing::V),
        ("chacha20", Slicing::B),
        ("ascon", Slicing::V),
        ("present", Slicing::B),
        ("serpent", Slicing::V),
    ];
    let count = if asks!() { 400 } else { 25 };
    let mut refuted = 0;
    for (seed, (name, slicing)) in wanted.into_iter().enumerate() {
        let all = ciphers();
        let cipher = all.iter().find(|cipher| cipher.folder.ends_with(name)).expect("a cipher");
        let function = cipher.functions.iter().find(|f| f.slicings.contains(&slicing));
        let function = function.expect("a function in this slicing");
        let program = read(&cipher.folder.join(&function.source), &function.node);
        let (source, lowered) = both(&program, slicing, PROFILES[seed % PROFILES.len()]);
        let mut random = Random::new(seed as u64);
        for _ in 0..count {
            let mut mutant = lowered.clone();
            let changed = Mutator { random: &mut random }.change(&mut mutant);
            if !changed || verify::verify(&mutant).is_err() {
                continue;
            }
            let differs = (0..6).any(|_| {
                let input = random::inputs(&mut random, &lowered);
                interp::run(&source.program, &input) != interp::run(&mutant, &input)
            });
            match source.prove(&mutant) {
                Verdict::Proved(_) => assert!(!differs, "{name} in {slicing:?}: wrong and proved"),
                Verdict::Refuted(example) => {
                    let found = interp::run(&mutant, &example.input);
                    let expected = interp::run(&source.program, &example.input);
                    assert_eq!(found.as_ref(), Ok(&example.found));
                    assert_eq!(expected.as_ref(), Ok(&example.expected));
                    assert_ne!(found, expected);
                    refuted += 1;
                }
                Verdict::Unknown(why) => assert!(!differs, "{name} in {slicing:?}: {why}"),
            }
        }
    }
    assert!(refuted > 80, "{refuted} faults were refuted");
}
