//! Manifest of an output: the request that it answers, and its contents for provers.
//!
//! ```text
//! usubac dist aes -o f.c  ─→  f.c  f.h  f.manifest.toml
//! f.manifest.toml + ciphers  ─→  the same files and the same manifest, or an error
//! ```
//!
//! Nothing in a manifest is trusted: [`regenerate`](super::regenerate()) makes it again.

use std::fs::File as Opened;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use usuba::passes::pipeline::Level;
use usuba::passes::{When, inline, unroll};
use usuba_ciphers::Cipher;

use super::declarations::{Declarations, Function, Struct};
use super::section::is_proved;
use super::units::{Unit, UnitKind};
use super::write::{Compiled, File, PREFIX, renamed};
use super::{asked_features, registers};

/// The number of the format.
const FORMAT: u32 = 1;

/// The largest manifest, in bytes.
pub const LARGEST: u64 = 16 << 20;

/// The end of the name of a manifest.
pub const ENDING: &str = ".manifest.toml";

/// The request and the contents of an output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The number of the format.
    pub format: u32,
    /// The version of `usubac`.
    pub version: String,
    pub form: Form,
    /// The name of the files before `.c`, or of the library.
    pub package: String,
    /// The prefix of all names.
    pub prefix: String,
    /// The targets of the request.
    pub targets: Vec<String>,
    /// The cipher folders of the request.
    pub folders: Vec<String>,
    /// The functions of the request; empty for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The files of C and of assembly language.
    #[serde(rename = "file")]
    pub files: Vec<Hash>,
    /// The choice of a backend at run time; `None` with a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Dispatch>,
    /// Functions that a program specifies, on x86-64 with words of 64 bits.
    #[serde(default, rename = "unit", skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<Listed>,
    /// Structs of the header.
    #[serde(default, rename = "struct", skip_serializing_if = "Vec::is_empty")]
    pub structs: Vec<Struct>,
    /// Functions of other files that the C calls.
    #[serde(default, rename = "external", skip_serializing_if = "Vec::is_empty")]
    pub externals: Vec<Function>,
    /// Exported functions.
    #[serde(default, rename = "function", skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
}

/// The form of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One C file of a cipher folder.
    Single,
    /// NaCl in one C file.
    Nacl,
    /// A library of several cipher folders.
    Library,
}

/// A C file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hash {
    pub path: String,
    pub sha256: String,
}

/// The choice of a backend at run time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// The variable of type `int`.
    pub cell: String,
    /// Its values on x86-64; 0 before the first choice.
    #[serde(rename = "value")]
    pub values: Vec<Choice>,
}

/// A value of a dispatch variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub value: u32,
    /// The backend.
    pub target: String,
    /// The features of the processor that the program checks before, as C compilers spell them.
    pub features: Vec<String>,
}

/// A function that a program specifies: see [`Unit`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    pub symbol: String,
    /// `blocks`, `xored`, `chained`, `schedule`, `key` or `kernel`.
    pub kind: String,
    /// The cipher folder.
    pub folder: String,
    /// The file of the program, in the folder.
    pub source: String,
    pub node: String,
    pub slicing: String,
    pub target: String,
    /// The target of the section of the C file, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Flags of `usubac`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
}

/// The name of a cipher folder.
pub(super) fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Listed {
    fn of(unit: &Unit) -> Listed {
        let options = &unit.task.options;
        let kind = match &unit.kind {
            UnitKind::Blocks(_) => "blocks",
            UnitKind::Xored(_) => "xored",
            UnitKind::Chained(_) => "chained",
            UnitKind::Schedule { .. } => "schedule",
            UnitKind::Key { .. } => "key",
            UnitKind::Kernel { .. } => "kernel",
        };
        let section = unit.section.name;
        Listed {
            symbol: unit.symbol.clone(),
            kind: kind.to_string(),
            folder: name(&unit.folder),
            source: unit.task.source.clone(),
            node: options.entry.clone().unwrap_or_default(),
            slicing: format!("{:?}", options.slicing),
            target: options.target.name.to_string(),
            section: (section != options.target.name).then(|| section.to_string()),
            flags: flags(unit),
        }
    }
}

