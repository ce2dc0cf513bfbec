//! Task enumeration of `usubac prove --all`: entries, slicings and targets.
//!
//! ```text
//! ciphers/aes/cipher.toml      encrypt128: slicings = ["V", "B"]    × every target
//! arithmetic/targets.toml      "curve25519/limbs25.ua" = ["gp32"]   this one, in V
//! ```
//!
//! The tasks with the longest expected duration come first, so that the cores finish together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::names::did_you_mean;
use usuba::typed::Flags;
use usuba_ciphers::{Cipher, Function};

use crate::arithmetic_folder;
use crate::interfaces::{self, Interfaces};
use crate::objects::{self, By, Memory, Objects};

/// The selection of proofs.
#[derive(Default)]
pub struct Request {
    /// The folder of the cipher folders.
    pub folder: PathBuf,
    /// Names of folders; all folders if empty.
    pub only: Vec<String>,
    /// Targets; all targets if empty.
    pub target: Vec<&'static Target>,
    /// Slicings; all slicings if empty.
    pub slicings: Vec<Slicing>,
    /// The flags for reading programs.
    pub flags: Flags,
    /// The makers of objects.
    pub makers: Vec<By>,
    /// Whether compilers run even for a known text.
    pub afresh: bool,
    /// Whether to prove kernel objects.
    pub binary: bool,
    /// Whether to prove the functions of the byte interface.
    pub interface: bool,
}

/// An entry of a folder in one slicing on one target. Each thread reads its own program, because
/// threads cannot share one.
pub struct Task {
    pub folder: PathBuf,
    pub file: String,
    pub node: String,
    pub slicing: Slicing,
    pub on: &'static Target,
    /// The prefix of its function names.
    pub prefix: &'static str,
    /// Its external kernels.
    pub link: Vec<String>,
    /// The byte interface, if it is to be proved.
    pub interfaces: Option<Interfaces>,
}

/// A target and the source of its objects.
pub struct Backend {
    pub target: &'static Target,
    pub objects: Objects,
    /// The source of byte-interface objects.
    pub functions: Objects,
    /// The cache identities of the objects: kernels first, then functions.
    pub identity: [String; 2],
}

/// The proof tasks of a run.
#[derive(Default)]
pub struct Tasks {
    pub all: Vec<Task>,
    /// Tasks left out on purpose, with the reason.
    pub skipped: Vec<String>,
}

impl Task {
    /// The scheduling rank, small for long tasks: bitsliced programs first, then words with
    /// multiplications. Targets follow one another because the targets of an entry share proofs:
    /// the first one computes them, and the others do not wait or repeat them.
    fn rank(&self) -> (bool, u8, Option<usize>) {
        let kind = match self.slicing {
            Slicing::B => 0,
            _ if !self.prefix.is_empty() => 1,
            Slicing::H => 2,
            _ => 3,
        };
        // Most objects for an extension equal the objects of its base target, which are then known.
        let target = isa::all().position(|target| target.name == self.on.name);
        (self.on.base.is_some(), kind, target)
    }
}

/// The targets with the sources of their objects: all but those for few functions, of which the functions
/// name theirs. A missing compiler is missing for all targets.
pub fn backends(request: &Request) -> Result<Vec<Backend>, String> {
    let targets = match request.target.is_empty() {
        true => {
            let ciphers = ciphers(request)?;
            let functions = || ciphers.iter().flat_map(|cipher| &cipher.functions);
            let named = |target: &&Target| functions().any(|function| function.is_for(target));
            isa::all().chain(isa::NARROW.iter().copied().filter(named)).collect()
        }
        false => request.target.clone(),
    };
    let memory = Memory::default();
    let backend = |target: &'static Target| {
        let made = |asked: bool, makers: &[By]| match asked && !makers.is_empty() {
            true => Objects::compiled(target, makers, memory.clone(), request.afresh),
            false => Ok(Objects::None),
        };
        let is_here = objects::has_machine(target);
        let is_c = |by: &&By| match by {
            By::C(_) => is_here,
            By::Foreign(foreign, _) => foreign.compiles(target),
            By::Assembly => false,
        };
        let has = |by: &&By| match by {
            By::C(_) => is_here,
            By::Foreign(foreign, _) => foreign.compiles(target),
            By::Assembly => usuba_asm::has_assembly(target),
        };
        let mut kernels: Vec<By> = request.makers.iter().filter(has).copied().collect();
        // A target that is named and has no maker is an error, unless its objects are for another
        // machine.
        let is_foreign = request.makers.iter().any(|by| matches!(by, By::Foreign(..)));
        if kernels.is_empty() && !request.target.is_empty() && (is_here || is_foreign) {
            kernels = request.makers.clone();
        }
        let of_c: Vec<By> = request.makers.iter().filter(is_c).copied().collect();
        let (objects, functions) =
            (made(request.binary, &kernels)?, made(request.interface, &of_c)?);
        let identity = [objects.identity(), functions.identity()];
        Ok(Backend { target, objects, functions, identity })
    };
    targets.into_iter().map(backend).collect()
}

