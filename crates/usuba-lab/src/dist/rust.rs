//! A Rust crate around the C library: the hand-written Rust of `lib/rust`, with a module for each
//! cipher folder.
//!
//! ```text
//! Cargo.toml, build.rs    the features, and what to compile for each
//! c/                      the library: include/usuba.h and src
//! src/*.rs                traits and modes over any cipher; hand-written
//! src/ffi/FOLDER.rs       contexts and functions, as the header declares them
//! src/FOLDER.rs           what users see of a folder: types, functions, examples that run
//! tests                   the vectors
//! ```

use std::fmt::Write;

use usuba::emit::bytes::ByteLayout;

use super::interface::{Description, Kind};
use super::template::fill;
use super::write::{File, PREFIX, library_of, version};
use super::{Folder, Request};
use crate::cipher::{Cipher, Direction, Function, Vector};

/// Hand-written Rust by its path in `lib/rust`.
macro_rules! rust {
    ($path:literal) => {
        include_str!(concat!("../../../../lib/rust/", $path))
    };
}

/// The name of the package.
const PACKAGE: &str = "usuba-ciphers";

/// Files of the crate that are the same whatever is in it, but for names.
const PLAIN: [(&str, &str); 5] = [
    ("src/block.rs", rust!("src/block.rs")),
    ("src/error.rs", rust!("src/error.rs")),
    ("src/keyed.rs", rust!("src/keyed.rs")),
    ("src/stream.rs", rust!("src/stream.rs")),
    ("src/tweak.rs", rust!("src/tweak.rs")),
];

/// Bytes of blocks that other crates' modes keep on the stack at a time.
const STACK: usize = 8192;

/// Vectors of a function in the tests of the crate.
const ANSWERS: usize = 4;

/// Bytes of an answer that examples show.
const SHOWN: usize = 16;

/// A Rust crate of several cipher folders.
///
/// # Errors
/// What the compiler says, one finding a line.
pub fn rust(
    request: &Request,
    ciphers: &[Cipher],
    done: &mut dyn FnMut(&str),
) -> Result<Vec<File>, String> {
    let backends = super::backends(&request.targets);
    let folders = super::folders(ciphers, &backends, done)?;
    let package = match request.prefix.as_str() {
        PREFIX => PACKAGE.to_string(),
        prefix => format!("{}-ciphers", prefix.trim_end_matches('_').replace('_', "-")),
    };
    let mut crates = Crate { package, prefix: &request.prefix, items: Vec::new() };
    for folder in &folders {
        crates.items.push(Items::new(folder)?);
    }
    let mut files = crates.files(request);
    let library = library_of(request, &backends, &folders);
    let c =
        library.into_iter().filter(|file| file.path.ends_with(".c") || file.path.ends_with(".h"));
    let c: Vec<File> =
        c.map(|file| File { path: format!("c/{}", file.path), text: file.text }).collect();
    let names: Vec<&str> = c.iter().filter_map(|file| file.path.strip_prefix("c/src/")).collect();
    files.push(crates.build(&names));
    files.push(crates.layout(request));
    files.extend(c);
    Ok(files)
}

/// The text of one folder in each of the files.
struct Items<'a> {
    folder: &'a Folder<'a>,
    /// What users see.
    module: String,
    /// What the header declares.
    ffi: String,
    tests: String,
    /// C names of the contexts, and their bytes.
    contexts: Vec<(String, usize)>,
}

/// The words of a C type.
fn width(c_type: &str) -> usize {
    let bits: String = c_type.chars().filter(char::is_ascii_digit).collect();
    bits.parse::<usize>().expect("words of a context have their bits in their type") / 8
}

