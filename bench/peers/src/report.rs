//! The file of results: ratios and versions, no times, because those belong to one machine.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::ciphers;
use crate::measure::Time;

/// The measurements: for each width, cipher and mode the times of all libraries, ours first.
pub type Results = Vec<(String, String, String, Vec<Time>)>;

/// Their times divided by ours.
struct Ratios {
    bulk: f64,
    long: f64,
    block: f64,
    fresh: f64,
}

impl Ratios {
    fn new(ours: &Time, theirs: &Time) -> Ratios {
        Ratios {
            bulk: theirs.bulk / ours.bulk,
            long: theirs.long / ours.long,
            block: theirs.block / ours.block,
            fresh: theirs.fresh / ours.fresh,
        }
    }

    fn text(&self) -> String {
        let Ratios { bulk, long, block, fresh } = self;
        format!("{{ bulk = {bulk:.2}, long = {long:.2}, block = {block:.3}, fresh = {fresh:.3} }}")
    }
}

/// The text of `bench/peers.toml`. `tools` are the processor and the compilers, name and version.
pub fn text(results: &Results, tools: &[(&str, String)]) -> String {
    let mut text = String::from(
        "# Ours and other libraries, by `scripts/peers`.\n#\n\
         # Each number is their time divided by ours, so above 1 we are faster. `bulk` is a message\n\
         # of 16 KiB and `long` one of 256 KiB; `block` is a message of one block with a key that is\n\
         # set up, and `fresh` the same with a new key. Mode `blocks`: without a mode of operation.\n\n\
         [versions]\n",
    );
    for (name, version) in tools {
        let _ = writeln!(text, "{name} = {version:?}");
    }
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for time in results.iter().flat_map(|(.., times)| times.iter().skip(1)) {
        let known = versions.entry(&time.library).or_default();
        if !known.contains(&&*time.version) {
            known.push(&time.version);
        }
    }
    for (library, versions) in versions {
        let _ = writeln!(text, "{library:?} = {:?}", versions.join(", "));
    }
    // Rows by cipher, mode and library, with one column per width.
    type Row<'a> = Vec<(&'a str, Ratios)>;
    let mut rows: Vec<([&str; 4], Row)> = Vec::new();
    for (width, cipher, mode, times) in results {
        let [ours, others @ ..] = &times[..] else { continue };
        for theirs in others {
            let place: [&str; 4] = [cipher, mode, &theirs.library, &theirs.call];
            let at = rows.iter().position(|(known, _)| *known == place);
            let at = at.unwrap_or_else(|| {
                rows.push((place, Vec::new()));
                rows.len() - 1
            });
            rows[at].1.push((width, Ratios::new(ours, theirs)));
        }
    }
    rows.sort_by_key(|([cipher, ..], _)| ciphers::ALL.iter().position(|one| one.name == *cipher));
    for ([cipher, mode, library, call], widths) in &rows {
        let title = ciphers::ALL.iter().find(|one| one.name == *cipher).map_or("", |one| one.title);
        let _ = write!(
            text,
            "\n[[result]]\ncipher = {title:?}\nlibrary = {library:?}\nmode = {mode:?}\ncall = {call:?}\n"
        );
        for (width, ratios) in widths {
            let _ = writeln!(text, "{width} = {}", ratios.text());
        }
    }
    text
}

/// A table for people.
pub fn table(results: &Results) -> String {
    let mut text = format!(
        "{:<12} {:<11} {:<6} {:<10} {:>7} {:>7} {:>7} {:>7}   {}\n",
        "cipher", "width", "mode", "library", "bulk", "long", "block", "fresh", "call"
    );
    for (width, cipher, mode, times) in results {
        let [ours, others @ ..] = &times[..] else { continue };
        for theirs in others {
            let Ratios { bulk, long, block, fresh } = Ratios::new(ours, theirs);
            let Time { library, call, .. } = theirs;
            let _ = writeln!(
                text,
                "{cipher:<12} {width:<11} {mode:<6} {library:<10} {bulk:>7.2} {long:>7.2} \
                 {block:>7.3} {fresh:>7.3}   {call}"
            );
        }
    }
    text
}
