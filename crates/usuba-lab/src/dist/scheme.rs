//! What hand-written C makes of arithmetic: `scheme` in `cipher.toml`.
//!
//! ```text
//! curve25519   usuba_x25519 and usuba_ed25519_* around usuba_fe_*, usuba_sc_* and points
//! ```
//!
//! A scheme is a value of `Scheme` and an arm in [`Parts::of`]. Its C has loops over bits and blocks,
//! look-ups in tables, the order of bytes, and formats; every sum and product is a kernel.

use super::Folder;
use super::template::{self as t, fill};
use crate::cipher::Scheme;

/// The C of a scheme.
struct Parts {
    header: &'static str,
    code: &'static [&'static str],
}

impl Parts {
    fn of(scheme: Scheme) -> Parts {
        match scheme {
            Scheme::Curve25519 => Parts { header: t::CURVE25519_H, code: &[t::CURVE25519_FIELD] },
        }
    }
}

impl Folder<'_> {
    /// Declarations or definitions, with the arithmetic. Functions that belong to no cipher begin
    /// with `common`.
    pub fn scheme(&self, common: &str, header: bool) -> String {
        let Some(scheme) = self.cipher.scheme else { return String::new() };
        let comment = |text: &str| text.replace("*/", "* /");
        let (title, spec) = (comment(&self.cipher.title), comment(&self.cipher.spec));
        let values = [("TITLE", &*title), ("SPEC", &*spec), ("COMMON", common)];
        let parts = Parts::of(scheme);
        match header {
            true => fill(parts.header, &values),
            false => {
                let code: String = parts.code.iter().map(|part| fill(part, &values)).collect();
                self.arithmetic.clone() + &code
            }
        }
    }
}
