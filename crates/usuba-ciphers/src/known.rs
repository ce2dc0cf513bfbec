//! Known-answer tests of cipher folders under the reference semantics; no C is compiled.
//!
//! `wrong` words the error for a wrong answer, and `composed` tests hash functions and keystreams.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use usuba::diag::{Diagnostic, Sources};
use usuba::emit::bytes::{ByteLayout, Shape};
use usuba::ir::{Port, Slicing};
use usuba::names::did_you_mean;
use usuba::syntax::ast::DeclOpt;
use usuba::typed::{self, Kind, VarType};

use crate::files;
use crate::modes::Bytes;
use crate::readings;
use crate::vectors::to_hex;
use crate::wrong::wrong_block;
use crate::{Beside, Cipher, Function, Hash, Key, Parameter, Stream, Vector};

/// The words of a parameter from its bytes, and back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Words {
    pub shape: Shape,
    /// Word and bit (0 = most significant) of each bit of the bytes; see [`ByteLayout::locate`].
    pub places: Vec<Option<(usize, usize)>>,
}

impl Words {
    pub fn new(shape: Shape, bytes: ByteLayout) -> Words {
        Words::moved(shape, bytes, |at| at)
    }

    /// As if bit `at` of the bytes stood in bit `from(at)`.
    pub fn moved(shape: Shape, bytes: ByteLayout, from: impl Fn(usize) -> usize) -> Words {
        let places = (0..shape.bytes() * 8).map(|at| bytes.locate(shape, from(at))).collect();
        Words { shape, places }
    }

    pub fn read(&self, bytes: &[u8]) -> Vec<u64> {
        let mut words = vec![0; self.shape.words];
        for (at, place) in self.places.iter().enumerate() {
            if let Some((word, bit)) = *place {
                let value = (bytes[at / 8] >> (at % 8) & 1) as u64;
                words[word] |= value << (self.shape.bits as usize - 1 - bit);
            }
        }
        words
    }

    pub fn write(&self, words: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; self.shape.bytes()];
        for (at, place) in self.places.iter().enumerate() {
            if let Some((word, bit)) = *place {
                let value = words[word] >> (self.shape.bits as usize - 1 - bit) & 1;
                bytes[at / 8] |= (value as u8) << (at % 8);
            }
        }
        bytes
    }
}

/// A node under the evaluator: its flattened words in, its flattened words out.
#[derive(Clone)]
struct Evaluated {
    program: typed::Program,
    instance: typed::Instance,
    /// The texts of the program and of everything that it includes.
    texts: Vec<String>,
}

impl Evaluated {
    fn new(cipher: &Cipher, source: &str, node: &str) -> Result<Evaluated, String> {
        let path = cipher.folder.join(source);
        let wrong = |what: &str| format!("{}: {what}", path.display());
        let text = files::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
        let mut sources = Sources::default();
        let root = sources.add(path.display().to_string(), text);
        let flags = typed::Flags::default();
        let checked = usuba::front(&mut sources, root, &mut Beside, Some(node), flags);
        let checked = checked.map_err(|findings| {
            let first = findings.iter().find(|finding| finding.is_error());
            first.map_or(wrong("it is no program"), |finding| located(&sources, finding))
        })?;
        let slicing = typed::check::slicing(&checked.program, Slicing::V);
        let slicing = slicing.map_err(|error| wrong(&error.message))?;
        let instance = typed::check::entry_instance(&checked.program, slicing, None);
        let instance = instance.map_err(|error| wrong(&error.message))?;
        let texts = sources.files.iter().map(|file| file.text.to_string()).collect();
        Ok(Evaluated { program: checked.program, instance, texts })
    }

    /// The first word of a port among the words of its side, and its shape.
    fn port(&self, name: &str) -> Result<(usize, Shape), String> {
        let decl = &self.program.decls[self.program.entry];
        for vars in [&decl.params, &decl.results] {
            let mut before = 0;
            for var in vars {
                let VarType::Words { atom, dims } = &var.ty else { continue };
                let word = self.instance.apply(atom).bits().expect("entries have no open sizes");
                let port = Port::new(&*var.name, word, dims);
                if *var.name == *name {
                    return Ok((before, Shape::of(&port)));
                }
                before += port.words();
            }
        }
        let ports = || decl.params.iter().chain(&decl.results).map(|var| &*var.name);
        let all = || format!("it has {}", ports().collect::<Vec<_>>().join(", "));
        let help = did_you_mean(name, ports()).unwrap_or_else(all);
        Err(format!("node `{}` has no parameter or result `{name}`; help: {help}", decl.name))
    }

