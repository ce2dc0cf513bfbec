//! Units of an output: the functions that programs specify.
//!
//! ```text
//! usuba_aes128_encrypt_B_avx2        aes128_encrypt in B on avx2, for any number of blocks
//! usuba_aes128_encrypt_B_avx2_xor    the same, XORed to a text
//! usuba_aes128_made0, …_key0_init    the key schedule, and the words that kernels read
//! usuba_fe_mul                       an arithmetic kernel
//! ```
//!
//! A unit names its program and the options of its compile, so that no prover guesses them. Kernels of functions over blocks are no units, because those functions are
//! proved with their kernels in line; the same holds for functions that several units share.

use std::path::{Path, PathBuf};

use usuba::Output;
use usuba::emit::bytes::ByteLayout;
use usuba::emit::bytes::library::{Made, Words};
use usuba::isa::Target;
use usuba_ciphers::Function;
use usuba_run::functions::Task;
use usuba_run::validated::Proofs;

use super::arithmetic::Kernel;
use super::cores::{Compiled, Core, portable};
use super::section::is_proved;
use super::write::{File, renamed};
use super::{Folder, Request};

/// A C function of an output that a program specifies.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The C name, with the prefix of the request.
    pub symbol: String,
    pub kind: UnitKind,
    /// The cipher folder.
    pub folder: PathBuf,
    /// The program and its options, exactly as the output was compiled.
    pub task: Task,
    /// The target of the section that contains it: C compilers may use its instructions, even where
    /// the options have another target.
    pub section: &'static Target,
}

impl Unit {
    /// Compiles the program: the checked source, the final IR, and the C ports of the kernel.
    ///
    /// # Errors
    /// The diagnostics of the compiler, one per line.
    pub fn compile(&self) -> Result<Output, String> {
        self.task.compile(&self.folder, Proofs::Never)
    }

    /// The units that it calls as functions with proofs of their own.
    pub fn calls(&self) -> &[String] {
        match &self.kind {
            UnitKind::Kernel { calls, .. } => calls,
            _ => &[],
        }
    }

    /// Whether another unit is a kernel of a node of the same source, for the same registers.
    pub fn is_beside(&self, other: &Unit) -> bool {
        let of = |unit: &Unit| {
            let options = &unit.task.options;
            let is_kernel = matches!(unit.kind, UnitKind::Kernel { .. });
            let target = options.target.name;
            let file = (unit.folder.clone(), unit.task.source.clone());
            (is_kernel, file, options.slicing, target, options.c.prefix.clone())
        };
        of(self) == of(other)
    }
}

/// The C prototype of a unit, and its relation to the program.
#[derive(Clone, Debug)]
pub enum UnitKind {
    /// `f(const void *key, const uint8_t *in, uint8_t *out, size_t nblocks)`: the program on each
    /// block. `key` points to the words of [`UnitKind::Key`]; without a key it is unused.
    Blocks(Blocks),
    /// `f(const void *key, const uint8_t *in, const uint8_t *text, uint8_t *out, size_t nblocks)`: the
    /// XOR of the program on each block and of the text, for multiples of [`Blocks::unit`] blocks.
    Xored(Blocks),
    /// `f(uint8_t *chains, const uint8_t *const *in, size_t nblocks, size_t count)`: the program on
    /// each block of `count` messages, with the chaining value as its first input and its output.
    Chained(Blocks),
    /// `f(T *made, const uint8_t *key)`: the program is the key schedule.
    Schedule {
        /// The order of the bytes of `key`.
        bytes: ByteLayout,
        made: Made,
    },
    /// `f(T *words, const T *made)` after a key schedule, or `f(T *words, const uint8_t *key)`: the
    /// words of the key parameter. The program is a kernel with that parameter.
    Key {
        /// A function with this key.
        function: Box<Function>,
        words: Words,
        /// The unit of the key schedule whose result it reads.
        schedule: Option<String>,
    },
    /// The kernel itself.
    Kernel {
        /// The units of the nodes that its program links.
        calls: Vec<String>,
        /// Whether it remains a function of the object, and its callers rely on its contract.
        is_apart: bool,
    },
}

/// A function over any number of blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The function of the cipher folder, with the orders of its bytes.
    pub function: Box<Function>,
    /// Blocks of one register set, and of one call of the kernel.
    pub unit: usize,
    pub batch: usize,
    /// Bytes of a block: input, then output.
    pub input: usize,
    pub output: usize,
}

