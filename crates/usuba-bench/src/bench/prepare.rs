//! Preparation of a subject as C: one text for verification and timing.

use usuba::emit::c::COptions;
use usuba::isa::Target;

use super::{Problem, Side, Speed, Subject};
use crate::work::Work;
use usuba_ciphers::{Cipher, Function, Vector};
use usuba_run::cc::{self, Machine};
use usuba_run::functions::Built;
use usuba_run::native::{Kernel, Samples};

/// Bytes of a timed call of the byte interface, rounded down to whole batches.
pub(crate) const MESSAGE: usize = 16 << 10;

/// The driver's mode in one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Expands the key and processes blocks, in several calls with expected outputs.
    Verify,
    /// Processes blocks under an expanded key.
    Bytes,
    /// Calls the kernel on registers.
    Kernel,
    /// Expands the key and processes blocks, with a partial last batch.
    Whole,
}

/// The number of modes: the suite's kernels per subject.
pub(super) const MODES: usize = 4;

/// A subject as C.
pub(super) struct Prepared<'a> {
    pub side: &'a Side,
    pub machine: Machine,
    pub built: Built,
    pub work: Work,
    /// The expected outputs of the verifying calls.
    pub expected: Vec<Expected>,
    pub cipher: &'a Cipher,
    pub function: &'a Function,
    /// In the order of [`Mode`].
    pub kernels: [Kernel; MODES],
    /// Blocks in one timed call of the byte interface.
    message_blocks: usize,
}

impl<'a> Prepared<'a> {
    /// `more` are vectors besides its file.
    pub fn new(
        target: &'static Target,
        subject: &Subject<'a>,
        number: usize,
        more: &[Vector],
    ) -> Result<Prepared<'a>, Problem> {
        let Subject { cipher, function, slicing, side } = *subject;
        let machine =
            cc::find_with(target.name, side.family).map_err(|skip| Problem::Skipped(skip.why))?;
        if side.assembly {
            usuba_asm::check_target(target).map_err(Problem::Skipped)?;
        }
        let name = format!("{}_{number}", function.name);
        let failed = Problem::Failed;
        let built = usuba_run::functions::build_for(
            cipher,
            function,
            &name,
            slicing,
            target,
            side.cpu,
            &side.pipeline,
        )
        .map_err(Problem::Refused)?;
        let built = match side.assembly {
            true => assembled(built, target, side).map_err(Problem::Refused)?,
            false => built,
        };
        let mut vectors = cipher.vectors(function).map_err(failed)?;
        vectors.extend_from_slice(more);
        let file = cipher.folder.join(&function.vectors).display().to_string();
        let batch = built.kernel.instances() as usize;
        let (calls, expected) =
            verifying_calls((&file, &vectors), &built, batch).map_err(failed)?;
        let text = format!("{}{}", built.text, driver(&built));
        let kernel = |calls: Vec<Vec<Vec<u8>>>, output: usize, align: usize| Kernel {
            text: text.clone(),
            symbol: "drive".into(),
            align,
            calls,
            outputs: vec![output],
        };
        let message_blocks = (MESSAGE / built.input / batch).max(1) * batch;
        let timed = |mode: Mode, blocks: usize| {
            let how = how(mode, blocks);
            vec![vec![how, vectors[0].key.clone(), vec![0x5a; blocks * built.input]]]
        };
        let most = expected.iter().map(|one| one.output.len()).max().unwrap_or(0);
        let kernels = [
            kernel(calls, most, 1),
            kernel(timed(Mode::Bytes, message_blocks), message_blocks * built.output, 64),
            kernel(timed(Mode::Kernel, 0), 0, 64),
            kernel(
                timed(Mode::Whole, tail_blocks(message_blocks)),
                message_blocks * built.output,
                64,
            ),
        ];
        let work = Work::of(&built.program, target);
        Ok(Prepared {
            side,
            cipher,
            function,
            machine,
            built,
            work,
            expected,
            kernels,
            message_blocks,
        })
    }

    /// The C and its compiler flags, independent of the subject's position in a list.
    pub fn recipe(&self, number: usize) -> String {
        let name = &self.built.name;
        let neutral = name.strip_suffix(&format!("_{number}")).unwrap_or(name);
        let Machine { compiler, cflags, .. } = &self.machine;
        let flags = &self.side.flags;
        let text = self.kernels[0].text.replace(name.as_str(), neutral);
        // Include guards are in capitals.
        let text = text.replace(&name.to_uppercase(), &neutral.to_uppercase());
        format!("{} {cflags:?} {flags:?}\n{text}", compiler.display())
    }

    /// Bytes of a call: the larger of input and output.
    pub fn bytes(&self, mode: Mode) -> usize {
        let block = self.built.input.max(self.built.output);
        let blocks = match mode {
            Mode::Kernel => self.built.kernel.instances() as usize,
            Mode::Whole => tail_blocks(self.message_blocks),
            Mode::Verify | Mode::Bytes => self.message_blocks,
        };
        blocks * block
    }

    pub fn speed(&self, mode: Mode, samples: &Samples) -> Speed {
        Speed::new(samples.clone(), self.bytes(mode))
    }
}

