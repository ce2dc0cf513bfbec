//! `usuba.prove`: translation validation of an entry in each slicing on each target.

use std::time::Duration;

use pyo3::prelude::*;
use usuba_contracts::{Verdict, check_node, finding, promising};
use usuba_prove::cell::{Cell, Extent, Known, Obstacle};
use usuba_prove::objects::Objects;
use usuba_prove::{Claim, Outcome};

use crate::check::usual;
use crate::failure::{Failure, run};
use crate::source::{Read, Source};

/// A claim: kind, subject, verdict, engines, the reason of a verdict that is not PROVED, seconds.
type Shown = (String, String, String, Option<String>, Option<String>, f64);

/// A proof: entry, slicing, target, verdict, claims.
type Proof = (String, String, String, String, Vec<Shown>);

/// Proves the contracts of the program, and each compilation.
#[pyfunction]
pub fn prove(
    py: Python<'_>,
    source: Source,
    slicings: Vec<String>,
    targets: Vec<String>,
) -> PyResult<Vec<Proof>> {
    run(py, move || {
        let read = source.read()?;
        let contracts = contracts(&read, &source)?;
        let known = Known::default();
        let pairs = slicings.iter().flat_map(|own| targets.iter().map(move |target| (own, target)));
        let each = pairs.map(|(slicing, target)| {
            let mut proof = one(&read, &source, (slicing, target), &known)?;
            proof.4.splice(0..0, contracts.iter().cloned());
            Ok(proof)
        });
        each.collect()
    })
}

/// The contracts of all nodes, or of the nodes that the chosen entry reaches.
fn contracts(read: &Read, source: &Source) -> Result<Vec<Shown>, Failure> {
    let program = &read.checked.program;
    let reached = source.entry.as_ref().map(|_| program.reached(program.entry));
    let (mut claims, mut findings) = (Vec::new(), Vec::new());
    for node in promising(program) {
        if reached.as_ref().is_some_and(|all| !all.contains(&node)) {
            continue;
        }
        let report = check_node(program, node);
        match report.verdict {
            Verdict::Proved(engines) => claims.push((
                "contract".to_string(),
                report.node,
                "PROVED".to_string(),
                Some(engines.to_string()),
                None,
                0.0,
            )),
            verdict => findings.extend(finding(verdict)),
        }
    }
    match findings.is_empty() {
        true => Ok(claims),
        false => Err(Failure::findings(&read.sources, &findings)),
    }
}

fn one(
    read: &Read,
    source: &Source,
    (slicing, target): (&str, &str),
    known: &Known,
) -> Result<Proof, Failure> {
    let cell = Cell {
        program: source.name.clone(),
        reading: String::new(),
        flags: String::new(),
        sha256: usuba_run::fingerprint::fingerprint(&read.sources),
        options: usual(source, slicing, target)?,
    };
    let objects = &Objects::None;
    let extent = Extent { direct: false, objects, interfaces: None, plant: None, known };
    let proof = cell.prove(&read.checked.program, extent).map_err(|obstacle| match obstacle {
        Obstacle::Findings(findings) => Failure::findings(&read.sources, &findings),
        Obstacle::Failure(why) => Failure::from(why),
    })?;
    let verdict = proof.faults().next().map_or("PROVED", |claim| claim.outcome.name());
    let verdict = verdict.to_string();
    let claims = proof.claims.iter().map(shown).collect();
    Ok((proof.entry, format!("{:?}", proof.slicing), proof.target.to_string(), verdict, claims))
}

fn shown((claim, spent): &(Claim, Duration)) -> Shown {
    let reason = match &claim.outcome {
        Outcome::Proved(_) => None,
        Outcome::Refuted(difference) => Some(difference.to_string()),
        Outcome::Refused(fault) => Some(fault.to_string()),
        Outcome::Unknown(why) => Some(why.clone()),
    };
    let engines = claim.engines().map(|engines| engines.to_string());
    let (kind, verdict) = (claim.kind.name().to_string(), claim.outcome.name().to_string());
    (kind, claim.subject.clone(), verdict, engines, reason, spent.as_secs_f64())
}
