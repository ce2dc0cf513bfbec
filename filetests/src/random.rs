//! A random program through everything that runs programs.
//!
//! The evaluator `typed::eval` gives the results of one instance. The interpreter must agree in
//! every legal slicing, before and after a pipeline, on the program and on its printed text; and
//! every target must agree on lanes that are all different.

use usuba::Checked;
use usuba::diag::Sources;
use usuba::ir::{Slicing, interp, verify};
use usuba::isa::{self, Target};
use usuba::syntax;
use usuba_gen::Choices;
use usuba_gen::level::is_whole;
use usuba_prove::Claim;
use usuba_prove::cell::{Cell, Extent, Known, Obstacle};
use usuba_prove::objects::{By, Objects};
use usuba_run::cc::{Family, Machine};
use usuba_run::validated::{Proofs, Trouble, optimised};

use crate::compile::Linted;
use crate::engines::{self, equal};
use crate::flags::Flags;
use crate::native::{self, Call, Job};
use crate::{compile, data};

/// Rows that the evaluator computes itself; more rows come from the interpreter once both have
/// agreed on these.
const EVALUATED: usize = 4;

/// A program with more equations is run natively in another slicing, if it has one: a C compiler
/// takes quadratic time for one large function.
const MOST_EQUATIONS: usize = 8000;

/// One program in this many, by their seeds, is proved pass by pass; in long runs all are. Coprime
/// to the number of pipelines, so that each of them is proved.
const PROVED: u64 = 9;

/// Instances of one call at most: the lanes of the widest register.
const MOST_INSTANCES: usize = 512;

/// The program of a seed.
pub fn text(seed: u64) -> String {
    usuba_gen::program(&mut Choices::from_seed(seed))
}

/// A program that has passed everything in this process, with data for every lane.
pub struct Subject {
    checked: Checked,
    seed: u64,
    inputs: Vec<Vec<u64>>,
    outputs: Vec<Vec<u64>>,
}

/// Why a program does not get through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The compiler refuses it: a fault of the generator, or of the compiler.
    Refused(String),
    /// A stage fails or two ways to run it disagree.
    Wrong(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(why) => write!(f, "refused: {why}"),
            Failure::Wrong(why) => f.write_str(why),
        }
    }
}

impl Subject {
    /// Runs a program in this process. `seed` chooses the data and the pipeline.
    ///
    /// # Errors
    /// The reason.
    pub fn new(text: &str, seed: u64) -> Result<Subject, Failure> {
        let flags = Flags::default();
        let checked = compile::text(text, Some("entry"), &flags).map_err(Failure::Refused)?;
        let pipelines = engines::pipelines();
        let one = &pipelines[seed as usize % pipelines.len()..][..1];
        let proved = is_whole() || seed.is_multiple_of(PROVED);
        let engines = engines::engines(&checked, &flags, one, proved).map_err(Failure::Wrong)?;
        let first = &engines[0];
        let inputs = data::rows(&first.params, MOST_INSTANCES, None, seed);
        let mut outputs = Vec::new();
        for row in &inputs[..EVALUATED] {
            let want = engines::eval(&checked, &flags, row).map_err(Failure::Wrong)?;
            for engine in &engines {
                let found = engine.run(row).map_err(Failure::Wrong)?;
                equal(&format!("{} on {row:x?}", engine.name), &want, &found)
                    .map_err(Failure::Wrong)?;
            }
            outputs.push(want);
        }
        for row in &inputs[EVALUATED..] {
            let program = &first.program;
            let values = interp::words_to_values(&first.params, program.slicing, row);
            let found = interp::run(program, &values).expect("the inputs fit");
            outputs.push(interp::values_to_words(&first.results, program.slicing, &found));
        }
        Ok(Subject { checked, seed, inputs, outputs })
    }

    /// Proves each step of the default compile in B.
    ///
    /// # Errors
    /// A step that could not be proved.
    pub fn proved(&self, target: &'static Target) -> Result<(), String> {
        let flags = Flags { target, ..Flags::default() };
        let options = flags.options(Slicing::B);
        let found = optimised(&self.checked.program, &options, Proofs::Always);
        found.map(drop).map_err(|trouble| trouble.explained(|found| compile::list(&found)))
    }