    /// The tables of the program, and whether each is `_lsb_first`.
    fn tables(&self) -> impl Iterator<Item = (&str, bool)> {
        let tables = self.program.decls.iter().filter(|d| matches!(d.kind, Kind::Table(_)));
        tables.map(|decl| (&*decl.name, decl.opts.contains(&DeclOpt::LsbFirst)))
    }

    /// The same node with the other bit order in these tables.
    fn turned(&self, names: &[&str]) -> Evaluated {
        let mut turned = self.clone();
        for decl in &mut turned.program.decls {
            if !matches!(decl.kind, Kind::Table(_)) || !names.contains(&&*decl.name) {
                continue;
            }
            match decl.opts.iter().position(|opt| *opt == DeclOpt::LsbFirst) {
                Some(at) => drop(decl.opts.remove(at)),
                None => decl.opts.push(DeclOpt::LsbFirst),
            }
        }
        turned
    }

    /// The name of the node.
    fn name(&self) -> &str {
        &self.program.decls[self.program.entry].name
    }

    /// The shapes of all results.
    fn results(&self) -> Result<Vec<Shape>, String> {
        let results = &self.program.decls[self.program.entry].results;
        results.iter().map(|var| Ok(self.port(&var.name)?.1)).collect()
    }

    /// The shape of the first parameter, or of the first result.
    fn first(&self, result: bool) -> Result<Shape, String> {
        let decl = &self.program.decls[self.program.entry];
        let side = if result { &decl.results } else { &decl.params };
        let var = side.first().ok_or_else(|| format!("node `{}` has no key", decl.name))?;
        Ok(self.port(&var.name)?.1)
    }

    fn run(&self, inputs: &[u64]) -> Result<Vec<u64>, String> {
        let first = |findings: Vec<Diagnostic>| {
            findings.first().map(|finding| finding.message.clone()).unwrap_or_default()
        };
        typed::eval(&self.program, &self.instance, inputs).map_err(first)
    }
}

/// An error of a program as text, with its place and its repair.
fn located(sources: &Sources, finding: &Diagnostic) -> String {
    let place = finding.span.map_or_else(
        || sources.files.first().map(|file| file.name.clone()).unwrap_or_default(),
        |span| {
            let (line, column) = sources.line_col(span.file, span.start);
            format!("{}:{line}:{column}", sources.file(span.file).name)
        },
    );
    let help = finding.help.as_ref().map(|help| format!("; help: {help}")).unwrap_or_default();
    format!("{place}: {}{help}", finding.message)
}

/// Functions under the evaluator, for specifications that run on numbers.
pub(crate) struct Numbers<'a>(pub &'a [&'a Known<'a>]);

impl Numbers<'_> {
    fn known(&self, function: &str) -> Result<&Known<'_>, String> {
        let known = self.0.iter().find(|known| known.function.name == function);
        known.copied().ok_or_else(|| format!("`{function}` is not evaluated here"))
    }
}

impl Bytes for Numbers<'_> {
    type Byte = u8;

    fn number(&self, value: u8) -> u8 {
        value
    }

    fn sum(&mut self, a: &u8, b: &u8) -> u8 {
        a ^ b
    }

    fn common(&mut self, byte: &u8, mask: u8) -> u8 {
        byte & mask
    }

    fn rotated(&self, byte: &u8, bits: u32) -> u8 {
        byte.rotate_left(bits)
    }

    fn sizes(&self, function: &str) -> Result<[usize; 3], String> {
        self.known(function)?.sizes()
    }

    fn apply(&mut self, function: &str, key: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
        self.known(function)?.answer(key, input)
    }
}

/// A function with its key schedule, ready to be evaluated.
pub(crate) struct Known<'a> {
    pub(crate) function: &'a Function,
    main: Evaluated,
    schedule: Option<Evaluated>,
}