/// The units of an output with these files, on processors of x86-64 with words of 64 bits.
pub(super) fn units(
    request: &Request,
    backends: &[&'static Target],
    folders: &[Folder],
    files: &[File],
) -> Vec<Unit> {
    let mut units = Units { request, files, all: Vec::new() };
    for folder in folders {
        units.folder(folder, backends);
    }
    units.all
}

struct Units<'a> {
    request: &'a Request,
    files: &'a [File],
    all: Vec<Unit>,
}

impl Units<'_> {
    fn folder(&mut self, folder: &Folder, backends: &[&'static Target]) {
        let path = &folder.cipher.folder;
        for (number, core) in folder.cores.iter().enumerate() {
            if folder.is_used_where_proved(number, backends) {
                self.core(path, core);
            }
        }
        for (at, Compiled { schedules, forms, .. }) in folder.compiled.iter().enumerate() {
            for schedule in folder.schedules(at).into_iter().map(|number| &schedules[number]) {
                let kind = UnitKind::Schedule { bytes: schedule.bytes, made: schedule.made };
                self.add(path, &schedule.symbol, kind, &schedule.main, portable());
            }
            for form in folder.forms(at).into_iter().map(|number| &forms[number]) {
                let schedule = form.schedule.map(|number| self.renamed(&schedules[number].symbol));
                let function = Box::new(form.function.clone());
                let kind = UnitKind::Key { function, words: form.words, schedule };
                self.add(path, &form.symbol, kind, &form.main, portable());
            }
        }
        // Only hand-written C calls these kernels.
        if folder.cipher.scheme.is_some() {
            let own = [(portable(), &folder.arithmetic)].into_iter();
            let lanes = folder.lanes.iter().chain(&folder.across);
            let all = own.chain(lanes.map(|(target, kernels)| (*target, kernels)));
            for (section, kernels) in all.filter(|(section, _)| is_proved(section)) {
                for kernel in &kernels.tasks {
                    self.kernel(path, kernel, section);
                }
            }
        }
    }

    fn core(&mut self, path: &Path, core: &Core) {
        let Core { symbol, target, main, single, unit, batch, input, output, .. } = core;
        let function = Box::new(core.function.clone());
        let (unit, batch, input, output) = (*unit, *batch, *input, *output);
        let blocks = Blocks { function, unit, batch, input, output };
        if !core.chained {
            self.add(path, symbol, UnitKind::Blocks(blocks.clone()), main, target);
            if let Some(symbol) = core.fused_symbol() {
                self.add(path, &symbol, UnitKind::Xored(blocks), main, target);
            }
            return;
        }
        self.add(path, symbol, UnitKind::Chained(blocks), main, target);
        for task in [Some(main), single.as_ref()].into_iter().flatten() {
            // Another function may take the place of an equal one.
            if self.defines(&task.symbol()) {
                let (task, calls) = (task.clone(), Vec::new());
                self.kernel(path, &Kernel { task, calls, is_apart: false }, target);
            }
        }
    }

    fn kernel(&mut self, path: &Path, kernel: &Kernel, section: &'static Target) {
        let Kernel { task, calls, is_apart } = kernel;
        let calls = calls.iter().map(|name| self.renamed(name)).collect();
        let kind = UnitKind::Kernel { calls, is_apart: *is_apart };
        self.add(path, &task.symbol(), kind, task, section);
    }

    fn add(
        &mut self,
        folder: &Path,
        symbol: &str,
        kind: UnitKind,
        task: &Task,
        section: &'static Target,
    ) {
        let (symbol, folder, mut task) = (self.renamed(symbol), folder.to_path_buf(), task.clone());
        let c = &mut task.options.c;
        (c.prefix, c.name) = (self.renamed(&c.prefix), self.renamed(&c.name));
        self.all.push(Unit { symbol, kind, folder, task, section });
    }

    /// A name with the prefix of the request.
    fn renamed(&self, name: &str) -> String {
        renamed(name, self.request)
    }

    /// Whether a file defines a local function.
    fn defines(&self, symbol: &str) -> bool {
        let head = format!(" {}(", self.renamed(symbol));
        let is_head = |line: &str| {
            line.starts_with("static ") && line.contains(&head) && !line.ends_with(';')
        };
        self.files.iter().flat_map(|file| file.text.lines()).any(is_head)
    }
}
