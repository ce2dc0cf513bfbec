//! What hand-written C makes of arithmetic: `scheme` in `cipher.toml`.
//!
//! ```text
//! curve25519   usuba_x25519 and usuba_ed25519_* around usuba_fe_*, usuba_sc_* and points
//! ```
//!
//! A scheme is a value of `Scheme` and an arm in [`Parts::of`]. Its C has loops over bits and blocks,
//! look-ups in tables, the order of bytes, and formats; every sum and product is a kernel.

use super::Folder;
use super::tables;
use super::template::{self as t, fill};
use crate::cipher::Scheme;

/// The C of a scheme.
struct Parts {
    header: &'static str,
    code: &'static [&'static str],
    /// Texts for names in the code.
    values: fn() -> &'static [(String, String)],
}

impl Parts {
    fn of(scheme: Scheme) -> Parts {
        match scheme {
            Scheme::Curve25519 => Parts {
                header: t::CURVE25519_H,
                code: &[t::FIELD25519, t::POINT25519, t::X25519, t::ED25519],
                values: tables::tables,
            },
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
        let parts = Parts::of(scheme);
        let mut values = vec![("TITLE", &*title), ("SPEC", &*spec), ("COMMON", common)];
        if header {
            return fill(parts.header, &values);
        }
        values.extend((parts.values)().iter().map(|(name, text)| (&**name, &**text)));
        let code: String = parts.code.iter().map(|part| fill(part, &values)).collect();
        self.arithmetic.clone() + &code
    }
}
