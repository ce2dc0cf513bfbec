//! Generation of the public C API: the functions of each primitive, by its shape, from the
//! templates of `lib/c/api`.

use std::collections::BTreeSet;
use std::fmt::Write;

use usuba::emit::bytes::library::Made;
use usuba::isa::Target;

use super::cores::{Compiled, Schedule};
use super::primitive::Primitive;
use super::section::{guarded, processors};
use super::template::{self, fill};
use super::{Folder, Rung};
use usuba_ciphers::{Counter, Direction, HashMode, Order, Scheme, SealMode};

/// The public functions of a primitive, by its shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A keystream from numbered inputs.
    Stream(Counter),
    /// CTR mode; both directions if there is an inverse, and for blocks of 16 bytes the modes
    /// that need it.
    Block {
        inverse: Option<usize>,
        wide: bool,
    },
    /// A block cipher with a tweak: counter-in-tweak mode.
    Tweakable {
        tweak: Counter,
        inverse: Option<usize>,
    },
    /// The keystream `stream` under a key that `subkey` derives from key and nonce; both are
    /// indices of primitives.
    Extended {
        subkey: usize,
        stream: usize,
    },
    /// A keystream that `next` produces from states, starting with the state of `start`; both are
    /// indices of primitives.
    Running {
        start: usize,
        next: usize,
    },
    /// A keyed primitive without modes.
    Keyed,
    Permutation,
    /// A hash function.
    Hash(HashMode),
    /// Authenticated encryption.
    Seal(SealMode),
    /// The compression function of a hash function, without its own API.
    Chained,
    /// A compression function without a key: not a permutation.
    Unkeyed,
}

/// The header's view of a primitive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The C name after the prefix.
    pub name: String,
    pub kind: Kind,
    /// Bytes of a key; 0 without a key.
    pub key: usize,
    /// Bytes of a nonce; 0 without a nonce.
    pub nonce: usize,
    /// Its operations, or the two operations of an extended or running keystream.
    pub operations: Vec<Described>,
}

/// The header's view of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// The C name after the prefix, before `_blocks`.
    pub name: String,
    /// The function of the folder that defines it.
    pub function: String,
    /// Bytes of a block: input, then output.
    pub input: usize,
    pub output: usize,
}

/// The hand-written parts of a file, and their sizes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Needs {
    /// Backend dispatch.
    pub ladders: bool,
    /// Conversion between bytes and words of arithmetic.
    pub word_bytes: bool,
    /// The words of arithmetic.
    pub words: bool,
    /// XOR of a keystream.
    pub xor: bool,
    pub stream: bool,
    pub cbc: bool,
    pub xts: bool,
    /// Single blocks, without a mode.
    pub blocks: bool,
    /// Messages of hash functions.
    pub chain: bool,
    /// Bytes of a keystream buffer.
    pub chunk: usize,
    /// Bytes of the largest keystream input.
    pub block: usize,
}

/// The size of a keystream buffer: below, call overhead dominates; above, it exceeds caches and
/// stacks.
const CHUNK: std::ops::RangeInclusive<usize> = 4096..=32768;

impl Needs {
    /// The union of both sets of parts.
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            ladders: self.ladders || other.ladders,
            words: self.words || other.words,
            word_bytes: self.word_bytes || other.word_bytes,
            xor: self.xor || other.xor,
            stream: self.stream || other.stream,
            cbc: self.cbc || other.cbc,
            xts: self.xts || other.xts,
            blocks: self.blocks || other.blocks,
            chain: self.chain || other.chain,
            chunk: self.chunk.max(other.chunk),
            block: self.block.max(other.block),
        }
    }
}

/// The API of a primitive, from its shape: whether it has a key, and the bytes of a block before
/// and after.
pub(super) fn kind(primitive: &Primitive, keyed: bool, (input, output): (usize, usize)) -> Kind {
    let first = &primitive.operations[0];
    let inverse = primitive.operation(Direction::Decrypt);
    match (first.functions[0].counter, first.functions[0].tweak) {
        (Some(counter), _) if keyed => return Kind::Stream(counter),
        (_, Some(tweak)) if keyed => return Kind::Tweakable { tweak, inverse },
        _ => {}
    }
    match (first.direction, keyed, input == output) {
        (Direction::Encrypt, true, true) => Kind::Block { inverse, wide: input == 16 },
        (_, true, _) => Kind::Keyed,
        (_, false, true) => Kind::Permutation,
        (_, false, false) => Kind::Unkeyed,
    }
}

