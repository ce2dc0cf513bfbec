//! The page of the book about drivers of the OCaml compiler, from the record of `scripts/drivers`.
//!
//! ```text
//! des|B|sse|PROGRAM|FLAGS|usuba/checks/correctness/des|des.c|BUILD|CHECK|right|
//!      ──→  | `des` | B | std, sse, avx | `usuba/checks/correctness/des` | right |
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use xtask::repo::{Finding, Repo};

const RECORD: &str = "bench/drivers.txt";
const PAGE: &str = "docs/book/src/reference/drivers.md";

/// The results in the order of the summary, and their meaning in one sentence.
const RESULTS: [(&str, &str); 5] = [
    ("right", "the driver computes the published or reference result"),
    ("runs", "the driver measures speed, and checks nothing"),
    ("refused", "the flags ask for masked code, and the error says so by name"),
    ("wrong", "the driver computes another result"),
    ("no program", "the C compiler or the linker rejects the driver"),
];

/// Compares the page with the record, or writes it.
///
/// # Errors
/// The page cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let Some(record) = repo.get(RECORD) else {
        return Ok(vec![Finding::new(RECORD, 0, "is missing")]);
    };
    match page(&record.text) {
        Ok(text) => crate::generated(repo, PAGE, &text, bless),
        Err((line, why)) => Ok(vec![Finding::new(RECORD, line, why)]),
    }
}

/// A row of the table.
#[derive(PartialEq, Eq)]
struct Row {
    cipher: String,
    /// The folder of the driver.
    place: String,
    /// The result, with the reason of a failure.
    told: String,
    slicings: Vec<String>,
    targets: Vec<String>,
}

/// Joins rows that differ in their targets alone, and then rows that differ in their slicings.
fn joined(rows: Vec<Row>) -> Vec<Row> {
    let mut by_target: Vec<Row> = Vec::new();
    for mut row in rows {
        let alike = |other: &&mut Row| {
            (&other.cipher, &other.place, &other.told, &other.slicings)
                == (&row.cipher, &row.place, &row.told, &row.slicings)
        };
        match by_target.iter_mut().find(alike) {
            Some(other) if other.targets.contains(&row.targets[0]) => {}
            Some(other) => other.targets.append(&mut row.targets),
            None => by_target.push(row),
        }
    }
    let mut by_slicing: Vec<Row> = Vec::new();
    for mut row in by_target {
        let alike = |other: &&mut Row| {
            (&other.cipher, &other.place, &other.told, &other.targets)
                == (&row.cipher, &row.place, &row.told, &row.targets)
        };
        match by_slicing.iter_mut().find(alike) {
            Some(other) => other.slicings.append(&mut row.slicings),
            None => by_slicing.push(row),
        }
    }
    by_slicing
}

/// The folder of a kernel in the folder of its driver, without the parts that are the target alone.
fn place(kernel: &str, target: &str) -> String {
    let folders = kernel.rsplit_once('/').map_or("", |(folders, _)| folders);
    let named = folders.split('/').filter(|part| !part.eq_ignore_ascii_case(target));
    named.collect::<Vec<_>>().join("/").replace(&format!("-{target}"), "-TARGET")
}

/// The page, or a line of the record that has another form, and the reason.
fn page(record: &str) -> Result<String, (usize, String)> {
    let mut run = "";
    let mut ciphers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for (at, line) in record.lines().enumerate() {
        if line.starts_with('#') {
            run = line.strip_prefix("# run: ").unwrap_or(run);
            continue;
        }
        let fields: Vec<&str> = line.split('|').collect();
        let [cipher, slicing, target, _, _, driver, kernel, _, _, result, reason] = fields[..]
        else {
            return Err((at + 1, format!("found {} fields, expected 11", fields.len())));
        };
        let expected = matches!(result, "right" | "runs" | "refused");
        if RESULTS.iter().all(|(name, _)| *name != result) || expected != reason.is_empty() {
            let why = "expected a result of the list on top, and a reason if it is a failure";
            return Err((at + 1, why.to_string()));
        }
        ciphers.entry(cipher).or_default().insert(result);
        *counts.entry(result).or_default() += 1;
        let place = match place(kernel, target) {
            folder if folder.is_empty() => format!("`{driver}`"),
            folder => format!("`{driver}/{folder}`"),
        };
        let told = match reason {
            "" => result.to_string(),
            reason => format!("{result}: {reason}"),
        };
        rows.push(Row {
            cipher: cipher.to_string(),
            place,
            told,
            slicings: vec![slicing.to_string()],
            targets: vec![target.to_string()],
        });
    }
    let whole = ciphers.values().filter(|results| results.contains("right")).count();
    let mut text = format!(
        "# Drivers of the OCaml compiler\n\n\
         <!-- Written by `cargo xtask bless` from {RECORD}. -->\n\n\
         Which C drivers in the public repositories of the compiler of Mercadier and Dagand run \
         with code from `--abi usubac`?\n\
         {whole} of {} ciphers have a driver that computes the right result.\n\
         The record is of one run: {run}.\n\n\
         | result | drivers | meaning |\n|---|---:|---|\n",
        ciphers.len()
    );
    for (result, meaning) in RESULTS {
        let count = counts.get(result).copied().unwrap_or_default();
        text += &format!("| {result} | {count} | {meaning} |\n");
    }
    text += "\nA driver counts once for each program, target and file with `main`.\n\
             `TARGET` in the name of a folder is the target of the row.\n\n\
             | cipher | slicings | targets | driver | result |\n|---|---|---|---|---|\n";
    for Row { cipher, place, told, slicings, targets } in joined(rows) {
        let (slicings, targets) = (slicings.join(", "), targets.join(", "));
        text += &format!("| `{cipher}` | {slicings} | {targets} | {place} | {told} |\n");
    }
    text += "\n## Next\n\n[Porting from the OCaml compiler](../porting.md) says how to repeat the \
             run.\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: &str = "# head\n# run: today\n\
        a|V|std|a.ua|-V|checks/a|STD/a.c|main.c|exit|right|\n\
        a|V|sse|a.ua|-V|checks/a|SSE/a.c|main.c|exit|right|\n\
        a|B|std|a.ua|-B|checks/a|a.c|main.c|exit|right|\n\
        a|B|sse|a.ua|-B|checks/a|a.c|main.c|exit|right|\n\
        b|B|sse|b.ua|-B|checks/b|usuba-sse/b.c|main.c|exit|wrong|it is old\n";

    #[test]
    fn slicings_and_targets_of_a_driver_share_a_row() {
        let text = page(TOY).expect("a page");
        assert!(text.contains("1 of 2 ciphers have"), "{text}");
        assert!(text.contains("one run: today.\n"), "{text}");
        assert!(text.contains("| right | 4 |"), "{text}");
        assert!(text.contains("| `a` | V, B | std, sse | `checks/a` | right |\n"), "{text}");
        let old = "| `b` | B | sse | `checks/b/usuba-TARGET` | wrong: it is old |\n";
        assert!(text.contains(old), "{text}");
    }

    #[test]
    fn another_record_or_page_is_found() {
        assert_eq!(page("a|b\n").expect_err("two fields").0, 1);
        assert_eq!(page(&TOY.replace("it is old", "")).expect_err("no reason").0, 7);
        assert_eq!(page(&TOY.replace("right", "fine")).expect_err("no result").0, 3);
        let found = |text: &str| {
            check(&Repo::sample(&[(RECORD, TOY), (PAGE, text)]), false).expect("no file").len()
        };
        assert_eq!(found(&page(TOY).expect("a page")), 0);
        assert_eq!(found("# Drivers\n"), 1);
    }
}
