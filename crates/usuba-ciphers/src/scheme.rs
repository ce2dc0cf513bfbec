//! The schema of hand-written C in `cipher.toml`: the arithmetic that it calls.
//!
//! ```toml
//! scheme = "poly1305"
//! [[arithmetic]]
//! name  = "poly"
//! gp64  = "../../arithmetic/poly1305/words64.ua"
//! gp32  = "../../arithmetic/poly1305/limbs26.ua"
//! nodes = ["reduce", "tag"]
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use usuba::isa::Target;

/// Nodes of a program with contracts that hand-written C calls, in a program for each width of
/// words.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Arithmetic {
    /// The C names of the nodes begin with it, and it is the C type of the first result of the
    /// first one.
    pub name: String,
    /// The program for machines that multiply words of 64 bits, by its path from the folder.
    pub gp64: String,
    /// The program for those that multiply words of 32 bits; the same nodes.
    pub gp32: String,
    /// The program for machines with little memory, if it is another one.
    #[serde(default)]
    pub small: Option<String>,
    pub nodes: Vec<String>,
    /// The nodes that only the program for words of 64 bits has.
    #[serde(default)]
    pub wide_nodes: Vec<String>,
    /// The nodes that only the programs for words of 32 bits have.
    #[serde(default)]
    pub narrow_nodes: Vec<String>,
    /// The nodes whose kernels are functions with proofs of their own in code for words of 64 bits.
    #[serde(default)]
    pub apart: Vec<String>,
    /// The nodes for little memory, if they are others.
    #[serde(default)]
    pub small_nodes: Vec<String>,
    /// The nodes that run seldom: they call other nodes instead of inlining them, and keep loops.
    #[serde(default)]
    pub seldom: Vec<String>,
    /// The nodes that a node links, besides those that its program links.
    #[serde(default)]
    pub link: BTreeMap<String, Vec<String>>,
}

impl Arithmetic {
    /// The nodes that a node links.
    pub fn links(&self, node: &str) -> &[String] {
        self.link.get(node).map_or(&[], Vec::as_slice)
    }

    /// A node in a list that is in no list of nodes, and the name of the list.
    pub fn unknown(&self) -> Option<(&'static str, &String)> {
        let seldom = self.seldom.iter().map(|node| ("seldom", node));
        let apart = self.apart.iter().map(|node| ("apart", node));
        let linked = self.link.iter().flat_map(|(node, links)| links.iter().chain([node]));
        let mut all = seldom.chain(apart).chain(linked.map(|node| ("link", node)));
        let lists = [&self.nodes, &self.wide_nodes, &self.narrow_nodes];
        all.find(|(_, node)| !lists.iter().any(|list| list.contains(node)))
    }

    /// The nodes where memory is small, or not.
    pub fn nodes(&self, small: bool) -> &[String] {
        if small && !self.small_nodes.is_empty() { &self.small_nodes } else { &self.nodes }
    }
}

/// The scheme that hand-written C makes of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// X25519 and Ed25519.
    Curve25519,
    /// The one-time authenticator.
    Poly1305,
}

/// Nodes that the C of a scheme calls on registers with at least four lanes of 64 bits.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lanes {
    /// As of [`Arithmetic`]; the name of the target ends the names.
    pub name: String,
    /// Its path from the folder.
    pub program: String,
    /// Other programs with the same nodes, by the targets that they are for.
    #[serde(default)]
    pub special: BTreeMap<String, String>,
    /// The nodes that are compiled for the target.
    pub nodes: Vec<String>,
    /// As of [`Arithmetic`].
    #[serde(default)]
    pub seldom: Vec<String>,
    /// The nodes that are compiled for words of 64 bits; a number at the end of a name is the
    /// number of lanes that it is for.
    #[serde(default)]
    pub once: Vec<String>,
}

impl Lanes {
    /// The program for a target.
    pub fn program(&self, target: &Target) -> &String {
        self.special.get(target.name).unwrap_or(&self.program)
    }

    /// A node in a list that is not in `nodes`, and the name of the list.
    pub fn unknown(&self) -> Option<(&'static str, &String)> {
        let mut seldom = self.seldom.iter().map(|node| ("seldom", node));
        seldom.find(|(_, node)| !self.nodes.contains(node))
    }

    /// Whether a target has a program of its own.
    pub fn is_special(&self, target: &Target) -> bool {
        self.special.contains_key(target.name)
    }
}