    /// The program for a target, in one of the slicings that it has there; which one depends on
    /// the seed and `turn`.
    ///
    /// # Errors
    /// The target refuses the program in V or B.
    pub fn job(&self, machine: &Machine, turn: usize) -> Result<Job, String> {
        let target = isa::find(machine.target).expect("machines are of known targets");
        let flags = Flags { target, ..Flags::default() };
        let pipelines = engines::pipelines();
        let (pipeline, choices) = &pipelines[(self.seed as usize / 3 + turn) % pipelines.len()];
        // The seed chooses the target too, so its digits are shared out.
        let factor = 1 + (self.seed as u32 / 7 + turn as u32) % 3;
        let mut slicings = [Slicing::V, Slicing::B, Slicing::H, Slicing::W];
        slicings.rotate_left((self.seed as usize / 21 + turn) % 4);
        let mut found = None;
        // Where registers have no lanes W is V.
        for slicing in slicings.into_iter().filter(|&s| s != Slicing::W || target.simd) {
            let mut options = flags.options(slicing);
            options.pipeline = choices.clone();
            let most = MOST_INSTANCES as u32 / target.bits;
            options.pipeline.pass.interleave.factor = Some(factor.min(most));
            match optimised(&self.checked.program, &options, Proofs::asked(is_whole())) {
                Ok(program) => {
                    let size: usize = program.nodes.iter().map(|node| node.body.len()).sum();
                    if found.is_none() || size <= MOST_EQUATIONS {
                        found = Some(program);
                    }
                    if size <= MOST_EQUATIONS {
                        break;
                    }
                }
                Err(Trouble::Findings(found))
                    if matches!(slicing, Slicing::H | Slicing::W)
                        && compile::is_refusal(&found) => {}
                Err(trouble) => {
                    let why = trouble.explained(|found| compile::list(&found));
                    return Err(format!("{slicing:?}: {why}"));
                }
            }
        }
        let program = found.expect("V and B are among the slicings");
        let instances = native::instances(&program, target)?;
        let count = if instances == 1 { EVALUATED } else { 1 };
        let call = |at: usize| Call {
            inputs: self.inputs[at..at + instances].to_vec(),
            outputs: self.outputs[at..at + instances].to_vec(),
        };
        let name = format!(
            "seed {} in {:?} on {} after {pipeline}",
            self.seed, program.slicing, machine.target
        );
        Ok(Job { name, program, calls: (0..count).map(call).collect() })
    }
}

/// The claims about a program from its source to the objects of these compilers.
///
/// # Errors
/// The compiler refuses the program, or makes no object of it.
pub fn claims(
    text: &str,
    slicing: Slicing,
    target: &'static Target,
    families: &[Family],
) -> Result<Vec<Claim>, String> {
    let flags = Flags { target, ..Flags::default() };
    let checked = compile::text(text, Some("entry"), &flags)?;
    let cell = Cell {
        program: "text.ua".to_string(),
        reading: String::new(),
        flags: String::new(),
        sha256: String::new(),
        options: flags.options(slicing),
    };
    let makers: Vec<By> = families.iter().copied().map(By::C).collect();
    let objects = Objects::compiled(target, &makers, Default::default(), false)?;
    let known = &Known::default();
    let extent = Extent { direct: false, objects: &objects, interfaces: None, plant: None, known };
    let proof = cell.prove(&checked.program, extent).map_err(|obstacle| match obstacle {
        Obstacle::Findings(found) => compile::list(&found),
        Obstacle::Failure(why) => why,
    })?;
    Ok(proof.claims.into_iter().map(|(claim, _)| claim).collect())
}

/// Any text at all: it has an answer in every slicing and from every lint without a panic. A text without errors
/// has none after formatting either, and formatting is idempotent.
///
/// # Panics
/// One of the two does not hold.
pub fn any_text(text: &str) {
    let formatted = |text: &str| {
        let mut sources = Sources::default();
        let root = sources.add("text.ua", text);
        let (tree, found) = syntax::parse(&sources, root);
        found.iter().all(|d| !d.is_error()).then(|| syntax::print::format(&tree, text))
    };
    if let Some(once) = formatted(text) {
        assert_eq!(formatted(&once).as_ref(), Some(&once), "formatting changes its own output");
    }
    let flags = Flags::default();
    let Ok(Linted { checked, .. }) = compile::linted(text, None, &flags) else { return };
    for slicing in [Slicing::V, Slicing::B, Slicing::H, Slicing::W] {
        if let Ok(program) = compile::lower(&checked, &flags, slicing) {
            assert_eq!(verify::verify(&program), Ok(()), "{slicing:?}");
        }
    }
}
