//! Reference pages of passes, targets and processor models, from the tables of the compiler.
//!
//! ```text
//! //! Copy propagation: replaces uses of a copy by its source.      (passes/copy_prop.rs)
//!      ──→  | `copy-prop` | Copy propagation: replaces uses of a copy by its source. | O1, O2 |
//! ```

use std::io;

use usuba::isa::{self, Target};
use usuba::passes::{ALL, pipeline::Level, pipeline::passes as of_level};
use xtask::repo::{Finding, Repo};

/// Compares the pages with the tables, or writes them.
///
/// # Errors
/// A page cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let mut findings =
        crate::generated(repo, "docs/book/src/reference/passes.md", &passes(repo), bless)?;
    findings.extend(crate::generated(
        repo,
        "docs/book/src/reference/targets.md",
        &targets(),
        bless,
    )?);
    findings.extend(crate::threads::check(repo, bless)?);
    Ok(findings)
}

const WRITTEN: &str = "<!-- Written by `cargo xtask bless` from the tables of the compiler. -->";

/// The levels, with the names that users give them.
const LEVELS: [(Level, &str); 3] = [(Level::O0, "0"), (Level::O1, "1"), (Level::O2, "2")];

/// The page of passes: the list of each level, and a row for each pass.
fn passes(repo: &Repo) -> String {
    let mut text = format!(
        "# Passes\n\n{WRITTEN}\n\nWhich passes does the compiler run, and in which order?\n\n\
         `usubac --print passes` lists their names; `--skip`, `--stop-after` and `--print-after` \
         take them.\n\n## Levels\n\n"
    );
    for (level, name) in LEVELS {
        let list: Vec<String> = of_level(level).map(|pass| format!("`{}`", pass.name)).collect();
        text += &format!("* `-O {name}`: {}\n", list.join(", "));
    }
    text += "\n## Algorithms\n\n| pass | algorithm | levels |\n|---|---|---|\n";
    for pass in ALL.iter() {
        let path = format!("crates/usuba/src/passes/{}.rs", pass.name.replace('-', "_"));
        let header = repo.get(&path).map(|file| header(&file.text)).unwrap_or_default();
        let runs = LEVELS.iter().filter(|(level, _)| of_level(*level).any(|p| p.name == pass.name));
        let runs: Vec<&str> = runs.map(|(_, name)| *name).collect();
        text += &format!("| `{}` | {header} | {} |\n", pass.name, runs.join(", "));
    }
    text + "\n## Next\n\n[Targets](targets.md), and [Scheduling and register pressure](../scheduling.md).\n"
}

/// The first paragraph of the comment at the top of a file.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    lines.collect::<Vec<_>>().join(" ")
}

/// The page of targets and of processor models.
fn targets() -> String {
    let mut text = format!(
        "# Targets and processor models\n\n{WRITTEN}\n\n\
         For which registers does the compiler emit code, and which processors does it know?\n\n\
         ## Targets\n\n\
         A target is an instruction set with one width of registers.\n\
         *Registers* is the number that the schedulers count on.\n\n\
         | target | processors | bits | registers | C type | flags of gcc and clang |\n\
         |---|---|---|---|---|---|\n"
    );
    for target in isa::all().chain(isa::NARROW.iter().copied()) {
        text += &row(target);
    }
    text += "\n## Extensions\n\n\
             Targets that share the registers of another one and have more instructions:\n\n";
    for target in isa::EXTENDED {
        let extra: std::collections::BTreeSet<String> =
            target.rows.iter().map(|row| format!("{:?}", row.inst)).collect();
        let extra: Vec<String> = extra.into_iter().map(|inst| format!("`{inst}`")).collect();
        text +=
            &format!("* `{}` is `{}` with {}.\n", target.name, target.family(), extra.join(", "));
    }
    text += "\n## Processor models\n\n\
             A model has latencies and ports, which drive scheduling and interleaving; `--cpu` \
             selects one.\n\n\
             | model | processors | other names |\n|---|---|---|\n";
    for cpu in isa::cpu::ALL {
        let aliases: Vec<String> = cpu.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        text += &format!("| `{}` | {} | {} |\n", cpu.name, cpu.about, aliases.join(", "));
    }
    text + "\n## Next\n\n[Adding a target](../adding-a-target.md), and [Slicings and register layouts](../slicings.md).\n"
}

/// The row of a target.
fn row(target: &Target) -> String {
    let flags: Vec<String> = target.cflags.iter().map(|flag| format!("`{flag}`")).collect();
    let register = match target.register {
        "" => "words of their size".to_string(),
        register => format!("`{register}`"),
    };
    format!(
        "| `{}` | {} | {} | {} | {register} | {} |\n",
        target.name,
        target.processor.name,
        target.bits,
        target.regs,
        flags.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_has_an_algorithm() {
        let text = "//! Dead-code elimination: removes\n//! equations.\n//!\n//! More.\n";
        assert_eq!(header(text), "Dead-code elimination: removes equations.");
        let repo = Repo::load().expect("the repository can be read");
        for line in passes(&repo).lines().filter(|line| line.starts_with("| `")) {
            assert!(!line.contains("|  |"), "{line}");
        }
    }
}