impl Folder<'_> {
    /// Bytes of a block of an operation: input, then output.
    pub(super) fn sizes(&self, primitive: usize, operation: usize) -> (usize, usize) {
        let core = &self.cores[self.compiled[primitive].uses[operation][0].core];
        (core.input, core.output)
    }

    fn kind(&self, at: usize) -> Kind {
        let Compiled { primitive, forms, uses, .. } = &self.compiled[at];
        if self.cores[uses[0][0].core].chained {
            return Kind::Chained;
        }
        kind(primitive, !forms.is_empty(), self.sizes(at, 0))
    }

    /// Checks that counters and tweaks lie inside their blocks.
    ///
    /// # Errors
    /// The message names the one outside.
    pub fn check_counters(&self) -> Result<(), String> {
        for (at, compiled) in self.compiled.iter().enumerate() {
            let (input, _) = self.sizes(at, 0);
            for function in compiled.primitive.operations.iter().flat_map(|o| &o.functions) {
                for Counter { at, bytes, .. } in function.counter.iter().chain(&function.tweak) {
                    let end = at.checked_add(*bytes).filter(|_| *bytes > 0);
                    if end.is_none_or(|end| end > input) {
                        return Err(format!(
                            "{}: found a counter of {bytes} bytes at {at}, expected one inside of \
                             the {input} bytes of a block",
                            function.name
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The primitives, in their order; [`Folder::composed_descriptions`] and
    /// [`Folder::hash_descriptions`] describe the rest.
    pub fn descriptions(&self) -> Vec<Description> {
        let describe = |(at, compiled): (usize, &Compiled)| Description {
            name: compiled.primitive.name.clone(),
            kind: self.kind(at),
            key: self.key_bytes(at),
            nonce: match self.kind(at) {
                Kind::Stream(counter) | Kind::Tweakable { tweak: counter, .. } => {
                    self.sizes(at, 0).0 - counter.bytes
                }
                _ => 0,
            },
            operations: (0..compiled.primitive.operations.len())
                .map(|number| self.described(at, number))
                .collect(),
        };
        self.compiled.iter().enumerate().map(describe).collect()
    }

    /// Bytes of the key of a primitive.
    pub(super) fn key_bytes(&self, at: usize) -> usize {
        self.compiled[at].forms.first().map_or(0, |form| form.words.key_bytes)
    }

    pub(super) fn described(&self, at: usize, number: usize) -> Described {
        let operation = &self.compiled[at].primitive.operations[number];
        let (input, output) = self.sizes(at, number);
        let function = operation.functions[0].name.clone();
        Described { name: operation.name.clone(), function, input, output }
    }

    /// The hand-written parts that the primitives of this folder use.
    pub fn needs(&self) -> Needs {
        let ladders = !(self.compiled.is_empty() && self.lanes.is_empty());
        let words = !self.arithmetic.is_empty();
        let word_bytes = self.cipher.scheme == Some(Scheme::Curve25519);
        let mut needs = Needs { ladders, words, word_bytes, ..Needs::default() };
        for at in 0..self.compiled.len() {
            needs.blocks |= self.kind(at) != Kind::Chained;
            let (stream, full) = match self.kind(at) {
                Kind::Stream(_) | Kind::Tweakable { .. } => (true, false),
                Kind::Block { inverse, wide } => (true, inverse.is_some() && wide),
                _ => continue,
            };
            let (input, output) = self.sizes(at, 0);
            let rungs = self.ladders[at].iter().flatten().flatten();
            let batch = rungs.map(|rung| self.cores[rung.used.core].batch).max().unwrap_or(1);
            let chunk = (batch * output).clamp(*CHUNK.start(), *CHUNK.end());
            let new =
                Needs { xor: true, stream, cbc: full, xts: full, chunk, block: input, ..needs };
            needs = needs.and(new);
        }
        let running = |stream| matches!(self.composed_kind(stream), Kind::Running { .. });
        needs.chain = !self.cipher.hashes.is_empty();
        needs.xor |= self.cipher.streams.iter().any(running);
        needs
    }

    /// Bytes of the inputs for a keystream buffer, if they do not lie in the buffer.
    pub fn counters(&self, chunk: usize) -> usize {
        let numbered = |kind| matches!(kind, Kind::Stream(_) | Kind::Tweakable { .. });
        let apart = (0..self.compiled.len()).filter(|&at| numbered(self.kind(at)));
        let sizes = apart.map(|at| self.sizes(at, 0)).filter(|(input, output)| input != output);
        sizes.map(|(input, output)| chunk / output * input).max().unwrap_or(0)
    }

    /// The declarations of all primitives.
    pub fn declarations(&self) -> String {
        let own: String = (0..self.compiled.len()).map(|at| self.primitive(at, "", true)).collect();
        own + &self.composed("", true)
            + &self.hashes("", true)
            + &self.scheme("", None)
            + &self.seals("", true)
    }

    /// Dispatch tables and functions of all primitives. Functions outside every cipher start with
    /// `common`.
    pub fn definitions(&self, backends: &[&'static Target], common: &str) -> String {
        let own: String = (0..self.compiled.len())
            .map(|at| self.operations(at, backends) + &self.primitive(at, common, false))
            .collect();
        let hashes = self.hashes(common, false);
        own + &self.composed(common, false)
            + &hashes
            + &self.scheme(common, Some(backends))
            + &self.seals(common, false)
    }

    /// The C names of the cores in dispatch tables, with their chaining and their target.
    pub fn symbols(&self) -> Vec<(&str, bool, &'static Target)> {
        let used = self.cores.iter().enumerate().filter(|(core, _)| self.is_used(*core));
        used.map(|(_, core)| (&*core.symbol, core.chained, core.target)).collect()
    }

    /// The indices of a primitive's forms in dispatch tables.
    pub fn forms(&self, at: usize) -> BTreeSet<usize> {
        self.ladders[at].iter().flatten().flatten().filter_map(|rung| rung.used.form).collect()
    }

    /// The indices of the schedules for those forms.
    fn schedules(&self, at: usize) -> BTreeSet<usize> {
        let forms = &self.compiled[at].forms;
        self.forms(at).into_iter().filter_map(|form| forms[form].schedule).collect()
    }

    /// The key setups of all primitives.
    pub fn key_setups(&self) -> String {
        let mut text = String::new();
        for (at, compiled) in self.compiled.iter().enumerate() {
            text.extend(self.schedules(at).into_iter().map(|n| &*compiled.schedules[n].text));
            text.extend(self.forms(at).into_iter().map(|n| &*compiled.forms[n].text));
        }
        text
    }

    /// Each operation with its dispatch tables.
    fn operations(&self, at: usize, backends: &[&'static Target]) -> String {
        let mut text = String::new();
        let primitive = &self.compiled[at].primitive;
        for (number, operation) in primitive.operations.iter().enumerate() {
            let name = &operation.name;
            let (input, output) = self.sizes(at, number);
            // A chained function has the chaining value and the block in its API.
            let (step_type, type_name, sizes) = match self.kind(at) {
                Kind::Chained => ("usuba_link_step", "chaining", (output, input - output)),
                _ => ("usuba_step", "operation", (input, output)),
            };
            let mut ladders = String::new();
            for (backend, target) in backends.iter().enumerate() {
                let rungs = &self.ladders[at][number][backend];
                let ladder = format!("usuba_{name}_{}_ladder", target.name);
                let steps: String =
                    rungs.iter().map(|rung| self.step(&primitive.name, rung)).collect();
                let array = format!("static const {step_type} {ladder}[] = {{\n{steps}}};\n");
                text += &guarded(processors(target), &array);
                let _ = match processors(target) {
                    None => writeln!(ladders, "    {ladder},"),
                    Some(macro_name) => writeln!(
                        ladders,
                        "#if defined({macro_name})\n    {ladder},\n#else\n    NULL,\n#endif"
                    ),
                };
            }
            let _ = write!(
                text,
                "static const usuba_{type_name} usuba_{name}_{type_name} = {{{}, {}, {{\n\
                 {ladders}}}}};\n\n",
                sizes.0, sizes.1
            );
        }
        text
    }

    fn step(&self, primitive: &str, rung: &Rung) -> String {
        let core = &self.cores[rung.used.core];
        if core.chained {
            return format!("    {{{}, {}, {}}},\n", rung.from, core.unit, core.symbol);
        }
        let key = match rung.used.form {
            Some(form) => format!("offsetof(usuba_{primitive}_key, words{form})"),
            None => "0".to_string(),
        };
        format!("    {{{}, {}, {}, {key}, {}}},\n", rung.from, core.unit, core.batch, core.symbol)
    }

    /// Declarations or definitions of one primitive.
    fn primitive(&self, at: usize, common: &str, header: bool) -> String {
        let Compiled { primitive, schedules, forms, .. } = &self.compiled[at];
        let kind = self.kind(at);
        if kind == Kind::Chained {
            return String::new();
        }
        let (input, output) = self.sizes(at, 0);
        let name = &*primitive.name;
        let operation =
            |number: usize| format!("usuba_{}_operation", primitive.operations[number].name);
        let mut words = String::new();
        let mut init = String::new();
        let mut wipe = String::new();
        for number in self.schedules(at) {
            let Schedule { made: Made { c_type, count }, symbol, .. } = &schedules[number];
            let _ = writeln!(
                init,
                "    {c_type} made{number}[{count}];\n    {symbol}(made{number}, bytes);"
            );
            let _ = writeln!(wipe, "    {common}wipe(made{number}, sizeof made{number});");
        }
        for number in self.forms(at) {
            let form = &forms[number];
            let from = match form.schedule {
                Some(schedule) => format!("made{schedule}"),
                None => "bytes".to_string(),
            };
            let _ =
                writeln!(words, "    {} words{number}[{}];", form.words.c_type, form.words.count);
            let _ = writeln!(init, "    {}(key->words{number}, {from});", form.symbol);
        }
        init += &wipe;
        let counter = match kind {
            Kind::Stream(counter) | Kind::Tweakable { tweak: counter, .. } => counter,
            _ => Counter { at: 0, bytes: input, order: Order::Big },
        };
        let Counter { at: first, bytes: size, order } = counter;
        // The nonce is the rest of the block around the counter, in order.
        let mut start = String::new();
        let rest = input.saturating_sub(first + size);
        if first > 0 {
            let _ = writeln!(start, "    memcpy(start, nonce, {first});");
        }
        if rest > 0 {
            let _ =
                writeln!(start, "    memcpy(start + {}, nonce + {first}, {rest});", first + size);
        }
        let inverse = match kind {
            Kind::Block { inverse: Some(inverse), .. } => operation(inverse),
            _ => String::new(),
        };
        let comment = |text: &str| text.replace("*/", "* /");
        let values = [
            ("TITLE", comment(&self.cipher.title)),
            ("SPEC", comment(&self.cipher.spec)),
            ("ABOUT", self.about(at)),
            ("NAME", name.to_string()),
            ("UPPER", name.to_uppercase()),
            ("KEY_BYTES", forms.first().map_or(0, |form| form.words.key_bytes).to_string()),
            ("WORDS", words),
            ("INIT", init),
            ("IN", input.to_string()),
            ("OUT", output.to_string()),
            ("NONCE", input.saturating_sub(size).to_string()),
            ("AT", first.to_string()),
            ("SIZE", size.to_string()),
            ("ORDER", if order == Order::Little { "little" } else { "big" }.to_string()),
            ("LITTLE", ((order == Order::Little) as u8).to_string()),
            ("START", start),
            ("OPERATION", operation(0)),
            ("INVERSE", inverse),
        ];
        use template as t;
        let mut parts: Vec<(&str, &str)> = Vec::new();
        match kind {
            Kind::Stream(_) => parts.extend([(t::KEY_H, t::KEY_C), (t::STREAM_H, t::STREAM_C)]),
            Kind::Block { inverse, wide } => {
                parts.extend([(t::KEY_H, t::KEY_C), (t::BLOCK_H, t::BLOCK_C)]);
                if inverse.is_some() && wide {
                    parts.extend([(t::CBC_H, t::CBC_C), (t::XTS_H, t::XTS_C)]);
                }
            }
            Kind::Tweakable { .. } => {
                parts.extend([(t::KEY_H, t::KEY_C), (t::TWEAKABLE_H, t::TWEAKABLE_C)]);
            }
            Kind::Keyed => parts.push((t::KEY_H, t::KEY_C)),
            Kind::Permutation => parts.push((t::PERMUTATION_H, t::PERMUTATION_C)),
            Kind::Extended { .. } | Kind::Running { .. } | Kind::Unkeyed => {}
            Kind::Hash(_) | Kind::Chained | Kind::Seal(_) => {}
        }
        let pick = |(h, c): (&'static str, &'static str)| if header { h } else { c };
        let mut text: String =
            parts.into_iter().map(|(h, c)| fill(if header { h } else { c }, &values)).collect();
        for (number, function) in primitive.operations.iter().enumerate() {
            let (input, output) = self.sizes(at, number);
            let place = match input == output {
                true => ", which may be in itself",
                false => ", apart from in",
            };
            let own = operation(number);
            let (input, output) = (input.to_string(), output.to_string());
            let own = [
                ("FUNCTION", function.name.as_str()),
                ("IN", &input),
                ("OUT", &output),
                ("PLACE", place),
                ("OPERATION", &own),
            ];
            let template = match forms.is_empty() {
                true => pick((t::UNKEYED_H, t::UNKEYED_C)),
                false => pick((t::KEYED_H, t::KEYED_C)),
            };
            text += &fill(&fill(template, &own), &values);
        }
        text
    }

    /// One sentence on the kernels of a primitive.
    pub(super) fn about(&self, at: usize) -> String {
        let rungs = self.ladders[at].iter().flatten().flatten();
        let slicings: BTreeSet<char> =
            rungs.map(|rung| super::cores::letter(self.cores[rung.used.core].slicing)).collect();
        let slicings: Vec<String> = slicings.iter().map(char::to_string).collect();
        format!("No branch and no address depends on data. Slicings: {}.", slicings.join(", "))
    }
}
