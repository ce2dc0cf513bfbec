//! Subjects of the autotuner: a function of a cipher folder, or a node of any program, as C with
//! the calls that verify and time it.
//!
//! ```text
//! function of a cipher folder   kernel + byte interface + driver   checked with its test vectors
//! node of a program             kernel                             checked with its semantics
//! ```
//!
//! Every candidate has the same C names ([`SYMBOLS`]), so that equal code is equal text. The C
//! compiler renames them when two candidates are linked into one executable. The external entry is
//! `candidate_drive`, which takes an array of pointers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::emit::c::{COptions, kernel};
use usuba::ir::op::mask;
use usuba::ir::random::Random;
use usuba::ir::{Program, Slicing};
use usuba::isa::Target;
use usuba::syntax::splice::Loader;
use usuba::typed::{self, Flags, Instance, VarType};
use usuba::{Checked, Options, front};
use usuba_run::fingerprint::fingerprint;

use super::space::Chosen;
use crate::bench::prepare::{self, Mode};
use usuba_ciphers::{Cipher, Function, files};
use usuba_run::layout::Layout;
use usuba_run::validated::{Proofs, optimised};

/// The C name of every candidate.
const NAME: &str = "candidate";

/// Symbols in the object of a candidate.
pub const SYMBOLS: &[&str] = &[
    "candidate_kernel",
    "candidate_single",
    "candidate_schedule",
    "candidate_init",
    "candidate_blocks",
    "candidate_drive",
    "drive",
];

/// The timed quantity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Goal {
    /// The kernel on registers.
    #[default]
    Kernel,
    /// The byte interface, with transposition.
    Bytes,
}

impl Goal {
    /// The name in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Kernel => "kernel",
            Goal::Bytes => "bytes",
        }
    }
}

/// The tuned function or node.
#[derive(Debug)]
pub enum Subject<'a> {
    Function { cipher: &'a Cipher, function: &'a Function, goal: Goal },
    Node(Node),
}

/// A program with its included files, in memory: candidates are compiled on many threads, and each
/// thread reads the program anew.
#[derive(Clone, Default, Debug)]
pub struct Texts {
    /// Name and text of the program.
    pub root: (String, String),
    /// Names and texts, by the name of the including file and the path in its `include`.
    pub includes: HashMap<(String, String), (String, String)>,
}

impl Loader for Texts {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let key = (including.to_string(), path.to_string());
        let found = self.includes.get(&key).cloned();
        found.ok_or_else(|| format!("{path} was not there when the tuner began"))
    }
}

impl Texts {
    /// Reads a program into memory.
    ///
    /// # Errors
    /// The first error in the program.
    pub fn gather(
        sources: &mut Sources,
        root: FileId,
        loader: &mut dyn Loader,
        entry: Option<&str>,
        flags: Flags,
    ) -> Result<(Texts, Checked), Vec<Diagnostic>> {
        let file = sources.file(root);
        let root_text = (file.name.clone(), file.text.clone());
        let mut keeper = Keeper { loader, includes: HashMap::new() };
        let checked = front(sources, root, &mut keeper, entry, flags)?;
        Ok((Texts { root: root_text, includes: keeper.includes }, checked))
    }
}

/// A loader that caches its files.
struct Keeper<'a> {
    loader: &'a mut dyn Loader,
    includes: HashMap<(String, String), (String, String)>,
}

impl Loader for Keeper<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let found = self.loader.load(including, path)?;
        self.includes.insert((including.to_string(), path.to_string()), found.clone());
        Ok(found)
    }
}

/// An entry node of a program.
#[derive(Debug)]
pub struct Node {
    pub texts: Texts,
    /// The entry; the last declaration if absent.
    pub entry: Option<String>,
    pub flags: Flags,
    /// The word size, if the entry is polymorphic in it.
    pub word: Option<u8>,
    /// Inputs and outputs of instances, shared by all candidates of one slicing.
    meanings: Mutex<HashMap<Slicing, Vec<Row>>>,
}