impl<'a> Items<'a> {
    fn new(folder: &'a Folder<'a>) -> Result<Items<'a>, String> {
        let mut items = Items {
            folder,
            module: String::new(),
            ffi: String::new(),
            tests: String::new(),
            contexts: Vec::new(),
        };
        for (at, description) in folder.descriptions().iter().enumerate() {
            items.primitive(at, description)?;
        }
        Ok(items)
    }

    fn primitive(&mut self, at: usize, description: &Description) -> Result<(), String> {
        let shape = Shape::of(description)?;
        let name = &*description.name;
        let first = &description.operations[0];
        let functions = &self.folder.cipher.functions;
        let function = |name: &str| functions.iter().find(|f| f.name == name);
        let function = function(&first.function).expect("descriptions name functions");
        let type_name = type_name(name, &self.folder.cipher.title);
        let vectors = self.folder.cipher.vectors(function)?;
        let counter = match description.kind {
            Kind::Stream(counter) => (counter.at, counter.bytes),
            _ => (0, first.input),
        };
        let tweak = first.input.saturating_sub(first.output);
        let (words, context) = self.words(at);
        if description.key > 0 {
            self.contexts.push((name.to_string(), context));
        }
        let answers: Vec<Answer> =
            vectors.iter().filter_map(|vector| Answer::new(vector, shape, description)).collect();
        let empty = Answer::default();
        let answer = answers.first().unwrap_or(&empty);
        let shown = SHOWN.min(answer.output.len());
        let operation = |direction: Direction| {
            let compiled = &self.folder.compiled[at].primitive;
            compiled.operation(direction).map_or("", |number| &description.operations[number].name)
        };
        let is_stream = shape == Shape::Stream;
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
            ("OUT", first.output.to_string()),
            ("TWEAK", tweak.to_string()),
            ("NONCE", if is_stream { first.input - counter.1 } else { first.input }.to_string()),
            ("SIZE", counter.1.to_string()),
            ("STREAM", if is_stream { type_name.clone() } else { format!("{type_name}Ctr") }),
            ("XOR", if is_stream { "xor" } else { "ctr" }.to_string()),
            ("KEYSTREAM", if is_stream { "keystream" } else { "ctr_keystream" }.to_string()),
            (
                "NUMBER",
                match is_stream {
                    true => format!("Some({})", counter.1),
                    false => "None".to_string(),
                },
            ),
            ("PARALLEL", self.parallel(at, first.input).to_string()),
            ("FORWARDS", first.name.clone()),
            ("BACKWARDS", operation(Direction::Decrypt).to_string()),
            ("KEY", literal(&answer.key)),
            ("START", literal(&answer.start)),
            ("INPUT", literal(&answer.input)),
            ("POSITION", (answer.number * first.output as u64).to_string()),
            ("SHOWN", shown.to_string()),
            ("OUTPUT", literal(if whole { &answer.output } else { &answer.output[..shown] })),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let (module, ffi) = shape.templates();
        self.module += &fill(module, &values);
        if description.key > 0 {
            self.ffi += &fill(rust!("ffi/key.rs"), &values);
            // Of a key stream, only the modes are declared.
            let operations = description.operations.iter().filter(|_| !is_stream);
            for operation in operations {
                let own = [("FUNCTION", operation.name.as_str())];
                self.ffi += &fill(&fill(rust!("ffi/blocks.rs"), &own), &values);
            }
        }
        for part in ffi {
            self.ffi += &fill(part, &values);
        }
        self.tests += &shape.test(name, &type_name, &answers);
        if let Shape::Block { wide: true, .. } = shape {
            self.tests += &fill(rust!("tests/wide.rs"), &values);
        }
        Ok(())
    }

    /// The fields of a context, and its bytes.
    fn words(&self, at: usize) -> (String, usize) {
        let (mut text, mut bytes, mut align) = (String::new(), 0usize, 1);
        for number in self.folder.forms(at) {
            let words = &self.folder.compiled[at].forms[number].words;
            let size = width(words.c_type);
            bytes = bytes.next_multiple_of(size) + size * words.count;
            align = align.max(size);
            let _ = writeln!(text, "    words{number}: [u{}; {}],", size * 8, words.count);
        }
        (text, bytes.next_multiple_of(align))
    }

    /// As many blocks as the widest kernel takes, as far as the stack goes.
    fn parallel(&self, at: usize, size: usize) -> usize {
        let ladders = self.folder.ladders[at].iter().flatten().filter_map(|rungs| rungs.first());
        let batch = ladders.map(|rung| self.folder.cores[rung.used.core].batch).max().unwrap_or(1);
        let room = (STACK / size.max(1)).max(1);
        let most = batch.next_power_of_two().min(room);
        1 << most.ilog2()
    }
}

/// What Rust makes of a [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Stream,
    Block { inverse: bool, wide: bool },
    Tweak,
    Keyed,
    Permutation,
    Unkeyed,
}

impl Shape {
    fn of(description: &Description) -> Result<Shape, String> {
        let first = &description.operations[0];
        let count = description.operations.len();
        Ok(match description.kind {
            Kind::Stream(_) => Shape::Stream,
            Kind::Block { inverse, wide } => {
                Shape::Block { inverse: inverse.is_some(), wide: wide && inverse.is_some() }
            }
            // What a block has in front of it, both ways.
            Kind::Keyed if count == 2 && first.input > first.output => Shape::Tweak,
            Kind::Keyed if count == 1 => Shape::Keyed,
            Kind::Permutation if count == 1 => Shape::Permutation,
            Kind::Unkeyed if count == 1 => Shape::Unkeyed,
            _ => return Err(format!("{}: Rust has no trait for its operations", description.name)),
        })
    }

