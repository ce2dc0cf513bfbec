//! Proof of one compile: an entry in one slicing on one target with its flags.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::compiler::alone;
use crate::{Claim, Evidence, Outcome};
use sha2::{Digest, Sha256};
use usuba::diag::Diagnostic;
use usuba::ir::{Eqn, Node, NodeId, Op, Program, Slicing};
use usuba::isa::{Layout, Target};
use usuba::{Options, emit, optimise, typed};
use usuba_equiv::chain::Chain;
use usuba_equiv::claims::{self, Kind};
use usuba_equiv::lanes;
use usuba_equiv::source::Source;
use usuba_run::fingerprint::hex;
use usuba_sat::Engines;

use crate::arithmetic_folder;
use crate::certificate::{Promise, Record};
use crate::fault_injection::{self, Plant};
use crate::interfaces::{About, Found, Interfaces};
use crate::objects::{Objects, Shown};

/// The compile task: entry, slicing, target and flags.
#[derive(Clone)]
pub struct Cell {
    /// The file name of the program.
    pub program: String,
    /// Flags that change the semantics of the program.
    pub reading: String,
    /// Optimisation flags.
    pub flags: String,
    /// The fingerprint of the source and its included files.
    pub sha256: String,
    pub options: Options,
}

/// A compile and the claims proved about it.
pub struct Proof {
    pub program: String,
    pub entry: String,
    pub slicing: Slicing,
    pub target: &'static str,
    pub reading: String,
    pub flags: String,
    pub sha256: String,
    /// The fingerprint of the final IR.
    pub usuba0: String,
    pub claims: Vec<(Claim, Duration)>,
    /// One for each claim about an object.
    pub objects: Vec<Shown>,
    /// The claims about the byte interface, with their subjects.
    pub interface: Vec<About>,
    /// The hash of `cipher.toml`, which fixes the byte order of the words.
    pub description: String,
    /// The nodes that the entry calls, unless all of them are external.
    pub callees: Vec<String>,
    /// The duration of the compile.
    pub compiled: Duration,
}

/// Results of this run that other cells reuse.
#[derive(Default)]
pub struct Known {
    /// The engines that proved an operator in every lane of a target.
    operators: Mutex<HashMap<String, Engines>>,
    /// The contract claim of an entry, by the fingerprint of its source.
    promises: Mutex<HashMap<(String, String), Option<Claim>>>,
}

impl Known {
    /// Proves that a target computes an operator in every lane.
    fn operator(&self, target: &Target, layout: Layout, op: &Op, bits: u8) -> claims::Outcome {
        let name = format!("{} {layout:?} {op:?} {bits}", target.name);
        if let Some(engines) = locked(&self.operators).get(&name) {
            return claims::Outcome::Proved(*engines);
        }
        let outcome = lanes::prove(target, layout, op, bits);
        if let claims::Outcome::Proved(engines) = &outcome {
            locked(&self.operators).insert(name, *engines);
        }
        outcome
    }

    /// The contract claim of an entry, if it has a contract, and the time spent now.
    pub fn promise(
        &self,
        sha256: &str,
        program: &typed::Program,
        entry: Option<&str>,
    ) -> Option<(Claim, Duration)> {
        let name = (sha256.to_string(), entry.unwrap_or_default().to_string());
        if let Some(known) = locked(&self.promises).get(&name) {
            return known.clone().map(|claim| (claim, Duration::ZERO));
        }
        let found = arithmetic_folder::promise(program, entry);
        let claim = found.as_ref().map(|(claim, _)| claim.clone());
        locked(&self.promises).insert(name, claim);
        found
    }
}

fn locked<T>(memory: &Mutex<T>) -> MutexGuard<'_, T> {
    memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The claims to prove besides each pass.
pub struct Extent<'a> {
    /// Compare lowering with the final IR in one step.
    pub direct: bool,
    /// The source of kernel objects.
    pub objects: &'a Objects,
    /// The byte interface and the source of its objects.
    pub interfaces: Option<(&'a Interfaces, &'a Objects)>,
    pub plant: Option<&'a Plant>,
    pub known: &'a Known,
}

/// The reason why a cell has no verdict at all.
pub enum Obstacle {
    /// The compiler rejects the program.
    Findings(Vec<Diagnostic>),
    /// The object is absent or unreadable.
    Failure(String),
}

