//! Generation of the public C API: the functions of each primitive, by its shape, from the
//! templates of `lib/c/api`.

use std::collections::BTreeSet;

use usuba::emit::bytes::library::Made;
use usuba::isa::Target;

use super::cores::{Compiled, Form, Schedule};
use super::merge::merged;
use super::primitive::{Operation, Primitive};
use super::section::processors;
use super::template::{self as t, Template, context};
use super::{Folder, Rung};
use usuba_ciphers::{Counter, Direction, HashMode, Order, SealMode, SignMode};

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
    /// A message authentication code.
    Mac,
    /// A signature from hash functions.
    Sign(SignMode),
    /// The compression function of a hash function, without its own API.
    Chained,
    /// A function without a key that is no permutation, such as a compression function.
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
        // A state alone; beside a block it is mixed with it.
        (_, false, true) if first.functions[0].inputs.len() == 1 => Kind::Permutation,
        (_, false, _) => Kind::Unkeyed,
    }
}

/// The headers and C files of a kind, besides its operations.
fn parts(kind: Kind) -> Vec<(Template, Template)> {
    let key = (t::KEY_H, t::KEY_C);
    match kind {
        Kind::Stream(_) => vec![key, (t::STREAM_H, t::STREAM_C)],
        Kind::Block { inverse: Some(_), wide: true } => {
            vec![key, (t::BLOCK_H, t::BLOCK_C), (t::CBC_H, t::CBC_C), (t::XTS_H, t::XTS_C)]
        }
        Kind::Block { .. } => vec![key, (t::BLOCK_H, t::BLOCK_C)],
        Kind::Tweakable { .. } => vec![key, (t::TWEAKABLE_H, t::TWEAKABLE_C)],
        Kind::Keyed => vec![key],
        Kind::Permutation => vec![(t::PERMUTATION_H, t::PERMUTATION_C)],
        Kind::Extended { .. } | Kind::Running { .. } | Kind::Unkeyed => Vec::new(),
        Kind::Hash(_) | Kind::Chained | Kind::Mac | Kind::Seal(_) | Kind::Sign(_) => Vec::new(),
    }
}

/// The C types of functions in dispatch tables.
const KERNEL: &str = "usuba_kernel";
const LINK: &str = "usuba_link";
const FUSED: &str = "usuba_fused";

/// Whether dispatch tables of blocks have functions that XOR results to a text: on vector registers.
pub(super) fn is_fused(backends: &[&Target]) -> bool {
    backends.iter().any(|target| target.simd)
}

/// The part of the text of a primitive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    /// `fused`: see [`is_fused`].
    Code {
        fused: bool,
    },
}

/// How vector registers number inputs of `input` bytes, as fields of `usuba_counter`: the order of
/// bytes and the mask of the 32 lowest bits of the numbers, for words that the registers have.
fn numbering(input: usize, counter: Counter) -> String {
    let Counter { at, bytes, order } = counter;
    let big = order == Order::Big;
    let low = if big { (at + bytes).wrapping_sub(4) } else { at };
    if !(matches!(input, 8 | 16) && bytes >= 4 && low.is_multiple_of(4)) {
        return ", 0, {0}, {0}".to_string();
    }
    let is_low = |byte: usize| (low..low + 4).contains(&(byte % input));
    let list = |of: &dyn Fn(usize) -> usize| {
        (0..16).map(|byte| of(byte).to_string()).collect::<Vec<_>>().join(", ")
    };
    let order = list(&|byte| if big && is_low(byte) { byte ^ 3 } else { byte });
    let mask = list(&|byte| if is_low(byte) { 0xff } else { 0 });
    format!(", 1,\n    {{{order}}},\n    {{{mask}}}")
}

