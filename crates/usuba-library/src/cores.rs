//! Compilation of cores: the kernels of a cipher folder as C functions over any number of blocks,
//! with their key schedules. Functions with the same kernel share one core.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;
use usuba::diag::Diagnostic;
use usuba::emit::bytes::library::{self, Made, Words};
use usuba::emit::bytes::{self, ByteLayout};
use usuba::ir::Slicing;
use usuba::isa::{self, Inst, Target};
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{inline, unroll};
use usuba::{Options, Output};

use super::ladder::Cost;
use super::primitive::{Operation, Primitive};
use usuba_ciphers::{Cipher, Function};
use usuba_run::functions::{self as compile, Task, Way};
use usuba_run::validated::Proofs;

/// A kernel behind a C function of type `usuba_kernel`, or `usuba_link` for a function that is
/// applied to its own results.
#[derive(Clone, Debug)]
pub struct Core {
    /// `usuba_serpent128_encrypt_V_avx2`
    pub symbol: String,
    pub target: &'static Target,
    pub slicing: Slicing,
    /// The first function that uses the core.
    pub function: Function,
    /// The kernel, and the kernel without interleaving.
    pub main: Task,
    pub single: Option<Task>,
    /// The C of the kernels.
    pub inner: String,
    /// The C of the functions around them.
    pub around: String,
    /// The C below it of [`library::xored`], for modes that XOR the results to a text.
    pub fused: Option<String>,
    /// The kernels in assembly language as well, for targets that have it.
    pub assembly: Option<Assembly>,
    /// A smaller variant on request: calls and rolled loops remain.
    pub small: Option<String>,
    /// Blocks per register set, and per call of the kernel.
    pub unit: usize,
    pub batch: usize,
    /// Bytes of a block: input, then output.
    pub input: usize,
    pub output: usize,
    /// Whether `output` replaces the beginning of `input`, followed by a message block; then `unit`
    /// and `batch` count messages.
    pub chained: bool,
    /// Words of the key, at most 64 bits each.
    pub key_words: usize,
    /// The estimated cost, from its operations.
    pub guess: Cost,
}

/// Kernels in assembly language.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Their declarations in C.
    pub declarations: String,
    /// Their functions; [`usuba_asm::print::joined`] makes a file of them.
    pub functions: String,
}

impl Core {
    /// All C of the core.
    pub fn text(&self) -> String {
        format!("{}{}", self.inner, self.outer())
    }

    /// The C around the kernels.
    pub fn outer(&self) -> String {
        format!("{}{}", self.around, self.fused.as_deref().unwrap_or_default())
    }

    /// The name of the function that XORs, if there is one.
    pub fn fused_symbol(&self) -> Option<String> {
        self.fused.is_some().then(|| format!("{}_xor", self.symbol))
    }

    /// Its function, slicing and target, by which costs name it.
    pub fn name(&self) -> (&str, &'static str, &'static str) {
        (&self.function.name, letter(self.slicing), self.target.name)
    }

    /// The names of the kernels in C.
    pub fn kernels(&self) -> impl Iterator<Item = String> {
        [&self.main].into_iter().chain(&self.single).map(Task::symbol)
    }

    /// The kernels of a core of the cipher in `folder` in assembly language; `None` where the back
    /// end has none for them.
    ///
    /// # Errors
    /// The diagnostics of the compiler, one per line.
    pub fn assembled(&self, folder: &Path) -> Result<Option<Assembly>, String> {
        let mut all = Assembly { declarations: String::new(), functions: String::new() };
        for task in [&self.main].into_iter().chain(&self.single) {
            let Options { target, cpu, c, .. } = &task.options;
            if !usuba_asm::has_assembly(target) {
                return Ok(None);
            }
            let Output { program, kernel, .. } = task.compile(folder, Proofs::Never)?;
            let Ok(printed) = usuba_asm::printed(&program, &kernel, target, cpu, c) else {
                return Ok(None);
            };
            all.declarations += &format!("USUBA_HIDDEN {};\n", kernel.prototype);
            all.functions += &printed.function(&kernel, true);
        }
        Ok(Some(all))
    }

    /// Bytes of a block in throughput figures.
    pub fn bytes(&self) -> usize {
        if self.chained { self.input - self.output } else { self.output }
    }
}

/// A key schedule that forms of a primitive share.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Its result, the input of the forms.
    pub made: Made,
    /// The C function from the user's key to this result.
    pub symbol: String,
    pub text: String,
    pub main: Task,
    /// The order of the bytes of the user's key.
    pub bytes: ByteLayout,
}

