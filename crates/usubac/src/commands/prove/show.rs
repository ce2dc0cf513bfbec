//! Reports of proofs, as text and as JSON.

use std::time::Duration;

use serde::Serialize;
use usuba_equiv::claims::{Difference, Kind};
use usuba_object::verdict::{Evidence, Turns};
use usuba_prove::cell::Proof;
use usuba_prove::certificate::Record;
use usuba_prove::interfaces::About;
use usuba_prove::objects::{Made, Shown};
use usuba_prove::{Claim, Outcome};

/// The trusted computing base, printed under every proof.
fn trusted(proof: &Proof) -> &'static str {
    match proof.objects.is_empty() && proof.interface.is_empty() {
        true => "the meaning of the language, the prover, the C of instructions, the C compiler",
        false => "the meaning of the language, the prover, its model of the processor",
    }
}

/// The subject of the proof, in a few words.
pub fn subject(proof: &Proof) -> String {
    let flags: Vec<&str> = [&proof.reading, &proof.flags].into_iter().map(|f| f.as_str()).collect();
    let flags = flags.join(" ");
    let flags = flags.trim();
    let flags = if flags.is_empty() { String::new() } else { format!(" with {flags}") };
    let Proof { program, entry, slicing, target, .. } = proof;
    format!("{program}, {entry} in {slicing:?} on {target}{flags}")
}

fn verdict(proof: &Proof) -> &'static str {
    proof.faults().next().map_or("PROVED", |claim| claim.outcome.name())
}

/// A duration with three digits.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        0.0..0.001 => format!("{:.0} µs", seconds * 1e6),
        0.001..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// The report of one proof. Durations share one line; JSON has them all.
pub fn report(proof: &Proof) -> String {
    let mut text = format!("{}: {}\n", subject(proof), verdict(proof));
    let contracts = proof.claims.iter().filter(|(claim, _)| claim.kind == Kind::Contract);
    let names = contracts.map(|(claim, _)| "contract ".len() + claim.subject.len());
    let width = names.max().unwrap_or(0).max(14);
    let mut line = |what: &str, how: String| text.push_str(&format!("  {what:<width$} {how}\n"));
    let proved = |(claim, _): &&(Claim, Duration)| claim.outcome.is_proved();
    let passes = proof.claims.iter().filter(proved).filter(|(c, _)| c.kind == Kind::Pass).count();
    let mut shown = false;
    for (claim, spent) in proof.claims.iter().filter(proved) {
        let engines = proof.engines(&[claim.kind]);
        match claim.kind {
            Kind::Contract => {
                let Some(by) = claim.engines() else { continue };
                line(
                    &format!("contract {}", claim.subject),
                    format!("proved by {by} in {}", time(*spent)),
                );
            }
            Kind::Lowering => line("lowering", format!("proved to be the source, by {engines}")),
            Kind::Pass if !std::mem::replace(&mut shown, true) => {
                let noun = if passes == 1 { "pass" } else { "passes" };
                line(&format!("{passes} {noun}"), format!("proved by {engines}"));
            }
            Kind::Pass => {}
            Kind::Lanes => line(&claim.subject, format!("proved in every lane by {engines}")),
            Kind::Direct => {
                line("in one step", format!("proved from lowering to the end, by {engines}"))
            }
            Kind::Object | Kind::Interface => {}
            Kind::Beside => {
                line("beside", format!("{} proved to be its source, by {engines}", claim.subject));
            }
            other => line(other.name(), format!("{} proved by {engines}", claim.subject)),
        }
    }
    let of_interface = proof.of_interface().map(|(claim, _)| (claim, "interface"));
    for (claim, what) in proof.of_objects().map(|(claim, _)| (claim, "object")).chain(of_interface)
    {
        let Some(found) = claim.machine() else { continue };
        let (subject, engines) = (&claim.subject, found.engines);
        match what {
            "object" => line(what, format!("{subject} proved in every lane by {engines}")),
            _ => line(what, format!("{subject} proved by {engines}")),
        }
        line(
            "",
            match found.turns {
                Some(Turns { loops, paths }) => {
                    let turn = if loops == 1 { "loop" } else { "loops" };
                    format!("for any number of blocks: {loops} {turn}, {paths} ways to the end")
                }
                None => format!("in constant time: {} instructions", found.instructions),
            },
        );
        for (what, text) in ["  leaves", ""].into_iter().zip(left(found)) {
            line(what, text);
        }
    }
    text.push_str(&faults(proof));
    if proof.is_proved() {
        text.push_str(&format!(
            "  {:<width$} {}\n  compiled in {}, proved in {}\n",
            "trusted",
            trusted(proof),
            time(proof.compiled),
            time(proof.spent())
        ));
    }
    text
}

