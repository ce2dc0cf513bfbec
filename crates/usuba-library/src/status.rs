//! Markdown tables of all primitives, for the documents.
//!
//! ```text
//! | chacha20 | V, B | yes | keystream | 4.56 | 2.49x | 4.54x | 10.3x |     status
//! | x25519 | arithmetic | where multiplication is | key agreement | – | – | – | – |
//! | chacha20 | avx2 | V gp64, 2: V sse, 5: V avx2 | 4.62 | ... | █▆▃▁▁▁▁ |     curves
//! ```
//!
//! Speeds come from `costs.toml`; this module measures nothing.

use std::collections::BTreeSet;

use rayon::prelude::*;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::{Level, PipelineOptions};

use super::interface::{Kind, kind};
use super::ladder::{self, Cost, Costs};
use super::primitive::{Operation, Primitive, primitives};
use super::{CURVE, cores, includes, section};
use usuba_ciphers::{Cipher, Function, HashMode, Scheme, Seal, Sign};
use usuba_run::functions::Way;
use usuba_run::validated::Proofs;

/// A row of the status table or of the curves.
struct Row<'a> {
    name: String,
    /// Its modes, in words.
    modes: &'static str,
    /// The timed operation, and the bytes of a block in throughput figures.
    timed: &'a Operation<'a>,
    bytes: usize,
    /// The functions that determine its slicings and its status.
    functions: Vec<&'a Function>,
}

/// The backends of a table: every backend of `targets` with measured costs.
fn backends(
    targets: &[&'static Target],
    ciphers: &[Cipher],
    costs: &[Costs],
) -> Vec<&'static Target> {
    let all = || costs.iter().flat_map(|folder| &folder.costs);
    let measured = |target: &&Target| all().any(|cost| cost.target == target.name);
    super::backends(targets, ciphers).into_iter().filter(measured).collect()
}