/// The function with its kernel in assembly language.
fn assembled(built: Built, target: &'static Target, side: &Side) -> Result<Built, String> {
    let name = built.kernel.name.clone();
    let complemented_keys = built.kernel.complemented_keys;
    let options = COptions { name, complemented_keys, ..COptions::default() };
    let text = usuba_asm::in_c(&built.program, target, side.cpu, &options)?;
    Ok(Built { text: built.text.replacen(&built.kernel.text, &text, 1), ..built })
}

/// One block less, so that the last batch is not full.
fn tail_blocks(message_blocks: usize) -> usize {
    (message_blocks - 1).max(1)
}

pub(crate) fn how(mode: Mode, blocks: usize) -> Vec<u8> {
    vec![mode as u8, blocks as u8, (blocks >> 8) as u8, (blocks >> 16) as u8]
}

/// The expected output of a call, and the vectors of its blocks, in rotation.
pub(crate) struct Expected {
    pub output: Vec<u8>,
    pub vectors: Vec<Vector>,
}

/// The inputs of each call, with their expected outputs.
pub(crate) type Calls = (Vec<Vec<Vec<u8>>>, Vec<Expected>);

/// One call per key with every vector of that key in turn, in two full batches and a tail.
pub(crate) fn verifying_calls(
    (file, vectors): (&str, &[Vector]),
    built: &Built,
    batch: usize,
) -> Result<Calls, String> {
    let mut keys: Vec<&Vec<u8>> = vectors.iter().map(|vector| &vector.key).collect();
    keys.sort();
    keys.dedup();
    for vector in vectors {
        let fits = vector.check_sizes([built.key, built.input, built.output]);
        fits.map_err(|wrong| format!("{file}:{}: {wrong}", vector.line))?;
    }
    let blocks = 2 * batch + 1;
    let mut calls = Vec::new();
    let mut expected = Vec::new();
    for key in keys {
        let turn: Vec<&Vector> = vectors.iter().filter(|vector| vector.key == *key).collect();
        let turns = turn.iter().cycle().take(blocks);
        let input: Vec<u8> = turns.clone().flat_map(|vector| vector.input.clone()).collect();
        calls.push(vec![how(Mode::Verify, blocks), key.clone(), input]);
        let output = turns.flat_map(|vector| vector.output.clone()).collect();
        expected.push(Expected { output, vectors: turn.into_iter().cloned().collect() });
    }
    Ok((calls, expected))
}

/// The driver function. The first byte of `how` is the [`Mode`], the other three the number of
/// blocks. The kernel is called through a mutable pointer, which prevents inlining, because users
/// link it.
pub(crate) fn driver(built: &Built) -> String {
    let Built { name, kernel, .. } = built;
    let ports = kernel.params.iter().chain(&kernel.results);
    let mut arrays = String::new();
    let mut args = Vec::new();
    for (number, port) in ports.enumerate() {
        arrays += &format!("        static {} p{number}[{}];\n", port.c_type, port.registers);
        args.push(format!("p{number}"));
    }
    // Pages without a write all map to one page, which would be unfairly close in the cache.
    let fill: String =
        args.iter().map(|arg| format!(" memset({arg}, 0x5a, sizeof {arg});")).collect();
    let (context, init, argument) = match built.keyed() {
        true => (
            format!("    static {name}_ctx ctx;\n    static int ready;\n"),
            format!(
                "    if (how[0] == {} || how[0] == {} || !ready) \
                 {{ {name}_init(&ctx, key); ready = 1; }}\n",
                Mode::Verify as u8,
                Mode::Whole as u8
            ),
            "&ctx, ",
        ),
        false => (String::new(), "    (void)key;\n".to_string(), ""),
    };
    let types: Vec<String> = kernel
        .params
        .iter()
        .map(|port| format!("const {} *", port.c_type))
        .chain(kernel.results.iter().map(|port| format!("{} *", port.c_type)))
        .collect();
    format!(
        "\nvoid drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out);\n\
         void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out) {{\n    \
         const size_t blocks = how[1] | (size_t)how[2] << 8 | (size_t)how[3] << 16;\n\
         {context}{init}    if (how[0] != {}) {{\n        {name}_blocks({argument}in, out, blocks);\n    \
         }} else {{\n{arrays}        static int filled;\n        \
         static void (*volatile kernel)({}) = {};\n        \
         if (!filled) {{{fill} filled = 1; }}\n        kernel({});\n    }}\n}}\n",
        Mode::Kernel as u8,
        types.join(", "),
        kernel.name,
        args.join(", ")
    )
}