/// A form of the key: its words in the context, in the layout of some kernels.
#[derive(Clone, Debug)]
pub struct Form {
    pub words: Words,
    /// The schedule of the primitive that produces them; `None` for the user's key itself.
    pub schedule: Option<usize>,
    /// The C function that writes them.
    pub symbol: String,
    pub text: String,
    /// A function with this form, and its kernel.
    pub function: Function,
    pub main: Task,
}

/// The use of a core by a function: the core, and the key words that it reads.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub core: usize,
    /// The form of the primitive's key.
    pub form: Option<usize>,
}

/// A primitive with its compiled cores and key schedules.
#[derive(Clone, Debug)]
pub struct Compiled<'a> {
    pub primitive: Primitive<'a>,
    pub schedules: Vec<Schedule>,
    pub forms: Vec<Form>,
    /// For each operation: every core of every function.
    pub uses: Vec<Vec<Use>>,
}

/// The key of a shared core: functions with equal keys use one core.
pub type Key<'a> = (&'a str, &'a str, String, &'static str, &'static str);

pub fn key<'a>(function: &'a Function, slicing: Slicing, target: &'static Target) -> Key<'a> {
    let ports = format!("{:?} {:?}", function.inputs, function.output);
    let ports = format!("{ports} {:?}", function.key.as_ref().map(|key| &key.param));
    (&function.source, &function.node, ports, letter(slicing), target.name)
}

pub fn letter(slicing: Slicing) -> &'static str {
    match slicing {
        Slicing::V => "V",
        Slicing::H => "H",
        Slicing::B => "B",
        Slicing::W => "W",
    }
}

