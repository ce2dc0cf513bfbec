//! Rust module of a cipher folder: its public types, foreign declarations and tests.
//!
//! ```text
//! pub type Aes128 = crate::Cipher<ffi::Aes128>;            for users
//! pub struct Aes128 { words0: [u64; 176] }                 as in the header
//! #[test] fn aes128() { block::<Aes128>(&[[key, in, out]]) }
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::Folder;
use super::super::interface::{Description, Kind};
use super::super::template::fill;
use super::parts::Part;
use super::shape::{Answer, Shape};
use super::text::{literal, order, parts, type_name};
use usuba_ciphers::{Function, HashMode, Scheme, Vector};

/// Stack bytes for the blocks of another crate's modes.
const STACK: usize = 8192;

/// Bytes of a result in examples.
const SHOWN: usize = 16;

/// The generated text of one folder, for each file of the crate.
pub struct Items<'a> {
    pub folder: &'a Folder<'a>,
    /// The public module.
    pub module: String,
    /// The foreign declarations, as in the header.
    pub ffi: String,
    pub tests: String,
    /// The test helpers that the tests call.
    pub helpers: BTreeSet<&'static str>,
    /// The C names and sizes of the contexts.
    pub contexts: Vec<(String, usize)>,
    /// The C names of stateful keystreams, and the sizes of their two arrays.
    pub states: Vec<(String, usize, usize)>,
    /// The C types of hash functions, and the size of their array.
    pub hashes: Vec<(String, usize)>,
    /// C types with their sizes in bytes.
    pub sizes: Vec<(String, usize)>,
    /// The hand-written Rust that it uses.
    pub parts: BTreeSet<Part>,
}

/// The width of a C type in bytes.
fn width(c_type: &str) -> usize {
    let bits: String = c_type.chars().filter(char::is_ascii_digit).collect();
    bits.parse::<usize>().expect("words of a context have their bits in their type") / 8
}

/// A template without the example in its comment and the line before it.
fn without_example(template: &str) -> String {
    let mut parts = template.split("///\n/// ```\n");
    let before = parts.next().unwrap_or_default();
    let example = parts.next().unwrap_or_default();
    let (_, behind) = example.split_once("/// ```\n").unwrap_or_default();
    format!("{before}{behind}")
}

/// Finds a function by the name in a description.
fn find<'a>(folder: &'a Folder, name: &str) -> &'a Function {
    let mut functions = folder.cipher.functions.iter();
    functions.find(|function| function.name == name).expect("descriptions name functions")
}