/// One row for each primitive of all folders, as Markdown: slicings or components, constant-time
/// status, modes, and speed on long messages.
///
/// # Errors
/// The diagnostics of the compiler, or an unreadable file.
pub fn status(ciphers: &[Cipher], targets: &[&'static Target]) -> Result<String, String> {
    let costs = costs(ciphers)?;
    let shown = backends(targets, ciphers, &costs);
    let [base, others @ ..] = &shown[..] else { return Err("no costs were measured".into()) };
    let mut text = format!("| primitive | slicings | constant time | modes | {} |", base.name);
    others.iter().for_each(|target| text += &format!(" {} |", target.name));
    text += &format!("\n|---|---|---|---|{}\n", "---:|".repeat(shown.len()));
    let rows: Vec<Result<String, String>> = (ciphers.par_iter().zip(&costs))
        .map(|(cipher, costs)| {
            let primitives = primitives(cipher);
            let lines = rows(cipher, &primitives)?.into_iter();
            let line = |row: Row| {
                let slicings = slicings(&row);
                let timing = timing(cipher, &row)?;
                let modes = row.modes;
                let first = each(cipher, &row, base, costs);
                let mut line = format!(
                    "| `{}` | {} | {timing} | {modes} | {} |",
                    row.name,
                    slicings.join(", "),
                    first.map_or("–".into(), digits)
                );
                for target in others {
                    let factor = first.zip(each(cipher, &row, target, costs));
                    let factor = factor.map(|(first, here)| format!("{}×", digits(first / here)));
                    line += &format!(" {} |", factor.unwrap_or("–".into()));
                }
                Ok(line + "\n")
            };
            let lines: Result<String, String> = lines.map(line).collect();
            Ok(lines? + &around_arithmetic(cipher, shown.len())?)
        })
        .collect();
    for rows in rows {
        text += &rows?;
    }
    Ok(text)
}

/// Words of the table for programs without look-ups, with and without multiplications.
const MULTIPLIES: &str = "where multiplication is";
const CONSTANT: &str = "yes";

/// The rows of schemes in hand-written C and of compositions with other folders. Their costs are
/// not measured.
fn around_arithmetic(cipher: &Cipher, columns: usize) -> Result<String, String> {
    let timed = |name: &str, of: &str, timing: &str, modes: &str| {
        format!("| `{name}` | {of} | {timing} | {modes} |{}\n", " – |".repeat(columns))
    };
    // Arithmetic always needs multiplications.
    let row = |name: &str, of: &str, modes: &str| timed(name, of, MULTIPLIES, modes);
    let scheme = match cipher.scheme {
        Some(Scheme::Curve25519) => {
            let verified = "signatures; the time of verification depends on public data";
            row("x25519", "arithmetic", "key agreement") + &row("ed25519", "arithmetic", verified)
        }
        Some(Scheme::Poly1305) => {
            row(&usuba_ciphers::folder_name(&cipher.folder)?, "arithmetic", "one-time MAC")
        }
        None => String::new(),
    };
    let mut needs: Vec<String> =
        cipher.needs.iter().map(|need| format!("`{}`", need.folder)).collect();
    // Functions of one folder are next to each other.
    needs.dedup();
    let needs = needs.join(", ");
    let seal = |seal: &Seal| row(&seal.name, &needs, modes(Kind::Seal(seal.mode)));
    let macs = cipher.macs.iter().map(|mac| timed(&mac.name, &needs, CONSTANT, modes(Kind::Mac)));
    let sign = |sign: &Sign| {
        let parts: Vec<String> =
            sign.functions().iter().map(|function| format!("`{function}`")).collect();
        row(&sign.name, &parts.join(", "), modes(Kind::Sign(sign.mode)))
    };
    // The others have rows with costs.
    let composed = cipher.seals.iter().filter(|seal| seal.duplex.is_none());
    let seals: String = composed.map(seal).collect();
    Ok(scheme
        + &macs.collect::<String>()
        + &seals
        + &cipher.signs.iter().map(sign).collect::<String>())
}

/// For each primitive and backend, as Markdown: the dispatch thresholds, and cycles per byte
/// against the number of blocks.
///
/// # Errors
/// An unreadable file.
pub fn curves(ciphers: &[Cipher], targets: &[&'static Target]) -> Result<String, String> {
    let costs = costs(ciphers)?;
    let shown = backends(targets, ciphers, &costs);
    let mut text = String::from("| primitive | backend | from blocks: kernel |");
    CURVE.iter().for_each(|blocks| text += &format!(" {blocks} |"));
    text += &format!(" curve |\n|---|---|---|{}---|\n", "---:|".repeat(CURVE.len()));
    for (cipher, costs) in ciphers.iter().zip(&costs) {
        let primitives = primitives(cipher);
        // Functions of one kernel have one curve, under all their names.
        let rows = rows(cipher, &primitives)?;
        let same = |a: &Row, b: &Row| a.timed.name == b.timed.name && a.bytes == b.bytes;
        for (at, row) in rows.iter().enumerate() {
            if rows[..at].iter().any(|earlier| same(earlier, row)) {
                continue;
            }
            let alike = rows[at..].iter().filter(|other| same(other, row));
            let names: Vec<String> = alike.map(|other| format!("`{}`", other.name)).collect();
            for target in &shown {
                let candidates = candidates(cipher, row.timed, target, costs);
                let steps = ladder::ladder(&candidates);
                if steps.is_empty() {
                    continue;
                }
                let kernels: Vec<String> = steps
                    .iter()
                    .rev()
                    .map(|step| {
                        let Cost { slicing, target, unit, .. } = &candidates[step.kernel];
                        format!("{}: {slicing} {target} ×{unit}", step.from)
                    })
                    .collect();
                let each: Vec<f64> = CURVE
                    .iter()
                    .map(|&blocks| {
                        ladder::cycles(&candidates, &steps, blocks) / (blocks * row.bytes) as f64
                    })
                    .collect();
                let (names, kernels) = (names.join(", "), kernels.join(", "));
                text += &format!("| {names} | {} | {kernels} |", target.name);
                each.iter().for_each(|&cycles| text += &format!(" {} |", digits(cycles)));
                text += &format!(" {} |\n", bars(&each));
            }
        }
    }
    Ok(text)
}

/// A curve in one line, on a logarithmic scale from its minimum to its maximum.
fn bars(values: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let logs: Vec<f64> = values.iter().map(|value| value.log2()).collect();
    let least = logs.iter().copied().fold(f64::MAX, f64::min);
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    let height = |log: &f64| (log - least) / (most - least).max(1.0) * 7.0;
    logs.iter().map(|log| BARS[(height(log).round() as usize).min(7)]).collect()
}

/// Formats a number with three digits.
fn digits(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn costs(ciphers: &[Cipher]) -> Result<Vec<Costs>, String> {
    ciphers.iter().map(|cipher| Costs::read(&cipher.folder)).collect()
}

/// The primitives of a folder, followed by its composed keystreams.
fn rows<'a>(cipher: &Cipher, primitives: &'a [Primitive<'a>]) -> Result<Vec<Row<'a>>, String> {
    let sizes = |operation: &Operation| -> Result<(usize, usize), String> {
        let vectors = cipher.vectors(operation.functions[0])?;
        Ok((vectors[0].input.len(), vectors[0].output.len()))
    };
    let mut rows = Vec::new();
    let whole = |primitive: &&Primitive| {
        let first = primitive.operations[0].functions[0];
        !cipher.is_chained(first)
    };
    for primitive in primitives.iter().filter(whole) {
        let timed = &primitive.operations[0];
        let sizes = sizes(timed)?;
        let keyed = timed.functions[0].key.is_some();
        rows.push(Row {
            name: primitive.name.clone(),
            modes: modes(kind(primitive, keyed, sizes)),
            timed,
            bytes: sizes.1,
            functions: primitive.operations.iter().flat_map(|o| &o.functions).copied().collect(),
        });
    }
    let operation = |function: &String| {
        let mut operations = primitives.iter().flat_map(|primitive| &primitive.operations);
        let inside = |o: &&Operation| o.functions.iter().any(|f| f.name == *function);
        operations.find(inside).expect("reading cipher.toml found it")
    };
    for stream in &cipher.streams {
        let (first, timed) = (operation(&stream.first), operation(&stream.then));
        let (input, output) = sizes(timed)?;
        let functions = first.functions.iter().chain(&timed.functions).copied().collect();
        let (kind, bytes) = match timed.functions[0].key {
            None => (Kind::Running { start: 0, next: 0 }, output - input),
            Some(_) => (Kind::Extended { subkey: 0, stream: 0 }, output),
        };
        let modes = modes(kind);
        rows.push(Row { name: stream.name.clone(), modes, timed, bytes, functions });
    }
    for hash in &cipher.hashes {
        let timed = operation(&hash.chain);
        let (input, output) = sizes(timed)?;
        rows.push(Row {
            name: hash.name.clone(),
            modes: match (hash.mode, hash.has_hmac(input - output)) {
                (HashMode::Sponge, false) => "hash, many messages side by side",
                (mode, _) => modes(Kind::Hash(mode)),
            },
            timed,
            bytes: input - output,
            functions: timed.functions.clone(),
        });
    }
    for (seal, duplex) in cipher.seals.iter().filter_map(|seal| Some((seal, seal.duplex.as_ref()?)))
    {
        let (timed, state) = (operation(&duplex.seal), operation(&duplex.short));
        let parts = duplex.functions().map(operation);
        rows.push(Row {
            name: seal.name.clone(),
            modes: "authenticated encryption, many messages side by side",
            timed,
            bytes: sizes(timed)?.1 - sizes(state)?.1,
            functions: parts.iter().flat_map(|operation| &operation.functions).copied().collect(),
        });
    }
    Ok(rows)
}

/// The slicings of a row; `V with gfni` if no target supports the slicing without it. Slicings for
/// narrow registers only are not in the library.
fn slicings(row: &Row) -> Vec<String> {
    let named = |(slicing, name): (Slicing, &str)| {
        let functions = || row.functions.iter().filter(|f| f.slicings.contains(&slicing));
        let plain = |f: &Function| f.targets.is_empty();
        let more: BTreeSet<&str> = (isa::all())
            .filter(|target| functions().any(|function| function.is_for(target)))
            .map(addition)
            .collect();
        match (functions().next(), functions().copied().any(plain) || more.contains("")) {
            (None, _) => None,
            (_, true) => Some(name.into()),
            _ if more.is_empty() => None,
            _ => Some(format!("{name} with {}", more.into_iter().collect::<Vec<_>>().join(" or "))),
        }
    };
    let all = [(Slicing::V, "V"), (Slicing::H, "H"), (Slicing::B, "B"), (Slicing::W, "W")];
    all.into_iter().filter_map(named).collect()
}

/// The suffix of a target beyond its base: `gfni` for `avx2_gfni`, nothing for `avx2`.
fn addition(target: &'static Target) -> &'static str {
    let base = target.base.map_or(target.name, |base| base.name);
    target.name.strip_prefix(base).unwrap_or(target.name).trim_start_matches('_')
}

/// The display names of the modes of a kind.
fn modes(kind: Kind) -> &'static str {
    match kind {
        Kind::Stream(_) | Kind::Extended { .. } => "keystream, seekable",
        Kind::Running { .. } => "keystream, many side by side",
        Kind::Block { inverse: Some(_), wide: true } => "CTR, CBC decryption, XTS, blocks",
        Kind::Block { .. } => "CTR, blocks",
        Kind::Tweakable { .. } => "counter in tweak, blocks",
        Kind::Permutation => "states in parallel",
        Kind::Keyed | Kind::Unkeyed => "blocks",
        Kind::Hash(HashMode::Sponge) => "hash, HMAC, many messages side by side",
        Kind::Hash(HashMode::Xof | HashMode::Cxof | HashMode::Cshake | HashMode::TurboShake) => {
            "XOF, many messages side by side"
        }
        Kind::Hash(HashMode::Kmac) => "MAC, XOF with a key",
        Kind::Hash(HashMode::KangarooTwelve) => "XOF with leaves side by side",
        Kind::Hash(HashMode::MerkleDamgard) => "hash, HMAC, HKDF, many messages side by side",
        Kind::Hash(HashMode::Skein) => {
            "hash, MAC, key derivation, trees, many messages side by side"
        }
        Kind::Chained => "none of its own",
        Kind::Mac => "MAC, many messages side by side",
        Kind::Seal(_) => "authenticated encryption",
        Kind::Sign(_) => "signatures; the time of verification depends on public data",
    }
}

/// The constant-time status of a row's kernels and key schedules, on any target. A look-up is a
/// secret-dependent memory access, and some small processors multiply in data-dependent time.
fn timing(cipher: &Cipher, row: &Row) -> Result<&'static str, String> {
    let pipeline = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
    let mut outputs = Vec::new();
    for function in &row.functions {
        let scalar = usuba_run::functions::scalar(isa::ALL[0]);
        let mut made = [scalar].into_iter().chain(isa::all()).chain(isa::NARROW.iter().copied());
        let way = Way {
            target: made.find(|target| function.is_for(target)).expect("it names targets"),
            cpu: isa::cpu::ALL[0],
            pipeline: &pipeline,
            hidden: true,
            complemented_keys: true,
            proofs: Proofs::Never,
        };
        // V and H share one program.
        let mut seen = Vec::new();
        for &slicing in &function.slicings {
            let program = if slicing == Slicing::H { Slicing::V } else { slicing };
            if !seen.contains(&program) {
                seen.push(program);
                outputs.push(usuba_run::functions::kernels(cipher, function, "f", slicing, way)?.0);
            }
        }
        outputs.extend(usuba_run::functions::schedule(cipher, function, "f", way)?);
    }
    let has = |name: &str| outputs.iter().any(|o| o.kernel.stats.operations.of(name) > 0);
    Ok(match (has("lookup"), has("mul")) {
        (true, _) => "no: tables",
        (false, true) => MULTIPLIES,
        (false, false) => CONSTANT,
    })
}

/// The costs of an operation on a backend.
fn candidates(
    cipher: &Cipher,
    operation: &Operation,
    backend: &Target,
    costs: &Costs,
) -> Vec<Cost> {
    let families = costs.families(backend.family());
    let mut found: Vec<Cost> = Vec::new();
    for function in &operation.functions {
        for &slicing in &function.slicings {
            for name in costs.names() {
                let target = isa::find(name.2).filter(|t| includes(backend, t));
                let letter = cores::letter(slicing);
                let Some(target) = target.filter(|_| name.1 == letter) else { continue };
                // Functions with a common kernel share its costs.
                let other = cipher.functions.iter().find(|f| f.name == name.0);
                let key = |f| cores::key(f, slicing, target);
                let is_new = || !found.iter().any(|cost| cost.name() == name);
                if other.is_some_and(|f| key(f) == key(function)) && is_new() {
                    found.extend(costs.shipped(name, &families));
                }
            }
        }
    }
    // A backend without measurements on its own registers is left out.
    let own = found.iter().any(|cost| cost.target == backend.name);
    if own || section::processors(backend).is_none() { found } else { Vec::new() }
}

/// Cycles per byte of a long message; the costs of the base if the target adds no kernel.
fn each(cipher: &Cipher, row: &Row, backend: &Target, costs: &Costs) -> Option<f64> {
    let candidates = candidates(cipher, row.timed, backend, costs);
    if let (true, Some(base)) = (candidates.is_empty(), backend.base) {
        return each(cipher, row, base, costs);
    }
    let bulk = candidates.iter().map(Cost::bulk);
    bulk.min_by(f64::total_cmp).map(|cycles| cycles / row.bytes as f64)
}
