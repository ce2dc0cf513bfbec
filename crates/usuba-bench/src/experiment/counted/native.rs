//! Native timing of the library against other installed libraries, in one process.
//!
//! ```toml
//! [native]
//! program = "nacl-sign-native.c"
//! flags = ["-O2"]
//! turns = 2001
//! quick-turns = 201
//!
//! [[native.peer]]
//! label = "libsodium"
//! define = "SODIUM"
//! link = ["-lsodium"]
//! ```
//!
//! The program includes `it.h` and has a macro for each linkable library. It takes the number of
//! turns and writes lines of a library, a task and ticks, `ours` first. Missing libraries are
//! reported by name.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use usuba_ciphers::files;
use usuba_run::cc::run;
use usuba_run::cc::{self, Family};

/// The parameters of the timing.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Native {
    /// The C file, in the folder of the experiment.
    pub program: String,
    /// Flags of the C compiler.
    pub flags: Vec<String>,
    pub turns: u32,
    pub quick_turns: u32,
    #[serde(default, rename = "peer")]
    pub peers: Vec<Peer>,
}

/// Another library.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    pub label: String,
    /// The macro that enables it in the program.
    pub define: String,
    pub link: Vec<String>,
}

/// The output of the program from one compiler.
#[derive(Clone, PartialEq, Debug)]
pub struct Timed {
    pub compiler: String,
    /// A library, a task and ticks.
    pub lines: Vec<(String, String, u64)>,
    pub missing: Vec<String>,
}

impl Native {
    /// Times the library in `place/it.c` with each C compiler of this machine.
    ///
    /// # Errors
    /// A program cannot be built, or a result is wrong.
    pub fn measure(
        &self,
        folder: &Path,
        place: &Path,
        quick: bool,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Timed>, String> {
        let program = files::on_disk(&folder.join(&self.program), place)
            .map_err(|error| format!("{}: {error}", self.program))?;
        let mut all = Vec::new();
        for (family, name) in [(Family::Gcc, "gcc"), (Family::Clang, "clang")] {
            let Ok(machine) = cc::find_native("gp64", family) else { continue };
            progress(&format!("this machine, by {name}"));
            let build = |peers: &[&Peer]| {
                let mut command = machine.compile();
                command.current_dir(place).args(&self.flags).args(["-w", "-I", "."]);
                command.args(peers.iter().map(|peer| format!("-D{}", peer.define)));
                command.arg(&program).args(["it.c", "-o", "native"]);
                run(command.args(peers.iter().flat_map(|peer| &peer.link)))
            };
            let (there, missing): (Vec<&Peer>, Vec<&Peer>) =
                self.peers.iter().partition(|peer| build(&[peer]).is_ok());
            build(&there)?;
            let turns = if quick { self.quick_turns } else { self.turns };
            let said = run(Command::new(place.join("native")).arg(turns.to_string()))?;
            let mut lines = Vec::new();
            for line in said.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [library, task, ticks] = words[..] else {
                    return Err(format!("{}: cannot read `{line}`", self.program));
                };
                if task == "wrong" {
                    return Err(format!("{library} and our library do not agree"));
                }
                let ticks = ticks.parse().map_err(|_| format!("cannot read `{line}`"))?;
                lines.push((library.to_string(), task.to_string(), ticks));
            }
            let compiler = format!("{name} {}", self.flags.join(" "));
            let missing = missing.iter().map(|peer| peer.label.clone()).collect();
            all.push(Timed { compiler, lines, missing });
        }
        Ok(all)
    }
}

impl Timed {
    /// A table of ticks, and of our library's speed-up over each.
    pub fn table(&self) -> String {
        let unique = |of: fn(&(String, String, u64)) -> &String| {
            let mut names: Vec<&String> = Vec::new();
            for name in self.lines.iter().map(of) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        };
        let (libraries, tasks) = (unique(|line| &line.0), unique(|line| &line.1));
        let ticks = |library: &String, task: &String| {
            let line = self.lines.iter().find(|line| line.0 == *library && line.1 == *task);
            line.map(|line| line.2 as f64)
        };
        let mut out = format!("\n## Ticks on this machine, {}\n\n| library |", self.compiler);
        for task in &tasks {
            let _ = write!(out, " {task} | theirs / ours |");
        }
        out += &format!("\n|---|{}\n", "---:|---:|".repeat(tasks.len()));
        for library in &libraries {
            let _ = write!(out, "| {library} |");
            for task in &tasks {
                let _ = match (ticks(library, task), ticks(libraries[0], task)) {
                    (Some(theirs), Some(ours)) => {
                        write!(out, " {theirs} | {:.2} |", theirs / ours)
                    }
                    _ => write!(out, " | |"),
                };
            }
            out.push('\n');
        }
        if !self.missing.is_empty() {
            let _ = write!(out, "\nNot installed: {}.\n", self.missing.join(", "));
        }
        out
    }
}
