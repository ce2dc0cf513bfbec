//! What `usubac prove --all` proves: which entries there are, in which slicings, on which targets.
//!
//! ```text
//! ciphers/aes/cipher.toml      encrypt128: slicings = ["V", "B"]    × every target
//! arithmetic/targets.toml      "curve25519/limbs25.ua" = ["gp32"]   this one, in V
//! ```
//!
//! What probably takes longest comes first, so that no core is left alone with it in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::typed::Flags;
use usuba_ciphers::Cipher;
use usuba_run::cc::Family;

use crate::arithmetic_folder;
use crate::interfaces::{self, Interfaces};
use crate::objects::{self, Memory, Objects};

/// Which proofs are asked for.
pub struct Request {
    /// The folder of the cipher folders.
    pub folder: PathBuf,
    /// Names of folders; all of them if it is empty.
    pub only: Vec<String>,
    /// Targets; all of them if it is empty.
    pub target: Vec<&'static Target>,
    /// The only slicing.
    pub slicing: Option<Slicing>,
    /// How programs are read.
    pub flags: Flags,
    /// Compilers that make objects.
    pub families: &'static [Family],
    /// Whether compilers run even for a known text.
    pub afresh: bool,
    /// Whether objects of kernels are proved.
    pub binary: bool,
    /// Whether functions of the byte interface are.
    pub interface: bool,
}

/// An entry of a folder in one slicing on one target; programs are read where they are proved, as
/// no two threads can have the same.
pub struct Task {
    pub folder: PathBuf,
    pub file: String,
    pub node: String,
    pub slicing: Slicing,
    pub on: &'static Target,
    /// What the names of its functions begin with.
    pub prefix: &'static str,
    /// Nodes that are kernels in other objects.
    pub link: Vec<String>,
    /// The byte interface, if it is to be proved too.
    pub interfaces: Option<Interfaces>,
}

/// A target, and where objects for it come from.
pub struct Backend {
    pub target: &'static Target,
    pub objects: Objects,
    /// Where those of the byte interface come from.
    pub functions: Objects,
    /// What the cache knows objects by, first those of kernels.
    pub identity: [String; 2],
}

/// What is to be proved.
#[derive(Default)]
pub struct Tasks {
    pub all: Vec<Task>,
    /// What is left out on purpose, with the reason.
    pub skipped: Vec<String>,
}

impl Task {
    /// Small for what takes long: bits one by one, then words that are multiplied. One target comes
    /// after the other, as an entry has things in common on several targets: who comes first finds
    /// them, and nobody waits for them or finds them at the same time.
    fn rank(&self) -> (bool, u8, Option<usize>) {
        let kind = match self.slicing {
            Slicing::B => 0,
            _ if !self.prefix.is_empty() => 1,
            Slicing::H => 2,
            _ => 3,
        };
        // Most objects for extensions are those of their targets, which are then known.
        let target = isa::all().position(|target| target.name == self.on.name);
        (self.on.base.is_some(), kind, target)
    }
}

/// The targets with their objects. A compiler that is missing is so for all of them.
pub fn backends(request: &Request) -> Result<Vec<Backend>, String> {
    let targets = match request.target.is_empty() {
        true => isa::all().collect(),
        false => request.target.clone(),
    };
    let memory = Memory::default();
    let backend = |target: &'static Target| {
        let made = |asked: bool| match asked && objects::has_machine(target) {
            true => Objects::compiled(target, request.families, memory.clone(), request.afresh),
            false => Ok(Objects::None),
        };
        let (objects, functions) = (made(request.binary)?, made(request.interface)?);
        let identity = [objects.identity(), functions.identity()];
        Ok(Backend { target, objects, functions, identity })
    };
    targets.into_iter().map(backend).collect()
}

/// The entries of all folders: functions in the slicings that they have, key schedules in V, and in
/// B if a function of theirs is in H or B; unless one slicing was asked for. Programs of arithmetic
/// on the targets that they are for.
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
            let wanted = request.slicing;
            for slicing in slicings.into_iter().filter(|&s| wanted.is_none_or(|w| w == s)) {
                for Backend { target: on, .. } in backends {
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
    let slicing = request.slicing;
    for source in sources(request)?.iter().filter(|own| slicing.is_none_or(|s| s == own.slicing)) {
        let not: Vec<&Backend> = backends.iter().filter(|b| !source.is_for(b.target)).collect();
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

/// The cipher folders that were asked for.
pub fn ciphers(request: &Request) -> Result<Vec<Cipher>, String> {
    let mut ciphers = usuba_ciphers::find(&request.folder)?;
    let others = arithmetic_folder::find(&request.folder, request.flags)?;
    let mut names: BTreeSet<String> = others.iter().map(|source| name(&source.folder)).collect();
    names.extend(ciphers.iter().map(|cipher| name(&cipher.folder)));
    if let Some(missing) = request.only.iter().find(|only| !names.contains(*only)) {
        let folder = request.folder.display();
        return Err(format!("there is no cipher `{missing}` in {folder}"));
    }
    ciphers.retain(|cipher| is_asked(request, &cipher.folder));
    Ok(ciphers)
}

/// The programs of arithmetic.
pub fn sources(request: &Request) -> Result<Vec<arithmetic_folder::Source>, String> {
    let mut sources = arithmetic_folder::find(&request.folder, request.flags)?;
    sources.retain(|source| is_asked(request, &source.folder));
    Ok(sources)
}

fn is_asked(request: &Request, folder: &Path) -> bool {
    request.only.is_empty() || request.only.contains(&name(folder))
}