/// The options of a unit as flags of `usubac`; without flags it chooses the interleaving.
fn flags(unit: &Unit) -> String {
    let pipeline = &unit.task.options.pipeline;
    let inter = pipeline.pass.interleave.factor.map(|factor| format!("--interleave {factor}"));
    let flags = [
        (pipeline.pass.inline == inline::Mode::Light, "--inline light"),
        (pipeline.pass.unroll == unroll::Mode::All, "--unroll all"),
        (pipeline.pass.unroll == unroll::Mode::None, "--unroll none"),
        (pipeline.packing == When::Never, "--pack never"),
        (pipeline.level == Level::O0, "-O0"),
    ];
    let given = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_string());
    given.chain(inter).collect::<Vec<_>>().join(" ")
}

impl Dispatch {
    /// The choice among the backends; `None` with a single one, or without dispatch.
    fn of(compiled: &Compiled) -> Option<Dispatch> {
        let Compiled { request, form, backends, folders, .. } = *compiled;
        let dispatches = form == Form::Library || folders.iter().any(|f| f.needs().ladders);
        if backends.len() == 1 || !dispatches {
            return None;
        }
        let ciphers: Vec<&Cipher> = folders.iter().map(|folder| folder.cipher).collect();
        let registers = registers(backends, &ciphers);
        let here = backends.iter().zip(1..).filter(|(target, _)| is_proved(target));
        let chosen = here.map(|(target, value)| Choice {
            value,
            target: target.name.to_string(),
            features: asked_features(target, &registers).into_iter().map(String::from).collect(),
        });
        let unknown = Choice { value: 0, target: String::new(), features: Vec::new() };
        let cell = renamed(&format!("{PREFIX}choice"), request);
        Some(Dispatch { cell, values: [unknown].into_iter().chain(chosen).collect() })
    }
}

impl Manifest {
    /// The manifest of an output with these files and units.
    pub(super) fn of(
        compiled: &Compiled,
        files: &[File],
        units: &[Unit],
    ) -> Result<Manifest, String> {
        let Compiled { request, form, package, asked, .. } = compiled;
        let is_c = |path: &str| [".c", ".h", ".S"].iter().any(|end| path.ends_with(end));
        let c = || files.iter().filter(|file| is_c(&file.path));
        let mut all = Declarations::default();
        // The other headers declare no functions of other files.
        let headers =
            c().filter(|file| file.path.ends_with(".h") && !file.path.starts_with("src/"));
        for text in [super::template::INTERNAL_H].into_iter().chain(headers.map(|file| &*file.text))
        {
            let read = Declarations::read(text)?;
            all.exported.extend(read.exported);
            all.external.extend(read.external);
            all.types.extend(read.types);
        }
        let sha256 = |text: &str| usuba_run::fingerprint::hex(&Sha256::digest(text.as_bytes()));
        let file = |file: &File| Hash { path: file.path.clone(), sha256: sha256(&file.text) };
        Ok(Manifest {
            format: FORMAT,
            version: request.version.clone(),
            form: *form,
            package: package.to_string(),
            prefix: request.prefix.clone(),
            targets: request.targets.iter().map(|target| target.name.to_string()).collect(),
            folders: asked.iter().map(|cipher| name(&cipher.folder)).collect(),
            only: request.functions.clone(),
            files: c().map(file).collect(),
            dispatch: Dispatch::of(compiled),
            units: units.iter().map(Listed::of).collect(),
            structs: all.types,
            externals: all.external,
            functions: all.exported,
        })
    }

    /// The name of the file.
    pub fn path(&self) -> String {
        format!("{}{ENDING}", self.package)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let tables = toml::to_string(self).expect("names are keys");
        format!(
            "# Contents of the C files, for provers.\n# Written by usubac {}; do not edit.\n\n{tables}",
            self.version
        )
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is no manifest; the message names the place.
    pub fn read(path: &Path) -> Result<Manifest, String> {
        let wrong = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut bytes = Vec::new();
        let file = Opened::open(path).map_err(wrong)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(wrong)?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!(
                "{}: found more than {} MiB, expected a manifest; help: name the file that `usubac \
                 dist` wrote",
                path.display(),
                LARGEST >> 20
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| format!("{}: found no text: {error}", path.display()))?;
        Manifest::parse(path, &text)
    }

    /// Reads `text`, the content of `path`.
    ///
    /// # Errors
    /// It is no manifest of this format; the message names the place.
    pub fn parse(path: &Path, text: &str) -> Result<Manifest, String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let place = || usuba_ciphers::place(path, text, 0);
        // Other formats have other fields.
        let Version { format } = usuba_ciphers::toml(path, text)?;
        if format != FORMAT {
            return Err(format!(
                "{}: found format {format}, expected {FORMAT}; help: write the output again by \
                 this `usubac`",
                place()
            ));
        }
        usuba_ciphers::toml(path, text)
    }
}
