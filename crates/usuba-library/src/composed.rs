//! Composed keystreams of two functions of a folder: `[[stream]]` in `cipher.toml`.
//!
//! ```text
//! xchacha20   hchacha20 derives a key from key and nonce, chacha20 the keystream under it
//! trivium     trivium_start derives a state from key and nonce, trivium_next steps states
//! ```

use super::Folder;
use super::interface::{Described, Description, Kind};
use super::template::{self as t, context};
use usuba_ciphers::Stream;

impl Folder<'_> {
    /// The primitive and operation of a function of the folder.
    pub(super) fn place(&self, function: &str) -> (usize, usize) {
        let inside = |at: usize| {
            let mut operations = self.compiled[at].primitive.operations.iter();
            let number = operations.position(|o| o.functions.iter().any(|f| f.name == function));
            Some((at, number?))
        };
        (0..self.compiled.len()).find_map(inside).expect("reading cipher.toml found it")
    }

    pub fn composed_kind(&self, stream: &Stream) -> Kind {
        let (first, then) = (self.place(&stream.first).0, self.place(&stream.then).0);
        match self.key_bytes(then) {
            0 => Kind::Running { start: first, next: then },
            _ => Kind::Extended { subkey: first, stream: then },
        }
    }

    /// The two operations of a keystream.
    fn both(&self, stream: &Stream) -> [Described; 2] {
        [&stream.first, &stream.then].map(|function| {
            let (at, number) = self.place(function);
            self.described(at, number)
        })
    }

    /// The keystreams of `[[stream]]`; their kinds refer to primitives by index in
    /// [`Folder::descriptions`].
    pub fn composed_descriptions(&self) -> Vec<Description> {
        let describe = |stream: &Stream| Description {
            name: stream.name.clone(),
            kind: self.composed_kind(stream),
            key: self.key_bytes(self.place(&stream.first).0),
            nonce: stream.nonce,
            operations: self.both(stream).to_vec(),
        };
        self.cipher.streams.iter().map(describe).collect()
    }

    /// Checks that the sizes of the two functions agree.
    ///
    /// # Errors
    /// One sentence on the sizes that disagree.
    pub fn check_streams(&self) -> Result<(), String> {
        for stream in &self.cipher.streams {
            let [first, then] = self.both(stream);
            let fits = match self.composed_kind(stream) {
                Kind::Extended { stream: at, .. } => {
                    let own = self.descriptions()[at].nonce;
                    first.output == self.key_bytes(at)
                        && (first.input..=first.input + own).contains(&stream.nonce)
                }
                _ => {
                    first.output == then.input
                        && then.output > then.input
                        && first.input == stream.nonce
                }
            };
            if !fits {
                let Stream { name, first, then, .. } = stream;
                return Err(format!("{name}: `{first}` and `{then}` have sizes that do not fit"));
            }
        }
        Ok(())
    }

    /// Declarations or definitions of all composed keystreams.
    pub fn composed(&self, common: &str, header: bool) -> String {
        self.cipher.streams.iter().map(|stream| self.one(stream, common, header)).collect()
    }

    fn one(&self, stream: &Stream, common: &str, header: bool) -> String {
        let [first, then] = self.both(stream);
        let (at, _) = self.place(&stream.then);
        let name = |function: &str| self.compiled[self.place(function).0].primitive.name.clone();
        let kind = self.composed_kind(stream);
        let inner = self.descriptions()[at].nonce;
        let rest = stream.nonce - first.input;
        let comment = |text: &str| text.replace("*/", "* /");
        let values = context! {
            title => comment(&self.cipher.title), spec => comment(&self.cipher.spec),
            about => self.about(at), name => &stream.name, upper => stream.name.to_uppercase(),
            common, key_bytes => self.key_bytes(self.place(&stream.first).0),
            nonce => stream.nonce, first => name(&stream.first),
            first_operation => format!("usuba_{}_operation", first.name),
            first_in => first.input, first_out => first.output, then => name(&stream.then),
            then_operation => format!("usuba_{}_operation", then.name),
            then_out => then.output, inner, rest, zeros => inner.saturating_sub(rest),
            part => then.output.saturating_sub(then.input), out_bytes => then.output,
        };
        let template = match (kind, header) {
            (Kind::Running { .. }, true) => t::RUNNING_H,
            (Kind::Running { .. }, false) => t::RUNNING_C,
            (_, true) => t::EXTENDED_H,
            (_, false) => t::EXTENDED_C,
        };
        template.render(values)
    }
}