/// The zeroization result of a function, in two lines.
fn left(found: &Evidence) -> [String; 2] {
    let Evidence { residue, frame, .. } = found;
    let registers = match residue.registers.len() {
        0 => "no register".to_string(),
        _ => residue.registers.join(", "),
    };
    let bytes = residue.frame;
    [format!("secrets in {bytes} of {frame} bytes of the frame"), format!("and in {registers}")]
}

/// All refutations and obstacles.
fn faults(proof: &Proof) -> String {
    let mut text: String = proof.faults().map(fault).collect();
    let is_open =
        |claim: &Claim| claim.kind == Kind::Object && matches!(claim.outcome, Outcome::Unknown(_));
    if !proof.callees.is_empty() && proof.faults().any(is_open) {
        let callees = proof.callees.join(",");
        text.push_str(&format!(
            "  help: prove the nodes that it calls as kernels of their own, with `--link {callees}`\n"
        ));
    }
    text
}

/// The refutation or obstacle, over a few lines.
fn fault(claim: &Claim) -> String {
    let step = match claim.kind {
        Kind::Lowering => "after lowering".to_string(),
        Kind::Pass => format!("after the pass {}", claim.subject),
        Kind::Direct => "after all passes together".to_string(),
        Kind::Lanes => format!("in the instructions for {}", claim.subject),
        Kind::Object => format!("in the object {}", claim.subject),
        Kind::Beside => format!("in what the byte interface contains, {},", claim.subject),
        Kind::Interface => format!("in the byte interface, {},", claim.subject),
        other => format!("in {} {}", other.name(), claim.subject),
    };
    match &claim.outcome {
        Outcome::Proved(_) => String::new(),
        Outcome::Refused(why) => format!("  {step} a rule is broken: {why}\n"),
        Outcome::Unknown(why) => format!("  {step} nothing is known: {why}\n"),
        Outcome::Refuted(difference) => {
            let inner = difference.inner.as_deref();
            let inner = inner.map(|inner| format!("  by itself, {inner}\n")).unwrap_or_default();
            format!("  {step}, {difference}\n{inner}")
        }
    }
}

/// One line for a proof among many.
pub fn line(proof: &Proof) -> String {
    format!("{}: {}\n{}", subject(proof), verdict(proof), faults(proof))
}

/// One line for a certificate.
pub fn check(proof: &Proof, stale: Option<String>) -> String {
    match (proof.is_proved(), stale) {
        (true, Some(why)) => format!("{}: STALE, {why}\n", subject(proof)),
        (true, None) => format!("{}: PROVED again\n", subject(proof)),
        (false, _) => line(proof),
    }
}

#[derive(Serialize)]
struct JsonProof<'a> {
    program: &'a str,
    entry: &'a str,
    slicing: String,
    target: &'a str,
    reading: &'a str,
    flags: &'a str,
    verdict: &'a str,
    source: &'a str,
    usuba0: &'a str,
    compile_seconds: f64,
    proof_seconds: f64,
    claims: Vec<JsonClaim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<String>,
    trusted: &'a str,
}

#[derive(Serialize)]
struct JsonClaim<'a> {
    kind: &'a str,
    subject: &'a str,
    verdict: &'a str,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    engines: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resisted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<JsonDifference<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<JsonObject<'a>>,
}

#[derive(Serialize)]
struct JsonObject<'a> {
    by: &'a str,
    flags: &'a str,
    sha256: &'a str,
    /// The duration of the C compile, as part of the seconds of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler_seconds: Option<f64>,
    /// Whether this run has examined the same text with the same flags before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    found: Option<JsonFound<'a>>,
}