/// The words of one instance.
#[derive(Clone, Debug)]
struct Row {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

/// A candidate in C.
#[derive(Clone, Debug)]
pub struct Made {
    pub code: String,
    /// The shape of the calls: equal for equal calls.
    pub shape: String,
    pub calls: Calls,
}

/// The calls that verify and time a candidate.
#[derive(Clone, PartialEq, Debug)]
pub struct Calls {
    /// The bytes of each input, for each verifying call.
    pub check: Arc<Vec<Vec<Vec<u8>>>>,
    /// The expected outputs; an output may be longer than its compared part.
    pub expected: Arc<Vec<Vec<Vec<u8>>>>,
    /// Bytes of the outputs of a verifying call.
    pub outputs: Vec<usize>,
    /// The inputs of the timed call, and the bytes of its outputs.
    pub timed: Arc<Vec<Vec<u8>>>,
    pub timed_outputs: Vec<usize>,
    /// Alignment of all of them.
    pub align: usize,
    /// Units of work in a timed call: bytes, or instances if there are no bytes.
    pub units: f64,
}

/// The fingerprint of the program of a function, if it can be read.
pub fn function_fingerprint(cipher: &Cipher, function: &Function) -> Option<String> {
    let path = cipher.folder.join(&function.source);
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), files::read_to_string(&path).ok()?);
    let entry = Some(function.node.as_str());
    front(&mut sources, root, &mut usuba_ciphers::Beside, entry, Flags::default()).ok()?;
    Some(fingerprint(&sources))
}

fn lines(findings: &[Diagnostic]) -> String {
    let text = |finding: &Diagnostic| format!("{}: {}", finding.code, finding.message);
    findings.iter().filter(|f| f.is_error()).map(text).collect::<Vec<_>>().join("\n")
}

impl Subject<'_> {
    /// The possible slicings, the default first. A node that declares a direction has that slicing
    /// only; further restrictions appear when the candidate is compiled.
    pub fn slicings(&self) -> Vec<Slicing> {
        match self {
            Subject::Function { function, .. } => function.slicings.clone(),
            Subject::Node(node) => {
                let all = [Slicing::V, Slicing::H, Slicing::B];
                let Ok(checked) = node.read() else { return Vec::new() };
                let own = |&s: &Slicing| typed::check::slicing(&checked.program, s) == Ok(s);
                all.into_iter().filter(own).collect()
            }
        }
    }

    /// The timed quantity.
    pub fn goal(&self) -> Goal {
        match self {
            Subject::Function { goal, .. } => *goal,
            Subject::Node(_) => Goal::Kernel,
        }
    }

    /// Compiles the candidate with these options.
    ///
    /// # Errors
    /// The slicing does not suit the program, or the options do not suit the subject.
    pub fn make(
        &self,
        slicing: Slicing,
        target: &'static Target,
        chosen: &Chosen,
    ) -> Result<Made, String> {
        match self {
            Subject::Function { cipher, function, goal } => {
                let built = usuba_run::functions::build_for(
                    cipher,
                    function,
                    NAME,
                    slicing,
                    target,
                    chosen.cpu,
                    &chosen.pipeline,
                )?;
                let calls = function_calls(cipher, function, &built, *goal)?;
                let code = format!(
                    "{}{}\nvoid candidate_drive(void **ports);\n\
                     void candidate_drive(void **ports) {{\n    \
                     drive((const uint8_t *)ports[0], (const uint8_t *)ports[1], \
                     (const uint8_t *)ports[2], (uint8_t *)ports[3]);\n}}\n",
                    built.text,
                    prepare::driver(&built)
                );
                Ok(Made { code, shape: format!("{slicing:?} {}", built.kernel.instances()), calls })
            }
            Subject::Node(node) => node.make(slicing, target, chosen),
        }
    }
}

fn function_calls(
    cipher: &Cipher,
    function: &Function,
    built: &usuba_run::functions::Built,
    goal: Goal,
) -> Result<Calls, String> {
    let vectors = cipher.vectors(function)?;
    let file = cipher.folder.join(&function.vectors).display().to_string();
    let lanes = built.kernel.instances() as usize;
    let (check, expected) = prepare::verifying_calls((&file, &vectors), built, lanes)?;
    let blocks = match goal {
        Goal::Kernel => 0,
        Goal::Bytes => (prepare::MESSAGE / built.input / lanes).max(1) * lanes,
    };
    let mode = if goal == Goal::Kernel { Mode::Kernel } else { Mode::Bytes };
    let block = built.input.max(built.output);
    let most = expected.iter().map(|one| one.output.len()).max().unwrap_or(0);
    Ok(Calls {
        check: Arc::new(check),
        expected: Arc::new(expected.into_iter().map(|one| vec![one.output]).collect()),
        outputs: vec![most],
        timed: Arc::new(vec![
            prepare::how(mode, blocks),
            vectors[0].key.clone(),
            vec![0x5a; blocks * built.input],
        ]),
        timed_outputs: vec![blocks * built.output],
        align: 64,
        units: (if goal == Goal::Kernel { lanes } else { blocks } * block) as f64,
    })
}

