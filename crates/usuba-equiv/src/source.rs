//! From the source to Usuba0: what lowering made of a program is what the program means.
//!
//! ```text
//! meaning      one word for each atom; loops unfolded; tables as multiplexers
//! V, H         the program on words                   compared with the meaning
//! B            the program on bits                    compared with the bits of the meaning
//! ```
//!
//! Both sides have one node for each instance of a declaration, so callees are proved first, on
//! all their inputs where they are tables. From the lowered program on, `Observer` goes from pass
//! to pass; the composition of its steps with this one is a proof from the source to the last
//! program.

use usuba::ir::{NodeId, Program, Slicing, lanes};
use usuba::typed::{self, Instance, VarType};

use crate::claims::{Outcome, outcome};
use crate::semantics::{self, Meaning};
use crate::{Verdict, bitblast, decide};

/// What a lowered program is compared with: one instance of the source, as a program.
#[derive(Clone, Debug)]
pub struct Source {
    /// In the slicing of what it is compared with.
    pub program: Program,
    /// For each node the names that lowering may give it, which are believed in nothing.
    names: Vec<[String; 2]>,
}

impl Source {
    /// The meaning of an instance that is sliced so.
    ///
    /// # Errors
    /// The program has no meaning, or one that is too long on bits; the text says which.
    pub fn new(
        typed: &typed::Program,
        instance: &Instance,
        slicing: Slicing,
    ) -> Result<Source, String> {
        let Meaning { mut program, instances } = semantics::of(typed, instance)?;
        if slicing == Slicing::B {
            let bits = bitblast::apart(&program);
            program = bits.ok_or("the meaning of the program is too long on bits")?;
        }
        // Vectors are proved as the words that they hold.
        program.slicing = if slicing == Slicing::W { Slicing::V } else { slicing };
        let names = instances.iter().map(|instance| names(typed, instance, slicing)).collect();
        Ok(Source { program, names })
    }

    /// Whether `lowered`, one instance of which is its entry, computes what the source says.
    pub fn prove(&self, lowered: &Program) -> Verdict {
        let pairs = self.pairs(lowered);
        decide(&self.program, &self.words(lowered), Some(&pairs))
    }

    /// The same in the words of the source.
    pub fn outcome(&self, lowered: &Program) -> Outcome {
        let pairs = self.pairs(lowered);
        let lowered = &self.words(lowered);
        outcome(decide(&self.program, lowered, Some(&pairs)), &self.program, lowered, &pairs)
    }

    /// A lowered program with a value for each word. The rows of its ports are those of the source
    /// again, where W has cut them into vectors.
    fn words(&self, lowered: &Program) -> Program {
        let mut program = lanes::apart(lowered);
        if lowered.slicing == Slicing::W {
            let source = self.program.entry();
            let node = &mut program.nodes[lowered.entry.0 as usize];
            let ports = node.params.iter_mut().chain(&mut node.results);
            for (new, old) in ports.zip(source.params.iter().chain(&source.results)) {
                if new.words() == old.words() {
                    new.dims = old.dims.clone();
                }
            }
        }
        program
    }

    /// The nodes of a lowered program by what they were made from, callees first.
    fn pairs(&self, lowered: &Program) -> Vec<(NodeId, NodeId)> {
        let mut out = Vec::new();
        for (old, names) in self.names.iter().enumerate() {
            for (new, node) in lowered.nodes.iter().enumerate() {
                // Lowering numbers what would have one name.
                let base = node.name.split("''").next().unwrap_or_default();
                if names.iter().any(|name| name == base) {
                    out.push((NodeId(old as u32), NodeId(new as u32)));
                }
            }
        }
        out
    }
}

/// The name of an instance, and that of one column of it.
fn names(program: &typed::Program, instance: &Instance, slicing: Slicing) -> [String; 2] {
    let decl = &program.decls[instance.decl];
    let mut sizes: Vec<u8> = decl
        .params
        .iter()
        .chain(&decl.results)
        .filter_map(|var| match &var.ty {
            VarType::Words { atom, .. } => instance.apply(atom).bits(),
            VarType::Nat => None,
        })
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(u8::to_string).collect();
    [sizes.join("_"), "1".to_string()].map(|sizes| {
        let mut name = decl.name.to_string();
        if decl.array {
            name += &format!("'{}", instance.alternative);
        }
        name += &format!("'{slicing:?}{sizes}");
        for nat in &instance.nats {
            name += &format!("'{}", nat.unsigned_abs());
        }
        name
    })
}
