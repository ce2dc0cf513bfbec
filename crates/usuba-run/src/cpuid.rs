//! Processor identification: the CPU model of the machine that runs this program, by `CPUID`.
//!
//! ```text
//! vendor AuthenticAMD, family 25, model 17   →   zen4
//! ```
//!
//! Leaf 0 holds the vendor and leaf 1 the family and the model, both in two parts. Each CPU model of
//! the compiler lists the numbers of its processors. A hypervisor may give the numbers of an older
//! processor, so Intel processors with AVX512-FP16 (leaf 7) are Golden Cove, the first that had it.

use std::fmt;

use usuba::isa::cpu::{self, Cpu, Vendor};

/// The numbers of an x86 processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The twelve letters of the vendor.
    pub vendor: String,
    pub family: u16,
    pub model: u8,
    /// Whether it has AVX512-FP16.
    pub half_floats: bool,
}

impl Identity {
    /// The processor of this machine; `None` if it is no x86-64.
    #[cfg(target_arch = "x86_64")]
    pub fn here() -> Option<Identity> {
        // SAFETY: every processor with 64-bit mode has the instruction and these two leaves.
        #[allow(unused_unsafe)] // A safe function in newer versions of Rust.
        let leaf = |number: u32| unsafe { std::arch::x86_64::__cpuid(number) };
        let (name, numbers) = (leaf(0), leaf(1));
        let features = if name.eax >= 7 { leaf(7).edx } else { 0 };
        Some(Identity::new([name.ebx, name.edx, name.ecx], numbers.eax, features))
    }

    /// The processor of this machine; `None` if it is no x86-64.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn here() -> Option<Identity> {
        None
    }

    /// Decodes the vendor of leaf 0, the signature of leaf 1 and EDX of leaf 7.
    fn new(vendor: [u32; 3], signature: u32, features: u32) -> Identity {
        let letters: Vec<u8> = vendor.iter().flat_map(|word| word.to_le_bytes()).collect();
        let part = |low: u32, bits: u32| signature >> low & ((1 << bits) - 1);
        let (base, family) = (part(4, 4), part(8, 4));
        // The upper four bits of the model count in these families only.
        let more = if family == 6 || family == 15 { part(16, 4) << 4 } else { 0 };
        let extended = if family == 15 { part(20, 8) } else { 0 };
        Identity {
            vendor: String::from_utf8_lossy(&letters).into_owned(),
            family: (family + extended) as u16,
            model: (more + base) as u8,
            half_floats: features >> 23 & 1 == 1,
        }
    }

    /// The CPU model of this processor.
    ///
    /// # Errors
    /// No model lists the processor.
    pub fn cpu(&self) -> Result<&'static Cpu, String> {
        let vendor = Vendor::named(&self.vendor);
        let found = vendor.and_then(|vendor| cpu::of_machine(vendor, self.family, self.model));
        let is_masked = found.is_some() && vendor == Some(Vendor::Intel) && self.half_floats;
        let found = if is_masked { Some(&cpu::GOLDEN_COVE) } else { found };
        found.ok_or_else(|| {
            format!("no CPU model lists this processor ({self}); help: name one of {}", names())
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, family {}, model {}", self.vendor, self.family, self.model)
    }
}

/// The CPU model of this machine.
///
/// # Errors
/// The machine is no x86-64, or no model lists its processor.
pub fn native() -> Result<&'static Cpu, String> {
    match Identity::here() {
        Some(identity) => identity.cpu(),
        None => {
            let arch = std::env::consts::ARCH;
            Err(format!(
                "`native` knows x86-64 processors only, and this is {arch}; help: name one of {}",
                names()
            ))
        }
    }
}

fn names() -> String {
    let names: Vec<&str> = cpu::ALL.iter().map(|cpu| cpu.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMD: [u32; 3] = [0x6874_7541, 0x6974_6e65, 0x444d_4163];
    const INTEL: [u32; 3] = [0x756e_6547, 0x4965_6e69, 0x6c65_746e];

    #[test]
    fn signatures_have_extended_parts() {
        for (vendor, signature, text, cpu) in [
            (AMD, 0x00a1_0f11, "AuthenticAMD, family 25, model 17", Some("zen4")),
            (AMD, 0x0083_0f10, "AuthenticAMD, family 23, model 49", Some("zen2")),
            (INTEL, 0x0005_0654, "GenuineIntel, family 6, model 85", Some("skylake-x")),
            (INTEL, 0x000b_06e0, "GenuineIntel, family 6, model 190", Some("gracemont")),
            (INTEL, 0x0003_06c3, "GenuineIntel, family 6, model 60", None),
        ] {
            let identity = Identity::new(vendor, signature, 0);
            assert_eq!(identity.to_string(), text);
            assert_eq!(identity.cpu().ok().map(|cpu| cpu.name), cpu);
        }
    }

    #[test]
    fn a_hidden_model_is_found_by_its_instructions() {
        for (vendor, signature, cpu) in [
            (INTEL, 0x000a_0671, Some("golden-cove")),
            (INTEL, 0x0008_06f8, Some("golden-cove")),
            (INTEL, 0x0003_06c3, None),
            (AMD, 0x00a1_0f11, Some("zen4")),
        ] {
            let identity = Identity::new(vendor, signature, 1 << 23);
            assert_eq!(identity.cpu().ok().map(|cpu| cpu.name), cpu, "{identity}");
        }
    }

    #[test]
    fn an_unknown_processor_is_named() {
        let why = Identity::new(INTEL, 0x0003_06c3, 0).cpu().expect_err("no model of it");
        assert!(why.contains("family 6, model 60") && why.contains("zen4"), "{why}");
        assert_eq!(why.lines().count(), 1);
    }
}
