//! Compilers and emulators of targets, as the table that `scripts/setup` reads.

use std::io;

use usuba::isa::{self, Cross, System, Target, Tool};
use xtask::repo::{Finding, Repo};

const PATH: &str = "scripts/toolchains";

/// Compares the table with the targets, or writes it.
///
/// # Errors
/// The table cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    crate::generated(repo, PATH, &table(), bless)
}

fn table() -> String {
    let mut text = String::from(
        "# Written by `cargo xtask bless` from the targets in crates/usuba/src/isa.\n\
         # description|packages|what happens without it|variable|names|hosts without need|flags\n",
    );
    for target in isa::ALL {
        let Some(cross) = target.processor.cross else { continue };
        let flags = [cross.cflags, target.cflags].concat().join(" ");
        // Without a C library there is nothing that the compiler could link.
        let flags = if cross.system == System::Hosted { &*flags } else { "" };
        text += &line(target, cross, &cross.compiler, flags);
        text += &line(target, cross, &cross.emulator, "");
    }
    text
}

fn line(target: &Target, cross: &Cross, tool: &Tool, flags: &str) -> String {
    let (name, hosts) = (target.name, target.processor.hosts.join(" "));
    let lost = match target.processor.hosts {
        [] => {
            let about = cross.compiler.about.trim_end_matches(" compiler");
            format!("target {name} runs on the host instead of on {about}")
        }
        _ => format!("target {name} is skipped"),
    };
    let names = tool.names.join(" ");
    format!("{}|{}|{lost}|{}|{names}|{hosts}|{flags}\n", tool.about, tool.packages, tool.variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_table_is_out_of_date() {
        let found =
            |text: &str| check(&Repo::sample(&[(PATH, text)]), false).expect("no file").len();
        assert_eq!(found(&table()), 0);
        assert_eq!(found(&table().replace("AARCH64_CC", "CC")), 1);
    }
}