impl<'a> Known<'a> {
    /// Reads the programs of a function.
    ///
    /// # Errors
    /// A program cannot be read, or has an error; the message names it.
    pub fn new(cipher: &Cipher, function: &'a Function) -> Result<Known<'a>, String> {
        let main = Evaluated::new(cipher, &function.source, &function.node)?;
        let schedule = function.key.as_ref().and_then(|key| key.schedule.as_ref());
        let schedule = schedule.map(|(source, node)| Evaluated::new(cipher, source, node));
        let known = Known { function, main, schedule: schedule.transpose()? };
        known
            .check_round_keys()
            .map_err(|wrong| format!("{}: {wrong}", cipher.folder.join("cipher.toml").display()))?;
        Ok(known)
    }

    /// The tables of its programs, and whether each is `_lsb_first`.
    pub(crate) fn tables(&self) -> BTreeMap<&str, bool> {
        self.main.tables().chain(self.schedule.iter().flat_map(Evaluated::tables)).collect()
    }

    /// The same function with the other bit order in these tables.
    pub(crate) fn turned(&self, names: &[&str]) -> Known<'a> {
        let schedule = self.schedule.as_ref().map(|schedule| schedule.turned(names));
        Known { function: self.function, main: self.main.turned(names), schedule }
    }

    /// The results of the key schedule fit the key parameter, word by word or through bytes.
    fn check_round_keys(&self) -> Result<(), String> {
        let (Some(key), Some(schedule)) = (&self.function.key, &self.schedule) else {
            return Ok(());
        };
        let wanted = self.main.port(&key.param)?.1;
        let made = schedule.results()?;
        let fits = match (key.through, &made[..]) {
            (Some(_), [made, ..]) => made.bytes() == wanted.bytes(),
            _ => {
                made.iter().map(|made| made.words).sum::<usize>() == wanted.words
                    && made.iter().all(|made| made.bits <= wanted.bits)
            }
        };
        if fits {
            return Ok(());
        }
        let shown = |shape: &Shape| {
            let plural = if shape.words == 1 { "" } else { "s" };
            format!("{} word{plural} of {} bits", shape.words, shape.bits)
        };
        let found: Vec<String> = made.iter().map(shown).collect();
        let help = match key.through {
            Some(_) => "`through` needs as many bytes on both sides",
            None => {
                "return these words, or write `through` in `key`, the byte layout of the round keys"
            }
        };
        Err(format!(
            "the key schedule of `{}` returns {}, expected {} for `{}` of `{}`; help: {help}",
            self.function.name,
            found.join(" and "),
            shown(&wanted),
            key.param,
            self.main.name(),
        ))
    }

    /// The bytes of the key, of the input and of the output.
    ///
    /// # Errors
    /// A node lacks a parameter that `cipher.toml` names.
    pub fn sizes(&self) -> Result<[usize; 3], String> {
        let bytes = |p: &Parameter| Ok::<_, String>(self.main.port(&p.param)?.1.bytes());
        let inputs = self.function.inputs.iter().map(bytes).sum::<Result<usize, _>>()?;
        let key = match &self.function.key {
            Some(key) => self.key_shape(key)?.bytes(),
            None => 0,
        };
        Ok([key, inputs, bytes(&self.function.output)?])
    }

    /// The bytes of the answer to a key and an input of the right sizes.
    ///
    /// # Errors
    /// A node lacks a parameter that `cipher.toml` names, or the evaluation fails.
    pub fn answer(&self, key: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
        let [keys, inputs, _] = self.sizes()?;
        if (key.len(), input.len()) != (keys, inputs) {
            return Err(format!(
                "`{}` takes a key of {keys} bytes and an input of {inputs} bytes, found {} and {}",
                self.function.name,
                key.len(),
                input.len()
            ));
        }
        let ways: Vec<Words> =
            self.function.inputs.iter().map(|p| self.words(p)).collect::<Result<_, _>>()?;
        let key = match &self.function.key {
            Some(given) => {
                let words = Words::new(self.key_shape(given)?, given.bytes).read(key);
                Some(self.expanded(given, &words)?)
            }
            None => None,
        };
        let words = self.run(&ways.iter().collect::<Vec<_>>(), input, key.as_ref())?;
        Ok(self.words(&self.function.output)?.write(&words))
    }

    /// The words of a parameter or result with the byte layout that `cipher.toml` gives it.
    pub(crate) fn words(&self, parameter: &Parameter) -> Result<Words, String> {
        Ok(Words::new(self.main.port(&parameter.param)?.1, parameter.bytes))
    }

    /// The shape of the user's key.
    pub(crate) fn key_shape(&self, key: &Key) -> Result<Shape, String> {
        match &self.schedule {
            Some(schedule) => schedule.first(false),
            None => Ok(self.main.port(&key.param)?.1),
        }
    }

