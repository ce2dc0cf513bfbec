//! Rust types for Skein with the traits of the crate `digest`.

use super::super::interface::Description;
use super::super::template::context;
use super::items::Items;
use super::parts::Part;
use super::text::{literal, type_name};
use usuba_ciphers::{HashVector, to_hex};

/// Levels of a tree above its leaves, as in `lib/c/api/skein_shared.h`.
const LEVELS: usize = 60;

/// One vector out of this many becomes a test of the crate.
const EVERY: usize = 5;

/// Bytes of a result in examples.
const SHOWN: usize = 16;

impl Items<'_> {
    /// A hash function of the mode Skein.
    pub fn skein(&mut self, description: &Description, vectors: &[HashVector]) {
        let name = &*description.name;
        let link = &description.operations[0];
        let (chain, block) = (link.output, link.input - link.output);
        let type_name = type_name(name, &self.folder.cipher.title);
        let (state, tree) = (chain + block, (LEVELS + 1) * (chain + block) + block);
        self.parts.insert(Part::Skein);
        self.hashes.push((format!("{name}_state"), state));
        self.hashes.push((format!("{name}_tree"), tree));
        // The plain hash function of the shortest message that can be split.
        let plain = |v: &&HashVector| {
            let none = v.key.is_empty() && v.arguments.iter().all(Vec::is_empty);
            none && v.tree == [0; 3] && v.bits == 0 && v.output.len() == block && v.input.len() > 1
        };
        let empty = HashVector::default();
        let shown = vectors.iter().filter(plain).min_by_key(|v| v.input.len()).unwrap_or(&empty);
        let values = context! {
            name, type => type_name, block, state, tree, key => literal(&[7; 32]),
            input => literal(&shown.input), length => shown.output.len(),
            shown => SHOWN.min(shown.output.len()),
            output => literal(&shown.output[..SHOWN.min(shown.output.len())]),
        };
        let answer = |v: &HashVector| {
            let [a, b, c, d] = v.arguments.each_ref().map(|bytes| to_hex(bytes));
            let tree = if v.tree == [0; 3] { String::new() } else { to_hex(&v.tree) };
            context! {
                parameters => vec![to_hex(&v.key), a, b, c, d, tree], input => to_hex(&v.input),
                bits => v.bits, output => to_hex(&v.output),
            }
        };
        let answers = vectors.iter().step_by(EVERY).map(answer).collect();
        self.add(rust!("api/skein.rs.in"), &[rust!("ffi/skein.rs.in")], &values);
        self.test("parameters", &[rust!("tests/skein.rs.in")], answers, &values);
    }
}
