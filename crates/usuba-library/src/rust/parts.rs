//! Optional parts of a crate: modules of hand-written Rust, and dependencies with traits.

use super::items::Items;

/// Hand-written Rust for the families that use it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// Hash functions with parameters, trees and any length of output.
    Skein,
    /// Hash functions and MACs with one length of output.
    Message,
    /// Authenticated encryption.
    Seal,
    /// Signatures; their Rust is part of their folder.
    Signature,
}

/// The parts with a module.
const MODULES: [Module; 3] = [
    Module {
        of: Part::Skein,
        name: "hash",
        types: "{Hash, Parameters, Skein, SkeinMac, SkeinReader, SkeinTree, SkeinXof, Tree}",
        files: [
            ("src/hash.rs", rust!("src/hash.rs")),
            ("src/ffi/hash.rs", rust!("src/hash_ffi.rs")),
        ],
    },
    Module {
        of: Part::Message,
        name: "message",
        types: "{Code, HashFunction, Hkdf, MessageHash, MessageMac, OneTimeMac}",
        files: [
            ("src/message.rs", rust!("src/message.rs")),
            ("src/ffi/message.rs", rust!("src/message_ffi.rs")),
        ],
    },
    Module {
        of: Part::Seal,
        name: "seal",
        types: "Sealer",
        files: [
            ("src/seal.rs", rust!("src/seal.rs")),
            ("src/ffi/seal.rs", rust!("src/seal_ffi.rs")),
        ],
    },
];

/// The module of a part.
struct Module {
    of: Part,
    name: &'static str,
    /// The types that `lib.rs` exports from it.
    types: &'static str,
    /// Its two files.
    files: [(&'static str, &'static str); 2],
}

/// A dependency with traits: its name, its line of `Cargo.toml`, and the parts that use it.
struct Traits {
    name: &'static str,
    dependency: &'static str,
    users: &'static [Part],
    about: &'static str,
}

const TRAITS: [Traits; 3] = [
    Traits {
        name: "digest",
        dependency: "# The traits of hash functions.\n\
                     digest = { version = \"0.11\", default-features = false, features = [\"mac\"], \
                     optional = true }\n",
        users: &[Part::Skein, Part::Message],
        about: "//! Hash functions and MACs have the traits of the crate `digest`, and functions for \
                many\n//! messages.\n",
    },
    Traits {
        name: "aead",
        dependency: "# The traits of authenticated encryption.\n\
                     aead = { version = \"0.6\", default-features = false, optional = true }\n",
        users: &[Part::Seal],
        about: "//! Authenticated encryption has the traits of the crate `aead`.\n",
    },
    Traits {
        name: "signature",
        dependency: "# The traits of signatures.\n\
                     signature = { version = \"3\", default-features = false, optional = true }\n",
        users: &[Part::Signature],
        about: "//! Signatures have the traits of the crate `signature`.\n",
    },
];

/// The optional contents of a crate; empty without any part.
#[derive(Default)]
pub struct Around {
    /// Lines of `Cargo.toml`.
    pub dependencies: String,
    /// Lines of `lib.rs`.
    pub exports: String,
    pub modules: String,
    pub types: String,
    pub about: String,
    /// Lines of `ffi.rs`.
    pub ffi: String,
    pub files: Vec<(&'static str, &'static str)>,
}

/// The attribute for the families that have one of the parts; `None` if none has.
fn condition(items: &[Items], parts: &[Part]) -> Option<String> {
    let has = |items: &&Items| parts.iter().any(|part| items.parts.contains(part));
    let features: Vec<String> =
        items.iter().filter(has).map(|i| format!("feature = \"{}\"", i.folder.name)).collect();
    match &features[..] {
        [] => None,
        [one] => Some(format!("#[cfg({one})]\n")),
        more => Some(format!("#[cfg(any({}))]\n", more.join(", "))),
    }
}

/// The optional contents for these families.
pub fn around(items: &[Items]) -> Around {
    let mut all = Around::default();
    for Traits { name, dependency, users, about } in &TRAITS {
        if let Some(condition) = condition(items, users) {
            all.dependencies += dependency;
            all.exports += &format!("{condition}pub use {name};\n");
            all.about += about;
        }
    }
    for Module { of, name, types, files } in &MODULES {
        if let Some(condition) = condition(items, &[*of]) {
            all.modules += &format!("{condition}mod {name};\n");
            all.types += &format!("{condition}pub use {name}::{types};\n");
            all.ffi += &format!("{condition}pub mod {name};\n");
            all.files.extend(files);
        }
    }
    all
}

/// The features of a family.
pub fn features(items: &Items) -> Vec<String> {
    let needs = items.folder.cipher.needs.iter().map(|name| name.replace(['-', '.'], "_"));
    let used = |traits: &&Traits| traits.users.iter().any(|part| items.parts.contains(part));
    let traits = TRAITS.iter().filter(used).map(|traits| format!("dep:{}", traits.name));
    needs.chain(traits).collect()
}
