//! Known-answer tests of cipher folders under the reference semantics; no C is compiled.
//!
//! ```text
//! vectors/aes128.txt:3: block 0 of `aes128_encrypt` differs from its known answer
//!   expected 69c4e0d86a7b0430d8cdb78070b4c55a
//!   found    d8e0c4693004…
//!   help: with `bytes = "le"` for `plain` it is right
//! ```
//!
//! Functions are tested, and not the modes, hash functions and schemes around them.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use usuba::diag::Sources;
use usuba::emit::bytes::{ByteLayout, Shape};
use usuba::ir::{Port, Slicing};
use usuba::suggest::did_you_mean;
use usuba::typed::{self, VarType};

use crate::vectors::to_hex;
use crate::{Beside, Cipher, Function, Key, Parameter, Vector};

/// The words of a parameter from its bytes, and back.
#[derive(Clone, Copy)]
struct Words {
    shape: Shape,
    bytes: ByteLayout,
}

impl Words {
    fn read(self, bytes: &[u8]) -> Vec<u64> {
        let mut words = vec![0; self.shape.words];
        for at in 0..bytes.len() * 8 {
            if let Some((word, bit)) = self.bytes.locate(self.shape, at) {
                let value = (bytes[at / 8] >> (at % 8) & 1) as u64;
                words[word] |= value << (self.shape.bits as usize - 1 - bit);
            }
        }
        words
    }

    fn write(self, words: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; self.shape.bytes()];
        for at in 0..bytes.len() * 8 {
            if let Some((word, bit)) = self.bytes.locate(self.shape, at) {
                let value = words[word] >> (self.shape.bits as usize - 1 - bit) & 1;
                bytes[at / 8] |= (value as u8) << (at % 8);
            }
        }
        bytes
    }
}

/// A node under the evaluator: its flattened words in, its flattened words out.
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
        let text = fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
        let mut sources = Sources::default();
        let root = sources.add(path.display().to_string(), text);
        let flags = typed::Flags::default();
        let checked = usuba::front(&mut sources, root, &mut Beside, Some(node), flags);
        let checked = checked.map_err(|findings| {
            let first = findings.iter().find(|finding| finding.is_error());
            let help = first.and_then(|finding| finding.help.as_ref());
            let help = help.map_or(String::new(), |help| format!("; help: {help}"));
            wrong(&format!("{}{help}", first.map_or("", |finding| &finding.message)))
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

    /// The shape of the first parameter, or of the first result.
    fn first(&self, result: bool) -> Result<Shape, String> {
        let decl = &self.program.decls[self.program.entry];
        let side = if result { &decl.results } else { &decl.params };
        let var = side.first().ok_or_else(|| format!("node `{}` has no key", decl.name))?;
        Ok(self.port(&var.name)?.1)
    }

    fn run(&self, inputs: &[u64]) -> Result<Vec<u64>, String> {
        let first = |findings: Vec<usuba::diag::Diagnostic>| {
            findings.first().map(|finding| finding.message.clone()).unwrap_or_default()
        };
        typed::eval(&self.program, &self.instance, inputs).map_err(first)
    }
}

/// A function with its key schedule, ready to be evaluated.
struct Known<'a> {
    function: &'a Function,
    main: Evaluated,
    schedule: Option<Evaluated>,
}