impl Cell {
    /// Proves that an external node of the final IR equals its source; the callee's own cell proves
    /// the external kernel against that node.
    fn callee(
        &self,
        program: &typed::Program,
        last: &Program,
        node: NodeId,
        name: &str,
    ) -> Outcome {
        let Some(entry) = program.decls.iter().position(|decl| *decl.name == *name) else {
            return Outcome::Unknown(format!("there is no `{name}` in the source"));
        };
        let program = typed::Program { entry, arguments: Default::default(), ..program.clone() };
        let slicing = last.slicing;
        let instance = match typed::check::entry_instance(&program, slicing, self.options.word) {
            Ok(instance) => instance,
            Err(finding) => return Outcome::Unknown(finding.message),
        };
        match Source::new(&program, &instance, slicing) {
            Ok(source) => {
                let outcome = source.outcome(&alone(last, node));
                outcome.widened().map(Evidence::Engines, |difference| difference)
            }
            Err(why) => Outcome::Unknown(why),
        }
    }

    /// Compiles a program and proves each pass; stops after the first unproved pass. Fault
    /// injection changes the output of a pass before the proof sees it.
    pub fn prove(&self, program: &typed::Program, extent: Extent) -> Result<Proof, Obstacle> {
        let Extent { direct, objects, interfaces, plant, known } = extent;
        let one = |diagnostic| Obstacle::Findings(vec![diagnostic]);
        let slicing = typed::check::slicing(program, self.options.slicing).map_err(one)?;
        let instance = typed::check::entry_instance(program, slicing, self.options.word);
        let instance = instance.map_err(one)?;
        let start = Instant::now();
        let mut claims: Vec<(Claim, Duration)> = Vec::new();
        let mut chain = None;
        let mut callees = Vec::new();
        let mut good = true;
        let mut prove = |start: Instant, claim: Claim| {
            let proved = claim.outcome.is_proved();
            claims.push((claim, start.elapsed()));
            proved
        };
        let source = || Source::new(program, &instance, slicing).map(Chain::new);
        let calls = |lowered: &Program| called(program, lowered);
        let last = optimise(program, &self.options, &mut |pass, program| {
            if !good {
                return;
            }
            if chain.is_none() {
                callees = calls(program);
            }
            let planted = plant.filter(|plant| plant.pass == pass);
            let planted = planted.and_then(|plant| plant.fault.put(program));
            let program = planted.as_ref().unwrap_or(program);
            let start = Instant::now();
            // The reference semantics is built once, after lowering has accepted the program.
            let claim = match chain.get_or_insert_with(source) {
                Ok(chain) => chain.see(pass, program).into(),
                Err(why) => unknown(Kind::Lowering, pass, why),
            };
            good = prove(start, claim);
        })
        .map_err(Obstacle::Findings)?;
        let (mut seen, mut interface) = (Vec::new(), Vec::new());
        if let Some(Ok(chain)) = &chain
            && good
        {
            let layout = emit::layout(&last, self.options.target);
            let start = Instant::now();
            let target = self.options.target;
            let shown = |op: &Op, bits| known.operator(target, layout, op, bits);
            let lanes = chain.lanes_by(target, layout, &shown);
            lanes.into_iter().for_each(|claim| good &= prove(start, claim.into()));
            let start = Instant::now();
            let whole = chain.direct().filter(|_| direct && good);
            whole.into_iter().for_each(|claim| good &= prove(start, claim.into()));
            for (node, name) in linked(&last) {
                let start = Instant::now();
                let outcome = self.callee(program, &last, node, name);
                let (kind, subject) = (Kind::Callee, name.to_string());
                good &= prove(start, Claim { kind, subject, outcome });
            }
            let fault = plant.filter(|plant| plant.pass == fault_injection::OBJECT);
            let fault = fault.map(|plant| plant.fault);
            let mut start = Instant::now();
            let mut look = |claim, shown| {
                prove(start, claim);
                seen.push(shown);
                start = Instant::now();
            };
            if good {
                let (on, c) = ((self.options.target, self.options.cpu), &self.options.c);
                let entry = &program.decls[instance.decl];
                let done = objects.prove(&last, (program, entry), on, c, fault, &mut look);
                done.map_err(Obstacle::Failure)?;
                if let Some((interfaces, objects)) = interfaces {
                    for found in interfaces.prove(self, program, &last, objects)? {
                        let Found { claim, spent, about } = found;
                        claims.push((claim, spent));
                        interface.push(about);
                    }
                }
            }
        }
        let spent: Duration = claims.iter().map(|(_, time)| *time).sum();
        Ok(Proof {
            program: self.program.clone(),
            entry: program.entry_text(),
            slicing,
            target: self.options.target.name,
            reading: self.reading.clone(),
            flags: self.flags.clone(),
            sha256: self.sha256.clone(),
            usuba0: fingerprint(&last),
            claims,
            objects: seen,
            description: match interface.is_empty() {
                true => String::new(),
                false => interfaces.map(|(all, _)| all.description()).unwrap_or_default(),
            },
            interface,
            callees,
            compiled: start.elapsed().saturating_sub(spent),
        })
    }
}

