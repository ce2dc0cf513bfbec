//! Processor identification: the model name of this machine.

use std::fs;

/// The model as the system names it; the architecture if it names none.
pub fn model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    from_cpuinfo(&text).unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

/// The line of x86 and of some ARM systems that names the model.
fn from_cpuinfo(text: &str) -> Option<String> {
    let field = |name: &str| {
        let line =
            text.lines().find(|line| line.split(':').next().is_some_and(|n| n.trim() == name));
        line?.split_once(':').map(|(_, value)| value.trim().to_string())
    };
    let named = field("model name").filter(|name| !name.is_empty());
    // Other ARM systems give the numbers of implementer and part.
    named.or_else(|| Some(format!("arm {} {}", field("CPU implementer")?, field("CPU part")?)))
}

/// A model as part of a file name: lower case, hyphens, without marks and frequencies.
pub fn slug(model: &str) -> String {
    let lower = model.to_ascii_lowercase();
    let plain = lower.split(" @ ").next().unwrap_or_default();
    let plain = plain.replace("(r)", " ").replace("(tm)", " ");
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| !["cpu", "processor"].contains(word)).collect();
    match words.is_empty() {
        true => std::env::consts::ARCH.to_string(),
        false => words.join("-"),
    }
}

/// Whether a user's name has the form of a [`slug`].
pub fn is_slug(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_becomes_a_file_name() {
        for (model, name) in [
            ("AMD EPYC 9B45", "amd-epyc-9b45"),
            ("Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz", "intel-core-i7-6700"),
            ("AMD Ryzen 9 9950X 16-Core Processor", "amd-ryzen-9-9950x-16-core"),
            ("arm 0x41 0xd40", "arm-0x41-0xd40"),
        ] {
            assert_eq!(slug(model), name);
            assert!(is_slug(&slug(model)));
        }
        assert_eq!(slug("CPU"), std::env::consts::ARCH);
        assert!(!is_slug("../x") && !is_slug(""));
    }

    #[test]
    fn systems_name_their_processors_differently() {
        let x86 = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(from_cpuinfo(x86).as_deref(), Some("Some CPU @ 2 GHz"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(from_cpuinfo(arm).as_deref(), Some("arm 0x41 0xd40"));
        assert_eq!(from_cpuinfo("nothing"), None);
    }
}
