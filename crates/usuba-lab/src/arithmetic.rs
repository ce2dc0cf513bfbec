//! What `arithmetic.toml` says of the programs with contracts in a folder of `arithmetic/`: which
//! targets each of them is meant for.
//!
//! ```toml
//! [[program]]
//! source  = "limbs51.ua"
//! targets = ["gp64"]
//!
//! [[program]]
//! source  = "limbs51.ua"
//! targets = ["gp64"]
//! nodes   = ["inverse"]             # those that no other entry names, where there is no list
//! link    = ["mul", "square"]       # kernels that they call
//! ```

use std::fs;
use std::path::Path;

use serde::Deserialize;
use usuba::target::{self, Target};

/// Nodes of a program, and what they are compiled for.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its file, in the folder.
    pub source: String,
    targets: Vec<String>,
    /// Empty: all with a contract that no other entry for the file names.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Nodes that are kernels in other objects.
    #[serde(default)]
    pub link: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Program>,
}

impl Program {
    /// The targets that it is meant for, in the order of the file.
    pub fn targets(&self) -> impl Iterator<Item = &'static Target> + '_ {
        self.targets.iter().filter_map(|name| target::find(name))
    }
}

/// The description of a folder.
///
/// # Errors
/// It is missing or malformed; the message names the file.
pub fn read(folder: &Path) -> Result<Vec<Program>, String> {
    let path = folder.join("arithmetic.toml");
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let wrong = |what: String| format!("{}: {what}", path.display());
    let file: File = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    for program in &file.program {
        let unknown = program.targets.iter().find(|name| target::find(name).is_none());
        if let Some(name) = unknown {
            return Err(wrong(format!("there is no target `{name}`")));
        }
        if program.targets.is_empty() {
            return Err(wrong(format!("`{}` has no target", program.source)));
        }
        if !folder.join(&program.source).is_file() {
            return Err(wrong(format!("there is no file `{}`", program.source)));
        }
    }
    Ok(file.program)
}

/// The entries for each node with a contract of a file, in the order of `nodes`.
///
/// # Errors
/// An entry names a node that the file has not, or a node has no entry.
pub fn of_nodes<'p>(
    programs: &'p [Program],
    file: &str,
    nodes: &[String],
) -> Result<Vec<(String, Vec<&'p Program>)>, String> {
    let of_file = || programs.iter().filter(|program| program.source == file);
    let mut named = of_file().flat_map(|program| program.nodes.iter().chain(&program.link));
    if let Some(name) = named.find(|name| !nodes.contains(name)) {
        return Err(format!("{file} has no `{name}` with a contract"));
    }
    let of_node = |node: &String| {
        let mut found: Vec<&Program> =
            of_file().filter(|program| program.nodes.contains(node)).collect();
        if found.is_empty() {
            found.extend(of_file().filter(|program| program.nodes.is_empty()));
        }
        match found.is_empty() {
            true => Err(format!("nothing says which targets `{node}` of {file} is meant for")),
            false => Ok((node.clone(), found)),
        }
    };
    nodes.iter().map(of_node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Result<Vec<Program>, String> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::write(folder.path().join("arithmetic.toml"), text).expect("a file can be written");
        fs::write(folder.path().join("f.ua"), "").expect("a file can be written");
        read(folder.path())
    }

    #[test]
    fn nodes_have_the_entries_that_name_them() {
        let text = "[[program]]\nsource = \"f.ua\"\ntargets = [\"avx2\", \"avx512\"]\n\
                    [[program]]\nsource = \"f.ua\"\ntargets = [\"gp64\"]\nnodes = [\"b\"]\n\
                    link = [\"a\"]\n";
        let programs = described(text).expect("a description");
        let nodes = ["a".to_string(), "b".to_string()];
        let found = of_nodes(&programs, "f.ua", &nodes).expect("entries");
        let targets = |at: usize| -> Vec<&str> {
            found[at].1.iter().flat_map(|p| p.targets()).map(|target| target.name).collect()
        };
        assert_eq!((targets(0), targets(1)), (vec!["avx2", "avx512"], vec!["gp64"]));
        assert_eq!(found[1].1[0].link, ["a"]);
        // A node that nobody has, and one that nobody names.
        let message = of_nodes(&programs, "f.ua", &nodes[..1]).expect_err("there is no `b`");
        assert_eq!(message, "f.ua has no `b` with a contract");
        let message = of_nodes(&programs[1..], "f.ua", &nodes).expect_err("`a` has no target");
        assert_eq!(message, "nothing says which targets `a` of f.ua is meant for");
    }

    #[test]
    fn a_wrong_description_is_refused_in_one_sentence() {
        for (text, said) in [
            ("[[program]]\nsource = \"f.ua\"\ntargets = [\"vax\"]\n", "there is no target `vax`"),
            ("[[program]]\nsource = \"f.ua\"\ntargets = []\n", "`f.ua` has no target"),
            ("[[program]]\nsource = \"g.ua\"\ntargets = [\"gp64\"]\n", "there is no file `g.ua`"),
            ("[[program]]\nsource = \"f.ua\"\n", "missing field `targets`\n"),
        ] {
            let message = described(text).expect_err("it is malformed");
            assert!(message.ends_with(said), "{message}");
        }
    }
}