    /// The words of the key parameter, with their place among the inputs, from the words of the
    /// user's key.
    pub(crate) fn expanded(&self, key: &Key, words: &[u64]) -> Result<(usize, Vec<u64>), String> {
        let (at, shape) = self.main.port(&key.param)?;
        let Some(schedule) = &self.schedule else { return Ok((at, words.to_vec())) };
        let words = schedule.run(words)?;
        let Some(through) = key.through else { return Ok((at, words)) };
        let made = Words::new(schedule.first(true)?, ByteLayout::Be);
        Ok((at, Words::new(shape, through).read(&made.write(&words))))
    }

    /// The words of the output for the bytes of the inputs, read in these ways, and an expanded key.
    pub(crate) fn run(
        &self,
        ways: &[&Words],
        input: &[u8],
        key: Option<&(usize, Vec<u64>)>,
    ) -> Result<Vec<u64>, String> {
        let mut rest = input;
        let mut parts: Vec<(usize, Vec<u64>)> = key.cloned().into_iter().collect();
        for (parameter, way) in self.function.inputs.iter().zip(ways) {
            let (bytes, behind) = rest.split_at(way.shape.bytes());
            parts.push((self.main.port(&parameter.param)?.0, way.read(bytes)));
            rest = behind;
        }
        parts.sort();
        let inputs: Vec<u64> = parts.into_iter().flat_map(|(_, words)| words).collect();
        let outputs = self.main.run(&inputs)?;
        let (at, shape) = self.main.port(&self.function.output.param)?;
        Ok(outputs[at..][..shape.words].to_vec())
    }

    /// Compares the answers to all of `vectors`, which are the vectors of this function.
    ///
    /// # Errors
    /// The first wrong answer, as `wrong` words it.
    fn check(&self, cipher: &Cipher, vectors: &[Vector]) -> Result<(), String> {
        for (block, vector) in vectors.iter().enumerate() {
            let place = cipher.place(&self.function.vectors, vector);
            vector.check_sizes(self.sizes()?).map_err(|wrong| format!("{place}: {wrong}"))?;
            let found = self.answer(&vector.key, &vector.input)?;
            if found != vector.output {
                let wrong = wrong_block(&place, block, &self.function.name, &vector.output, &found);
                return Err(wrong + &readings::advice(self, cipher, vector, vectors));
            }
        }
        Ok(())
    }

    /// The texts of all programs.
    pub(crate) fn texts(&self) -> Vec<&String> {
        self.main.texts.iter().chain(self.schedule.iter().flat_map(|s| &s.texts)).collect()
    }
}

impl Cipher {
    /// Compares every function, and all that is made of functions, with its test vectors. Correct answers
    /// are cached in `kept`, a folder and the name of this build, by the content of all files that
    /// they depend on.
    ///
    /// # Errors
    /// A file cannot be read, or an answer is wrong; the message names its line and both answers.
    pub fn verify(&self, kept: Option<(&Path, &str)>) -> Result<(), String> {
        let one = |function: &Function| self.verify_function(function, kept).map(|_| ());
        // The first error in the order of the file, whichever is found first.
        let all: Vec<Result<(), String>> = self.functions.par_iter().map(one).collect();
        all.into_iter().collect::<Result<(), String>>()?;
        let hash = |hash: &Hash| self.verify_hash(hash, kept).map(|_| ());
        let hashes: Vec<Result<(), String>> = self.hashes.par_iter().map(hash).collect();
        let stream = |stream: &Stream| self.verify_stream(stream, kept).map(|_| ());
        let streams: Vec<Result<(), String>> = self.streams.par_iter().map(stream).collect();
        let seal = |seal: &crate::Seal| self.verify_seal(seal, kept).map(|_| ());
        let seals: Vec<Result<(), String>> = self.seals.par_iter().map(seal).collect();
        let mac = |mac: &crate::Mac| self.answers(&mac.vectors).map(|_| ());
        hashes.into_iter().chain(streams).chain(seals).chain(self.macs.iter().map(mac)).collect()
    }

    /// Reads the programs and the vectors of a function, without an evaluation.
    ///
    /// # Errors
    /// One cannot be read, or has an error; the message names it.
    pub fn check_function(&self, function: &Function) -> Result<(), String> {
        let sizes = Known::new(self, function)?.sizes()?;
        self.vectors(function)?.iter().try_for_each(|vector| {
            let place = self.place(&function.vectors, vector);
            vector.check_sizes(sizes).map_err(|wrong| format!("{place}: {wrong}"))
        })
    }

