//! `usuba.load`: the C of a cipher, with the facts that bind its functions.

use std::collections::BTreeSet;

use pyo3::prelude::*;
use usuba_ciphers::{Cipher, Library, with_needs};
use usuba_library::declarations::{self, Access, Memory};
use usuba_library::size::Size;
use usuba_library::{Kind, Request, single, usual};

use crate::failure::run;
use crate::source;

/// A size in bytes: coefficients with the names of parameters that they are multiplied by, and the
/// divisor of their sum.
type Bytes = (Vec<(i64, Vec<String>)>, u64);

/// A parameter of C: name, type, and for a pointer the bytes behind it, whether the function writes
/// them, and whether they are pointers themselves.
type Parameter = (String, String, Option<(Bytes, bool, bool)>);

/// A function of C: name, result, and parameters.
type Function = (String, String, Vec<Parameter>);

/// A struct that callers fill: name, bytes, and its fields with name, type, offset, and for a pointer
/// the bytes behind it.
type Struct = (String, u64, Vec<(String, String, u64, Option<Bytes>)>);

/// A primitive: name, kind, bytes of the key, bytes of the nonce, and its operations by name, with
/// the bytes of a block before and after.
type Primitive = (String, &'static str, usize, usize, Vec<(String, usize, usize)>);

/// Files with paths and texts, primitives, functions, and structs.
type Written = (Vec<(String, String)>, Vec<Primitive>, Vec<Function>, Vec<Struct>);

/// The prefix of all names in C.
const PREFIX: &str = "usuba_";

/// Compares the functions of a cipher folder with their test vectors.
#[pyfunction]
pub fn verify(py: Python<'_>, name: String) -> PyResult<()> {
    run(py, move || {
        let cipher = Library::default().named(&name)?;
        let ciphers = with_needs(std::slice::from_ref(&cipher))?;
        ciphers.iter().try_for_each(|cipher: &Cipher| cipher.verify(None))?;
        Ok(())
    })
}

/// Writes a cipher folder as one C file.
#[pyfunction]
pub fn dist(py: Python<'_>, name: String, targets: Vec<String>) -> PyResult<Written> {
    run(py, move || {
        let cipher = Library::default().named(&name)?;
        let targets = match targets.is_empty() {
            true => usual(),
            false => targets.iter().map(|name| source::target(name)).collect::<Result<_, _>>()?,
        };
        let request = Request {
            targets,
            prefix: PREFIX.to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            functions: Vec::new(),
        };
        let written = single(&request, &cipher, None)?;
        let files = written.files.into_iter().map(|file| (file.path, file.text)).collect();
        let described = written.primitives.iter().map(|one| {
            // The operations of a composed keystream are the functions of other primitives.
            let composed = matches!(one.kind, Kind::Extended { .. } | Kind::Running { .. });
            let operations = one.operations.iter().filter(|_| !composed);
            let operations = operations.map(|own| (own.name.clone(), own.input, own.output));
            (one.name.clone(), kind(one.kind), one.key, one.nonce, operations.collect())
        });
        let mut primitives: Vec<Primitive> = described.collect();
        let functions = written.manifest.functions;
        complete(&mut primitives, &functions);
        let filled = written
            .manifest
            .structs
            .into_iter()
            .filter(|own| own.fields.iter().any(|field| field.memory.is_some()));
        let structs = filled.map(|own| {
            let fields = own.fields.into_iter().map(|field| {
                let behind = field.memory.map(|memory| bytes(&memory.bytes));
                (field.name, field.c_type, field.offset, behind)
            });
            (own.name, own.size, fields.collect())
        });
        Ok((files, primitives, functions.into_iter().map(function).collect(), structs.collect()))
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

/// Adds the primitives that only their functions show, such as HMAC, Poly1305, and hash functions
/// of other folders, and makes a hash function with a tag and its check a MAC.
fn complete(primitives: &mut Vec<Primitive>, functions: &[declarations::Function]) {
    let stems = functions.iter().filter_map(|function| function.name.strip_prefix(PREFIX));
    let names: BTreeSet<&str> = stems.collect();
    let shapes: [(&str, &[&str], &str); 5] = [
        ("_tag", &["_check"], "mac"),
        ("_hash", &["_begin", "_update"], "hash"),
        ("_xof", &["_begin", "_update"], "hash"),
        ("_seal", &["_open", "_init"], "seal"),
        ("_sign", &["_verify", "_keypair_from_seed"], "sign"),
    ];
    for function in functions {
        let Some(name) = function.name.strip_prefix(PREFIX) else { continue };
        for (end, others, kind) in shapes {
            let Some(stem) = name.strip_suffix(end) else { continue };
            if !others.iter().all(|other| names.contains(&*format!("{stem}{other}"))) {
                continue;
            }
            match primitives.iter_mut().find(|primitive| primitive.0 == stem) {
                Some(known) if known.1 == "hash" => known.1 = kind,
                Some(_) => {}
                None => primitives.push((stem.to_string(), kind, 0, 0, Vec::new())),
            }
        }
    }
}

fn bytes(size: &Size) -> Bytes {
    (size.terms().map(|(factor, names)| (factor, names.to_vec())).collect(), size.divisor())
}

fn function(function: declarations::Function) -> Function {
    let behind = |memory: &Memory| {
        (bytes(&memory.bytes), memory.access != Access::Read, memory.each.is_some())
    };
    let parameters = function.parameters.into_iter().map(|parameter| {
        let memory = parameter.memory.as_ref().map(behind);
        (parameter.name, parameter.c_type, memory)
    });
    (function.name, function.returns, parameters.collect())
}