impl<'a> Items<'a> {
    /// Generates the items of a folder; keys of other folders are looked up in `folders`.
    ///
    /// # Errors
    /// A construct without a Rust counterpart.
    pub fn new(folder: &'a Folder<'a>, folders: &[Folder]) -> Result<Items<'a>, String> {
        let mut items = Items {
            folder,
            module: String::new(),
            ffi: String::new(),
            tests: String::new(),
            helpers: BTreeSet::new(),
            contexts: Vec::new(),
            states: Vec::new(),
            hashes: Vec::new(),
            sizes: Vec::new(),
            parts: BTreeSet::new(),
        };
        // Composed descriptions follow the compiled ones.
        let own = folder.compiled.len();
        let whole = |(_, description): &(usize, &Description)| description.kind != Kind::Chained;
        let descriptions = folder.descriptions();
        for (at, description) in descriptions.iter().take(own).enumerate().filter(whole) {
            let function = find(folder, &description.operations[0].function);
            let vectors = folder.cipher.vectors(function)?;
            items.primitive(at, description, function, &vectors)?;
        }
        for (stream, description) in
            folder.cipher.streams.iter().zip(folder.composed_descriptions())
        {
            let (at, by) = match description.kind {
                // The key belongs to the first part, the byte order to the second.
                Kind::Extended { subkey, .. } => (subkey, 1),
                Kind::Running { start, .. } => (start, 0),
                _ => return Err(format!("{}: Rust has no trait for it", description.name)),
            };
            let function = find(folder, &description.operations[by].function);
            let vectors = folder.cipher.answers(&stream.vectors)?;
            for vector in &vectors {
                let sizes = [description.key, stream.nonce, vector.output.len()];
                let place = || folder.cipher.place(&stream.vectors, vector);
                vector.check_sizes(sizes).map_err(|wrong| format!("{}: {wrong}", place()))?;
            }
            items.primitive(at, &description, function, &vectors)?;
        }
        for (hash, description) in folder.cipher.hashes.iter().zip(folder.hash_descriptions()) {
            let vectors = folder.cipher.hashes_of(hash)?;
            match hash.mode {
                HashMode::Skein => items.skein(&description, &vectors),
                HashMode::MerkleDamgard => items.merkle(&description, hash.output, &vectors),
            }
        }
        match folder.cipher.scheme {
            Some(Scheme::Poly1305) => items.poly1305(),
            Some(Scheme::Curve25519) => items.curve25519(),
            None => {}
        }
        for seal in &folder.cipher.seals {
            items.seal(seal, folders, &folder.cipher.seals_of(seal)?)?;
        }
        Ok(items)
    }

    /// Adds a primitive with the key of the primitive `at`.
    fn primitive(
        &mut self,
        at: usize,
        description: &Description,
        function: &Function,
        vectors: &[Vector],
    ) -> Result<(), String> {
        let shape = Shape::of(description)?;
        let name = &*description.name;
        let title = &self.folder.cipher.title;
        let first = &description.operations[0];
        let type_name = type_name(name, title);
        let (mut words, context) = self.words(at);
        let mut block = first.output;
        // The bytes of the block number.
        let number = match description.kind {
            Kind::Stream(counter) => counter.bytes,
            Kind::Extended { stream, .. } => {
                block = description.operations[1].output;
                match self.folder.descriptions()[stream].kind {
                    Kind::Stream(counter) => counter.bytes,
                    _ => return Err(format!("{name}: its second part counts no blocks")),
                }
            }
            _ => first.input,
        };
        let mut part = 0;
        if let Kind::Extended { .. } | Kind::Running { .. } = description.kind {
            let inner = self::type_name(&self.folder.compiled[at].primitive.name, title);
            words = format!("    first: {inner},\n");
            part = description.operations[1].output.saturating_sub(first.output);
        }
        if shape == Shape::Running {
            self.states.push((name.to_string(), first.output, part));
        }
        let tweak = first.input.saturating_sub(first.output);
        if description.key > 0 {
            self.contexts.push((name.to_string(), context));
        }
        let answers: Vec<Answer> =
            vectors.iter().filter_map(|vector| Answer::new(vector, shape, description)).collect();
        let empty = Answer::default();
        let answer = answers.first().unwrap_or(&empty);
        let shown = SHOWN.min(answer.output.len());
        let backwards = match description.kind {
            Kind::Block { inverse: Some(at), .. } | Kind::Tweakable { inverse: Some(at), .. } => {
                description.operations[at].name.clone()
            }
            _ => String::new(),
        };
        let is_stream = matches!(shape, Shape::Stream | Shape::Running);
        let whole = matches!(shape, Shape::Block { .. } | Shape::Tweak);
        let values = [
            ("NAME", name.to_string()),
            ("UPPER", name.to_uppercase()),
            ("TYPE", type_name.clone()),
            ("FUNCTION", first.name.clone()),
            ("ORDER", order(function)),
            ("PARTS", parts(function)),
            ("WORDS", words),
            ("CONTEXT", context.to_string()),
            ("KEY_BYTES", description.key.to_string()),
            ("IN", first.input.to_string()),
            ("OUT", block.to_string()),
            ("STATE", first.output.to_string()),
            ("PART", part.to_string()),
            ("TWEAK", tweak.to_string()),
            ("NONCE", if is_stream { description.nonce } else { first.input }.to_string()),
            ("SIZE", number.to_string()),
            ("STREAM", if is_stream { type_name.clone() } else { format!("{type_name}Ctr") }),
            ("XOR", if is_stream { "xor" } else { "ctr" }.to_string()),
            ("KEYSTREAM", if is_stream { "keystream" } else { "ctr_keystream" }.to_string()),
            (
                "NUMBER",
                match is_stream {
                    true => format!("Some({number})"),
                    false => "None".to_string(),
                },
            ),
            ("PARALLEL", self.parallel(at, first.input).to_string()),
            ("FORWARDS", first.name.clone()),
            ("BACKWARDS", backwards),
            ("KEY", literal(&answer.key)),
            ("START", literal(&answer.start)),
            ("INPUT", literal(&answer.input)),
            ("POSITION", (answer.number * block as u64).to_string()),
            ("SHOWN", shown.to_string()),
            ("OUTPUT", literal(if whole { &answer.output } else { &answer.output[..shown] })),
        ];
        let (module, ffi) = shape.templates();
        // Some keystreams have test vectors only beyond all positions.
        self.module += &match answers.is_empty() {
            true => fill(&without_example(module), &values),
            false => fill(module, &values),
        };
        if description.key > 0 {
            self.ffi += &fill(rust!("ffi/key.rs.in"), &values);
            // For a keystream, only the modes are declared.
            let operations = description.operations.iter().filter(|_| !is_stream);
            for operation in operations {
                let own = [("FUNCTION", operation.name.as_str())];
                self.ffi += &fill(&fill(rust!("ffi/blocks.rs.in"), &own), &values);
            }
        }
        for part in ffi {
            self.ffi += &fill(part, &values);
        }
        if !answers.is_empty() {
            let (helpers, test) = shape.test(name, &type_name, &answers);
            self.helpers.extend(helpers);
            self.tests += &test;
        }
        if let Shape::Block { wide: true, .. } = shape {
            self.tests += &fill(rust!("tests/wide.rs.in"), &values);
        }
        Ok(())
    }

    /// The fields of a context, and its size in bytes.
    fn words(&self, at: usize) -> (String, usize) {
        self.words_of(self.folder, at)
    }

    /// The fields of a context of another folder.
    pub(super) fn words_of(&self, folder: &Folder, at: usize) -> (String, usize) {
        let (mut text, mut bytes, mut align) = (String::new(), 0usize, 1);
        for number in folder.forms(at) {
            let words = &folder.compiled[at].forms[number].words;
            let size = width(words.c_type);
            bytes = bytes.next_multiple_of(size) + size * words.count;
            align = align.max(size);
            let _ = writeln!(text, "    words{number}: [u{}; {}],", size * 8, words.count);
        }
        (text, bytes.next_multiple_of(align))
    }

    /// The number of blocks of the widest kernel, limited by the stack.
    fn parallel(&self, at: usize, size: usize) -> usize {
        let ladders = self.folder.ladders[at].iter().flatten().filter_map(|rungs| rungs.first());
        let batch = ladders.map(|rung| self.folder.cores[rung.used.core].batch).max().unwrap_or(1);
        let room = (STACK / size.max(1)).max(1);
        let most = batch.next_power_of_two().min(room);
        1 << most.ilog2()
    }
}