impl Folder<'_> {
    /// Bytes of a block of an operation: input, then output.
    pub(super) fn sizes(&self, primitive: usize, operation: usize) -> (usize, usize) {
        let core = &self.cores[self.compiled[primitive].uses[operation][0].core];
        (core.input, core.output)
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
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

    /// Everything with functions in the header.
    pub fn public(&self) -> Vec<Description> {
        let own = self.descriptions().into_iter().filter(|own| own.kind != Kind::Chained);
        let composed = self.composed_descriptions().into_iter().chain(self.hash_descriptions());
        let sealed = self.mac_descriptions().into_iter().chain(self.seal_descriptions());
        own.chain(composed).chain(sealed).chain(self.sign_descriptions()).collect()
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

    /// The declarations of all primitives.
    pub fn declarations(&self) -> String {
        let own: String =
            (0..self.compiled.len()).map(|at| self.primitive(at, "", Part::Header)).collect();
        own + &self.composed("", true)
            + &self.hashes("", true)
            + &self.scheme("", None)
            + &self.macs("", true)
            + &self.seals("", true)
            + &self.signs("", true)
    }

    /// Dispatch tables and functions of all primitives. Functions outside every cipher start with
    /// `common`.
    pub fn definitions(&self, backends: &[&'static Target], common: &str) -> String {
        let own: String = (0..self.compiled.len())
            .map(|at| {
                self.operations(at, backends)
                    + &self.primitive(at, common, Part::Code { fused: is_fused(backends) })
            })
            .collect();
        let hashes = self.hashes(common, false);
        own + &self.composed(common, false)
            + &hashes
            + &self.scheme(common, Some(backends))
            + &self.macs(common, false)
            + &self.seals(common, false)
            + &self.signs(common, false)
    }

    /// The C names of the functions in dispatch tables, with their C types and their targets.
    pub fn symbols(&self) -> Vec<(String, &'static str, &'static Target)> {
        let used = self.cores.iter().enumerate().filter(|(core, _)| self.is_used(*core));
        let names = used.flat_map(|(_, core)| {
            let main = (core.symbol.clone(), if core.chained { LINK } else { KERNEL }, core.target);
            let fused = core.fused_symbol().map(|symbol| (symbol, FUSED, core.target));
            [Some(main), fused].into_iter().flatten()
        });
        names.collect()
    }

    /// The indices of a primitive's forms in dispatch tables.
    pub fn forms(&self, at: usize) -> BTreeSet<usize> {
        self.ladders[at].iter().flatten().flatten().filter_map(|rung| rung.used.form).collect()
    }

    /// The indices of the schedules for those forms.
    pub fn schedules(&self, at: usize) -> BTreeSet<usize> {
        let forms = &self.compiled[at].forms;
        self.forms(at).into_iter().filter_map(|form| forms[form].schedule).collect()
    }

    /// The key setups of all primitives, with equal functions merged.
    pub fn key_setups(&self) -> String {
        let mut text = String::new();
        let mut kept = BTreeSet::new();
        for (at, compiled) in self.compiled.iter().enumerate() {
            let schedules = self.schedules(at).into_iter().map(|n| &compiled.schedules[n]);
            let schedules = schedules.map(|schedule| (&schedule.symbol, &schedule.text));
            let forms = self.forms(at).into_iter().map(|n| &compiled.forms[n]);
            for (symbol, part) in schedules.chain(forms.map(|form| (&form.symbol, &form.text))) {
                text += part;
                kept.insert(&**symbol);
            }
        }
        merged(&text, &kept)
    }

    /// Each operation with its dispatch tables.
    fn operations(&self, at: usize, backends: &[&'static Target]) -> String {
        let (primitive, kind) = (&self.compiled[at].primitive, self.kind(at));
        let operation = |(number, operation): (usize, &Operation)| {
            let (input, output) = self.sizes(at, number);
            // A chained function has the chaining value and the block in its API.
            let (step_type, type_name, first, second, linkage) = match kind {
                Kind::Chained => {
                    ("usuba_link_step", "chaining", output, input - output, &*self.linkage)
                }
                _ => ("usuba_step", "operation", input, output, "static "),
            };
            let ladder = |(target, rungs): (&&'static Target, &Vec<Rung>)| {
                let steps = rungs.iter().map(|rung| {
                    let mut step = self.step(&primitive.name, rung);
                    if kind != Kind::Chained && is_fused(backends) {
                        let fused = self.cores[rung.used.core].fused_symbol();
                        step.push(fused.unwrap_or("NULL".into()));
                    }
                    step
                });
                context! {
                    target => target.name, guard => processors(target),
                    steps => steps.collect::<Vec<_>>(),
                }
            };
            let ladders = backends.iter().zip(&self.ladders[at][number]).map(ladder);
            t::LADDERS.render(context! {
                name => &operation.name, type => type_name, step_type, first, second, linkage,
                ladders => ladders.collect::<Vec<_>>(),
            })
        };
        primitive.operations.iter().enumerate().map(operation).collect()
    }

    /// The fields of a dispatch step in C.
    fn step(&self, primitive: &str, rung: &Rung) -> Vec<String> {
        let core = &self.cores[rung.used.core];
        let (from, unit, symbol) = (rung.from.to_string(), core.unit.to_string(), &core.symbol);
        if core.chained {
            return vec![from, unit, symbol.clone()];
        }
        let key = match rung.used.form {
            Some(form) => format!("offsetof(usuba_{primitive}_key, words{form})"),
            None => "0".to_string(),
        };
        vec![from, unit, core.batch.to_string(), key, symbol.clone()]
    }

    /// Declarations or definitions of one primitive.
    fn primitive(&self, at: usize, common: &str, part: Part) -> String {
        let Compiled { primitive, schedules, forms, .. } = &self.compiled[at];
        let kind = self.kind(at);
        if kind == Kind::Chained {
            return String::new();
        }
        let (input, output) = self.sizes(at, 0);
        let operation =
            |number: usize| format!("usuba_{}_operation", primitive.operations[number].name);
        let schedule = |number: usize| {
            let Schedule { made: Made { c_type, count }, symbol, .. } = &schedules[number];
            context! { number, type => *c_type, count, symbol }
        };
        let form = |number: usize| {
            let Form { words, schedule, symbol, .. } = &forms[number];
            let from = schedule.map_or("bytes".to_string(), |schedule| format!("made{schedule}"));
            context! { number, type => words.c_type, count => words.count, symbol, from }
        };
        let counter = match kind {
            Kind::Stream(counter) | Kind::Tweakable { tweak: counter, .. } => counter,
            _ => Counter { at: 0, bytes: input, order: Order::Big },
        };
        let Counter { at: first, bytes: size, order } = counter;
        let inverse = match kind {
            Kind::Block { inverse: Some(inverse), .. } => operation(inverse),
            _ => String::new(),
        };
        let comment = |text: &str| text.replace("*/", "* /");
        let values = context! {
            title => comment(&self.cipher.title), spec => comment(&self.cipher.spec),
            about => self.about(at), name => &primitive.name,
            upper => primitive.name.to_uppercase(), common, key_bytes => self.key_bytes(at),
            schedules => self.schedules(at).into_iter().map(schedule).collect::<Vec<_>>(),
            forms => self.forms(at).into_iter().map(form).collect::<Vec<_>>(),
            in_bytes => input, out_bytes => output, nonce => input.saturating_sub(size),
            at => first, size, rest => input.saturating_sub(first + size),
            order => if order == Order::Little { "little" } else { "big" },
            little => u8::from(order == Order::Little), operation => operation(0), inverse,
            numbering => match part {
                Part::Code { fused: true } => numbering(input, counter),
                _ => String::new(),
            },
        };
        let pick = |(h, c): (Template, Template)| if part == Part::Header { h } else { c };
        let mut text = t::render(&parts(kind).into_iter().map(pick).collect::<Vec<_>>(), &values);
        for (number, function) in primitive.operations.iter().enumerate() {
            let (input, output) = self.sizes(at, number);
            let template = match forms.is_empty() {
                true => pick((t::UNKEYED_H, t::UNKEYED_C)),
                false => pick((t::KEYED_H, t::KEYED_C)),
            };
            text += &template.render(context! {
                function => &function.name, in_bytes => input, out_bytes => output,
                operation => operation(number), ..values.clone(),
            });
        }
        text
    }

    /// One sentence on the kernels of a primitive.
    pub(super) fn about(&self, at: usize) -> String {
        let rungs = self.ladders[at].iter().flatten().flatten();
        let slicings: BTreeSet<&str> =
            rungs.map(|rung| super::cores::letter(self.cores[rung.used.core].slicing)).collect();
        let slicings: Vec<&str> = slicings.into_iter().collect();
        format!("No branch and no address depends on data. Slicings: {}.", slicings.join(", "))
    }
}
