//! Rust crate generator: the C library, the hand-written Rust of `lib/rust`, and a module for each
//! cipher folder.
//!
//! ```text
//! Cargo.toml, build.rs    the features, and the C files of each
//! c/                      the library: include/usuba.h and src
//! src/*.rs                traits and modes over any cipher; hand-written
//! src/ffi/FOLDER.rs       contexts and functions, as the header declares them
//! src/FOLDER.rs           the public types and functions of a folder, with tested examples
//! tests                   the vectors
//! ```
//!
//! - `items`: the generated text of a folder; `hash`: of Skein; `message`: of other hash functions,
//!   MACs, authenticated encryption and signatures; `xof`: of functions with outputs of any length.
//! - `parts`: modules and dependencies that only some families need.
//! - `sign`: signatures from hash functions.
//! - `shape`: the Rust shape of a primitive, and its tests.
//! - `text`: names, bytes and comments in Rust.

/// Hand-written Rust by its path in `lib/rust`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("../../lib/rust/", $path))
    };
}

/// A template by its path in `lib/rust`.
macro_rules! rust {
    ($path:literal) => {
        usuba::template!(concat!("../../lib/rust/", $path))
    };
}

mod hash;
mod items;
mod message;
mod parts;
mod shape;
mod sign;
mod text;
mod xof;

use std::collections::BTreeSet;

use super::template::{Template, Value, context};
use super::write::{File, PREFIX, apart, library_of, version};
use super::{Folder, Request};
use items::Items;
use text::{comment, prose};
use usuba_ciphers::Cipher;

/// The name of the package.
const PACKAGE: &str = "usuba-ciphers";

/// Files of the crate that depend only on names.
const PLAIN: [(&str, &str); 6] = [
    ("src/block.rs", text!("src/block.rs")),
    ("src/error.rs", text!("src/error.rs")),
    ("src/keyed.rs", text!("src/keyed.rs")),
    ("src/running.rs", text!("src/running.rs")),
    ("src/stream.rs", text!("src/stream.rs")),
    ("src/tweak.rs", text!("src/tweak.rs")),
];

/// Generates a Rust crate of several cipher folders.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn rust(
    request: &Request,
    ciphers: &[Cipher],
    done: &mut dyn FnMut(&str),
) -> Result<Vec<File>, String> {
    let ciphers = usuba_ciphers::with_needs(ciphers)?;
    let backends = super::backends(&request.targets, &ciphers);
    let folders = super::folders(&ciphers, &backends, done)?;
    let package = match request.prefix.as_str() {
        PREFIX => PACKAGE.to_string(),
        prefix => format!("{}-ciphers", prefix.trim_end_matches('_').replace('_', "-")),
    };
    let names = context! {
        crate => package.replace('-', "_"), package, prefix => &request.prefix,
        compiler => &request.version,
    };
    let items: Result<Vec<Items>, String> =
        folders.iter().map(|folder| Items::new(folder, &folders, &names)).collect();
    let crates = Crate { names, items: items? };
    let mut files = crates.files(request);
    let library = library_of(request, &backends, &folders);
    let is_source = |file: &File| [".c", ".h", ".S"].iter().any(|end| file.path.ends_with(end));
    let c = library.into_iter().filter(is_source);
    let c: Vec<File> =
        c.map(|file| File { path: format!("c/{}", file.path), text: file.text }).collect();
    let names: Vec<&str> = c.iter().filter_map(|file| file.path.strip_prefix("c/src/")).collect();
    files.push(crates.build(&names));
    files.push(crates.layout());
    files.extend(c);
    apart(files)
}

/// The crate around its folders.
struct Crate<'a> {
    /// Its names and the version of the compiler, for all templates.
    names: Value,
    items: Vec<Items<'a>>,
}