    /// The templates for users, and those of the C.
    fn templates(self) -> (&'static str, Vec<&'static str>) {
        match self {
            Shape::Stream => (rust!("api/stream.rs"), vec![rust!("ffi/stream.rs")]),
            Shape::Block { inverse, wide } => {
                let mut parts = vec![rust!("ffi/stream.rs"), rust!("ffi/block.rs")];
                parts.extend(inverse.then_some(rust!("ffi/inverse.rs")));
                parts.extend(wide.then_some(rust!("ffi/wide.rs")));
                (rust!("api/block.rs"), parts)
            }
            Shape::Tweak => (rust!("api/tweak.rs"), vec![rust!("ffi/tweak.rs")]),
            Shape::Keyed => (rust!("api/keyed.rs"), vec![rust!("ffi/keyed.rs")]),
            Shape::Permutation => (rust!("api/permutation.rs"), vec![rust!("ffi/permutation.rs")]),
            Shape::Unkeyed => (rust!("api/unkeyed.rs"), vec![rust!("ffi/unkeyed.rs")]),
        }
    }

    /// A test of the crate with these answers.
    fn test(self, name: &str, type_name: &str, answers: &[Answer]) -> String {
        let list = |form: &dyn Fn(&Answer) -> String| -> String {
            answers
                .iter()
                .take(ANSWERS)
                .map(|answer| format!("        {},\n", form(answer)))
                .collect()
        };
        let three =
            |a: &Answer| format!("[{}, {}, {}]", hex(&a.key), hex(&a.input), hex(&a.output));
        let two = |a: &Answer| format!("[{}, {}]", hex(&a.input), hex(&a.output));
        let user = "@CRATE@::@MODULE@";
        let body = match self {
            Shape::Block { inverse, .. } => {
                let ctr = format!("    ctr::<{user}::{type_name}Ctr>(&answers);\n");
                let both = format!("    block::<{user}::{type_name}>(&answers);\n");
                let both = if inverse { both } else { String::new() };
                format!("    let answers = [\n{}    ];\n{both}{ctr}", list(&three))
            }
            Shape::Stream => {
                let four = |a: &Answer| {
                    let (key, start, output) = (hex(&a.key), hex(&a.start), hex(&a.output));
                    format!("({key}, {start}, {}, {output})", a.number)
                };
                format!("    stream::<{user}::{type_name}>(&[\n{}    ]);\n", list(&four))
            }
            Shape::Tweak => {
                let four = |a: &Answer| {
                    let (key, input, output) = (hex(&a.key), hex(&a.input), hex(&a.output));
                    format!("[{key}, {}, {input}, {output}]", hex(&a.start))
                };
                format!("    tweak::<{user}::{type_name}>(&[\n{}    ]);\n", list(&four))
            }
            Shape::Keyed => format!(
                "    for [secret, input, output] in [\n{}    ] {{\n        \
                 let function: {user}::{type_name} = key(secret);\n        \
                 map([input, output], |from, to| function.blocks(from, to));\n    }}\n",
                list(&three)
            ),
            Shape::Permutation => {
                format!("    permutation(&[\n{}    ], {user}::{name});\n", list(&two))
            }
            Shape::Unkeyed => {
                let (input, output) = answers
                    .first()
                    .map_or((1, 1), |answer| (answer.input.len(), answer.output.len()));
                format!(
                    "    use @CRATE@::cipher::consts::{{U{input}, U{output}}};\n    \
                     for answer in [\n{}    ] {{\n        \
                     map::<U{input}, U{output}>(answer, |from, to| {{\n            \
                     let from = Array::cast_slice_to_core(from);\n            \
                     {user}::{name}(from, Array::cast_slice_to_core_mut(to))\n        \
                     }});\n    }}\n",
                    list(&two)
                )
            }
        };
        format!("\n#[test]\nfn {name}() {{\n{body}}}\n")
    }
}

