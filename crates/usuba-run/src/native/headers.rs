//! Precompiled headers shared by many kernels.
//!
//! The header of the wide vector intrinsics takes a compiler five times as long as a small kernel.
//! gcc and clang store the parsed header in a file. They load it in place of the header if the
//! first line includes it and all flags agree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use usuba::emit::header;
use usuba::isa;

use super::Failure;
use super::suite::{Build, Folder};
use crate::cc::System;

/// The key of a shared header: the compiler and all flags.
type Setting<'a> = (&'a PathBuf, &'a [&'static str], &'a [&'a str]);

/// The minimal number of kernels per setting: precompilation costs as much as it saves for two or
/// three kernels.
const WORTH: usize = 4;

/// The precompiled headers of a folder.
#[derive(Default)]
pub(super) struct Headers<'a> {
    /// The file to include first, by setting.
    names: BTreeMap<Setting<'a>, String>,
}

fn setting<'a>(build: &Build<'a>) -> Setting<'a> {
    (&build.machine.compiler, &build.machine.cflags, build.flags)
}

impl<'a> Headers<'a> {
    /// Precompiles the headers of settings that enough of `builds` share. A header that does not
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

    /// The flags that make the compiler of `build` load the header.
    pub fn flags(&self, build: &Build<'a>) -> Vec<&str> {
        let name = self.names.get(&setting(build));
        name.map_or(Vec::new(), |name| vec!["-include", name])
    }
}
