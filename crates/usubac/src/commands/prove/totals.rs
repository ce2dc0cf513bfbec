//! Totals of a run over all folders: numbers of proofs, shared objects and durations.
//!
//! ```text
//! 3120 of 3120 PROVED in 17.2 min, 12 of them before
//! 5460 objects PROVED: 2730 by gcc 14.2.0, 2730 by clang 19.1.7; 3904 different ones
//! avx2_gfni: 380 of 390 kernels use nothing of the extension and are those of avx2
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use usuba_equiv::claims::Kind;
use usuba_prove::cell::Proof;
use usuba_prove::certificate::Record;
use usuba_prove::objects::{self, Objects};
use usuba_prove::tasks::Backend;

use super::show;
use crate::args::Prove;

/// The totals of a run.
#[derive(Default, Serialize)]
pub struct Totals {
    pub proved: usize,
    pub failed: usize,
    /// Combinations that the slicing or the target does not support.
    pub impossible: usize,
    /// Proved in an earlier run.
    pub before: usize,
    pub seconds: f64,
    /// The numbers of proved objects, by compiler.
    objects: BTreeMap<String, usize>,
    /// The number of distinct objects.
    different_objects: usize,
    interface_functions: usize,
    shared: Vec<Shared>,
    /// Tasks left out, with the reason.
    pub skipped: Vec<String>,
    /// Durations of the steps in this run, in seconds over all cores.
    spent: BTreeMap<String, Spent>,
}

/// Kernels for an extension of a target.
#[derive(Serialize)]
struct Shared {
    target: &'static str,
    kernels: usize,
    /// The number of kernels whose object equals another target's object.
    shared: usize,
    with: Vec<&'static str>,
}

#[derive(Default, Serialize)]
struct Spent {
    count: usize,
    seconds: f64,
}

impl Totals {
    fn spend(&mut self, what: &str, time: Duration) {
        let spent = self.spent.entry(what.to_string()).or_default();
        spent.count += 1;
        spent.seconds += time.as_secs_f64();
    }

    /// Adds the duration of a proof, except for its cached parts.
    pub fn add(&mut self, proof: &Proof) {
        self.spend("usubac", proof.compiled);
        let mut objects = proof.objects.iter();
        for (claim, time) in &proof.claims {
            let name = || claim.outcome.name().to_string();
            let by = claim.engines().map_or_else(name, |engines| engines.to_string());
            match claim.kind {
                Kind::Object => {
                    let Some(shown) = objects.next().filter(|shown| !shown.is_known) else {
                        continue;
                    };
                    let compiler = shown.made.by.split(' ').next().unwrap_or_default();
                    self.spend(compiler, shown.made_in);
                    self.spend(&format!("object, {by}"), time.saturating_sub(shown.made_in));
                }
                Kind::Pass | Kind::Lowering | Kind::Direct => self.spend("programs", *time),
                kind => self.spend(kind.name(), *time),
            }
        }
    }

    /// Adds the objects of records.
    pub fn look_at(
        &mut self,
        records: &BTreeMap<&Path, Vec<Record>>,
        backends: &[Backend],
        args: &Prove,
    ) {
        let objects = || records.values().flatten().flat_map(|record| &record.object);
        for made in objects() {
            *self.objects.entry(made.by.clone()).or_default() += 1;
        }
        self.different_objects =
            objects().map(|made| made.sha256.as_str()).collect::<BTreeSet<_>>().len();
        self.interface_functions =
            records.values().flatten().map(|record| record.interface.len()).sum();
        for backend in backends.iter().filter(|_| args.binary || args.interface) {
            let name = backend.target.name;
            if matches!(backend.objects, Objects::None) && !objects::has_machine(backend.target) {
                self.skipped.push(format!("objects: {}", objects::no_machine(backend.target)));
            }
            let with: Vec<&'static str> =
                objects::less_than(backend.target).map(|target| target.name).collect();
            if args.binary && !with.is_empty() {
                self.shared.push(shared(records, name, with));
            }
        }
    }

    /// The totals as text.
    pub fn text(&self, records: &BTreeMap<&Path, Vec<Record>>) -> String {
        let mut text = String::new();
        for (folder, records) in records {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let mut ways: Vec<String> =
                records.iter().map(|r| format!("{}/{}", r.slicing, r.target)).collect();
            ways.sort();
            ways.dedup();
            let entries: BTreeSet<&str> = records.iter().map(|r| r.entry.as_str()).collect();
            text.push_str(&format!(
                "{name}: {} proved, {} entries, {}\n",
                records.len(),
                entries.len(),
                ways.join(" ")
            ));
        }
        let all = self.proved + self.failed;
        let time = Duration::from_secs_f64(self.seconds);
        text.push_str(&format!("{} of {all} PROVED in {}", self.proved, show::time(time)));
        if self.before > 0 {
            text.push_str(&format!(", {} of them before", self.before));
        }
        if self.impossible > 0 {
            let count = self.impossible;
            text.push_str(&format!("; {count} that the slicing or the target does not have"));
        }
        text.push('\n');
        let count: usize = self.objects.values().sum();
        if count > 0 {
            let by = self.objects.iter().map(|(by, count)| format!("{count} by {by}"));
            let (by, different) = (by.collect::<Vec<_>>().join(", "), self.different_objects);
            text.push_str(&format!("{count} objects PROVED: {by}; {different} different ones\n"));
        }
        if self.interface_functions > 0 {
            let count = self.interface_functions;
            text.push_str(&format!(
                "{count} functions of the byte interface PROVED, each way to call one counted\n"
            ));
        }
        for Shared { target, kernels, shared, with } in &self.shared {
            text.push_str(&format!(
                "SHARED: {shared} of {kernels} kernels for {target} are, to the byte, those of {}\n",
                with.join(" or ")
            ));
        }
        self.skipped.iter().for_each(|what| text.push_str(&format!("SKIPPED: {what}\n")));
        if !self.spent.is_empty() {
            let part = |(what, spent): (&String, &Spent)| format!("{what} {:.1} s", spent.seconds);
            let parts: Vec<String> = self.spent.iter().map(part).collect();
            text.push_str(&format!("time over all cores: {}\n", parts.join(", ")));
        }
        text
    }

    /// The totals as one line of JSON.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            totals: &'a Totals,
        }
        let line = serde_json::to_string(&Line { totals: self });
        line.expect("strings and numbers have a JSON form") + "\n"
    }
}

/// The number of kernels for a target whose object equals an object of the targets `with`.
fn shared(
    records: &BTreeMap<&Path, Vec<Record>>,
    target: &'static str,
    with: Vec<&'static str>,
) -> Shared {
    type Subject<'a> = (&'a Path, &'a str, &'a str, &'a str);
    let mut others: HashMap<Subject, Vec<&Record>> = HashMap::new();
    let mut own = Vec::new();
    for (folder, records) in records {
        for record in records.iter().filter(|record| !record.object.is_empty()) {
            let Record { program, entry, slicing, .. } = record;
            let subject = (*folder, program.as_str(), entry.as_str(), slicing.as_str());
            if record.target == target {
                own.push((subject, record));
            } else if with.contains(&record.target.as_str()) {
                others.entry(subject).or_default().push(record);
            }
        }
    }
    let is_same = |(subject, record): &&(Subject, &Record)| {
        let others = others.get(subject).map_or(&[][..], Vec::as_slice);
        others.iter().any(|other| other.object == record.object)
    };
    Shared { target, kernels: own.len(), shared: own.iter().filter(is_same).count(), with }
}
