//! Rust types for functions with outputs of any length.

use super::super::interface::Description;
use super::super::template::{Template, Value, context};
use super::items::Items;
use super::parts::Part;
use super::text::{literal, type_name};
use usuba_ciphers::{HashVector, to_hex};

/// One vector out of this many becomes a test of the crate; trees have few of them.
const EVERY: usize = 5;
const EVERY_TREE: usize = 2;

/// Bytes of a message and of its parameters in the tests, at most; trees have no such limit.
const LONG: usize = 2000;

/// Bytes of a result in examples.
const SHOWN: usize = 16;

/// Messages side by side, as in `lib/c/api/xof.h.in`.
const LANES: usize = 8;

/// The parameters in front of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Before {
    Nothing,
    /// A function name and a customization string.
    Strings,
    /// A short customization string.
    Custom,
    /// A domain separation byte.
    Domain,
}

impl Before {
    /// The shape as the templates call it, and the type of the crate.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Before::Nothing => ("plain", "Xof"),
            Before::Strings => ("named", "Cshake"),
            Before::Custom => ("custom", "Cxof"),
            Before::Domain => ("domain", "TurboShake"),
        }
    }
}

/// Bytes of a state and of a block.
fn sizes(description: &Description) -> (usize, usize) {
    let link = &description.operations[0];
    (link.output, link.input - link.output)
}

/// An expression of the tests with these bytes.
fn expression(bytes: &[u8]) -> String {
    let pattern = bytes.iter().enumerate().all(|(at, byte)| usize::from(*byte) == at % 251);
    match pattern {
        true => format!("pattern({})", bytes.len()),
        false => format!("bytes(\"{}\")", to_hex(bytes)),
    }
}

/// A vector in the tests.
fn answer(vector: &HashVector) -> Value {
    let HashVector { key, name, custom, domain, xof, input, output, .. } = vector;
    let [key, named, custom, input, text] =
        [key, name, custom, input, output].map(|bytes| expression(bytes));
    context! { key, named, custom, domain, xof, input, output => text, length => output.len() }
}

/// The bytes before an output.
fn before(vector: &HashVector) -> usize {
    let HashVector { key, name, custom, input, .. } = vector;
    [key, name, custom, input].map(Vec::len).iter().sum()
}

/// The shortest vector that examples can show, if any.
fn shown(vectors: &[HashVector], shows: impl Fn(&HashVector) -> bool) -> Option<&HashVector> {
    vectors.iter().filter(|v| shows(v)).min_by_key(|v| before(v))
}

impl Items<'_> {
    /// A function with outputs of any length and the parameters `before`.
    pub fn xof(&mut self, description: &Description, with: Before, vectors: &[HashVector]) {
        let (chain, block) = sizes(description);
        let (shape, family) = with.names();
        let lanes = LANES * (chain + block);
        self.sizes_of(description);
        if with == Before::Nothing {
            self.sizes.push((format!("{}_lanes", description.name), 24 + lanes));
        }
        let shows = |v: &HashVector| {
            let split = v.input.len() > 1 && v.output.len() >= SHOWN;
            let customized = matches!(with, Before::Strings | Before::Custom);
            split && (!customized || !v.custom.is_empty())
        };
        let values = context! { shape, family, lanes };
        let own = (rust!("api/xof.rs.in"), rust!("ffi/xof.rs.in"));
        self.outputs(description, own, shown(vectors, shows), &values);
        let mut helpers = vec![rust!("tests/xof.rs.in"), rust!("tests/many.rs.in")];
        helpers.extend((with == Before::Nothing).then_some(rust!("tests/lanes.rs.in")));
        self.answers(description, shape, &helpers, vectors);
    }

    /// KMAC, whose tags are as long as its capacity.
    pub fn kmac(&mut self, description: &Description, vectors: &[HashVector]) {
        let (chain, block) = sizes(description);
        let shows = |v: &HashVector| v.input.len() > 1 && !v.xof;
        let values = context! { bytes => chain - block };
        self.sizes_of(description);
        let own = (rust!("api/kmac.rs.in"), rust!("ffi/kmac.rs.in"));
        self.outputs(description, own, shown(vectors, shows), &values);
        let helpers = [rust!("tests/xof.rs.in"), rust!("tests/kmac.rs.in")];
        self.answers(description, "kmac", &helpers, vectors);
    }

    /// KangarooTwelve.
    pub fn kangaroo(&mut self, description: &Description, vectors: &[HashVector]) {
        let (chain, block) = sizes(description);
        self.sizes.push((format!("{}_state", description.name), 40 + 2 * (chain + block)));
        let own = (rust!("api/kangaroo.rs.in"), rust!("ffi/kangaroo.rs.in"));
        let shows = |v: &HashVector| !v.input.is_empty();
        self.outputs(description, own, shown(vectors, shows), &context! {});
        let answers = vectors.iter().step_by(EVERY_TREE).map(answer).collect();
        let values = self.named(description);
        self.test("kangaroo", &[rust!("tests/xof.rs.in")], answers, &values);
    }

    /// The sizes of a state of one sponge.
    fn sizes_of(&mut self, description: &Description) {
        let (chain, block) = sizes(description);
        let name = format!("{}_state", description.name);
        self.hashes.push((name.clone(), chain + block));
        self.sizes.push((name, 16 + chain + block));
    }

    /// The names of a function, for all templates.
    fn named(&self, description: &Description) -> Value {
        let name = &*description.name;
        context! { name, type => type_name(name, &self.folder.cipher.title) }
    }

    /// Adds the types of a function, with an example, by the templates `own`.
    fn outputs(
        &mut self,
        description: &Description,
        (api, ffi): (Template, Template),
        shown: Option<&HashVector>,
        values: &Value,
    ) {
        let (chain, block) = sizes(description);
        self.parts.insert(Part::Xof);
        let empty = HashVector::default();
        let shown = shown.unwrap_or(&empty);
        let length = SHOWN.min(shown.output.len());
        let values = context! {
            block, state => chain + block, key => literal(&shown.key), named => literal(&shown.name),
            custom => literal(&shown.custom), domain => shown.domain, input => literal(&shown.input),
            length => shown.output.len(), shown => length,
            output => literal(&shown.output[..length]),
            ..context! { ..values.clone(), ..self.named(description) }
        };
        self.add(api, &[ffi], &values);
    }

    /// Adds a test of some vectors that are not long.
    fn answers(
        &mut self,
        description: &Description,
        shape: &str,
        helpers: &[Template],
        vectors: &[HashVector],
    ) {
        let short = vectors.iter().filter(|v| before(v) <= LONG);
        let answers = short.step_by(EVERY).map(answer).collect();
        let values = self.named(description);
        self.test(shape, helpers, answers, &values);
    }
}
