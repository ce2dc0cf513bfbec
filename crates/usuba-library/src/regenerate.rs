//! Regeneration of an output from its manifest and the cipher folders.
//!
//! Only the request in a manifest is read, and each part of it is checked before use. Names of
//! folders are looked up among cipher folders and are not part of any path before. The output must
//! have the same manifest.

use std::path::Path;

use usuba::isa;
use usuba_ciphers::{Cipher, files};

use super::Request;
use super::manifest::{Form, Manifest, name};
use super::nacl::{nacl, nacl_ciphers};
use super::write::{Written, library, single};

/// Writes the output of a manifest again from the cipher folders below `root`.
///
/// # Errors
/// The request is malformed, a folder is missing, a cipher does not compile, or the output has
/// another manifest; the message has both.
pub fn regenerate(manifest: &Manifest, root: &Path) -> Result<Written, String> {
    let request = request(manifest)?;
    let ciphers = match manifest.form {
        Form::Nacl => nacl_ciphers(root)?,
        _ => folders(&manifest.folders, root)?,
    };
    let (package, done) = (&manifest.package, &mut |_: &str| ());
    let written = match (manifest.form, &ciphers[..]) {
        (Form::Single, [cipher]) => single(&request, cipher, Some(package))?,
        (Form::Nacl, ciphers) => nacl(&request, ciphers, done)?,
        (Form::Library, ciphers) => library(&request, ciphers, done)?,
        (Form::Single, _) => {
            let count = ciphers.len();
            return Err(format!("found {count} folders in the manifest of one C file, expected 1"));
        }
    };
    match difference(&manifest.text(), &written.manifest.text()) {
        None => Ok(written),
        Some(difference) => Err(format!(
            "the sources make another `{}`: {difference}; help: write the output again by `usubac \
             dist`",
            written.manifest.path()
        )),
    }
}

/// The first difference of two manifests.
fn difference(old: &str, new: &str) -> Option<String> {
    let end = || std::iter::once("the end");
    let mut place = "the beginning";
    for (old, new) in old.lines().chain(end()).zip(new.lines().chain(end())) {
        if old != new {
            return Some(format!("behind `{place}`, found `{old}`, expected `{new}`"));
        }
        if ["path", "symbol", "name"].iter().any(|key| old.starts_with(key)) {
            place = old;
        }
    }
    None
}

/// The request of a manifest.
fn request(manifest: &Manifest) -> Result<Request, String> {
    let Manifest { version, prefix, package, targets, only, .. } = manifest;
    let own = env!("CARGO_PKG_VERSION");
    if version != own {
        return Err(format!(
            "found version {version:?} in the manifest, expected {own:?}; help: write the output \
             again by this `usubac`"
        ));
    }
    if !is_prefix(prefix) {
        return Err(format!(
            "found the prefix {prefix:?}, expected letters, digits and `_`, a letter first"
        ));
    }
    if !is_stem(package) {
        return Err(format!(
            "found the package {package:?}, expected letters, digits, `_`, `-`, `.` and `+`"
        ));
    }
    let find = |name: &String| {
        isa::find(name).ok_or_else(|| {
            format!("found the target {name:?}, expected a line of `usubac --print targets`")
        })
    };
    let targets = targets.iter().map(find).collect::<Result<_, _>>()?;
    let (prefix, version) = (prefix.clone(), version.clone());
    Ok(Request { targets, prefix, version, functions: only.clone() })
}

/// Whether names may begin with a text.
fn is_prefix(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text can be the name of files: it appears in an `#include`.
pub fn is_stem(text: &str) -> bool {
    !text.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-.+".contains(c))
}

/// The cipher folders of these names below `root`.
fn folders(names: &[String], root: &Path) -> Result<Vec<Cipher>, String> {
    let fail = |error: std::io::Error| format!("cannot read {}: {error}", root.display());
    let there = files::entries(root).map_err(fail)?;
    let find = |wanted: &String| {
        let found = there.iter().find(|folder| name(folder) == *wanted);
        let found = found.filter(|folder| usuba_ciphers::is_cipher(folder));
        found.ok_or_else(|| {
            format!(
                "found the folder {wanted:?} in the manifest, expected a cipher folder below {}; \
                 help: `--ciphers` names the folder of the cipher folders",
                root.display()
            )
        })
    };
    names.iter().map(|name| usuba_ciphers::read(find(name)?)).collect()
}
