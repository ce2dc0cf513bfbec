//! Exported functions against specifications of modes, at named sizes: calls of a file's functions
//! on symbols, compared with `usuba_ciphers::modes` on the same symbols.
//!
//! ```text
//! hmac_sha256_tag(key, 65, in, 119, tag)       executed in the bytes of the file
//! tag = hmac-sha256(key, in)                   the specification, with the same compress
//! ```
//!
//! Functions over blocks are uninterpreted functions on both sides: their own rows prove that they
//! compute their programs. A scenario is proved for all contents of its buffers at each combination
//! of its sizes, and for no other size.

//!
//! - `symbols`: functions over blocks, and specifications on symbols; `run`: the calls of a case.
//! - `promises`: kernels of arithmetic by their contracts.
//! - `ciphers`, `streams`, `hashes`, `sealed`, `curve`, `signatures`, `nacl`: the scenarios.

mod ciphers;
mod curve;
mod hashes;
mod nacl;
mod promises;
mod run;
mod sealed;
mod signatures;
mod streams;
mod symbols;

use std::collections::BTreeSet;

use usuba_ciphers::{Cipher, Function, HashMode};
use usuba_library::{Description, Kind};
use usuba_object::elf::Object;

pub use symbols::Known;

use run::Run;

/// The proof of a case, for these sizes.
type Check<'a> = dyn Fn(&mut Run, &[usize]) -> Result<(), String> + Sync + 'a;

/// Exported functions with a specification.
pub struct Scenario<'a> {
    /// Their C names.
    pub functions: Vec<String>,
    /// The specification, in a few words.
    pub formula: String,
    /// The numbers that cases choose, each with its name and its values.
    pub sizes: Vec<(&'static str, Vec<usize>)>,
    check: Box<Check<'a>>,
}

impl Scenario<'_> {
    /// The sizes for which it is proved, in a few words.
    pub fn extent(&self) -> String {
        let values = |(name, values): &(&str, Vec<usize>)| {
            let is_range = values.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            let values: Vec<String> = match (&values[..], is_range) {
                ([first, .., last], true) if values.len() > 2 => vec![format!("{first} to {last}")],
                _ => values.iter().map(usize::to_string).collect(),
            };
            format!("{name} {}", values.join(", "))
        };
        self.sizes.iter().map(values).collect::<Vec<_>>().join("; ")
    }

    /// Proves all cases in an object, where each function has one source. Returns the symbols of the
    /// callees that it relies on.
    ///
    /// # Errors
    /// The first case that is not proved.
    pub fn prove(&self, known: &Known, object: &Object) -> Result<BTreeSet<String>, String> {
        let mut last = self.by_source(known, 0, object);
        for source in 1..known.sources() {
            last = last.or_else(|_| self.by_source(known, source, object));
        }
        last
    }

    fn by_source(
        &self,
        known: &Known,
        source: usize,
        object: &Object,
    ) -> Result<BTreeSet<String>, String> {
        let mut called = BTreeSet::new();
        let mut case = vec![0; self.sizes.len()];
        loop {
            let numbers: Vec<usize> =
                self.sizes.iter().zip(&case).map(|((_, values), &at)| values[at]).collect();
            let mut run = Run::new(known, source, object);
            (self.check)(&mut run, &numbers).map_err(|why| {
                let named = self.sizes.iter().zip(&numbers);
                let named: Vec<String> =
                    named.map(|((name, _), number)| format!("{name} {number}")).collect();
                if named.is_empty() { why } else { format!("{}: {why}", named.join(", ")) }
            })?;
            called.append(&mut run.trial.symbols().1.called);
            // The next combination, the last number first.
            let next = (0..case.len()).rev().find(|&at| case[at] + 1 < self.sizes[at].1.len());
            let Some(at) = next else { return Ok(called) };
            case[at] += 1;
            case[at + 1..].fill(0);
        }
    }
}

/// The scenarios of an output. Functions that it lacks are left out.
pub struct Scenarios<'a> {
    prefix: &'a str,
    ciphers: &'a [Cipher],
    known: &'a Known<'a>,
    all: Vec<Scenario<'a>>,
}

impl<'a> Scenarios<'a> {
    /// The scenarios of the primitives of an output, with names after `prefix`.
    pub fn of(
        prefix: &'a str,
        primitives: &'a [Description],
        ciphers: &'a [Cipher],
        known: &'a Known<'a>,
    ) -> Vec<Scenario<'a>> {
        let mut scenarios = Scenarios { prefix, ciphers, known, all: Vec::new() };
        for primitive in primitives {
            match primitive.kind {
                Kind::Stream(_) => scenarios.stream(primitive),
                Kind::Extended { .. } => scenarios.extended(primitive),
                Kind::Block { inverse, wide } => scenarios.block(primitive, inverse, wide),
                Kind::Tweakable { .. } | Kind::Keyed => scenarios.keyed(primitive),
                Kind::Hash(HashMode::MerkleDamgard | HashMode::Sponge) => scenarios.hash(primitive),
                Kind::Seal(_) => scenarios.sealed(primitives, primitive),
                _ => {}
            }
        }
        scenarios.poly1305();
        scenarios.compare();
        scenarios.wipe();
        scenarios.curve();
        scenarios.signatures();
        scenarios.nacl();
        scenarios.boxes(primitives);
        let is_exported = |name: &String| known.declared.contains_key(&**name);
        scenarios.all.retain(|scenario| scenario.functions.iter().all(is_exported));
        scenarios.all
    }

    fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn function(&self, name: &str) -> Option<&'a Function> {
        self.ciphers.iter().flat_map(|cipher| &cipher.functions).find(|f| f.name == name)
    }

    fn add<const N: usize>(
        &mut self,
        functions: [&str; N],
        formula: impl Into<String>,
        sizes: Vec<(&'static str, Vec<usize>)>,
        check: impl Fn(&mut Run, &[String; N], &[usize]) -> Result<(), String> + Sync + 'a,
    ) {
        let names = functions.map(|name| self.name(name));
        let functions = names.to_vec();
        let check = Box::new(move |run: &mut Run, sizes: &[usize]| check(run, &names, sizes));
        self.all.push(Scenario { functions, formula: formula.into(), sizes, check });
    }
}

/// The statuses that the library returns for a wrong tag, and for a point of small order.
const FORGED: i32 = 8;
const POINT: i32 = 9;

/// Whether the output takes the place of the input.
fn in_place() -> (&'static str, Vec<usize>) {
    ("in place", vec![0, 1])
}

const SIZES: &str = "the case has other sizes";
