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
use super::tables;
use super::template::{self as t, fill};
use super::{arithmetic, includes, section};
use usuba_ciphers::Scheme;

/// The C files of a scheme.
struct Parts {
    header: &'static str,
    code: &'static [&'static str],
    /// Values of names in the template.
    values: fn() -> &'static [(String, String)],
    lanes: InLanes,
}

/// The C of a scheme on wide registers.
struct InLanes {
    /// The C dispatcher that replaces `WIDE` in the code.
    wide: &'static str,
    code: &'static str,
    /// The functions of `code` that the dispatcher calls, without the target suffix, and their
    /// parameters.
    functions: &'static [Declared],
    /// The C around kernels of one operation across the lanes, and its functions.
    across: Option<(&'static str, &'static [Declared])>,
}

/// A name and parameters in C.
type Declared = (&'static str, &'static str);

impl Parts {
    fn of(scheme: Scheme) -> Parts {
        match scheme {
            Scheme::Curve25519 => Parts {
                header: t::CURVE25519_H,
                code: &[t::FIELD25519, t::POINT25519, t::X25519, t::ED25519, t::CURVE25519_MANY],
                values: tables::tables,
                lanes: InLanes {
                    wide: t::CURVE25519_WIDE,
                    code: t::CURVE25519_LANES,
                    functions: &[
                        (
                            "usuba_x25519_lanes",
                            "uint8_t *out, const uint8_t *scalars, const uint8_t *points",
                        ),
                        (
                            "usuba_base_lanes",
                            "uint8_t *out, const uint64_t *digits, const uint64_t *comb, \
                             unsigned spacing",
                        ),
                        (
                            "usuba_public_lanes",
                            "uint8_t *out, const uint64_t *digits, const uint64_t *comb, \
                             unsigned spacing",
                        ),
                        (
                            "usuba_both_lanes",
                            "uint8_t *out, uint8_t *good, const uint8_t *keys, \
                             const int8_t *windows,\n    const uint64_t *digits, \
                             const uint64_t *comb, unsigned spacing",
                        ),
                    ],
                    across: Some((
                        t::CURVE25519_ACROSS,
                        &[(
                            "usuba_ladder_across",
                            "uint64_t *out, const uint64_t *scalar, const uint64_t *x",
                        )],
                    )),
                },
            },
            Scheme::Poly1305 => Parts {
                header: t::POLY1305_H,
                code: &[t::POLY1305],
                values: || &[],
                lanes: InLanes {
                    wide: t::POLY1305_WIDE,
                    code: t::POLY1305_LANES,
                    functions: &[(
                        "usuba_poly1305_lanes",
                        "uint64_t *sum, const uint64_t *powers, const uint8_t *in, size_t units",
                    )],
                    across: None,
                },
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
        let mut values = vec![("TITLE", &*title), ("SPEC", &*spec), ("COMMON", common)];
        let Some(backends) = backends else { return fill(parts.header, &values) };
        let wide = self.wide(&parts.lanes, backends, common);
        values.push(("WIDE", &*wide));
        values.extend((parts.values)().iter().map(|(name, text)| (&**name, &**text)));
        let code: String = parts.code.iter().map(|part| fill(part, &values)).collect();
        self.arithmetic.clone() + &code
    }

    /// The dispatcher of the functions in lanes; empty if there are none.
    fn wide(&self, lanes: &InLanes, backends: &[&'static Target], common: &str) -> String {
        if self.lanes.is_empty() {
            return String::new();
        }
        let across = lanes.across.map_or(&[][..], |(_, functions)| functions);
        let mut table = String::new();
        let none = ", NULL".repeat(lanes.functions.len() + across.len());
        let none = format!("    {{0{none}}},\n");
        for backend in backends {
            table += &match self.lanes_of(backend) {
                None => none.clone(),
                Some(target) => {
                    let own = lanes.functions.iter().map(|(name, _)| lanes_name(name, target));
                    let one = self.across.as_ref().map(|(target, _)| *target);
                    let one = one.filter(|target| includes(backend, target));
                    let one = across.iter().map(|(name, _)| match one {
                        Some(target) => lanes_name(name, target),
                        None => "NULL".to_string(),
                    });
                    let names: String = own.chain(one).map(|name| format!(", {name}")).collect();
                    let line = format!("    {{{}{names}}},\n", target.bits / 64);
                    let there =
                        section::processors(target).expect("wide registers are not anywhere");
                    format!("#if defined({there})\n{line}#else\n{none}#endif\n")
                }
            };
        }
        let count = backends.len().to_string();
        let values = [("TABLE", &*table), ("BACKENDS", &*count), ("COMMON", common)];
        format!("#if USUBA_WORD_BITS == 64\n{}#endif\n", fill(lanes.wide, &values))
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
        let InLanes { code, across, .. } = Parts::of(scheme).lanes;
        let here = |(own, _): &&(&Target, String)| own.name == target.name;
        let lanes = self.lanes.iter().find(here).map(|own| (own, code));
        let across = across.and_then(|(code, _)| Some((self.across.as_ref().filter(here)?, code)));
        let part = |((target, kernels), code): (&(&Target, String), &str)| {
            let (bytes, lanes) = ((target.bits / 8).to_string(), (target.bits / 64).to_string());
            let values = [
                ("LOCAL", local),
                ("COMMON", common),
                ("TARGET", target.name),
                ("REGISTER", target.register),
                ("BYTES", &*bytes),
                ("LANES", &*lanes),
            ];
            format!("\n#if USUBA_WORD_BITS == 64\n{kernels}{}#endif\n", fill(code, &values))
        };
        lanes.into_iter().chain(across).map(part).collect()
    }

    /// The declarations of the lane functions in other files.
    pub fn lanes_declared(&self) -> String {
        let Some(scheme) = self.cipher.scheme else { return String::new() };
        let InLanes { functions, across, .. } = Parts::of(scheme).lanes;
        let declare = |target: &'static Target, functions: &[Declared]| {
            let lines = functions.iter().map(|(name, parameters)| {
                let name = lanes_name(name, target);
                format!("extern USUBA_HIDDEN void {name}(\n    {parameters});\n")
            });
            section::guarded(section::processors(target), &lines.collect::<String>())
        };
        let lanes = self.lanes.iter().map(|(target, _)| declare(target, functions));
        let across = across.and_then(|(_, own)| Some(declare(self.across.as_ref()?.0, own)));
        lanes.chain(across).collect()
    }
}

/// The C name of a lane function on a target.
fn lanes_name(function: &str, target: &Target) -> String {
    format!("{function}_{}", target.name)
}
