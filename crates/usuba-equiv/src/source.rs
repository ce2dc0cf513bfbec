//! Translation validation of lowering: the lowered program against the reference semantics.
//!
//! ```text
//! semantics    one word for each atom; loops unrolled; tables as multiplexers
//! V, H         the program on words                   compared with the semantics
//! B            the program on bits                    compared with the bit-blasted semantics
//! ```
//!
//! Both sides have one node for each instance of a declaration, so callees are proved first, tables
//! by exhaustive enumeration. From the lowered program on, `Observer` validates each pass; the
//! composition of its steps with this one is a proof from the source to the final IR.

use usuba::ir::{NodeId, Program, Slicing, lanes};
use usuba::typed::{self, Instance, VarType};

use crate::claims::{Outcome, outcome};
use crate::semantics::{self, Meaning};
use crate::{Verdict, bitblast, decide};

/// The semantics of one instance of the source, as a program to compare with.
#[derive(Clone, Debug)]
pub struct Source {
    /// In the slicing of the lowered program.
    pub program: Program,
    /// The names that lowering may give to each node; a proof does not rely on them.
    names: Vec<[String; 2]>,
}

impl Source {
    /// The semantics of an instance in a slicing.
    ///
    /// # Errors
    /// The program has no semantics, or a program on bits that is too long; the text says which.
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
        // Vectors are compared in scalar form.
        program.slicing = if slicing == Slicing::W { Slicing::V } else { slicing };
        let names = instances.iter().map(|instance| names(typed, instance, slicing)).collect();
        Ok(Source { program, names })
    }

    /// Whether `lowered`, with one instance as its entry, computes the function of the source.
    pub fn prove(&self, lowered: &Program) -> Verdict {
        let pairs = self.pairs(lowered);
        decide(&self.program, &self.words(lowered), Some(&pairs))
    }

    /// The verdict in the words of the source.
    pub fn outcome(&self, lowered: &Program) -> Outcome {
        let pairs = self.pairs(lowered);
        let lowered = &self.words(lowered);
        outcome(decide(&self.program, lowered, Some(&pairs)), &self.program, lowered, &pairs)
    }

    /// A lowered program in scalar form. The rows of its ports are the rows of the source again,
    /// where W has cut them into vectors.
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

    /// The nodes of a lowered program, paired with their instances, callees first.
    fn pairs(&self, lowered: &Program) -> Vec<(NodeId, NodeId)> {
        let mut out = Vec::new();
        for (old, names) in self.names.iter().enumerate() {
            for (new, node) in lowered.nodes.iter().enumerate() {
                // Lowering numbers nodes that would have one name.
                let base = node.name.split("''").next().unwrap_or_default();
                if names.iter().any(|name| name == base) {
                    out.push((NodeId(old as u32), NodeId(new as u32)));
                }
            }
        }
        out
    }
}

/// The name of an instance, and the name of one column of it.
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
