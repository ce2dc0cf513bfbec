//! Schemes in hand-written C around generated arithmetic: `scheme` in `cipher.toml`.
//!
//! ```text
//! curve25519   usuba_x25519 and usuba_ed25519_* around usuba_fe_*, usuba_sc_* and points
//! poly1305     usuba_poly1305_* around usuba_poly_*
//!              both also in lanes on wide registers, and one Montgomery ladder across them
//! ```
//!
//! A scheme consists of a value of `Scheme` and an arm in [`Parts::of`]. Its C contains loops over
//! bits and blocks, table look-ups, byte orders and formats; every addition and multiplication is a
//! kernel.

use usuba::isa::Target;

use super::Folder;
use super::arithmetic::Kernels;
use super::dense::{Dense, dense};
use super::tables;
use super::template::{self as t, Template, Value, context};
use super::{arithmetic, includes, section};
use usuba_ciphers::Scheme;

/// The C files of a scheme.
struct Parts {
    header: Template,
    /// C without names to be filled in, above the code.
    plain: &'static str,
    code: &'static [Template],
    /// The header and the code of functions that a minimal library leaves out.
    more: [&'static str; 2],
    /// Whether the code has the tables of a curve.
    tables: bool,
    /// The dispatcher of functions in lanes, which is part of the code.
    wide: Template,
    lanes: InLanes,
    /// The C around kernels of one operation across the lanes.
    across: Option<InLanes>,
}

/// Functions on wide registers.
struct InLanes {
    /// The declarations for other files.
    header: Template,
    code: Template,
}

impl Parts {
    fn of(scheme: Scheme) -> Parts {
        match scheme {
            Scheme::Curve25519 => Parts {
                header: t::CURVE25519_H,
                plain: t::FIELD25519,
                code: &[t::POINT25519, t::X25519, t::ED25519, t::CURVE25519_MANY],
                more: [t::CURVE25519_BATCH_H, t::CURVE25519_BATCH],
                tables: true,
                wide: t::CURVE25519_WIDE,
                lanes: InLanes { header: t::CURVE25519_LANES_H, code: t::CURVE25519_LANES },
                across: Some(InLanes {
                    header: t::CURVE25519_ACROSS_H,
                    code: t::CURVE25519_ACROSS,
                }),
            },
            Scheme::Poly1305 => Parts {
                header: t::POLY1305_H,
                plain: "",
                code: &[t::POLY1305],
                more: [""; 2],
                tables: false,
                wide: t::POLY1305_WIDE,
                lanes: InLanes { header: t::POLY1305_LANES_H, code: t::POLY1305_LANES },
                across: None,
            },
        }
    }
}

impl Folder<'_> {
    /// Declarations, or definitions for backends, with the arithmetic. Functions outside every
    /// cipher start with `common`.
    pub fn scheme(&self, common: &str, backends: Option<&[&'static Target]>) -> String {
        let Some(scheme) = self.cipher.scheme else { return String::new() };
        let comment = |text: &str| text.replace("*/", "* /");
        let (title, spec) = (comment(&self.cipher.title), comment(&self.cipher.spec));
        let parts = Parts::of(scheme);
        let values = context! { title, spec, common };
        let [header, code] = if self.cipher.minimal { [""; 2] } else { parts.more };
        let Some(backends) = backends else { return parts.header.render(values) + header };
        let tables = parts.tables.then(|| Value::from(tables::tables()));
        let values = context! {
            ..context! { wide => self.wide(parts.wide, backends, common) },
            ..values,
            ..tables.unwrap_or(context! {}),
        };
        let Dense { macros, text, end } = dense(&self.arithmetic.text);
        let scheme = t::render(parts.code, &values);
        format!("{macros}{text}{end}{}{scheme}{code}", parts.plain)
    }

    /// The dispatcher of the functions in lanes; empty if there are none.
    fn wide(&self, template: Template, backends: &[&'static Target], common: &str) -> String {
        if self.lanes.is_empty() {
            return String::new();
        }
        let row = |backend: &&'static Target| {
            let one = self.across.as_ref().map(|(target, _)| *target);
            let across = one.filter(|target| includes(backend, target)).map(|target| target.name);
            match self.lanes_of(backend) {
                None => context! { guard => "" },
                Some(target) => context! {
                    guard => section::processors(target), lanes => target.bits / 64,
                    target => target.name, across,
                },
            }
        };
        let rows: Vec<Value> = backends.iter().map(row).collect();
        let text = template.render(context! { rows, backends => backends.len(), common });
        format!("#if USUBA_WORD_BITS == 64\n{text}#endif\n")
    }

    /// The target of a backend's lane kernels: the backend itself or its base.
    fn lanes_of(&self, backend: &'static Target) -> Option<&'static Target> {
        let all = || self.lanes.iter().map(|(target, _)| *target);
        let plain = |target: &'static Target| arithmetic::plain(target).name;
        let own = self.cipher.lanes.as_ref()?;
        all().find(|target| target.name == backend.name).or_else(|| {
            all().find(|target| plain(target) == plain(backend) && !own.is_special(target))
        })
    }

    /// The functions in lanes of one target; empty if there are none.
    pub fn in_lanes(&self, target: &Target, local: &str, common: &str) -> String {
        let Some(scheme) = self.cipher.scheme else { return String::new() };
        let Parts { lanes, across, .. } = Parts::of(scheme);
        let here = |(own, _): &&(&Target, Kernels)| own.name == target.name;
        let lanes = self.lanes.iter().find(here).map(|own| (own, lanes.code));
        let across = across.and_then(|own| Some((self.across.as_ref().filter(here)?, own.code)));
        let part = |((target, kernels), code): (&(&Target, Kernels), Template)| {
            let text = code.render(context! {
                local, common, target => target.name, register => target.register,
                bytes => target.bits / 8, lanes => target.bits / 64,
            });
            format!("\n#if USUBA_WORD_BITS == 64\n{}{text}#endif\n", kernels.text)
        };
        lanes.into_iter().chain(across).map(part).collect()
    }

    /// The declarations of the lane functions in other files.
    pub fn lanes_declared(&self) -> String {
        let Some(scheme) = self.cipher.scheme else { return String::new() };
        let Parts { lanes, across, .. } = Parts::of(scheme);
        let declare = |target: &'static Target, header: Template| {
            let text = header.render(context! { target => target.name });
            section::guarded(section::processors(target), &text)
        };
        let lanes = self.lanes.iter().map(|(target, _)| declare(target, lanes.header));
        let across = across.and_then(|own| Some(declare(self.across.as_ref()?.0, own.header)));
        lanes.chain(across).collect()
    }
}
