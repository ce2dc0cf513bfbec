//! Primitives and operations: groups the functions of a cipher folder by their specification.
//!
//! ```text
//! aes128_encrypt (B), aes128_encrypt_h (H)   vectors/aes128.txt, encrypt   one operation
//! aes128_decrypt (B), aes128_decrypt_h (H)   vectors/aes128.txt, decrypt   another one
//! aes128                                                                   their primitive
//! ```
//!
//! Functions with the same vectors and the same direction compute the same operation. Operations
//! whose names differ only in `_encrypt` and `_decrypt` form one primitive.

use usuba_ciphers::{Cipher, Direction, Function};

/// An operation with one or several implementations.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// The C name after the prefix: `aes128_encrypt`, `chacha20`, `gimli`.
    pub name: String,
    pub direction: Direction,
    /// The implementations; the first one names the operation.
    pub functions: Vec<&'a Function>,
}

/// Operations that share a name without direction.
#[derive(Clone, Debug)]
pub struct Primitive<'a> {
    /// `aes128`
    pub name: String,
    pub operations: Vec<Operation<'a>>,
}

impl Primitive<'_> {
    /// The operation of a direction.
    pub fn operation(&self, direction: Direction) -> Option<usize> {
        self.operations.iter().position(|operation| operation.direction == direction)
    }
}

/// Splits the name of a function into its stem and its direction suffix.
fn split(function: &Function) -> (&str, &str) {
    let name = &*function.name;
    for ending in ["_encrypt", "_decrypt"] {
        if let Some(base) = name.strip_suffix(ending) {
            return (base, ending);
        }
    }
    match function.counter {
        Some(_) => (name.strip_suffix("_block").unwrap_or(name), ""),
        None => (name, ""),
    }
}

/// The primitives of a folder, in the order of their functions.
pub fn primitives(cipher: &Cipher) -> Vec<Primitive<'_>> {
    let mut primitives: Vec<Primitive> = Vec::new();
    for function in &cipher.functions {
        let same = |operation: &&mut Operation| {
            let first = operation.functions[0];
            first.vectors == function.vectors
                && first.direction == function.direction
                && first.counter == function.counter
        };
        let mut operations = primitives.iter_mut().flat_map(|p| &mut p.operations);
        if let Some(operation) = operations.find(same) {
            operation.functions.push(function);
            continue;
        }
        let (base, ending) = split(function);
        let operation = Operation {
            name: format!("{base}{ending}"),
            direction: function.direction,
            functions: vec![function],
        };
        match primitives.iter_mut().find(|p| p.name == base) {
            Some(primitive) => primitive.operations.push(operation),
            None => {
                primitives.push(Primitive { name: base.to_string(), operations: vec![operation] })
            }
        }
    }
    primitives
}