/// Compiles a cipher folder for `targets`. Cores of the library have the linkage `linkage`; with
/// `small`, portable cores also have a small variant.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn compile<'a>(
    cipher: &'a Cipher,
    primitives: Vec<Primitive<'a>>,
    targets: &[&'static Target],
    linkage: &'a str,
    small: bool,
) -> Result<(Vec<Core>, Vec<Compiled<'a>>), String> {
    let mut numbers: BTreeMap<Key, usize> = BTreeMap::new();
    let mut wanted: Vec<(&Function, Slicing, &'static Target)> = Vec::new();
    let functions = primitives.iter().flat_map(|p| &p.operations).flat_map(|o| &o.functions);
    for function in functions {
        for target in targets.iter().copied().filter(|target| function.is_for(target)) {
            for slicing in function.slicings_on(target) {
                numbers.entry(key(function, slicing, target)).or_insert_with(|| {
                    wanted.push((*function, slicing, target));
                    wanted.len() - 1
                });
            }
        }
    }
    let mut symbols = BTreeSet::new();
    for &(function, slicing, target) in &wanted {
        if !symbols.insert(symbol(function, slicing, target)) {
            return Err(format!(
                "{}: two functions named `{}` have slicing {} on {}; help: rename one of them",
                cipher.folder.display(),
                function.name,
                letter(slicing),
                target.name
            ));
        }
    }
    let cores = wanted
        .par_iter()
        .map(|&(function, slicing, target)| {
            let mut made = core(cipher, function, slicing, target, linkage, false)?;
            if small && target.name == portable().name {
                let node = function.small.as_ref().unwrap_or(&function.node).clone();
                let other = Function { node, ..function.clone() };
                made.small = Some(core(cipher, &other, slicing, target, linkage, true)?.text());
            }
            Ok::<_, String>(made)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let number = |function: &Function, slicing, target| numbers[&key(function, slicing, target)];
    let compiled = primitives
        .into_iter()
        .map(|primitive| {
            let mut keys = Keys {
                cipher,
                primitive: primitive.name.clone(),
                // Schedules are local in all forms of an output.
                linkage: if linkage.starts_with("static") { linkage } else { "static " },
                schedules: Vec::new(),
                forms: Vec::new(),
            };
            let mut uses = Vec::new();
            for operation in &primitive.operations {
                uses.push(users(operation, targets, &number, &mut keys)?);
            }
            let Keys { schedules, forms, .. } = keys;
            let schedules = schedules.into_iter().map(|(.., schedule)| schedule).collect();
            let forms = forms.into_iter().map(|(_, form)| form).collect();
            Ok(Compiled { primitive, schedules, forms, uses })
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok((cores, compiled))
}

/// The cores of an operation; adds missing key setups to `keys`.
fn users<'a>(
    operation: &Operation<'a>,
    targets: &[&'static Target],
    number: &dyn Fn(&Function, Slicing, &'static Target) -> usize,
    keys: &mut Keys<'a>,
) -> Result<Vec<Use>, String> {
    let mut uses = Vec::new();
    for &function in &operation.functions {
        let form = keys.form(function)?;
        for target in targets.iter().copied().filter(|target| function.is_for(target)) {
            for slicing in function.slicings_on(target) {
                uses.push(Use { core: number(function, slicing, target), form });
            }
        }
    }
    Ok(uses)
}

/// The key setups of a primitive during compilation.
struct Keys<'a> {
    cipher: &'a Cipher,
    primitive: String,
    /// The linkage of schedules.
    linkage: &'a str,
    /// Each with its file, its node and the byte order of the key.
    schedules: Vec<((&'a str, &'a str, ByteLayout), compile::Compiled, Schedule)>,
    /// Each with a tag that distinguishes forms with the same words.
    forms: Vec<(String, Form)>,
}

impl<'a> Keys<'a> {
    /// The index of the form that `function` reads; `None` if it has no key.
    fn form(&mut self, function: &'a Function) -> Result<Option<usize>, String> {
        let Some(key) = &function.key else { return Ok(None) };
        let schedule = self.schedule(function)?;
        // The shape of the parameter is part of the key: two sources may differ there.
        let place = if schedule.is_some() { "" } else { &*function.source };
        let same = format!("{schedule:?} {:?} {:?} {place}", key.bytes, key.through);
        let symbol = format!("usuba_{}_key{}", self.primitive, self.forms.len());
        let quick = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
        // The shape of the key does not depend on the compile options of the kernel.
        let (cipher, slicing) = (self.cipher, function.slicings[0]);
        let (main, _) = compile::kernels(cipher, function, &symbol, slicing, once(&quick))?;
        let inputs: Vec<_> = function.inputs.iter().map(parameter).collect();
        let made = schedule.map(|number| &self.schedules[number].1);
        let interface = interface(function, &inputs, &symbol, &main, None, made, false);
        let words = library::words(&interface).map_err(explain(&symbol))?;
        let words = words.expect("the function has a key");
        if let Some(known) = self.forms.iter().position(|(n, f)| *n == same && f.words == words) {
            return Ok(Some(known));
        }
        let text = library::fill(&interface, "static ").map_err(explain(&symbol))?;
        let symbol = format!("{symbol}_init");
        let function = function.clone();
        let main = main.task;
        self.forms.push((same, Form { words, schedule, symbol, text, function, main }));
        Ok(Some(self.forms.len() - 1))
    }

    /// The index of the schedule of `function`; `None` if it has none.
    fn schedule(&mut self, function: &'a Function) -> Result<Option<usize>, String> {
        let Some((key, (file, node))) =
            function.key.as_ref().and_then(|key| Some((key, key.schedule.as_ref()?)))
        else {
            return Ok(None);
        };
        let same = (&**file, &**node, key.bytes);
        if let Some(known) = self.schedules.iter().position(|(known, ..)| *known == same) {
            return Ok(Some(known));
        }
        let symbol = format!("usuba_{}_made{}", self.primitive, self.schedules.len());
        let main = compile::schedule(self.cipher, function, &symbol, once(&compact()))?;
        let main = main.expect("the function has a schedule");
        let inputs: Vec<_> = function.inputs.iter().map(parameter).collect();
        // Only the schedule is used.
        let interface = interface(function, &inputs, &symbol, &main, None, Some(&main), false);
        let made =
            library::schedule(&interface, &symbol, self.linkage).map_err(explain(&symbol))?;
        let (run, made) = made.expect("the function has a schedule");
        let text = format!("{}{run}", main.kernel.text);
        let (task, bytes) = (main.task.clone(), key.bytes);
        self.schedules.push((same, main, Schedule { made, symbol, text, main: task, bytes }));
        Ok(Some(self.schedules.len() - 1))
    }
}

/// Compile options of code that runs once per key.
fn once(pipeline: &PipelineOptions) -> Way<'_> {
    local(portable(), pipeline)
}

/// Compile options of kernels that only their own file calls.
pub fn local<'a>(target: &'static Target, pipeline: &'a PipelineOptions) -> Way<'a> {
    Way {
        target,
        cpu: isa::cpu::ALL[0],
        pipeline,
        hidden: true,
        complemented_keys: true,
        proofs: Proofs::Never,
    }
}

/// Options for little code: calls and loops remain.
fn compact() -> PipelineOptions {
    let mut pipeline = PipelineOptions::default();
    pipeline.pass.interleave = Choice::SINGLE;
    pipeline.pass.inline = inline::Mode::Light;
    pipeline.pass.unroll = unroll::Mode::None;
    pipeline
}

/// The message of a finding about a C function.
pub fn explain(name: &str) -> impl Fn(Diagnostic) -> String + '_ {
    move |error| format!("{name}: {}: {}", error.code, error.message)
}

pub fn parameter(p: &usuba_ciphers::Parameter) -> bytes::Parameter<'_> {
    bytes::Parameter { param: &p.param, bytes: p.bytes }
}

/// The view of the function for the byte interface, with its [`parameter`]s as `inputs`.
pub fn interface<'a>(
    function: &'a Function,
    inputs: &'a [bytes::Parameter<'a>],
    name: &'a str,
    main: &'a compile::Compiled,
    single: Option<&'a compile::Compiled>,
    schedule: Option<&'a compile::Compiled>,
    rolled: bool,
) -> bytes::Function<'a> {
    bytes::Function {
        name,
        kernel: compile::as_kernel(main),
        single: single.map(compile::as_kernel),
        inputs,
        output: parameter(&function.output),
        key: function.key.as_ref().map(|key| bytes::Key {
            param: &key.param,
            bytes: key.bytes,
            schedule: schedule.map(|schedule| bytes::Schedule {
                kernel: compile::as_kernel(schedule),
                target: portable(),
                through: key.through,
            }),
        }),
        wipe: false,
        rolled,
    }
}

