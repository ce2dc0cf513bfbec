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
use usuba_ciphers::Cipher;

use super::arithmetic;
use super::binary::{self, Memory, Objects};
use super::interface::{self, Interfaces};
use crate::Failure;
use crate::args::Prove;

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
pub fn backends(args: &Prove) -> Result<Vec<Backend>, Failure> {
    let targets = match args.target.is_empty() {
        true => isa::all().collect(),
        false => args.target.clone(),
    };
    let memory = Memory::default();
    let backend = |target: &'static Target| {
        let made = |asked: bool| match asked && binary::has_machine(target) {
            true => Objects::compiled(target, args.cc, memory.clone(), args.no_cache),
            false => Ok(Objects::None),
        };
        let (objects, functions) = (made(args.binary)?, made(args.interface)?);
        let identity = [objects.identity(), functions.identity()];
        Ok(Backend { target, objects, functions, identity })
    };
    targets.into_iter().map(backend).collect()
}

/// The entries of all folders: functions in the slicings that they have, key schedules in V, and in
/// B if a function of theirs is in H or B; unless one slicing was asked for. Programs of arithmetic
/// on the targets that they are for.
pub fn tasks(args: &Prove, backends: &[Backend]) -> Result<Tasks, Failure> {
    let mut out = Tasks::default();
    let memory = interface::Memory::default();
    for cipher in ciphers(args)? {
        let interfaces = args.interface.then(|| Interfaces::new(&cipher.folder, memory.clone()));
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
            let wanted = args.language.slicing();
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
    let slicing = args.language.slicing();
    for source in sources(args)?.iter().filter(|own| slicing.is_none_or(|s| s == own.slicing)) {
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
                let (prefix, link) = (arithmetic::PREFIX, source.link(node));
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
pub fn ciphers(args: &Prove) -> Result<Vec<Cipher>, Failure> {
    let mut ciphers = usuba_ciphers::find(&args.folder).map_err(Failure::program)?;
    let others = arithmetic::find(&args.folder, args.language.flags())?;
    let mut names: BTreeSet<String> = others.iter().map(|source| name(&source.folder)).collect();
    names.extend(ciphers.iter().map(|cipher| name(&cipher.folder)));
    if let Some(missing) = args.only.iter().find(|only| !names.contains(*only)) {
        let folder = args.folder.display();
        return Err(Failure::program(format!("there is no cipher `{missing}` in {folder}")));
    }
    ciphers.retain(|cipher| is_asked(args, &cipher.folder));
    Ok(ciphers)
}

/// The programs of arithmetic.
pub fn sources(args: &Prove) -> Result<Vec<arithmetic::Source>, Failure> {
    let mut sources = arithmetic::find(&args.folder, args.language.flags())?;
    sources.retain(|source| is_asked(args, &source.folder));
    Ok(sources)
}

fn is_asked(args: &Prove, folder: &Path) -> bool {
    args.only.is_empty() || args.only.contains(&name(folder))
}
