//! NaCl library generator: cipher folders in one C file, with the API of NaCl over them.
//!
//! ```text
//! usuba-nacl.c, usuba-nacl.h     the folders of lib/c/nacl/nacl.toml, and the rest of lib/c/nacl
//! usuba-nacl-random.c            the system's random numbers, for users without `randombytes`
//! CMakeLists.txt, *.in           a library of it
//! ```

use std::path::Path;

use serde::Deserialize;

use super::manifest::Form;
use super::template::{self as t, context};
use super::write::{Compiled, File, OneFile, PREFIX, Written, apart, banner, renamed, version};
use super::{Folder, Request};
use usuba_ciphers::Cipher;

/// `nacl.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    folder: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    /// The functions that NaCl uses; empty for all functions.
    #[serde(default)]
    only: Vec<String>,
}

/// Reads the cipher folders of NaCl below `root`, restricted to its functions.
///
/// # Errors
/// The errors of [`usuba_ciphers::read`].
pub fn nacl_ciphers(root: &Path) -> Result<Vec<Cipher>, String> {
    let list: List = toml::from_str(t::NACL_LIST).expect("the list is part of this program");
    let read = |Listed { name, only }: &Listed| {
        let mut cipher: Cipher = usuba_ciphers::read(&root.join(name))?;
        cipher.minimal = true;
        if !only.is_empty() {
            cipher.functions.retain(|function| only.contains(&function.name));
        }
        Ok(cipher)
    };
    list.folder.iter().map(read).collect()
}

/// Generates NaCl from its cipher folders.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn nacl(
    request: &Request,
    ciphers: &[Cipher],
    done: &mut dyn FnMut(&str),
) -> Result<Written, String> {
    let backends = super::backends(&request.targets, ciphers);
    let new = |cipher| {
        let folder = Folder::new(cipher, &backends, "static ", true)?;
        done(&folder.name);
        Ok(folder)
    };
    let folders = ciphers.iter().map(new).collect::<Result<Vec<_>, String>>()?;
    let package = renamed(PREFIX, request).trim_end_matches('_').replace('_', "-") + "-nacl";
    let header = t::NACL_H.render(context! { prefix => PREFIX, file => &package }) + t::NACL_NAMES;
    let code = t::NACL_C.render(context! { common => format!("{PREFIX}nacl_") });
    let about = "NaCl in one file; compile it with any C or C++ compiler";
    let file = OneFile { name: "nacl", about, header: &header, code: &code };
    let (files, extents) = file.write(request, &backends, &folders, &package);
    let mut files = apart(files)?;
    let random = banner("random numbers for NaCl", request) + t::NACL_RANDOM;
    files.push(File { path: format!("{package}-random.c"), text: random });
    let version = version(&request.version);
    let underscored = package.replace('-', "_");
    let description = "NaCl: boxes, secret boxes and signatures";
    let values = context! { version, package => &package, name => underscored, description };
    for (path, template) in [
        ("CMakeLists.txt".to_string(), t::NACL_CMAKE),
        (format!("{package}-config.cmake.in"), t::CMAKE_CONFIG),
        (format!("{package}.pc.in"), t::PKG_CONFIG),
    ] {
        files.push(File { path, text: template.render(values.clone()) });
    }
    let (asked, form, package) = (ciphers, Form::Nacl, &*package);
    let (backends, folders) = (&backends, &folders);
    Compiled { request, form, package, asked, backends, folders }.written(files, extents)
}
