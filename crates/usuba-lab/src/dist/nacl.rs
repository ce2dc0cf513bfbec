//! NaCl: a few folders in one C file, and the interface of NaCl over them.
//!
//! ```text
//! usuba-nacl.c, usuba-nacl.h     Salsa20, ChaCha20, SHA-2, Poly1305, Curve25519; lib/c/nacl
//! usuba-nacl-random.c            the system's random numbers, for who has no `randombytes`
//! CMakeLists.txt, *.in           a library of it
//! ```

use std::fmt::Write;
use std::path::Path;

use super::template::{self as t, fill};
use super::write::{File, OneFile, PREFIX, banner, renamed, version};
use super::{Folder, Request};
use crate::cipher::{self, Cipher};

/// The folders, with the functions of each that NaCl is made of; all if there are none.
const FOLDERS: [(&str, &[&str]); 7] = [
    ("salsa20", &["salsa20_block", "hsalsa20"]),
    ("chacha20", &["chacha20_block", "hchacha20"]),
    ("sha2", &[]),
    ("poly1305", &[]),
    ("xsalsa20poly1305", &[]),
    ("chacha20poly1305", &[]),
    ("curve25519", &[]),
];

/// How many folders [`nacl`] says are done.
pub const NACL_FOLDERS: u64 = FOLDERS.len() as u64;

/// An operation of NaCl: its name, the primitive behind it, how functions end that belong to it, and
/// its sizes.
struct Operation {
    name: &'static str,
    primitive: &'static str,
    functions: &'static [&'static str],
    sizes: &'static [(&'static str, u32)],
}

/// The operations of tweetnacl.h, version 20140427, with the sizes that it has, and what libsodium
/// calls detached.
const OPERATIONS: [Operation; 12] = [
    Operation {
        name: "box",
        primitive: "curve25519xsalsa20poly1305",
        functions: &["", "_open", "_keypair", "_beforenm", "_afternm", "_open_afternm"],
        sizes: &[
            ("PUBLICKEY", 32),
            ("SECRETKEY", 32),
            ("BEFORENM", 32),
            ("NONCE", 24),
            ("ZERO", 32),
            ("BOXZERO", 16),
        ],
    },
    Operation {
        name: "core",
        primitive: "salsa20",
        functions: &[""],
        sizes: &[("OUTPUT", 64), ("INPUT", 16), ("KEY", 32), ("CONST", 16)],
    },
    Operation {
        name: "core",
        primitive: "hsalsa20",
        functions: &[""],
        sizes: &[("OUTPUT", 32), ("INPUT", 16), ("KEY", 32), ("CONST", 16)],
    },
    Operation {
        name: "hashblocks",
        primitive: "sha512",
        functions: &[""],
        sizes: &[("STATE", 64), ("BLOCK", 128)],
    },
    Operation { name: "hash", primitive: "sha512", functions: &[""], sizes: &[("", 64)] },
    Operation {
        name: "onetimeauth",
        primitive: "poly1305",
        functions: &["", "_verify"],
        sizes: &[("", 16), ("KEY", 32)],
    },
    Operation {
        name: "scalarmult",
        primitive: "curve25519",
        functions: &["", "_base"],
        sizes: &[("", 32), ("SCALAR", 32)],
    },
    Operation {
        name: "secretbox",
        primitive: "xsalsa20poly1305",
        functions: &["", "_open"],
        sizes: &[("KEY", 32), ("NONCE", 24), ("ZERO", 32), ("BOXZERO", 16)],
    },
    Operation {
        name: "sign",
        primitive: "ed25519",
        functions: &["", "_open", "_keypair", "_seed_keypair", "_detached", "_verify_detached"],
        sizes: &[("", 64), ("PUBLICKEY", 32), ("SECRETKEY", 64), ("SEED", 32)],
    },
    Operation {
        name: "stream",
        primitive: "xsalsa20",
        functions: &["", "_xor"],
        sizes: &[("KEY", 32), ("NONCE", 24)],
    },
    Operation {
        name: "stream",
        primitive: "salsa20",
        functions: &["", "_xor"],
        sizes: &[("KEY", 32), ("NONCE", 8)],
    },
    Operation { name: "verify", primitive: "16", functions: &[""], sizes: &[("", 16)] },
];

/// What has its primitive in the names of our functions, because there is a second one.
fn is_second(Operation { name, primitive, .. }: &Operation) -> bool {
    matches!((*name, *primitive), ("core", _) | ("stream", "salsa20") | ("verify", _))
}

