//! Rust shapes of primitives: the templates of each shape, and tests from its vectors.

use super::super::interface::{Description, Kind};
use usuba_ciphers::{Order, Vector, to_hex};

use super::super::template::{Template, Value, context};

/// The number of test vectors per function in the crate.
pub const ANSWERS: usize = 4;

/// The maximal keystream length in the tests; longer vectors are cut.
const LONG: usize = 200;

/// The Rust shape of a [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Stream,
    Running,
    Block { inverse: bool, wide: bool },
    Tweak,
    Keyed,
    Permutation,
    Unkeyed,
}

impl Shape {
    pub fn of(description: &Description) -> Result<Shape, String> {
        let count = description.operations.len();
        Ok(match description.kind {
            Kind::Stream(_) | Kind::Extended { .. } => Shape::Stream,
            Kind::Running { .. } => Shape::Running,
            Kind::Block { inverse, wide } => {
                Shape::Block { inverse: inverse.is_some(), wide: wide && inverse.is_some() }
            }
            // The trait for tweaks takes them separately; the C functions take the first input
            // first.
            Kind::Tweakable { tweak, inverse: Some(_) } if tweak.at == 0 => Shape::Tweak,
            Kind::Keyed if count == 1 => Shape::Keyed,
            Kind::Permutation if count == 1 => Shape::Permutation,
            Kind::Unkeyed if count == 1 => Shape::Unkeyed,
            _ => return Err(format!("{}: Rust has no trait for its operations", description.name)),
        })
    }

    /// The templates of the public types, and the templates of the C declarations.
    pub fn templates(self) -> (Template, Vec<Template>) {
        match self {
            Shape::Stream => (rust!("api/stream.rs.in"), vec![rust!("ffi/stream.rs.in")]),
            Shape::Running => (rust!("api/running.rs.in"), vec![rust!("ffi/running.rs.in")]),
            Shape::Block { inverse, wide } => {
                let mut parts = vec![rust!("ffi/stream.rs.in"), rust!("ffi/block.rs.in")];
                parts.extend(inverse.then_some(rust!("ffi/inverse.rs.in")));
                parts.extend(wide.then_some(rust!("ffi/wide.rs.in")));
                (rust!("api/block.rs.in"), parts)
            }
            Shape::Tweak => (rust!("api/tweak.rs.in"), vec![rust!("ffi/tweak.rs.in")]),
            Shape::Keyed => (rust!("api/keyed.rs.in"), vec![rust!("ffi/keyed.rs.in")]),
            Shape::Permutation => {
                (rust!("api/permutation.rs.in"), vec![rust!("ffi/permutation.rs.in")])
            }
            Shape::Unkeyed => (rust!("api/unkeyed.rs.in"), vec![rust!("ffi/unkeyed.rs.in")]),
        }
    }

    /// The shape as `tests/answers.rs.in` calls it, and the helpers that its test needs.
    pub fn test(self) -> (&'static str, Vec<Template>) {
        let stream = rust!("tests/stream.rs.in");
        match self {
            Shape::Block { inverse: true, .. } => {
                ("block", vec![rust!("tests/block.rs.in"), stream])
            }
            Shape::Block { inverse: false, .. } => ("ctr", vec![stream]),
            Shape::Stream => ("stream", vec![stream]),
            Shape::Running => ("running", vec![rust!("tests/running.rs.in")]),
            Shape::Tweak => ("tweak", vec![rust!("tests/tweak.rs.in")]),
            Shape::Keyed => ("keyed", vec![rust!("tests/map.rs.in")]),
            Shape::Permutation => ("permutation", vec![rust!("tests/permutation.rs.in")]),
            Shape::Unkeyed => ("unkeyed", vec![rust!("tests/map.rs.in")]),
        }
    }
}

/// A test vector in terms of the Rust API.
#[derive(Clone, Default)]
pub struct Answer {
    pub key: Vec<u8>,
    /// A nonce or a tweak.
    pub start: Vec<u8>,
    /// The block number in a keystream.
    pub number: u64,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Answer {
    /// Its fields in hexadecimal.
    pub fn fields(&self) -> Value {
        let Answer { key, start, number, input, output } = self;
        let [key, start, input, output] = [key, start, input, output].map(|bytes| to_hex(bytes));
        context! { key, start, number, input, output }
    }

    /// Converts a vector; `None` if its block number exceeds the range of positions.
    pub fn new(vector: &Vector, shape: Shape, description: &Description) -> Option<Answer> {
        let Vector { key, input, output, .. } = vector.clone();
        let mut answer = Answer { key, input, output, ..Answer::default() };
        match (shape, description.kind) {
            (_, Kind::Stream(counter)) => {
                let behind = counter.at + counter.bytes;
                let mut digits = answer.input[counter.at..behind].to_vec();
                if counter.order == Order::Little {
                    digits.reverse();
                }
                let value = digits.iter().try_fold(0u64, |sum, digit| {
                    sum.checked_mul(256)?.checked_add(u64::from(*digit))
                })?;
                // The block and some successors must have a position.
                value.checked_mul(answer.output.len() as u64)?.checked_add(1 << 20)?;
                answer.number = value;
                answer.start = [&answer.input[..counter.at], &answer.input[behind..]].concat();
            }
            (Shape::Stream | Shape::Running, _) => {
                answer.start = std::mem::take(&mut answer.input);
                answer.output.truncate(LONG);
            }
            (Shape::Tweak, _) => {
                answer.start = answer.input.clone();
                answer.input = answer.start.split_off(answer.start.len() - answer.output.len());
            }
            _ => {}
        }
        Some(answer)
    }
}