/// The entries of all folders. Functions are proved in their declared slicings. Key schedules are
/// proved in V, and in B if one of their functions uses H or B. A selected slicing overrides both.
/// Arithmetic programs are proved on their declared targets.
pub fn tasks(request: &Request, backends: &[Backend]) -> Result<Tasks, String> {
    let mut out = Tasks::default();
    let memory = interfaces::Memory::default();
    for cipher in ciphers(request)? {
        let interfaces = request.interface.then(|| Interfaces::new(&cipher.folder, memory.clone()));
        let interfaces = interfaces.transpose()?;
        let mut nodes: BTreeMap<(String, String), BTreeSet<Slicing>> = BTreeMap::new();
        for function in &cipher.functions {
            let main = (function.source.clone(), function.node.clone());
            nodes.entry(main).or_default().extend(&function.slicings);
            if let Some(schedule) = function.key.as_ref().and_then(|key| key.schedule.clone()) {
                let bits = function.slicings.iter().any(|s| matches!(s, Slicing::H | Slicing::B));
                let slicings = nodes.entry(schedule).or_default();
                slicings.insert(Slicing::V);
                slicings.extend(bits.then_some(Slicing::B));
            }
        }
        for ((file, node), slicings) in nodes {
            for slicing in slicings.into_iter().filter(|&s| in_slicing(request, s)) {
                for Backend { target: on, .. } in backends {
                    let named = |f: &Function| {
                        (&f.source, &f.node) == (&file, &node)
                            && f.slicings.contains(&slicing)
                            && f.is_for(on)
                    };
                    let asked = on.machine.is_none() || !request.target.is_empty();
                    if !asked && !cipher.functions.iter().any(named) {
                        continue;
                    }
                    let (folder, file, node) = (cipher.folder.clone(), file.clone(), node.clone());
                    let interfaces = interfaces.clone();
                    let (prefix, link) = ("", Vec::new());
                    out.all.push(Task {
                        folder,
                        file,
                        node,
                        slicing,
                        on,
                        prefix,
                        link,
                        interfaces,
                    });
                }
            }
        }
    }
    for source in sources(request)?.iter().filter(|own| in_slicing(request, own.slicing)) {
        let common = |b: &&Backend| b.target.machine.is_none() || !request.target.is_empty();
        let not = backends.iter().filter(common).filter(|b| !source.is_for(b.target));
        let not: Vec<&Backend> = not.collect();
        if !not.is_empty() && !source.nodes.is_empty() {
            let not: Vec<&str> = not.iter().map(|backend| backend.target.name).collect();
            out.skipped.push(format!(
                "{}/{} on {}: it is for {}",
                name(&source.folder),
                source.file,
                not.join(", "),
                source.targets.join(", ")
            ));
        }
        for node in &source.nodes {
            for Backend { target: on, .. } in backends.iter().filter(|b| source.has(node, b.target))
            {
                let (folder, file) = (source.folder.clone(), source.file.clone());
                let (prefix, link) = (arithmetic_folder::PREFIX, source.link(node));
                let (node, slicing, interfaces) = (node.clone(), source.slicing, None);
                out.all.push(Task { folder, file, node, slicing, on, prefix, link, interfaces });
            }
        }
    }
    out.all.sort_by_key(Task::rank);
    Ok(out)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The selected cipher folders.
pub fn ciphers(request: &Request) -> Result<Vec<Cipher>, String> {
    let mut ciphers = usuba_ciphers::find(&request.folder)?;
    let others = arithmetic_folder::find(&request.folder, request.flags)?;
    let mut names: BTreeSet<String> = others.iter().map(|source| name(&source.folder)).collect();
    names.extend(ciphers.iter().map(|cipher| name(&cipher.folder)));
    if let Some(missing) = request.only.iter().find(|only| !names.contains(*only)) {
        let folder = request.folder.display();
        let near = did_you_mean(missing, names.iter().map(String::as_str));
        let help = near.map_or(String::new(), |near| format!("; help: {near}"));
        return Err(format!("there is no cipher `{missing}` in {folder}{help}"));
    }
    ciphers.retain(|cipher| is_asked(request, &cipher.folder));
    Ok(ciphers)
}

/// The arithmetic programs.
pub fn sources(request: &Request) -> Result<Vec<arithmetic_folder::Source>, String> {
    let mut sources = arithmetic_folder::find(&request.folder, request.flags)?;
    sources.retain(|source| is_asked(request, &source.folder));
    Ok(sources)
}

fn in_slicing(request: &Request, slicing: Slicing) -> bool {
    request.slicings.is_empty() || request.slicings.contains(&slicing)
}

fn is_asked(request: &Request, folder: &Path) -> bool {
    request.only.is_empty() || request.only.contains(&name(folder))
}