/// The names of NaCl as macros, short ones and those with the primitive.
fn names() -> String {
    let mut text = String::new();
    let mut short = Vec::new();
    let another =
        Operation { name: "verify", primitive: "32", functions: &[""], sizes: &[("", 32)] };
    for operation in OPERATIONS.iter().chain([&another]) {
        let Operation { name, primitive, functions, sizes } = operation;
        // The first primitive of a name is the one without a name.
        let first = !short.contains(name);
        if first {
            short.push(name);
            let _ = writeln!(text, "#define crypto_{name}_PRIMITIVE \"{primitive}\"");
        }
        let whole = format!("crypto_{name}_{primitive}");
        for function in *functions {
            let own = match is_second(operation) {
                true => format!("{PREFIX}{whole}{function}"),
                false => format!("{PREFIX}crypto_{name}{function}"),
            };
            let _ = writeln!(text, "#define {whole}{function} {own}");
            if first {
                let _ = writeln!(text, "#define crypto_{name}{function} {own}");
            }
        }
        for (size, bytes) in *sizes {
            let _ = writeln!(text, "#define {whole}_{size}BYTES {bytes}");
            if first {
                let _ = writeln!(text, "#define crypto_{name}_{size}BYTES {bytes}");
            }
        }
    }
    text
}

/// NaCl from the cipher folders in `root`.
///
/// # Errors
/// What the compiler says, one finding a line.
pub fn nacl(
    request: &Request,
    root: &Path,
    done: &mut dyn FnMut(&str),
) -> Result<Vec<File>, String> {
    let read = |(name, functions): &(&str, &[&str])| {
        let mut cipher: Cipher = cipher::read(&root.join(name))?;
        if !functions.is_empty() {
            cipher.functions.retain(|function| functions.contains(&&*function.name));
        }
        Ok(cipher)
    };
    let ciphers = FOLDERS.iter().map(read).collect::<Result<Vec<_>, String>>()?;
    let backends = super::backends(&request.targets, &ciphers);
    let new = |cipher| {
        let folder = Folder::new(cipher, &backends, "static ", true)?;
        done(&folder.name);
        Ok(folder)
    };
    let folders = ciphers.iter().map(new).collect::<Result<Vec<_>, String>>()?;
    let package = renamed(PREFIX, request).trim_end_matches('_').replace('_', "-") + "-nacl";
    let values = [("NAMES", &*names()), ("PREFIX", PREFIX), ("FILE", &package)];
    let header = fill(t::NACL_H, &values);
    let code = fill(t::NACL_C, &[("COMMON", &format!("{PREFIX}nacl_"))]);
    let about = "NaCl in one file; compile it with any C or C++ compiler";
    let file = OneFile { name: "nacl", about, header: &header, code: &code };
    let mut files = file.write(request, &backends, &folders, Some(&package));
    let random = banner("random numbers for NaCl", request) + t::NACL_RANDOM;
    files.push(File { path: format!("{package}-random.c"), text: random });
    let version = version(&request.version);
    let underscored = package.replace('-', "_");
    let values = [("VERSION", &*version), ("PACKAGE", &package), ("NAME", &underscored)];
    for (path, text) in [
        ("CMakeLists.txt".to_string(), t::NACL_CMAKE),
        (format!("{package}-config.cmake.in"), t::NACL_CONFIG),
        (format!("{package}.pc.in"), t::NACL_PKG_CONFIG),
    ] {
        files.push(File { path, text: fill(text, &values) });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_nacl() {
        let names = names();
        for line in [
            "#define crypto_box usuba_crypto_box\n",
            "#define crypto_box_curve25519xsalsa20poly1305_open_afternm usuba_crypto_box_open_afternm\n",
            "#define crypto_box_BOXZEROBYTES 16\n",
            "#define crypto_core_hsalsa20 usuba_crypto_core_hsalsa20\n",
            "#define crypto_stream_xor usuba_crypto_stream_xor\n",
            "#define crypto_stream_salsa20_xor usuba_crypto_stream_salsa20_xor\n",
            "#define crypto_stream_xsalsa20_NONCEBYTES 24\n",
            "#define crypto_sign_ed25519_BYTES 64\n",
            "#define crypto_hash_PRIMITIVE \"sha512\"\n",
            "#define crypto_verify_32 usuba_crypto_verify_32\n",
        ] {
            assert!(names.contains(line), "{line}{names}");
        }
        let defined: Vec<&str> = names.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        let different: std::collections::BTreeSet<_> = defined.iter().collect();
        assert_eq!(defined.len(), different.len());
    }
}
