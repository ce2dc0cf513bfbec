//! Programs with contracts beside the cipher folders: which nodes they have, for which targets, and
//! what those promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use usuba::diag::Sources;
use usuba::target::Target;
use usuba::typed::{self, Flags};
use usuba_lab::arithmetic;
use usuba_lab::cipher::Beside;
use usuba_proof::contracts;
use usuba_proof::report::{Claim, Kind, Outcome};

use crate::{Failure, files};

/// Names of kernels begin with this: `select` alone is a function of the C library.
pub const PREFIX: &str = "usuba_";

/// The folder of such programs, beside that of the ciphers.
const FOLDER: &str = "arithmetic";

/// A program and its nodes that promise something, in the order of the text.
pub struct Source {
    pub folder: PathBuf,
    pub file: String,
    pub nodes: Vec<Node>,
}

/// A node, and one way to compile it.
pub struct Node {
    pub name: String,
    pub targets: Vec<&'static Target>,
    /// Nodes that are kernels in other objects.
    pub link: Vec<String>,
}

/// The programs of all folders, in the order of their names.
pub fn find(ciphers: &Path, flags: Flags) -> Result<Vec<Source>, Failure> {
    let root = ciphers.parent().unwrap_or(Path::new("")).join(FOLDER);
    let mut out = Vec::new();
    for folder in listed(&root).into_iter().filter(|path| path.is_dir()) {
        let described = arithmetic::read(&folder).map_err(Failure::program)?;
        for path in
            listed(&folder).into_iter().filter(|path| path.extension() == Some("ua".as_ref()))
        {
            let text = files::read(&path)?;
            let mut sources = Sources::default();
            let root = sources.add(text.name, text.text);
            let checked = usuba::front(&mut sources, root, &mut Beside, None, flags);
            let checked = checked.map_err(|findings| {
                let first = findings.into_iter().find(|finding| finding.is_error());
                let message = first.map(|finding| finding.message).unwrap_or_default();
                Failure::program(format!("{}: {message}", path.display()))
            })?;
            let program = &checked.program;
            let name = |id: usize| program.decls[id].name.to_string();
            let names: Vec<String> = contracts::promising(program).map(name).collect();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let nodes = arithmetic::of_nodes(&described, &file, &names);
            let nodes = nodes
                .map_err(|why| Failure::program(format!("{}: {why}", folder.display())))?
                .into_iter()
                .flat_map(|(name, ways)| ways.into_iter().map(move |way| (name.clone(), way)));
            let node = |(name, way): (String, &arithmetic::Program)| {
                let (targets, link) = (way.targets().collect(), way.link.clone());
                Node { name, targets, link }
            };
            let nodes = nodes.map(node).collect();
            out.push(Source { folder: folder.clone(), file, nodes });
        }
    }
    Ok(out)
}

/// What is in a folder, by name; nothing if there is none.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// What is known of the contract of an entry, if it has one.
pub fn promise(program: &typed::Program, entry: Option<&str>) -> Option<(Claim, Duration)> {
    let named = |id: &usize| entry == Some(&*program.decls[*id].name);
    let node = contracts::promising(program).find(named)?;
    let start = Instant::now();
    let report = contracts::check_node(program, node);
    let outcome = match report.outcome {
        contracts::Outcome::Proved => Outcome::Proved(report.means),
        contracts::Outcome::Refuted(found) => Outcome::Unknown(found.finding.message),
        contracts::Outcome::Unknown(finding) => Outcome::Unknown(finding.message),
    };
    let claim = Claim { kind: Kind::Contract, subject: report.node, outcome };
    Some((claim, start.elapsed()))
}
