//! `usuba.load`: the C of a cipher, with the facts that bind its functions.

use pyo3::prelude::*;
use usuba_ciphers::{Cipher, Library, with_needs};
use usuba_library::{Kind, Request, single, usual};

use crate::failure::run;
use crate::source;

/// A function of C: name, result, and the C types of its parameters.
type Function = (String, String, Vec<String>);

/// A primitive: name, kind, bytes of the key, bytes of the nonce, and its operations by name, with
/// the bytes of a block before and after.
type Primitive = (String, &'static str, usize, usize, Vec<(String, usize, usize)>);

/// Files with paths and texts, primitives, and functions.
type Written = (Vec<(String, String)>, Vec<Primitive>, Vec<Function>);

/// Writes a cipher folder as one C file, after its functions agree with their test vectors.
#[pyfunction]
pub fn dist(py: Python<'_>, name: String, targets: Vec<String>) -> PyResult<Written> {
    run(py, move || {
        let cipher = Library::default().named(&name)?;
        let targets = match targets.is_empty() {
            true => usual(),
            false => targets.iter().map(|name| source::target(name)).collect::<Result<_, _>>()?,
        };
        let ciphers = with_needs(std::slice::from_ref(&cipher))?;
        ciphers.iter().try_for_each(|cipher: &Cipher| cipher.verify(None))?;
        let request = Request {
            targets,
            prefix: "usuba_".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            functions: Vec::new(),
        };
        let written = single(&request, &cipher, None)?;
        let files = written.files.into_iter().map(|file| (file.path, file.text)).collect();
        let primitives = written.primitives.iter().map(|one| {
            // The operations of a composed keystream are the functions of other primitives.
            let composed = matches!(one.kind, Kind::Extended { .. } | Kind::Running { .. });
            let operations = one.operations.iter().filter(|_| !composed);
            let operations = operations.map(|own| (own.name.clone(), own.input, own.output));
            (one.name.clone(), kind(one.kind), one.key, one.nonce, operations.collect())
        });
        let primitives = primitives.collect();
        let functions = written.manifest.functions.into_iter().map(|function| {
            let types = function.parameters.into_iter().map(|one| one.c_type);
            (function.name, function.returns, types.collect())
        });
        Ok((files, primitives, functions.collect()))
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Stream(_) | Kind::Extended { .. } => "stream",
        Kind::Running { .. } => "running",
        Kind::Block { .. } => "block",
        Kind::Tweakable { .. } => "tweakable",
        Kind::Keyed => "keyed",
        Kind::Permutation => "permutation",
        Kind::Hash(_) => "hash",
        Kind::Seal(_) => "seal",
        Kind::Mac => "mac",
        Kind::Sign(_) => "sign",
        Kind::Chained | Kind::Unkeyed => "unkeyed",
    }
}
