//! Rust module of a cipher folder: its public types, foreign declarations and tests.
//!
//! ```text
//! pub type Aes128 = crate::Cipher<ffi::Aes128>;            for users
//! pub struct Aes128 { words0: [u64; 176] }                 as in the header
//! #[test] fn aes128() { block::<Aes128>(&[[key, in, out]]) }
//! ```

use std::collections::BTreeSet;

use super::super::Folder;
use super::super::interface::{Description, Kind};
use super::super::template::{Template, Value, context};
use super::parts::Part;
use super::shape::{ANSWERS, Answer, Shape};
use super::text::{literal, order, parts, type_name};
use super::xof::Before;
use usuba_ciphers::{Function, HashMode, Scheme, Vector};

/// Stack bytes for the blocks of another crate's modes.
const STACK: usize = 8192;

/// Bytes of a result in examples.
const SHOWN: usize = 16;

/// The generated text of one folder, for each file of the crate.
pub struct Items<'a> {
    pub folder: &'a Folder<'a>,
    /// The names of the crate and of the module, for all templates.
    names: Value,
    /// The public module.
    pub module: String,
    /// The foreign declarations, as in the header.
    pub ffi: String,
    pub tests: String,
    /// The test helpers that the tests call.
    pub helpers: BTreeSet<Template>,
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

/// Finds a function by the name in a description.
fn find<'a>(folder: &'a Folder, name: &str) -> &'a Function {
    let mut functions = folder.cipher.functions.iter();
    functions.find(|function| function.name == name).expect("descriptions name functions")
}

impl<'a> Items<'a> {
    /// Generates the items of a folder of a crate with these names; keys of other folders are looked
    /// up in `folders`.
    ///
    /// # Errors
    /// A construct without a Rust counterpart.
    pub fn new(
        folder: &'a Folder<'a>,
        folders: &[Folder],
        names: &Value,
    ) -> Result<Items<'a>, String> {
        let mut items = Items {
            folder,
            names: context! { module => &folder.name, ..names.clone() },
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
                HashMode::MerkleDamgard | HashMode::Sponge => {
                    items.message(&description, hash, &vectors);
                }
                HashMode::Xof => items.xof(&description, Before::Nothing, &vectors),
                HashMode::Cxof => items.xof(&description, Before::Custom, &vectors),
                HashMode::Cshake => items.xof(&description, Before::Strings, &vectors),
                HashMode::TurboShake => items.xof(&description, Before::Domain, &vectors),
                HashMode::Kmac => items.kmac(&description, &vectors),
                HashMode::KangarooTwelve => items.kangaroo(&description, &vectors),
            }
        }
        match folder.cipher.scheme {
            Some(Scheme::Poly1305) => items.poly1305(),
            Some(Scheme::Curve25519) => items.curve25519(),
            None => {}
        }
        for mac in &folder.cipher.macs {
            items.mac(mac, folders, &folder.cipher.answers(&mac.vectors)?)?;
        }
        for seal in &folder.cipher.seals {
            items.seal(seal, folders, &folder.cipher.seals_of(seal)?)?;
        }
        items.signs()?;
        Ok(items)
    }

    /// A template with these values and the names.
    pub(super) fn render(&self, template: Template, values: &Value) -> String {
        template.render(context! { ..values.clone(), ..self.names.clone() })
    }

    /// Adds public types and foreign declarations.
    pub(super) fn add(&mut self, module: Template, ffi: &[Template], values: &Value) {
        self.module += &self.render(module, values);
        let ffi: String = ffi.iter().map(|part| self.render(*part, values)).collect();
        self.ffi += &ffi;
    }

    /// Adds a test of a shape with these answers.
    pub(super) fn test(
        &mut self,
        shape: &str,
        helpers: &[Template],
        answers: Vec<Value>,
        values: &Value,
    ) {
        self.helpers.extend(helpers);
        let values = context! { shape, answers, ..values.clone() };
        self.tests += &self.render(rust!("tests/answers.rs.in"), &values);
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
        let (mut fields, context) = self.words_of(self.folder, at);
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
            fields = vec![format!("first: {inner}")];
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
        let values = context! {
            name, upper => name.to_uppercase(), type => &type_name, function => &first.name,
            order => order(function), parts => parts(function), fields, context,
            key_bytes => description.key, in_bytes => first.input, out_bytes => block,
            state => first.output, part, tweak, size => number,
            nonce => if is_stream { description.nonce } else { first.input },
            stream => if is_stream { type_name.clone() } else { format!("{type_name}Ctr") },
            xor => if is_stream { "xor" } else { "ctr" },
            keystream => if is_stream { "keystream" } else { "ctr_keystream" },
            number => if is_stream { format!("Some({number})") } else { "None".to_string() },
            parallel => self.parallel(at, first.input), forwards => &first.name, backwards,
            // Some keystreams have test vectors only beyond all positions.
            key => if answers.is_empty() { String::new() } else { literal(&answer.key) },
            start => literal(&answer.start), input => literal(&answer.input),
            position => answer.number * block as u64, shown,
            output => literal(if whole { &answer.output } else { &answer.output[..shown] }),
        };
        let (module, ffi) = shape.templates();
        if description.key > 0 {
            self.ffi += &self.render(rust!("ffi/key.rs.in"), &values);
            // For a keystream, only the modes are declared.
            for operation in description.operations.iter().filter(|_| !is_stream) {
                let values = context! { function => &operation.name, ..values.clone() };
                self.ffi += &self.render(rust!("ffi/blocks.rs.in"), &values);
            }
        }
        self.add(module, &ffi, &values);
        if !answers.is_empty() {
            let (shape, helpers) = shape.test();
            let answers = answers.iter().take(ANSWERS).map(Answer::fields).collect();
            self.test(shape, &helpers, answers, &values);
        }
        if let Shape::Block { wide: true, .. } = shape {
            self.tests += &self.render(rust!("tests/wide.rs.in"), &values);
        }
        Ok(())
    }

    /// The fields of the context of a primitive of a folder, and its size in bytes.
    pub(super) fn words_of(&self, folder: &Folder, at: usize) -> (Vec<String>, usize) {
        let (mut fields, mut bytes, mut align) = (Vec::new(), 0usize, 1);
        for number in folder.forms(at) {
            let words = &folder.compiled[at].forms[number].words;
            let size = width(words.c_type);
            bytes = bytes.next_multiple_of(size) + size * words.count;
            align = align.max(size);
            fields.push(format!("words{number}: [u{}; {}]", size * 8, words.count));
        }
        (fields, bytes.next_multiple_of(align))
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
