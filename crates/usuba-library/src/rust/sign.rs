//! Rust types for signatures from hash functions.

use super::super::template::{Value, context};
use super::items::Items;
use super::parts::Part;
use super::text::type_name;
use usuba_ciphers::{Sign, SignVector, Signed, to_hex};

/// Leaves of a signature, above which it takes too long for a test of the crate.
const LEAVES: usize = 400;

impl Items<'_> {
    /// All parameter sets.
    ///
    /// # Errors
    /// An unreadable file of test vectors.
    pub fn signs(&mut self) -> Result<(), String> {
        let cipher = self.folder.cipher;
        let Some(first) = cipher.signs.iter().min_by_key(|sign| sign.layers << sign.height) else {
            return Ok(());
        };
        self.parts.insert(Part::HashSignature);
        let work = self.folder.sign_work();
        self.sizes.push(("slh_dsa_work".into(), work));
        let values = context! { example => self.set_name(first), seed => 3 * first.n };
        self.add(rust!("api/signs.rs.in"), &[], &values);
        for sign in &cipher.signs {
            let Sign { name, n, .. } = sign;
            let values = context! {
                name, type => self.set_name(sign), n, bytes => sign.bytes(),
                work,
            };
            self.add(rust!("api/sign.rs.in"), &[rust!("ffi/sign.rs.in")], &values);
            if sign.layers << sign.height < LEAVES {
                let vectors = cipher.signs_of(sign)?;
                let answers = vectors.iter().filter_map(answer).collect();
                self.test("sign", &[rust!("tests/sign.rs.in")], answers, &values);
            }
        }
        Ok(())
    }

    /// The Rust type of a parameter set: its name behind the folder's.
    fn set_name(&self, sign: &Sign) -> String {
        let begin = format!("{}_", self.folder.name);
        let own = sign.name.strip_prefix(&begin).unwrap_or(&sign.name);
        type_name(own, &self.folder.cipher.title)
    }
}

/// A signature of a message as a test has it.
fn answer(vector: &SignVector) -> Option<Value> {
    let signed = vector.signed.as_ref().filter(|signed| signed.prehash.is_none())?;
    let Signed { context, message, random, digest, .. } = signed;
    let fields = [&vector.seed, &vector.public_key, context.as_ref()?, message, random, digest];
    Some(Value::from(fields.map(|bytes| to_hex(bytes)).to_vec()))
}
