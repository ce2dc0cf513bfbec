//! The error for a wrong answer, for `test`, `bench` and `dist` alike.
//!
//! ```text
//! vectors/aes128.txt:3: block 0 of `aes128_encrypt` differs from its known answer
//!   expected 69c4e0d86a7b0430d8cdb78070b4c55a
//!   found    d8e0c4693004…
//!            ^^^^^^^^^^^^
//!   the answer is right if the bytes of each word of `plain` are in the other order
//!   help: write `bytes = "le"` for `plain` in cipher.toml
//! ```

use crate::known::Known;
use crate::vectors::to_hex;
use crate::{Cipher, Function, Vector, readings};

/// Bytes in a line of an answer.
const ROW: usize = 32;

/// The end of the message where the vector is right.
const MISCOMPILED: &str = "\n  the compiled code is wrong\n  help: try another C compiler with --cc, \
                           and report it";

/// Both answers in full, with marks below the bytes that differ.
pub fn answers(expected: &[u8], found: &[u8]) -> String {
    let mut text = String::new();
    let bytes = expected.len().max(found.len());
    for at in (0..bytes).step_by(ROW) {
        let row =
            |bytes: &[u8]| bytes.get(at..).map_or(Vec::new(), |b| b[..b.len().min(ROW)].to_vec());
        let (want, got) = (row(expected), row(found));
        let mark = |at: usize| if want.get(at) == got.get(at) { "  " } else { "^^" };
        let marks: String = (0..want.len().max(got.len())).map(mark).collect();
        text += &format!("\n  expected {}\n  found    {}", to_hex(&want), to_hex(&got));
        if !marks.trim().is_empty() {
            text += &format!("\n           {}", marks.trim_end());
        }
    }
    text
}

/// The message that a block is wrong: the place of the vector and both answers.
pub fn wrong_block(
    place: &str,
    block: usize,
    function: &str,
    expected: &[u8],
    found: &[u8],
) -> String {
    let both = answers(expected, found);
    format!("{place}: block {block} of `{function}` differs from its known answer{both}")
}

impl Cipher {
    /// The message that compiled code answers `found` to a vector of its file, or to a
    /// [random one](Cipher::random_vectors), in block `block`. The reference semantics says whether
    /// the vector or the compiled code is at fault.
    pub fn wrong_compiled(
        &self,
        function: &Function,
        vector: &Vector,
        (block, found): (usize, &[u8]),
    ) -> String {
        if vector.line == 0 {
            let Vector { key, input, output, .. } = vector;
            let given = [("key", key), ("in", input)].into_iter().filter(|(_, b)| !b.is_empty());
            let given: String =
                given.map(|(name, b)| format!("\n  {name:8} {}", to_hex(b))).collect();
            return format!(
                "{}: block {block} of `{}` differs from the reference semantics{given}{}{MISCOMPILED}",
                self.folder.display(),
                function.name,
                answers(output, found)
            );
        }
        let place = self.place(&function.vectors, vector);
        let wrong = wrong_block(&place, block, &function.name, &vector.output, found);
        wrong + &self.judged(function, vector, found)
    }

    /// The judgement of the reference semantics on a compiled answer.
    fn judged(&self, function: &Function, vector: &Vector, found: &[u8]) -> String {
        let vectors = self.vectors(function).unwrap_or_default();
        let known = Known::new(self, function);
        let Ok(known) = known else { return String::new() };
        match known.answer(&vector.key, &vector.input) {
            Ok(answer) if answer == vector.output => {
                format!("\n  the reference semantics gives the expected bytes{MISCOMPILED}")
            }
            Ok(answer) if answer == found => readings::advice(&known, self, vector, &vectors),
            Ok(answer) => format!("\n  the reference semantics gives {}", to_hex(&answer)),
            Err(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn compiled_answers_are_judged_by_the_reference_semantics() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        let cipher = crate::read(&folder).expect("cipher.toml");
        let function = &cipher.functions[0];
        let vector = &cipher.vectors(function).expect("vectors")[0];
        let mut found = vector.output.clone();
        found[3] ^= 0x10;
        let fixed = cipher.wrong_compiled(function, vector, (7, &found));
        assert!(fixed.contains("rectangle80.txt:2: block 7 of `rectangle80_encrypt`"), "{fixed}");
        assert!(fixed.contains("\n                 ^^\n"), "{fixed}");
        assert!(
            fixed.contains("gives the expected bytes\n  the compiled code is wrong\n"),
            "{fixed}"
        );
        let random = cipher.random_vectors(function, 1, [2, 3]).expect("it is evaluated");
        assert_eq!((random.len(), random[0].key == random[3].key), (6, false));
        assert_ne!(random, cipher.random_vectors(function, 2, [2, 3]).expect("it is evaluated"));
        let wrong = cipher.wrong_compiled(function, &random[1], (1, &found));
        assert!(wrong.contains("differs from the reference semantics\n  key      "), "{wrong}");
        assert!(wrong.contains(&to_hex(&random[1].input)), "{wrong}");
    }
}