/// The target of all code that runs once.
pub fn portable() -> &'static Target {
    compile::scalar(isa::ALL[0])
}

/// The C name of a core.
fn symbol(function: &Function, slicing: Slicing, target: &Target) -> String {
    format!("usuba_{}_{}_{}", function.name, letter(slicing), target.name)
}

fn core(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &'static Target,
    linkage: &str,
    small: bool,
) -> Result<Core, String> {
    let symbol = symbol(function, slicing, target);
    let mut pipeline = if small { compact() } else { PipelineOptions::default() };
    if !small {
        pipeline.pass.interleave = Choice::AUTO;
    }
    let way = local(target, &pipeline);
    let (main, single) = compile::kernels(cipher, function, &symbol, slicing, way)?;
    let inputs: Vec<_> = function.inputs.iter().map(parameter).collect();
    let interface = interface(function, &inputs, &symbol, &main, single.as_ref(), None, small);
    let chained = cipher.is_chained(function);
    let write = if chained { library::chained } else { library::any_number };
    let body = write(&interface, target, linkage).map_err(explain(&symbol))?;
    let fused = match chained {
        true => None,
        false => library::xored(&interface, target, linkage).map_err(explain(&symbol))?,
    };
    let alone = single.as_ref().map_or("", |single| &single.kernel.text);
    let batch = main.kernel.instances() as usize;
    let unit = if single.is_some() { main.kernel.lanes as usize } else { batch };
    let entry = main.program.entry();
    let (input, output) = interface.blocks().map_err(explain(&symbol))?;
    let keys = || entry.params.iter().filter(|port| port.constant);
    let registers: usize = keys().map(|port| port.values(slicing)).sum();
    let key_words = keys().map(|port| port.words()).sum();
    Ok(Core {
        target,
        slicing,
        function: function.clone(),
        inner: format!("{}{alone}", main.kernel.text),
        around: body,
        fused,
        assembly: None,
        small: None,
        unit,
        batch,
        input,
        output,
        chained,
        key_words,
        guess: guess(target, &main, (unit, batch), (input + output, registers)),
        main: main.task,
        single: single.map(|single| single.task),
        symbol,
    })
}

/// A cost estimate without measurements: operations per cycle, fewer under register pressure with
/// its spills, plus a constant for transposition and for the key.
fn guess(
    target: &Target,
    main: &compile::Compiled,
    (unit, batch): (usize, usize),
    (bytes, keys): (usize, usize),
) -> Cost {
    let stats = &main.kernel.stats;
    let fits = stats.live <= 2 * target.regs as usize;
    let per_cycle = match (fits, target.bits >= 512) {
        (true, false) => 3.0,
        (true, true) => 2.2,
        (false, false) => 1.7,
        (false, true) => 1.2,
    };
    let rotations = match target.row(Inst::Rotl, 32) {
        Some(_) => 0,
        None => 2 * stats.operations.of("rotl"),
    };
    let operations = (stats.operations.computing() + rotations) as f64;
    // Long straight-line code is bound by instruction fetch.
    let fetched = if compile::is_long(&main.program) { 1.15 } else { 1.0 };
    let batches = operations / per_cycle * fetched + (bytes * batch) as f64 / 8.0;
    let fixed = 20.0 + keys as f64 / 2.0;
    // A single register set is more often latency-bound.
    let units = batch / unit;
    let alone = if units > 1 { 1.2 / units as f64 } else { 1.0 };
    let short = (1..units).map(|count| fixed + (batches * alone * count as f64).min(batches));
    let cycles = short.chain([fixed + batches, fixed + 2.0 * batches]).collect();
    let name = String::new;
    Cost {
        family: name(),
        function: name(),
        slicing: name(),
        target: name(),
        unit,
        batch,
        cycles,
        mean: None,
        assembly: None,
    }
}
