//! Processor identification: the CPU model for the numbers that a processor names itself by.
//!
//! ```text
//! AuthenticAMD, family 25, model 17   →   zen4
//! ```
//!
//! The numbers are the vendor, the family and the model of x86, as `CPUID` leaf 1 gives them with
//! their extensions added. Reading them is left to the caller, because this library has no side
//! effects.

use super::{ALL, Cpu};

/// A vendor of x86 processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vendor {
    Amd,
    Intel,
}

impl Vendor {
    /// The vendor with this text of twelve letters in `CPUID` leaf 0.
    pub fn named(text: &str) -> Option<Vendor> {
        match text {
            "AuthenticAMD" => Some(Vendor::Amd),
            "GenuineIntel" => Some(Vendor::Intel),
            _ => None,
        }
    }
}

/// Processors of one family: all models from the first to the last of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Models {
    pub vendor: Vendor,
    pub family: u16,
    /// The first and the last model.
    pub range: (u8, u8),
}

/// Models of AMD's `family` from `first` to `last`.
pub const fn amd(family: u16, first: u8, last: u8) -> Models {
    Models { vendor: Vendor::Amd, family, range: (first, last) }
}

/// One model of Intel's family 6.
pub const fn intel(model: u8) -> Models {
    Models { vendor: Vendor::Intel, family: 6, range: (model, model) }
}

/// The CPU model of a processor, if one of [`ALL`] lists it.
pub fn of_machine(vendor: Vendor, family: u16, model: u8) -> Option<&'static Cpu> {
    let is = |m: &Models| {
        m.vendor == vendor && m.family == family && (m.range.0..=m.range.1).contains(&model)
    };
    ALL.iter().copied().find(|cpu| cpu.machines.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_processor_has_two_models() {
        let listed = || ALL.iter().flat_map(|cpu| cpu.machines.iter().map(move |m| (cpu.name, m)));
        for (at, (name, a)) in listed().enumerate() {
            assert!(a.range.0 <= a.range.1, "{name}: {a:?}");
            for (other, b) in listed().skip(at + 1) {
                let same = a.vendor == b.vendor && a.family == b.family;
                let apart = a.range.1 < b.range.0 || b.range.1 < a.range.0;
                assert!(!same || apart, "{name}: {a:?}, {other}: {b:?}");
            }
        }
    }

    #[test]
    fn processors_are_found_by_their_numbers() {
        let name = |vendor, family, model| of_machine(vendor, family, model).map(|cpu| cpu.name);
        for (family, model, cpu) in [
            (0x17, 0x31, Some("zen2")),
            (0x17, 0x71, Some("zen2")),
            // Zen.
            (0x17, 0x01, None),
            (0x19, 0x01, Some("zen3")),
            (0x19, 0x21, Some("zen3")),
            (0x19, 0x11, Some("zen4")),
            (0x19, 0x61, Some("zen4")),
            (0x1a, 0x02, Some("zen5")),
            (0x1a, 0x44, Some("zen5")),
        ] {
            assert_eq!(name(Vendor::Amd, family, model), cpu, "{family:#x} {model:#x}");
        }
        for (model, cpu) in [
            (0x5e, Some("skylake")),
            (0x55, Some("skylake-x")),
            (0x6a, Some("ice-lake-server")),
            (0xa7, Some("ice-lake")),
            (0x8f, Some("golden-cove")),
            (0xbe, Some("gracemont")),
            // Haswell.
            (0x3c, None),
        ] {
            assert_eq!(name(Vendor::Intel, 6, model), cpu, "{model:#x}");
        }
        assert_eq!(name(Vendor::Intel, 0x19, 0x11), None);
        assert_eq!(Vendor::named("AuthenticAMD"), Some(Vendor::Amd));
        assert_eq!(Vendor::named("CentaurHauls"), None);
    }
}
