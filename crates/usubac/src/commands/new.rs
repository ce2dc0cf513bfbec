//! `usubac new`: a folder for a cipher, from the templates in `lib/new`.
//!
//! ```text
//! $ usubac new pebble --like block --bits 64
//! pebble/pebble.ua  pebble/cipher.toml  pebble/vectors/pebble.txt  pebble/main.c  ...
//! ```

use std::fs;
use std::path::Path;

use usuba::emit::template::{Template, context, template};

use crate::args::{Kind, New};
use crate::output::{Place, plain, to_stdout, write_all};
use crate::{Failure, fault};

/// A template of `lib/new`.
macro_rules! new {
    ($path:literal) => {
        template!(concat!("../../new/", $path))
    };
}

/// The files that all kinds share.
const HEADER: Template = new!("header.toml.in");
const MAKEFILE: Template = new!("Makefile.in");
const README: Template = new!("README.md.in");
const IGNORED: &str = include_str!("../../new/gitignore");

/// The templates and numbers of a kind.
struct Pattern {
    /// In a sentence.
    title: &'static str,
    /// The sizes in bits, the default first.
    sizes: &'static [u16],
    /// The words of a size.
    words: u16,
    /// The nodes that `make prove` proves.
    entries: &'static [&'static str],
    program: Template,
    description: Template,
    reference: Template,
    main: Template,
    vectors: Template,
    /// The vectors of a compression function.
    compress: Option<Template>,
}

impl Pattern {
    fn new(kind: Kind) -> Pattern {
        match kind {
            Kind::Block => Pattern {
                title: "block cipher",
                sizes: &[128, 64, 256],
                words: 4,
                entries: &["encrypt", "decrypt"],
                program: new!("block/program.ua.in"),
                description: new!("block/cipher.toml.in"),
                reference: new!("block/reference.py.in"),
                main: new!("block/main.c.in"),
                vectors: new!("block/vectors.txt.in"),
                compress: None,
            },
            Kind::Permutation => Pattern {
                title: "permutation",
                sizes: &[256, 64, 128],
                words: 4,
                entries: &["permute"],
                program: new!("permutation/program.ua.in"),
                description: new!("permutation/cipher.toml.in"),
                reference: new!("permutation/reference.py.in"),
                main: new!("permutation/main.c.in"),
                vectors: new!("permutation/vectors.txt.in"),
                compress: None,
            },
            Kind::Stream => Pattern {
                title: "stream cipher",
                sizes: &[512, 256, 1024],
                words: 16,
                entries: &["block"],
                program: new!("stream/program.ua.in"),
                description: new!("stream/cipher.toml.in"),
                reference: new!("stream/reference.py.in"),
                main: new!("stream/main.c.in"),
                vectors: new!("stream/vectors.txt.in"),
                compress: None,
            },
            Kind::Hash => Pattern {
                title: "hash function",
                sizes: &[256, 512],
                words: 8,
                entries: &["compress"],
                program: new!("hash/program.ua.in"),
                description: new!("hash/cipher.toml.in"),
                reference: new!("hash/reference.py.in"),
                main: new!("hash/main.c.in"),
                vectors: new!("hash/vectors.txt.in"),
                compress: Some(new!("hash/compress.txt.in")),
            },
        }
    }

    /// The files by their paths in the folder.
    fn files(&self, name: &str, bits: u16) -> Vec<(String, String)> {
        let word = bits / self.words;
        // A counter of 32 bits, or of one longer word.
        let counter = (word / 8).max(4);
        let start: String =
            (1..=8).map(|number| format!("{number:0width$x}", width = word as usize / 4)).collect();
        let slicings = if word <= 16 { r#""V", "H", "B""# } else { r#""V", "B""# };
        let values = context! {
            name, bits, word, counter, start, slicings,
            kind => self.title,
            bytes => bits / 8,
            key => word,
            nonce => word / 2 - counter,
            header => HEADER.render(context! { name }),
            entries => self.entries.to_vec(),
            chained => self.compress.is_some(),
        };
        let mut files = vec![
            (format!("{name}.ua"), self.program.render(values.clone())),
            ("cipher.toml".into(), self.description.render(values.clone())),
            (format!("vectors/{name}.txt"), self.vectors.render(values.clone())),
            ("reference.py".into(), self.reference.render(values.clone())),
            ("main.c".into(), self.main.render(values.clone())),
            ("Makefile".into(), MAKEFILE.render(values.clone())),
            ("README.md".into(), README.render(values.clone())),
            (".gitignore".into(), IGNORED.into()),
        ];
        if let Some(compress) = self.compress {
            files.push((format!("vectors/{name}_compress.txt"), compress.render(values)));
        }
        files
    }
}

pub fn run(args: &New) -> Result<(), Failure> {
    fault::stage("writing a cipher folder");
    let folder = &args.folder;
    let name = name(folder)?;
    let pattern = Pattern::new(args.like);
    let bits = args.bits.unwrap_or(pattern.sizes[0]);
    if !pattern.sizes.contains(&bits) {
        let mut sizes = pattern.sizes.to_vec();
        sizes.sort_unstable();
        let sizes: Vec<String> = sizes.iter().map(u16::to_string).collect();
        return Err(Failure::usage(format!(
            "found --bits {bits}, expected one of {} for a {}",
            sizes.join(", "),
            pattern.title
        )));
    }
    let files = pattern.files(&name, bits);
    make(folder)?;
    let places = files.iter().map(|(path, text)| (Place::File(folder.join(path)), text.clone()));
    let written = fs::create_dir(folder.join("vectors"))
        .map_err(|error| cannot(folder, &plain(&error)))
        .and_then(|()| write_all(&places.collect::<Vec<_>>()));
    if let Err(failure) = written {
        // The folder is new, so that nothing else is in it.
        let _ = fs::remove_dir_all(folder);
        return Err(failure);
    }
    let shown = folder.display();
    to_stdout(&format!(
        "wrote a {} of {bits} bits, made up to be replaced: {shown}\n\
         next:\n  \
         usubac test {shown} --all-functions\n  \
         make -C {shown}\n  \
         make -C {shown} prove\n",
        pattern.title
    ))
}

/// The name of the cipher: the last part of its path.
fn name(folder: &Path) -> Result<String, Failure> {
    let last = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if usuba_ciphers::folder_name(folder).as_ref() == Ok(&last) {
        return Ok(last);
    }
    let near: String = last
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .skip_while(|c| !c.is_ascii_lowercase())
        .collect();
    let near = if usuba_ciphers::folder_name(Path::new(&near)).as_ref() == Ok(&near) {
        near
    } else {
        format!("my_{}", near.trim_matches('_'))
    };
    let near = near.trim_end_matches('_');
    Err(Failure::usage(format!(
        "found the name `{}`, expected lower-case letters, digits and `_`, a letter first, since \
         it becomes a part of names in C and Rust\n  help: write `usubac new {}`",
        last.escape_debug(),
        folder.with_file_name(near).display()
    )))
}

/// Makes the folder, which must be new.
fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            cannot(folder, "it exists\n  help: choose another name, or move it away")
        }
        std::io::ErrorKind::NotFound => cannot(folder, "the folder above it does not exist"),
        _ => cannot(folder, &plain(&error)),
    })
}

fn cannot(folder: &Path, why: &str) -> Failure {
    Failure::program(format!("cannot make the folder {}: {why}", folder.display()))
}