/// The evidence of a proved object.
#[derive(Serialize)]
struct JsonFound<'a> {
    instructions: u64,
    frame_bytes: u64,
    /// Secrets that remain.
    left_frame_bytes: usize,
    left_registers: &'a [String],
    /// Loops over any number of blocks, and paths to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    loops: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<u32>,
}

impl<'a> JsonObject<'a> {
    /// The object of a claim; `shown` describes its compilation.
    fn new(claim: &'a Claim, made: &'a Made, shown: Option<&Shown>) -> JsonObject<'a> {
        let found = claim.machine().map(|found| JsonFound {
            instructions: found.instructions,
            frame_bytes: found.frame,
            left_frame_bytes: found.residue.frame,
            left_registers: &found.residue.registers,
            loops: found.turns.map(|turns| turns.loops),
            paths: found.turns.map(|turns| turns.paths),
        });
        let compiled = shown.filter(|shown| !shown.is_known && !made.is_file());
        JsonObject {
            by: &made.by,
            flags: &made.flags,
            sha256: &made.sha256,
            compiler_seconds: compiled.map(|shown| shown.made_in.as_secs_f64()),
            shared: shown.is_some_and(|shown| shown.is_known),
            found,
        }
    }
}

#[derive(Serialize)]
struct JsonDifference<'a> {
    node: &'a str,
    inputs: Vec<(&'a str, String)>,
    value: &'a str,
    expected: String,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner: Option<Box<JsonDifference<'a>>>,
}

impl<'a> JsonDifference<'a> {
    fn new(difference: &'a Difference) -> JsonDifference<'a> {
        let hex = |word: u64| format!("{word:#x}");
        JsonDifference {
            node: &difference.node,
            inputs: difference.inputs.iter().map(|(name, word)| (&**name, hex(*word))).collect(),
            value: &difference.value,
            expected: hex(difference.expected),
            found: hex(difference.found),
            inner: difference.inner.as_ref().map(|inner| Box::new(JsonDifference::new(inner))),
        }
    }
}

/// A cached proof, as one line of JSON.
pub fn json_before(record: &Record) -> String {
    #[derive(Serialize)]
    struct Before<'a> {
        target: &'a str,
        verdict: &'a str,
        before: bool,
        #[serde(flatten)]
        record: &'a Record,
    }
    let line = Before { target: &record.target, verdict: "PROVED", before: true, record };
    serde_json::to_string(&line).expect("strings and numbers have a JSON form") + "\n"
}

/// The proof as one line of JSON.
pub fn json(proof: &Proof) -> String {
    json_check(proof, None)
}

/// The proof with the outdated part of its certificate, as one line of JSON.
pub fn json_check(proof: &Proof, stale: Option<String>) -> String {
    let (mut objects, mut interface) = (proof.objects.iter(), proof.interface.iter());
    let claims = proof.claims.iter().map(|(claim, spent)| JsonClaim {
        kind: claim.kind.name(),
        subject: &claim.subject,
        verdict: claim.outcome.name(),
        seconds: spent.as_secs_f64(),
        engines: claim.engines().map(|engines| engines.to_string()),
        resisted: match &claim.outcome {
            Outcome::Unknown(why) => Some(why.clone()),
            Outcome::Refused(fault) => Some(fault.to_string()),
            _ => None,
        },
        difference: match &claim.outcome {
            Outcome::Refuted(difference) => Some(JsonDifference::new(difference)),
            _ => None,
        },
        object: match claim.kind {
            Kind::Object => {
                objects.next().map(|shown| JsonObject::new(claim, &shown.made, Some(shown)))
            }
            Kind::Beside | Kind::Interface => {
                let made = interface.next().and_then(About::made);
                made.map(|made| JsonObject::new(claim, made, None))
            }
            _ => None,
        },
    });
    let text = serde_json::to_string(&JsonProof {
        program: &proof.program,
        entry: &proof.entry,
        slicing: format!("{:?}", proof.slicing),
        target: proof.target,
        reading: &proof.reading,
        flags: &proof.flags,
        verdict: verdict(proof),
        source: &proof.sha256,
        usuba0: &proof.usuba0,
        compile_seconds: proof.compiled.as_secs_f64(),
        proof_seconds: proof.spent().as_secs_f64(),
        claims: claims.collect(),
        stale,
        trusted: trusted(proof),
    });
    text.expect("strings and numbers have a JSON form") + "\n"
}
