//! Manual pages: one for each command.
//!
//! `clap_mangen` writes names, options and commands; usage, examples and exit status are added here.

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use crate::args;

/// Examples by command: a command line, and its effect.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "usubac",
        &[
            ("usubac dist chacha20", "Write the built-in ChaCha20 as one C file and one header."),
            ("usubac cipher.ua -V -o cipher.c", "Compile a program in vertical slicing."),
            ("usubac prove cipher.ua -V", "Prove that this compilation preserves the program."),
            ("usubac ciphers list", "List the built-in ciphers."),
        ],
    ),
    ("usubac-check", &[("usubac check cipher.ua -V", "Check a program for vertical slicing.")]),
    ("usubac-fmt", &[("usubac fmt cipher.ua", "Format a program in place.")]),
    ("usubac-run", &[("usubac run chacha20 --seed 1", "Run the built-in ChaCha20 on one input.")]),
    ("usubac-bench", &[("usubac bench aes --quick", "Verify and time AES on this machine.")]),
    ("usubac-demo", &[("usubac demo", "See two ciphers verified and timed.")]),
    ("usubac-tune", &[("usubac tune cipher.ua -V", "Choose flags by measurement.")]),
    ("usubac-prove", &[("usubac prove cipher.ua -V --binary", "Prove a kernel and its object.")]),
    ("usubac-dist", &[("usubac dist aes chacha20", "Write two ciphers as C files.")]),
    (
        "usubac-ciphers",
        &[
            ("usubac ciphers show aes", "Show the functions of AES."),
            ("usubac ciphers copy aes", "Write the folder of AES, to change it."),
        ],
    ),
    ("usubac-ciphers-list", &[("usubac ciphers list", "List the built-in ciphers.")]),
    ("usubac-ciphers-show", &[("usubac ciphers show aes", "Show the functions of AES.")]),
    ("usubac-ciphers-copy", &[("usubac ciphers copy aes", "Write aes/ and its files.")]),
    ("usubac-ciphers-status", &[("usubac ciphers status gimli", "Print a row for Gimli.")]),
    ("usubac-explain", &[("usubac explain U0201", "Explain an error code.")]),
    ("usubac-generate", &[("usubac generate man --output man", "Write these pages into man/.")]),
];

/// Status and meaning, as in `after_help` of the command.
const STATUS: [(&str, &str); 5] = [
    ("0", "done"),
    ("1", "errors in the program or in a file"),
    ("2", "wrong usage"),
    ("3", "answers that should be equal differ"),
    ("101", "a fault of usubac itself"),
];

/// Name and text of every page, the main page last.
pub fn pages() -> Vec<(String, String)> {
    let mut command = args::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &[], &mut pages);
    pages
}

/// The pages of a command below `parents`, and of its sub-commands.
fn collect(command: &Command, parents: &[String], pages: &mut Vec<(String, String)>) {
    let mut path = parents.to_vec();
    path.push(command.get_name().to_string());
    let below: Vec<&Command> = command.get_subcommands().filter(|c| !c.is_hide_set()).collect();
    below.iter().for_each(|sub| collect(sub, &path, pages));
    let see: Vec<String> = match parents {
        [] => below.iter().map(|sub| format!("usubac-{}", sub.get_name())).collect(),
        parents => {
            let own = below.iter().map(|sub| format!("{}-{}", path.join("-"), sub.get_name()));
            std::iter::once(parents.join("-")).chain(own).collect()
        }
    };
    let name = path.join("-");
    pages.push((format!("{name}.1"), page(command, &name, &see)));
}

fn page(command: &Command, name: &str, see: &[String]) -> String {
    let version = env!("USUBAC_VERSION");
    let man = Man::new(command.clone().version(version).display_name(name.to_string()));
    let man = man.title(name).source(format!("usubac {version}")).manual("Usuba");
    let mut text = Vec::new();
    let parts = [Man::render_title, Man::render_name_section];
    let rest = [Man::render_description_section, Man::render_options_section];
    for part in parts {
        part(&man, &mut text).expect("memory can be written");
    }
    text.extend(usage(command).to_roff().into_bytes());
    for part in rest {
        part(&man, &mut text).expect("memory can be written");
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text).expect("memory can be written");
    }
    text.extend(end(name, see).to_roff().into_bytes());
    String::from_utf8_lossy(&text).into_owned()
}

/// The synopsis: a line for each form of the command.
fn usage(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    let usage = command.clone().render_usage().to_string();
    for line in usage.lines() {
        let line = line.trim().trim_start_matches("Usage:").trim();
        roff.text([roman(line)]);
        roff.control("br", []);
    }
    roff
}

/// Examples, exit status and related pages.
fn end(name: &str, see: &[String]) -> Roff {
    let mut roff = Roff::new();
    if let Some((_, examples)) = EXAMPLES.iter().find(|(known, _)| *known == name) {
        roff.control("SH", ["EXAMPLES"]);
        for (line, effect) in *examples {
            roff.control("TP", []);
            roff.text([bold(*line)]);
            roff.text([roman(*effect)]);
        }
    }
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in STATUS {
        roff.control("TP", []);
        roff.text([bold(status)]);
        roff.text([roman(meaning)]);
    }
    if !see.is_empty() {
        roff.control("SH", ["SEE ALSO"]);
        let pages: Vec<String> = see.iter().map(|page| format!("{page}(1)")).collect();
        roff.text([roman(pages.join(", "))]);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_every_example_parses() {
        let pages = pages();
        let names: Vec<&str> = pages.iter().map(|(name, _)| &**name).collect();
        for command in args::command().get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = format!("usubac-{}.1", command.get_name());
            assert!(names.contains(&&*name), "{name} is missing in {names:?}");
        }
        assert!(names.contains(&"usubac-ciphers-copy.1") && names.contains(&"usubac.1"));
        for (name, text) in &pages {
            for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "SEE ALSO"] {
                let section = section.replace(' ', "\\ ");
                let quoted = format!(".SH \"{}\"", section.replace("\\ ", " "));
                let plain = format!(".SH {section}");
                assert!(text.contains(&plain) || text.contains(&quoted), "{name}: {section}");
            }
        }
        for (page, examples) in EXAMPLES {
            assert!(names.contains(&&*format!("{page}.1")), "{page} has examples and no page");
            for (line, _) in *examples {
                let words = line.split(' ').map(std::ffi::OsString::from);
                let words = crate::legacy::rewrite(words, &args::command(), &mut |_| {});
                args::command()
                    .try_get_matches_from(words.expect("present spellings"))
                    .unwrap_or_else(|why| panic!("{line}: {why}"));
            }
        }
    }
}
