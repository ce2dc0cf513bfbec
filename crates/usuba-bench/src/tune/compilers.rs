//! The C compilers of a search, each with its version.

use std::process::{Command, Stdio};

use usuba::isa::Target;
use usuba_run::cc::{self, Family, Machine};

/// A C compiler with its version, such as `gcc 12.2.0`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    pub name: String,
    pub machine: Machine,
    /// Whether it is clang; everything else reads the flags of gcc.
    pub is_clang: bool,
}

impl Compiler {
    /// The compiler of a family, if it is there and runs.
    fn find(target: &str, family: Family) -> Result<Compiler, String> {
        let machine = cc::find_native(target, family).map_err(|skip| skip.why)?;
        let ask = |flag: &str| {
            let output = Command::new(&machine.compiler).arg(flag).stdin(Stdio::null()).output();
            let output = output.map_err(|error| format!("{machine} does not run: {error}"))?;
            Ok::<_, String>(String::from_utf8_lossy(&output.stdout).trim().to_string())
        };
        let is_clang = ask("--version")?.contains("clang");
        let family = if is_clang { "clang" } else { "gcc" };
        // gcc answers `-dumpversion` with less than its full version.
        let version = ask(if is_clang { "-dumpversion" } else { "-dumpfullversion" })?;
        let name = format!("{family} {version}");
        Ok(Compiler { name, machine, is_clang })
    }
}

/// The C compilers for this machine's own cores, the default first.
///
/// # Errors
/// There is none, or the processor cannot run the target.
pub fn compilers(target: &Target) -> Result<Vec<Compiler>, String> {
    let mut found: Vec<Compiler> = Vec::new();
    let mut why = String::new();
    for family in [Family::Any, Family::Gcc, Family::Clang] {
        match Compiler::find(target.name, family) {
            Ok(compiler) if found.iter().any(|known| known.name == compiler.name) => {}
            Ok(compiler) => found.push(compiler),
            Err(message) => why = message,
        }
    }
    if found.is_empty() { Err(why) } else { Ok(found) }
}