/// A vector in the words of the Rust interface.
#[derive(Clone, Default)]
struct Answer {
    key: Vec<u8>,
    /// A nonce or a tweak.
    start: Vec<u8>,
    /// The number of the block in a key stream.
    number: u64,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Answer {
    /// `None` if the number of a block is beyond what positions reach.
    fn new(vector: &Vector, shape: Shape, description: &Description) -> Option<Answer> {
        let Vector { key, input, output } = vector.clone();
        let mut answer = Answer { key, input, output, ..Answer::default() };
        match (shape, description.kind) {
            (_, Kind::Stream(counter)) => {
                let behind = counter.at + counter.bytes;
                let mut digits = answer.input[counter.at..behind].to_vec();
                if counter.order == crate::cipher::Order::Little {
                    digits.reverse();
                }
                let value = digits.iter().try_fold(0u64, |sum, digit| {
                    sum.checked_mul(256)?.checked_add(u64::from(*digit))
                })?;
                // A block and a few more must have a position.
                value.checked_mul(answer.output.len() as u64)?.checked_add(1 << 20)?;
                answer.number = value;
                answer.start = [&answer.input[..counter.at], &answer.input[behind..]].concat();
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

/// Bytes as a string in Rust.
fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// Bytes as an array in a Rust comment.
fn literal(bytes: &[u8]) -> String {
    match bytes {
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => {
            format!("[0x{first:02x}; {}]", bytes.len())
        }
        _ => {
            let row = |row: &[u8]| -> String {
                row.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", ")
            };
            match bytes.len() {
                0..=8 => format!("[{}]", row(bytes)),
                _ => {
                    let lines = bytes.chunks(12).map(|line| format!("///     {},\n", row(line)));
                    format!("[\n{}/// ]", lines.collect::<String>())
                }
            }
        }
    }
}

/// A C name as the name of a type. Words that the title spells in its own way are spelled so.
fn type_name(name: &str, title: &str) -> String {
    let letters = title.split(|c: char| !c.is_ascii_alphabetic());
    let own: Vec<&str> = letters
        .filter(|word| word.chars().skip(1).any(char::is_lowercase) && word.len() > 2)
        .collect();
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    let mut text = String::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digits(text.chars().last()) && digits(part.chars().next()) {
            text.push('_');
        }
        let spelled = own.iter().find_map(|word| Some((part.find(&word.to_lowercase())?, *word)));
        text += &match spelled {
            Some((at, word)) => {
                format!("{}{word}{}", capital(&part[..at]), &part[at + word.len()..])
            }
            None => capital(part),
        };
    }
    text
}

/// A comment on the order of bytes.
fn order(function: &Function) -> String {
    let phrase = |bytes: ByteLayout| match bytes {
        ByteLayout::Be => "most significant bit first",
        ByteLayout::Le => "little-endian words",
        ByteLayout::Planes => "as the specification writes it, most significant bit first",
        ByteLayout::LeBits => "least significant bit of each byte first",
    };
    let mut parts: Vec<(String, &str)> = Vec::new();
    let mut add = |name: &str, bytes: ByteLayout| {
        let name = name.replace('_', " ");
        match parts.last_mut() {
            Some((names, last)) if *last == phrase(bytes) => *names += &format!(", {name}"),
            _ => parts.push((name, phrase(bytes))),
        }
    };
    if let Some(key) = &function.key {
        add("key", key.bytes);
    }
    function.inputs.iter().for_each(|input| add(&input.param, input.bytes));
    add(&function.output.param, function.output.bytes);
    let text = match &parts[..] {
        [(_, phrase)] => format!("Bytes: {phrase}."),
        _ => {
            let each = parts.iter().map(|(names, phrase)| format!("{names}: {phrase}"));
            format!("Bytes of {}.", each.collect::<Vec<_>>().join("; "))
        }
    };
    comment("///", &text)
}

/// `text` as comment lines, the last one without its end.
fn comment(mark: &str, text: &str) -> String {
    let mut lines = vec![String::from(mark)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.len() + 1 + word.len() > 100 && line.len() > mark.len() {
            lines.push(format!("{mark} {word}"));
        } else {
            *line += &format!(" {word}");
        }
    }
    lines.join("\n")
}

/// What an input consists of.
fn parts(function: &Function) -> String {
    let names: Vec<String> = function.inputs.iter().map(|p| p.param.replace('_', " ")).collect();
    names.join(", then ")
}

/// The crate around its folders.
struct Crate<'a> {
    package: String,
    prefix: &'a str,
    items: Vec<Items<'a>>,
}

impl Crate<'_> {
    /// `text` with the names of the crate.
    fn named(&self, text: &str) -> String {
        let name = self.package.replace('-', "_");
        fill(text, &[("CRATE", &name), ("PACKAGE", &self.package), ("C", self.prefix)])
    }

    /// Everything but the C and what builds it.
    fn files(&self, request: &Request) -> Vec<File> {
        let mut files = Vec::new();
        let mut add = |path: String, text: String| {
            let banner = format!("// Written by usubac {}; do not edit.\n\n", request.version);
            let banner = if path.ends_with(".rs") { banner } else { String::new() };
            files.push(File { path, text: banner + text.trim_end() + "\n" });
        };
        let names = || self.items.iter().map(|items| items.folder.name.as_str());
        let quoted: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
        let features: String = names().map(|name| format!("{name} = []\n")).collect();
        let values = [
            ("DEFAULT", quoted.join(", ")),
            ("FEATURES", features),
            ("VERSION", version(&request.version)),
            ("COMPILER", request.version.clone()),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        add("Cargo.toml".into(), self.named(&fill(rust!("Cargo.toml"), &values)));
        let modules = |visible: &str| -> String {
            let module = |name| format!("#[cfg(feature = \"{name}\")]\n{visible}mod {name};\n");
            names().map(module).collect()
        };
        let row = |items: &Items| {
            let (name, title) = (&items.folder.name, &items.folder.cipher.title);
            format!("//! | `{name}` | {} |\n", title.replace('|', "/"))
        };
        let table: String = self.items.iter().map(row).collect();
        let values = [("MODULES", modules("pub ")), ("TABLE", table), ("CRATE_DOC", String::new())];
        let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        add("src/lib.rs".into(), self.named(&fill(rust!("src/lib.rs"), &values)));
        let own = [("MODULES", &*modules("pub "))];
        add("src/ffi.rs".into(), self.named(&fill(rust!("src/ffi.rs"), &own)));
        for (path, text) in PLAIN {
            add(path.to_string(), self.named(text));
        }
        let mut tests = String::new();
        for items in &self.items {
            let Folder { name, cipher, .. } = items.folder;
            let calls = items.module.contains("ffi::");
            let uses =
                if calls { format!("use crate::ffi::{name} as ffi;\n") } else { String::new() };
            let spec = comment("//!", &cipher.spec);
            let text = |template: &str, body: &str| {
                let values = [
                    ("TITLE", cipher.title.as_str()),
                    ("SPEC", &spec),
                    ("USES", &uses),
                    ("ITEMS", body),
                    ("MODULE", name),
                ];
                self.named(&fill(template, &values))
            };
            add(format!("src/{name}.rs"), text(rust!("api/module.rs"), &items.module));
            add(format!("src/ffi/{name}.rs"), text(rust!("ffi/module.rs"), &items.ffi));
            let body =
                items.tests.replace("\n\n#[test]", "\n\n#[cfg(feature = \"@MODULE@\")]\n#[test]");
            let body = match body.strip_prefix("\n#[test]") {
                Some(rest) => format!("\n#[cfg(feature = \"@MODULE@\")]\n#[test]{rest}"),
                None => body,
            };
            tests += &text("@ITEMS@", &body);
        }
        let tests = fill(rust!("tests/known_answers.rs"), &[("TESTS", &tests)]);
        add("tests/known_answers.rs".into(), self.named(&tests));
        files
    }

    /// `build.rs`, for these sources.
    fn build(&self, sources: &[&str]) -> File {
        let quoted = |names: &[&str]| -> String {
            names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
        };
        let (mut common, mut families) = (vec!["layout.c"], String::new());
        let is_of = |source: &str, name: &str| {
            let rest = source.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('_'))
        };
        let sources = || sources.iter().copied().filter(|source| source.ends_with(".c"));
        common.extend(sources().filter(|source| is_of(source, "common")));
        for items in &self.items {
            let name = &*items.folder.name;
            let own: Vec<&str> = sources().filter(|source| is_of(source, name)).collect();
            let own = quoted(&own);
            let _ = writeln!(families, "    (\"{}\", &[{own}]),", name.to_uppercase());
        }
        let values = [("COMMON_SOURCES", &*quoted(&common)), ("FAMILIES", &families)];
        File { path: "build.rs".into(), text: self.named(&fill(rust!("build.rs"), &values)) }
    }

    /// A C file that does not compile if a context has another size than in Rust.
    fn layout(&self, request: &Request) -> File {
        let mut text = format!(
            "/* The contexts have the sizes that Rust believes.\n   \
             Written by usubac {}; do not edit. */\n\n#include \"usuba.h\"\n\n",
            request.version
        );
        for (name, bytes) in self.items.iter().flat_map(|items| &items.contexts) {
            let prefix = self.prefix;
            let _ = writeln!(
                text,
                "typedef char {prefix}{name}_layout[sizeof({prefix}{name}_key) == {bytes} ? 1 : -1];"
            );
        }
        File { path: "c/src/layout.c".into(), text }
    }
}
