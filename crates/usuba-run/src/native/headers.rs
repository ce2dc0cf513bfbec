//! Headers compiled once for many kernels.
//!
//! The header of the wide vector intrinsics takes a compiler five times as long as a small
//! kernel. gcc and clang keep what they understood of it in a file, and take that in place of the
//! header if the first line that they read asks for it and all flags are the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use usuba::emit::header;
use usuba::isa;

use super::Failure;
use super::suite::{Build, Folder};
use crate::cc::System;

/// What kernels must agree in to share a header: the compiler and all flags.
type Setting<'a> = (&'a PathBuf, &'a [&'static str], &'a [&'a str]);

/// Kernels of one setting from which on it pays: the header takes as long as two or three of them
/// save.
const WORTH: usize = 4;

/// The compiled headers of a folder.
#[derive(Default)]
pub(super) struct Headers<'a> {
    /// The file to include first.
    names: BTreeMap<Setting<'a>, String>,
}

fn setting<'a>(build: &Build<'a>) -> Setting<'a> {
    (&build.machine.compiler, &build.machine.cflags, build.flags)
}

impl<'a> Headers<'a> {
    /// Compiles the headers of those settings that enough of `builds` share. One that does not
    /// compile is left to the kernels, whose messages say more.
    pub fn compile(folder: &Folder, builds: &[Build<'a>]) -> Result<Headers<'a>, Failure> {
        let mut shared: BTreeMap<Setting, Vec<&Build>> = BTreeMap::new();
        for build in builds {
            shared.entry(setting(build)).or_default().push(build);
        }
        let mut names = BTreeMap::new();
        for (number, (setting, builds)) in shared.into_iter().enumerate() {
            let Build { machine, flags, .. } = builds[0];
            let target = isa::find(machine.target).filter(|target| !target.header.is_empty());
            let Some(target) = target.filter(|_| machine.system == System::Hosted) else {
                continue;
            };
            if builds.len() < WORTH {
                continue;
            }
            let name = format!("shared{number}.h");
            folder.write(&name, header::includes(target))?;
            // clang looks for this name too.
            let compiled = format!("{name}.gch");
            let args = ["-x", "c-header", &name, "-o", &compiled];
            if folder.compiler(machine, flags, &args)?.is_none() {
                names.insert(setting, name);
            }
        }
        Ok(Headers { names })
    }

    /// The flags that make the compiler of `build` take the header.
    pub fn flags(&self, build: &Build<'a>) -> Vec<&str> {
        let name = self.names.get(&setting(build));
        name.map_or(Vec::new(), |name| vec!["-include", name])
    }
}
