//! Rust types for Skein with the traits of the crate `digest`.

use super::super::interface::Description;
use super::super::template::fill;
use super::items::Items;
use super::parts::Part;
use super::text::{hex, literal, type_name};
use usuba_ciphers::HashVector;

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
        let values = [
            ("NAME", name.to_string()),
            ("TYPE", type_name.clone()),
            ("BLOCK", block.to_string()),
            ("STATE", state.to_string()),
            ("TREE", tree.to_string()),
            ("KEY", literal(&[7; 32])),
            ("INPUT", literal(&shown.input)),
            ("LENGTH", shown.output.len().to_string()),
            ("SHOWN", SHOWN.min(shown.output.len()).to_string()),
            ("OUTPUT", literal(&shown.output[..SHOWN.min(shown.output.len())])),
        ];
        self.module += &fill(rust!("api/skein.rs.in"), &values);
        self.ffi += &fill(rust!("ffi/skein.rs.in"), &values);
        self.helpers.insert(rust!("tests/skein.rs.in"));
        let answer = |v: &HashVector| {
            let [a, b, c, d] = v.arguments.each_ref().map(|bytes| hex(bytes));
            let tree = if v.tree == [0; 3] { hex(&[]) } else { hex(&v.tree) };
            let (key, input, output) = (hex(&v.key), hex(&v.input), hex(&v.output));
            format!(
                "        ([{key}, {a}, {b}, {c}, {d}, {tree}], {input}, {}, {output}),\n",
                v.bits
            )
        };
        let list: String = vectors.iter().step_by(EVERY).map(answer).collect();
        let user = "@CRATE@::@MODULE@";
        self.tests += &format!(
            "\n#[test]\nfn {name}() {{\n    let answers = [\n{list}    ];\n    \
             skein(&answers, {user}::{name}_bits, {user}::{name}_many);\n}}\n"
        );
    }
}