    /// Compares one function with its test vectors, as [`Cipher::verify`] does; their number.
    ///
    /// # Errors
    /// As [`Cipher::verify`].
    pub fn verify_function(
        &self,
        function: &Function,
        kept: Option<(&Path, &str)>,
    ) -> Result<usize, String> {
        let known = Known::new(self, function)?;
        let vectors = self.vectors(function)?;
        let about = format!("{function:?} {vectors:?} {:?}", known.texts());
        remembered(kept, &about, || known.check(self, &vectors))?;
        Ok(vectors.len())
    }

    /// Vectors of line 0 with random inputs, of which each `blocks` have one of `keys` random keys;
    /// the reference semantics gives the outputs. Equal seeds give equal vectors.
    ///
    /// # Errors
    /// A program cannot be evaluated; the message names it.
    pub fn random_vectors(
        &self,
        function: &Function,
        seed: u64,
        [keys, blocks]: [usize; 2],
    ) -> Result<Vec<Vector>, String> {
        let known = Known::new(self, function)?;
        let shapes: Vec<Words> =
            function.inputs.iter().map(|p| known.words(p)).collect::<Result<_, _>>()?;
        let key = match &function.key {
            Some(key) => vec![Words::new(known.key_shape(key)?, key.bytes)],
            None => Vec::new(),
        };
        let mut vectors = Vec::new();
        for number in 0..keys {
            let name = &function.name;
            let key = random(&key, &format!("{seed} {name} {number}"));
            for block in 0..blocks {
                let input = random(&shapes, &format!("{seed} {name} {number} {block}"));
                let output = known.answer(&key, &input)?;
                vectors.push(Vector { line: 0, key: key.clone(), input, output });
            }
        }
        Ok(vectors)
    }

    /// File and line of a vector.
    pub fn place(&self, file: &str, vector: &Vector) -> String {
        format!("{}:{}", self.folder.join(file).display(), vector.line)
    }
}

/// Random bytes of parameters, which follow from `text`. Bits outside of their words are 0.
fn random(parameters: &[Words], text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for words in parameters {
        let (from, size) = (bytes.len(), words.shape.bytes());
        for number in 0..size.div_ceil(32) {
            bytes.extend(Sha256::digest(format!("{text} {from} {number}")));
        }
        bytes.truncate(from + size);
        let used = words.write(&words.read(&bytes[from..]));
        bytes[from..].copy_from_slice(&used);
    }
    bytes
}

/// Runs `check` unless it succeeded before for the same `about`.
///
/// # Errors
/// The errors of `check`.
pub(crate) fn remembered(
    kept: Option<(&Path, &str)>,
    about: &str,
    check: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let file = kept
        .map(|(folder, build)| folder.join(to_hex(&Sha256::digest(format!("{build:?} {about}")))));
    if file.as_ref().is_some_and(|file| file.exists()) {
        return Ok(());
    }
    check()?;
    // An answer that cannot be kept is computed again.
    if let (Some(file), Some((folder, _))) = (file, kept) {
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(file, ""));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of `verify` for a copy of RECTANGLE with one change to a file.
    fn changed(file: &str, from: &str, to: &str) -> String {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        fs::create_dir(root.path().join("vectors")).expect("a folder");
        for name in
            ["cipher.toml", "rectangle.ua", "vectors/rectangle80.txt", "vectors/rectangle128.txt"]
        {
            let mut text = fs::read_to_string(folder.join(name)).expect("it is there");
            if name == file {
                assert!(text.contains(from), "{file} has no {from}");
                text = text.replacen(from, to, 1);
            }
            fs::write(root.path().join(name), text).expect("a file");
        }
        let cipher = crate::read(root.path()).expect("it is well-formed");
        let kept = root.path().join("kept");
        let verify = || cipher.verify(Some((&kept, "this build")));
        let first = verify();
        assert_eq!(first, verify(), "an answer that was remembered");
        first.err().unwrap_or_default()
    }

    #[test]
    fn wrong_answers_are_shown_beside_right_ones() {
        assert_eq!(changed("cipher.toml", "", ""), "");
        let text = "vectors/rectangle80.txt";
        let wrong = changed(text, "out = 2d", "out = 2e");
        let lines: Vec<&str> = wrong.lines().collect();
        assert!(lines[0].contains("rectangle80.txt:") && lines[0].contains(": block 0 of `"));
        assert!(lines[1].starts_with("  expected 2e") && lines[2].starts_with("  found    2d"));
        assert_eq!((lines[3], lines.len()), ("           ^^", 4), "{wrong}");
        let short = changed(text, "key = 00", "key = ");
        assert!(short.ends_with("`key` has 9 bytes, expected 10"), "{short}");
    }
}