impl Crate<'_> {
    /// A template with these values and the names.
    fn render(&self, template: Template, values: Value) -> String {
        template.render(context! { ..values, ..self.names.clone() })
    }

    /// All files except the C and its build script.
    fn files(&self, request: &Request) -> Vec<File> {
        let mut files = Vec::new();
        let mut add = |path: String, text: String| {
            let banner = format!("// Written by usubac {}; do not edit.\n\n", request.version);
            let banner = if path.ends_with(".rs") { banner } else { String::new() };
            files.push(File { path, text: banner + text.trim_end() + "\n" });
        };
        let quoted = |name: &String| format!("\"{name}\"");
        let family = |items: &Items| {
            let Folder { name, cipher, .. } = items.folder;
            let features: Vec<String> = parts::features(items).iter().map(quoted).collect();
            context! { name, quoted => quoted(name), title => prose(&cipher.title), features }
        };
        let families: Vec<Value> = self.items.iter().map(family).collect();
        let (traits, parts, plain) = parts::around(&self.items);
        let version = version(&request.version);
        let values = context! { families, traits, parts, version };
        for (path, template) in [
            ("Cargo.toml", rust!("Cargo.toml.in")),
            ("src/lib.rs", rust!("src/lib.rs.in")),
            ("src/ffi.rs", rust!("src/ffi.rs.in")),
        ] {
            add(path.into(), self.render(template, values.clone()));
        }
        for (path, text) in PLAIN.into_iter().chain(plain) {
            add(path.to_string(), text.to_string());
        }
        for Items { folder, module, ffi, .. } in &self.items {
            let Folder { name, cipher, .. } = folder;
            let values = context! {
                title => prose(&cipher.title), spec => comment("//!", &cipher.spec), module => name,
                calls => module.contains("ffi::"),
            };
            let text = |template: Template, items: &str| {
                self.render(template, context! { items, ..values.clone() })
            };
            add(format!("src/{name}.rs"), text(rust!("api/module.rs.in"), module));
            add(format!("src/ffi/{name}.rs"), text(rust!("ffi/module.rs.in"), ffi));
        }
        let tests: String = self.items.iter().map(|items| &*items.tests).collect();
        let values = context! { tests, helpers => self.helpers() };
        let tests = self.render(rust!("tests/known_answers.rs.in"), values);
        add("tests/known_answers.rs".into(), tests);
        files
    }

    /// The test helpers, each conditional on the features of its tests.
    fn helpers(&self) -> String {
        let all: BTreeSet<Template> =
            self.items.iter().flat_map(|items| items.helpers.clone()).collect();
        let helper = |helper: Template| {
            let cfg = parts::condition(&self.items, |items| items.helpers.contains(&helper));
            self.render(helper, context! { cfg })
        };
        all.into_iter().map(helper).collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// `build.rs` for these sources.
    fn build(&self, sources: &[&str]) -> File {
        let is_of = |source: &str, name: &str| {
            let rest = source.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('_'))
        };
        let of = |name: &str, end: &str| -> Vec<String> {
            let own = sources.iter().filter(|source| source.ends_with(end) && is_of(source, name));
            own.map(|source| format!("\"{source}\"")).collect()
        };
        let mut common = vec!["\"layout.c\"".to_string()];
        common.extend(of("common", ".c"));
        let family = |items: &Items| {
            let name = &items.folder.name;
            context! { name, sources => of(name, ".c"), assembly => of(name, ".S") }
        };
        let families: Vec<Value> = self.items.iter().map(family).collect();
        let text = self.render(rust!("build.rs.in"), context! { common, families });
        File { path: "build.rs".into(), text }
    }

    /// A C file that compiles only if each context has the same size as in Rust.
    fn layout(&self) -> File {
        let sized = |of: &dyn Fn(&Items) -> Vec<(String, usize)>| -> Vec<Value> {
            let all = self.items.iter().flat_map(of);
            all.map(|(name, bytes)| context! { name, bytes }).collect()
        };
        let states = self.items.iter().flat_map(|items| &items.states);
        let states: Vec<Value> =
            states.map(|(name, state, part)| context! { name, state, part }).collect();
        let values = context! {
            contexts => sized(&|items| items.contexts.clone()),
            hashes => sized(&|items| items.hashes.clone()),
            sizes => sized(&|items| items.sizes.clone()), states,
        };
        File { path: "c/src/layout.c".into(), text: self.render(rust!("layout.c.in"), values) }
    }
}
