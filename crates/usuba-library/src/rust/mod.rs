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
//!   MACs, authenticated encryption and signatures.
//! - `parts`: modules and dependencies that only some families need.
//! - `shape`: the Rust shape of a primitive, and its tests.
//! - `text`: names, bytes and comments in Rust.

/// Hand-written Rust by its path in `lib/rust`.
macro_rules! rust {
    ($path:literal) => {
        include_str!(concat!("../../../../lib/rust/", $path))
    };
}

mod hash;
mod items;
mod message;
mod parts;
mod shape;
mod text;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::template::fill;
use super::write::{File, PREFIX, apart, library_of, version};
use super::{Folder, Request};
use items::Items;
use text::comment;
use usuba_ciphers::Cipher;

/// The name of the package.
const PACKAGE: &str = "usuba-ciphers";

/// Files of the crate that depend only on names.
const PLAIN: [(&str, &str); 6] = [
    ("src/block.rs", rust!("src/block.rs")),
    ("src/error.rs", rust!("src/error.rs")),
    ("src/keyed.rs", rust!("src/keyed.rs")),
    ("src/running.rs", rust!("src/running.rs")),
    ("src/stream.rs", rust!("src/stream.rs")),
    ("src/tweak.rs", rust!("src/tweak.rs")),
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
    let mut crates = Crate { package, prefix: &request.prefix, items: Vec::new() };
    for folder in &folders {
        crates.items.push(Items::new(folder, &folders)?);
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
    apart(files)
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
        fill(text, &[("CRATE", &*name), ("PACKAGE", &self.package), ("C", self.prefix)])
    }

    /// All files except the C and its build script.
    fn files(&self, request: &Request) -> Vec<File> {
        let mut files = Vec::new();
        let mut add = |path: String, text: String| {
            let banner = format!("// Written by usubac {}; do not edit.\n\n", request.version);
            let banner = if path.ends_with(".rs") { banner } else { String::new() };
            files.push(File { path, text: banner + text.trim_end() + "\n" });
        };
        let names = || self.items.iter().map(|items| items.folder.name.as_str());
        let quoted: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
        let feature = |items: &Items| {
            let more: Vec<String> =
                parts::features(items).iter().map(|name| format!("\"{name}\"")).collect();
            format!("{} = [{}]\n", items.folder.name, more.join(", "))
        };
        let features: String = self.items.iter().map(feature).collect();
        let around = parts::around(&self.items);
        let values = [
            ("DEFAULT", quoted.join(", ")),
            ("FEATURES", features),
            ("VERSION", version(&request.version)),
            ("COMPILER", request.version.clone()),
            ("DEPENDENCIES", around.dependencies.clone()),
        ];
        add("Cargo.toml".into(), self.named(&fill(rust!("Cargo.toml.in"), &values)));
        let modules = |visible: &str| -> String {
            let module = |name| format!("#[cfg(feature = \"{name}\")]\n{visible}mod {name};\n");
            names().map(module).collect()
        };
        let row = |items: &Items| {
            let (name, title) = (&items.folder.name, &items.folder.cipher.title);
            format!("//! | `{name}` | {} |\n", title.replace('|', "/"))
        };
        let table: String = self.items.iter().map(row).collect();
        let values = [
            ("MODULES", modules("pub ")),
            ("TABLE", table),
            ("CRATE_DOC", String::new()),
            ("DIGEST", around.exports),
            ("HASH", around.modules),
            ("HASH_TYPES", around.types),
            ("HASH_DOC", around.about),
        ];
        add("src/lib.rs".into(), self.named(&fill(rust!("src/lib.rs.in"), &values)));
        let own = [("MODULES", &*modules("pub ")), ("HASH", &*around.ffi)];
        add("src/ffi.rs".into(), self.named(&fill(rust!("src/ffi.rs.in"), &own)));
        for (path, text) in PLAIN.into_iter().chain(around.files) {
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
            add(format!("src/{name}.rs"), text(rust!("api/module.rs.in"), &items.module));
            add(format!("src/ffi/{name}.rs"), text(rust!("ffi/module.rs.in"), &items.ffi));
            let own = format!("#[cfg(feature = \"{name}\")]\n#[test]");
            let body = items.tests.replace("#[test]", &own);
            tests += &text("@ITEMS@", &body);
        }
        let values = [("TESTS", &*tests), ("HELPERS", &self.helpers())];
        let tests = fill(rust!("tests/known_answers.rs.in"), &values);
        add("tests/known_answers.rs".into(), self.named(&tests));
        files
    }

    /// The test helpers, each conditional on the features of its tests.
    fn helpers(&self) -> String {
        let all: BTreeSet<&str> =
            self.items.iter().flat_map(|items| items.helpers.clone()).collect();
        let helper = |text: &str| {
            let users = self.items.iter().filter(|items| items.helpers.contains(text));
            let users: Vec<String> =
                users.map(|items| format!("feature = \"{}\"", items.folder.name)).collect();
            let condition = match &users[..] {
                [one] => one.clone(),
                more => format!("any({})", more.join(", ")),
            };
            fill(text, &[("CFG", &format!("#[cfg({condition})]"))])
        };
        all.into_iter().map(helper).collect()
    }

    /// `build.rs` for these sources.
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
        let macros = self.prefix.to_uppercase();
        let values =
            [("COMMON_SOURCES", &*quoted(&common)), ("FAMILIES", &families), ("MACRO", &macros)];
        File { path: "build.rs".into(), text: self.named(&fill(rust!("build.rs.in"), &values)) }
    }

    /// A C file that compiles only if each context has the same size as in Rust.
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
        for (name, bytes) in self.items.iter().flat_map(|items| &items.hashes) {
            let prefix = self.prefix;
            let _ = writeln!(
                text,
                "typedef char {prefix}{name}_layout[\n    \
                 sizeof(((const {prefix}{name} *)0)->bytes) == {bytes} ? 1 : -1];"
            );
        }
        for (name, bytes) in self.items.iter().flat_map(|items| &items.sizes) {
            let prefix = self.prefix;
            let _ = writeln!(
                text,
                "typedef char {prefix}{name}_size[sizeof({prefix}{name}) == {bytes} ? 1 : -1];"
            );
        }
        for (name, state, part) in self.items.iter().flat_map(|items| &items.states) {
            let prefix = self.prefix;
            let size = |field| format!("sizeof(((const {prefix}{name}_state *)0)->{field})");
            let (first, second) = (size("state"), size("part"));
            let _ = writeln!(
                text,
                "typedef char {prefix}{name}_state_layout[\n    \
                 {first} == {state} && {second} == {part} ? 1 : -1];"
            );
        }
        File { path: "c/src/layout.c".into(), text }
    }
}