impl Node {
    /// The entry of a gathered program.
    pub fn new(texts: Texts, entry: Option<String>, flags: Flags, word: Option<u8>) -> Node {
        Node { texts, entry, flags, word, meanings: Mutex::default() }
    }

    fn read(&self) -> Result<Checked, String> {
        let mut sources = Sources::default();
        let root = sources.add(self.texts.root.0.clone(), self.texts.root.1.clone());
        let mut loader = self.texts.clone();
        front(&mut sources, root, &mut loader, self.entry.as_deref(), self.flags)
            .map_err(|findings| lines(&findings))
    }

    fn make(
        &self,
        slicing: Slicing,
        target: &'static Target,
        chosen: &Chosen,
    ) -> Result<Made, String> {
        let options = Options {
            slicing,
            target,
            word: self.word,
            entry: self.entry.clone(),
            flags: self.flags,
            pipeline: chosen.pipeline.clone(),
            cpu: chosen.cpu,
            c: COptions::default(),
        };
        let checked = self.read()?;
        let program = optimised(&checked.program, &options, Proofs::Always)
            .map_err(|trouble| trouble.explained(|findings| lines(&findings)))?;
        let name = format!("{NAME}_kernel");
        let emitted = kernel(&program, target, &COptions { name, ..COptions::default() });
        let layout = Layout::new(&program, target.bits, target.simd, target.masks)?;
        let ports = emitted.params.len() + emitted.results.len();
        let args: Vec<String> = (0..ports).map(|port| format!("ports[{port}]")).collect();
        let code = format!(
            "{}\nvoid candidate_drive(void **ports);\n\
             void candidate_drive(void **ports) {{\n    {}({});\n}}\n",
            emitted.text,
            emitted.name,
            args.join(", ")
        );
        let rows = self.rows(&checked.program, slicing, layout.instances())?;
        let words: Vec<Vec<u64>> = rows.iter().map(|row| row.inputs.clone()).collect();
        let inputs = layout.pack_params(&program, &words);
        let outputs = results(&layout, &program, &rows);
        let sizes: Vec<usize> = outputs.iter().map(Vec::len).collect();
        let shape = format!("{slicing:?} {layout:?}");
        let calls = Calls {
            check: Arc::new(vec![inputs.clone()]),
            expected: Arc::new(vec![outputs]),
            outputs: sizes.clone(),
            timed: Arc::new(inputs),
            timed_outputs: sizes,
            align: (target.bits as usize / 8).min(64),
            units: layout.instances() as f64,
        };
        Ok(Made { code, shape, calls })
    }

    /// The reference results of the first `count` instances.
    fn rows(
        &self,
        program: &typed::Program,
        slicing: Slicing,
        count: usize,
    ) -> Result<Vec<Row>, String> {
        let instance = typed::check::entry_instance(program, slicing, self.word)
            .map_err(|finding| lines(&[finding]))?;
        let atoms = atoms(program, &instance);
        let mut meanings = self.meanings.lock().expect("no candidate panics");
        let rows = meanings.entry(slicing).or_default();
        while rows.len() < count {
            let mut random = Random::new(rows.len() as u64);
            let mut inputs: Vec<u64> =
                atoms.iter().map(|&(bits, _)| random.word() & mask(bits)).collect();
            if let Some(first) = rows.first() {
                // A constant is uniform over all instances.
                for (at, (_, constant)) in atoms.iter().enumerate() {
                    if *constant {
                        inputs[at] = first.inputs[at];
                    }
                }
            }
            let outputs = typed::eval(program, &instance, &inputs).map_err(|f| lines(&f))?;
            rows.push(Row { inputs, outputs });
        }
        Ok(rows[..count].to_vec())
    }
}

/// Bits of every flattened input atom, and whether it is constant.
fn atoms(program: &typed::Program, instance: &Instance) -> Vec<(u8, bool)> {
    let mut atoms = Vec::new();
    for var in &program.decls[instance.decl].params {
        if let VarType::Words { atom, .. } = &var.ty {
            let bits = instance.apply(atom).bits().expect("the entry has no open sizes");
            atoms.extend(std::iter::repeat_n((bits, var.constant), var.ty.atoms()));
        }
    }
    atoms
}

/// The registers of all results, one row per instance.
fn results(layout: &Layout, program: &Program, rows: &[Row]) -> Vec<Vec<u8>> {
    let mut buffers = Vec::new();
    let mut at = 0;
    for group in program.results() {
        let words = at..at + group[0].words();
        at = words.end;
        let rows: Vec<_> = rows.iter().map(|row| row.outputs[words.clone()].to_vec()).collect();
        buffers.push(layout.pack_sets(group, &rows));
    }
    buffers
}