impl<'a> Known<'a> {
    fn new(cipher: &Cipher, function: &'a Function) -> Result<Known<'a>, String> {
        let main = Evaluated::new(cipher, &function.source, &function.node)?;
        let schedule = function.key.as_ref().and_then(|key| key.schedule.as_ref());
        let schedule = schedule.map(|(source, node)| Evaluated::new(cipher, source, node));
        Ok(Known { function, main, schedule: schedule.transpose()? })
    }

    /// The bytes of the key, of the input and of the output.
    fn sizes(&self) -> Result<[usize; 3], String> {
        let bytes = |p: &Parameter| Ok::<_, String>(self.main.port(&p.param)?.1.bytes());
        let inputs = self.function.inputs.iter().map(bytes).sum::<Result<usize, _>>()?;
        let key = match (&self.function.key, &self.schedule) {
            (None, _) => 0,
            (Some(_), Some(schedule)) => schedule.first(false)?.bytes(),
            (Some(key), None) => self.main.port(&key.param)?.1.bytes(),
        };
        Ok([key, inputs, bytes(&self.function.output)?])
    }

    /// The output for the key and the input of a vector with the right sizes, if the bytes lie as
    /// `function` says.
    fn output(&self, function: &Function, vector: &Vector) -> Result<Vec<u8>, String> {
        let words = |p: &Parameter| {
            let (at, shape) = self.main.port(&p.param)?;
            Ok::<_, String>((at, Words { shape, bytes: p.bytes }))
        };
        let mut rest = &vector.input[..];
        let mut parts = Vec::new();
        for input in &function.inputs {
            let (at, input) = words(input)?;
            let (bytes, behind) = rest.split_at(input.shape.bytes());
            parts.push((at, input.read(bytes)));
            rest = behind;
        }
        if let Some(key) = &function.key {
            parts.push(self.key(key, &vector.key)?);
        }
        parts.sort();
        let inputs: Vec<u64> = parts.into_iter().flat_map(|(_, words)| words).collect();
        let outputs = self.main.run(&inputs)?;
        let (at, output) = words(&function.output)?;
        Ok(output.write(&outputs[at..][..output.shape.words]))
    }

    /// The words of the key parameter, with their place among the inputs.
    fn key(&self, key: &Key, bytes: &[u8]) -> Result<(usize, Vec<u64>), String> {
        let (at, shape) = self.main.port(&key.param)?;
        let Some(schedule) = &self.schedule else {
            return Ok((at, Words { shape, bytes: key.bytes }.read(bytes)));
        };
        let from = schedule.first(false)?;
        let words = schedule.run(&Words { shape: from, bytes: key.bytes }.read(bytes))?;
        let Some(through) = key.through else { return Ok((at, words)) };
        let made = Words { shape: schedule.first(true)?, bytes: ByteLayout::Be };
        Ok((at, Words { shape, bytes: through }.read(&made.write(&words))))
    }

    /// The one change of a byte layout that makes a vector right, in words.
    fn remedy(&self, vector: &Vector) -> Option<String> {
        let right = |function: &Function| {
            self.output(function, vector).is_ok_and(|output| output == vector.output)
        };
        for &(name, layout) in ByteLayout::ALL {
            let mut every = self.function.clone();
            for at in 0..every.inputs.len() {
                let mut one = self.function.clone();
                every.inputs[at].bytes = layout;
                one.inputs[at].bytes = layout;
                if right(&one) {
                    return Some(format!("`bytes = \"{name}\"` for `{}`", one.inputs[at].param));
                }
            }
            let mut one = self.function.clone();
            every.output.bytes = layout;
            one.output.bytes = layout;
            if right(&one) {
                return Some(format!("`bytes = \"{name}\"` for `{}`", one.output.param));
            }
            if let (Some(key), Some(all)) = (&self.function.key, &mut every.key) {
                let other = Key { bytes: layout, ..key.clone() };
                all.bytes = layout;
                if right(&Function { key: Some(other), ..self.function.clone() }) {
                    return Some(format!("`bytes = \"{name}\"` for `{}`", key.param));
                }
            }
            if right(&every) {
                return Some(format!("`bytes = \"{name}\"` for all parameters"));
            }
        }
        None
    }

    fn check(&self, block: usize, vector: &Vector, place: &str) -> Result<(), String> {
        vector.check_sizes(self.sizes()?).map_err(|wrong| format!("{place}: {wrong}"))?;
        let found = self.output(self.function, vector)?;
        if found == vector.output {
            return Ok(());
        }
        let help = self.remedy(vector).map(|it| format!("\n  help: with {it} it is right"));
        let wrong = wrong_block(place, block, &self.function.name, &vector.output, &found);
        Err(wrong + &help.unwrap_or_default())
    }
}

/// The message that a block is wrong.
pub fn wrong_block(
    place: &str,
    block: usize,
    function: &str,
    expected: &[u8],
    found: &[u8],
) -> String {
    format!(
        "{place}: block {block} of `{function}` differs from its known answer\n  expected {}\n  \
         found    {}",
        to_hex(expected),
        to_hex(found)
    )
}

impl Cipher {
    /// Compares every function with its test vectors. Correct answers are cached in `kept`, a
    /// folder and the name of this build, by the content of all files that they depend on.
    ///
    /// # Errors
    /// A file cannot be read, or an answer is wrong; the message names its line and both answers.
    pub fn verify(&self, kept: Option<(&Path, &str)>) -> Result<(), String> {
        let one = |function: &Function| {
            let known = Known::new(self, function)?;
            let vectors = self.vectors(function)?;
            let file = kept.map(|(folder, build)| {
                let schedule = known.schedule.iter().flat_map(|schedule| &schedule.texts);
                let texts: Vec<_> = known.main.texts.iter().chain(schedule).collect();
                let all = format!("{build:?} {function:?} {vectors:?} {texts:?}");
                folder.join(to_hex(&Sha256::digest(all)))
            });
            if file.as_ref().is_some_and(|file| file.exists()) {
                return Ok(());
            }
            vectors.iter().enumerate().try_for_each(|(block, vector)| {
                known.check(block, vector, &self.place(&function.vectors, vector))
            })?;
            // An answer that cannot be kept is computed again.
            if let (Some(file), Some((folder, _))) = (file, kept) {
                let _ = fs::create_dir_all(folder).and_then(|()| fs::write(file, ""));
            }
            Ok(())
        };
        // The first error in the order of the file, whichever is found first.
        let all: Vec<Result<(), String>> = self.functions.par_iter().map(one).collect();
        all.into_iter().collect()
    }

    /// File and line of a vector.
    pub fn place(&self, file: &str, vector: &Vector) -> String {
        format!("{}:{}", self.folder.join(file).display(), vector.line)
    }
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
        let short = changed(text, "key = 00", "key = ");
        assert!(short.ends_with("`key` has 9 bytes, expected 10"), "{short}");
        let order = changed("cipher.toml", "bytes = \"be", "bytes = \"planes");
        assert!(order.contains("help: with `bytes = \""), "{order}");
    }
}
