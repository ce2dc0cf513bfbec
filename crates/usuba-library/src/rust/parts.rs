//! Optional parts of a crate: modules of hand-written Rust, and dependencies with traits.

use std::collections::BTreeSet;

use super::super::template::{Value, context};
use super::items::Items;

/// Hand-written Rust for the families that use it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// Hash functions with parameters, trees and any length of output.
    Skein,
    /// Hash functions and MACs with one length of output.
    Message,
    /// Functions with outputs of any length.
    Xof,
    /// Authenticated encryption.
    Seal,
    /// Signatures; their Rust is part of their folder.
    Signature,
    /// Signatures from hash functions.
    HashSignature,
}

/// The parts with a module.
const MODULES: [Module; 5] = [
    Module {
        of: Part::Skein,
        name: "hash",
        types: "{Hash, Parameters, Skein, SkeinMac, SkeinReader, SkeinTree, SkeinXof, Tree}",
        files: [
            ("src/hash.rs", text!("src/hash.rs")),
            ("src/ffi/hash.rs", text!("src/hash_ffi.rs")),
        ],
    },
    Module {
        of: Part::Message,
        name: "message",
        types: "{Code, CodeSide, Derive, HashFunction, Hkdf, MessageHash, MessageMac, OneTimeMac}",
        files: [
            ("src/message.rs", text!("src/message.rs")),
            ("src/ffi/message.rs", text!("src/message_ffi.rs")),
        ],
    },
    Module {
        of: Part::Xof,
        name: "xof",
        types: "{\n    Cshake, CustomXof, Cxof, DomainXof, Kangaroo, KeyedXof, Kmac, KmacXof, Lanes, \
                NamedXof, PlainXof,\n    SpongeFunction, SpongeReader, TreeXof, TurboShake, Xof,\n}",
        files: [("src/xof.rs", text!("src/xof.rs")), ("src/ffi/xof.rs", text!("src/xof_ffi.rs"))],
    },
    Module {
        of: Part::Seal,
        name: "seal",
        types: "{Seal, SealInPieces, SealMessage, SealPieces, SealSide, Sealer}",
        files: [
            ("src/seal.rs", text!("src/seal.rs")),
            ("src/ffi/seal.rs", text!("src/seal_ffi.rs")),
        ],
    },
    Module {
        of: Part::HashSignature,
        name: "sign",
        types: "{\n    Bytes, HashSignature, HashSigningKey, HashVerifyingKey, ParameterSet, Prehash,\n}",
        files: [
            ("src/sign.rs", text!("src/sign.rs")),
            ("src/ffi/sign.rs", text!("src/sign_ffi.rs")),
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
        users: &[Part::Skein, Part::Message, Part::Xof],
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
                     signature = { version = \"3\", default-features = false, features = [\"rand_core\"], \
                     optional = true }\n",
        users: &[Part::Signature, Part::HashSignature],
        about: "//! Signatures have the traits of the crate `signature`.\n",
    },
];

/// The attribute for the families whose items hold for `user`; `None` if there are none.
pub fn condition(items: &[Items], user: impl Fn(&Items) -> bool) -> Option<String> {
    let users = items.iter().filter(|items| user(items));
    let features: Vec<String> =
        users.map(|items| format!("feature = \"{}\"", items.folder.name)).collect();
    match &features[..] {
        [] => None,
        [one] => Some(format!("#[cfg({one})]")),
        more => Some(format!("#[cfg(any({}))]", more.join(", "))),
    }
}

/// The parts that these families use: crates with traits, and modules, for templates; and the files
/// of the modules.
pub fn around(items: &[Items]) -> (Vec<Value>, Vec<Value>, Vec<(&'static str, &'static str)>) {
    let traits = TRAITS.iter().filter_map(|Traits { name, dependency, users, about }| {
        let cfg = condition(items, |items| users.iter().any(|part| items.parts.contains(part)))?;
        Some(context! { name => *name, cfg, dependency => *dependency, about => *about })
    });
    let (modules, files): (Vec<Value>, Vec<_>) = MODULES
        .iter()
        .filter_map(|Module { of, name, types, files }| {
            let cfg = condition(items, |items| items.parts.contains(of))?;
            Some((context! { name => *name, cfg, types => *types }, *files))
        })
        .unzip();
    (traits.collect(), modules, files.concat())
}

/// The features of a family.
pub fn features(items: &Items) -> Vec<String> {
    let needs = items.folder.cipher.needs.iter().map(|need| need.folder.replace(['-', '.'], "_"));
    let needs: BTreeSet<String> = needs.collect();
    let used = |traits: &&Traits| traits.users.iter().any(|part| items.parts.contains(part));
    let traits = TRAITS.iter().filter(used).map(|traits| format!("dep:{}", traits.name));
    needs.into_iter().chain(traits).collect()
}