/// The external nodes (kernels in other files), with their names in the source.
fn linked(last: &Program) -> Vec<(NodeId, &str)> {
    let nodes = (0..last.nodes.len() as u32).map(NodeId);
    nodes.filter_map(|id| Some((id, last.node(id).kernel()?))).collect()
}

/// The nodes of the source that the entry of a lowered program calls; none if all are kernels.
fn called(program: &typed::Program, lowered: &Program) -> Vec<String> {
    fn calls(eqns: &[Eqn], out: &mut Vec<NodeId>) {
        for eqn in eqns {
            match eqn {
                Eqn::Call(call) if !out.contains(&call.node) => out.push(call.node),
                Eqn::Loop(lp) => calls(&lp.body, out),
                _ => {}
            }
        }
    }
    let is_node = |name: &str| {
        let found = program.decls.iter().find(|decl| *decl.name == *name);
        found.is_some_and(|decl| matches!(decl.kind, typed::Kind::Node(_)))
    };
    let mut ids = Vec::new();
    calls(&lowered.entry().body, &mut ids);
    let mut nodes: Vec<&Node> = ids.iter().map(|&id| lowered.node(id)).collect();
    nodes.retain(|node| is_node(node.source_name()));
    match nodes.iter().all(|node| node.kernel().is_some()) {
        true => Vec::new(),
        false => nodes.iter().map(|node| node.source_name().to_string()).collect(),
    }
}

fn unknown(kind: Kind, subject: &str, why: &str) -> Claim {
    Claim { kind, subject: subject.to_string(), outcome: Outcome::Unknown(why.to_string()) }
}

/// The contract of a claim, if it is proved.
fn promise((claim, _): &(Claim, Duration)) -> Option<Promise> {
    let by = claim.engines().filter(|_| claim.kind == Kind::Contract)?;
    Some(Promise { node: claim.subject.clone(), by })
}

/// The fingerprint of a Usuba0 program: the hash of its text.
pub fn fingerprint(program: &Program) -> String {
    hex(&Sha256::digest(usuba::dump::program(program).as_bytes()))
}

impl Proof {
    pub fn is_proved(&self) -> bool {
        self.claims.iter().all(|(claim, _)| claim.outcome.is_proved())
    }

    /// Refuted and unknown claims. Only claims about objects can occur more than once.
    pub fn faults(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(claim, _)| claim).filter(|claim| !claim.outcome.is_proved())
    }

    /// Claims about objects, with their objects.
    pub fn of_objects(&self) -> impl Iterator<Item = (&Claim, &Shown)> {
        let claims = self.claims.iter().map(|(claim, _)| claim);
        claims.filter(|claim| claim.kind == Kind::Object).zip(&self.objects)
    }

    /// Claims about the byte interface, with their subjects.
    pub fn of_interface(&self) -> impl Iterator<Item = (&Claim, &About)> {
        let is_one = |claim: &&Claim| matches!(claim.kind, Kind::Beside | Kind::Interface);
        self.claims.iter().map(|(claim, _)| claim).filter(is_one).zip(&self.interface)
    }

    /// The total duration of the proofs.
    pub fn spent(&self) -> Duration {
        self.claims.iter().map(|(_, time)| *time).sum()
    }

    /// The engines that the proofs of these kinds used.
    pub fn engines(&self, kinds: &[Kind]) -> Engines {
        let asked = self.claims.iter().filter(|(claim, _)| kinds.contains(&claim.kind));
        asked.filter_map(|(claim, _)| claim.engines()).collect()
    }

    /// The certificate record of this proof.
    pub fn record(&self) -> Record {
        let count = |kind| self.claims.iter().filter(|(claim, _)| claim.kind == kind).count();
        let lanes = self.claims.iter().find(|(claim, _)| claim.kind == Kind::Lanes);
        Record {
            program: self.program.clone(),
            entry: self.entry.clone(),
            slicing: format!("{:?}", self.slicing),
            target: self.target.to_string(),
            reading: self.reading.clone(),
            flags: self.flags.clone(),
            source: self.sha256.clone(),
            usuba0: self.usuba0.clone(),
            passes: count(Kind::Pass),
            lanes: lanes.map(|(claim, _)| claim.subject.clone()).unwrap_or_default(),
            engines: self.engines(&[Kind::Lowering, Kind::Pass, Kind::Lanes]),
            contract: self.claims.iter().filter_map(promise).collect(),
            object: self.objects.iter().map(|shown| shown.made.clone()).collect(),
            description: self.description.clone(),
            beside: self.interface.iter().filter_map(About::program).cloned().collect(),
            interface: self.interface.iter().filter_map(About::made).cloned().collect(),
        }
    }
}
