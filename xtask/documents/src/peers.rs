//! The tables of other libraries in the book, from the results of `scripts/peers`.
//!
//! ```text
//! bench/peers.toml  ──→  docs/book/src/reference/peers.md, ciphers
//!                   ──→  docs/book/src/peers.md, nacl and signatures
//! ```
//!
//! A table has a name, and stands between `<!-- peers: NAME -->` and `<!-- /peers: NAME -->`.
//! With `BLESS=1` a table is rewritten, otherwise a table that says something else is a finding.

use std::fmt::Write;
use std::io;

use toml::{Table, Value};

use xtask::repo::{Finding, Repo};

/// The results.
pub const RESULTS: &str = "bench/peers.toml";

/// The Markdown of a table, from the text of the results.
type Make = fn(&str) -> Result<String, String>;

/// The tables: the document, the name, the text.
const TABLES: [(&str, &str, Make); 3] = [
    ("docs/book/src/reference/peers.md", "ciphers", table),
    ("docs/book/src/peers.md", "nacl", nacl),
    ("docs/book/src/peers.md", "signatures", signatures),
];

/// The name of the processor among the versions.
const PROCESSOR: &str = "processor";

/// Instruction sets: as in the results, and for people.
const WIDTHS: [(&str, &str); 4] = [
    ("avx2", "AVX2"),
    ("avx2_gfni", "AVX2, GFNI"),
    ("avx512", "AVX-512"),
    ("avx512_gfni", "AVX-512, GFNI"),
];

/// Compares the tables with the results, or rewrites them.
///
/// # Errors
/// A document cannot be rewritten.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let Some(results) = repo.get(RESULTS) else { return Ok(findings) };
    let mut documents: Vec<&str> = TABLES.iter().map(|(path, ..)| *path).collect();
    documents.dedup();
    for path in documents {
        let Some(document) = repo.get(path) else { continue };
        let mut text = document.text.clone();
        for (_, name, make) in TABLES.iter().filter(|(document, ..)| *document == path) {
            let wanted = match make(&results.text) {
                Ok(wanted) => wanted,
                Err(what) => {
                    findings.push(Finding::new(RESULTS, 0, what));
                    continue;
                }
            };
            let what = match replaced(&text, name, &wanted) {
                Some(now) if now == text => continue,
                Some(now) if bless => {
                    text = now;
                    continue;
                }
                Some(_) => format!(
                    "its table `{name}` is not that of {RESULTS} \
                     (BLESS=1 cargo xtask docs writes it down)"
                ),
                None => format!("it has no table `{name}` between its two comments"),
            };
            findings.push(Finding::new(path, 0, what));
        }
        if text != document.text {
            std::fs::write(repo.root.join(path), text)?;
        }
    }
    Ok(findings)
}

/// `document` with `table` between the two comments of this name.
fn replaced(document: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- peers: {name} -->\n"), format!("<!-- /peers: {name} -->\n"));
    let (before, rest) = document.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{table}{end}{after}"))
}

/// One row of the results.
struct Row<'a> {
    cipher: &'a str,
    library: &'a str,
    /// Whether single blocks were compared, without a mode.
    blocks: bool,
    ratios: &'a Table,
}

impl Row<'_> {
    /// A ratio on an instruction set.
    fn ratio(&self, width: &str, what: &str) -> Option<f64> {
        self.ratios.get(width)?.get(what)?.as_float()
    }
}

/// A ratio with the digits that it deserves; in bold where the other side is faster.
fn number(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.995 => format!("**{ratio:.2}**"),
        ratio if ratio < 9.95 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// The table in Markdown, and a line with the versions.
fn table(results: &str) -> Result<String, String> {
    let results: Table = results.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let rows = results.get("result").and_then(Value::as_array).ok_or("there are no results")?;
    let text = |row: &'_ Table, key: &str| -> Result<String, String> {
        let value = row.get(key).and_then(Value::as_str);
        value.map(str::to_string).ok_or(format!("a result has no `{key}`"))
    };
    let mut owned = Vec::new();
    for row in rows {
        let row = row.as_table().ok_or("a result is no table")?;
        owned.push((text(row, "cipher")?, text(row, "library")?, text(row, "mode")?, row));
    }
    let rows: Vec<Row> = owned
        .iter()
        .map(|(cipher, library, mode, ratios)| Row {
            cipher,
            library,
            blocks: mode == "blocks",
            ratios,
        })
        .collect();
    let mut libraries: Vec<&str> = Vec::new();
    let mut ciphers: Vec<&str> = Vec::new();
    for row in &rows {
        if !libraries.contains(&row.library) {
            libraries.push(row.library);
        }
        if !ciphers.contains(&row.cipher) {
            ciphers.push(row.cipher);
        }
    }
    let mut table = format!("| 16 KiB | | {} | one block |\n", libraries.join(" | "));
    table += &format!("|---|---|{}---|\n", "---|".repeat(libraries.len()));
    for cipher in ciphers {
        for (width, name) in WIDTHS {
            let here = || rows.iter().filter(|row| row.cipher == cipher);
            if here().all(|row| row.ratio(width, "bulk").is_none()) {
                continue;
            }
            let _ = write!(table, "| {cipher} | {name} |");
            for library in &libraries {
                // The fastest, where a library has several functions.
                let rows = here().filter(|row| row.library == *library);
                let cells = rows.filter_map(|row| Some((row.ratio(width, "bulk")?, row.blocks)));
                let cell = cells.min_by(|one, other| one.0.total_cmp(&other.0));
                let cell = cell.map(|(ratio, blocks)| {
                    let mark = if blocks && here().any(|row| !row.blocks) { "\\*" } else { "" };
                    format!("{}{mark}", number(ratio))
                });
                let _ = write!(table, " {} |", cell.unwrap_or_default());
            }
            let least = here().filter_map(|row| row.ratio(width, "block")).fold(f64::MAX, f64::min);
            let _ = writeln!(table, " {} |", number(least));
        }
    }
    Ok(format!("{table}\n{}", measured(&results, &[], "versions")))
}

/// The two tables of NaCl in Markdown, and a line with the versions: functions that several
/// libraries have, and the ones of one library for messages of several lengths.
fn nacl(results: &str) -> Result<String, String> {
    let results: Table = results.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let rows = results.get("nacl").and_then(Value::as_array).ok_or("there is nothing of NaCl")?;
    let cell = |row: &Value, library: &str| row.get(library).and_then(Value::as_float).map(number);
    let mut text = String::from("| | libsodium | dalek |\n|---|---:|---:|\n");
    // Titles, lengths and cells, each in the order of the file.
    let (mut lines, mut lengths): (Vec<(&str, Vec<String>)>, Vec<i64>) = (Vec::new(), Vec::new());
    for row in rows {
        let title = row.get("title").and_then(Value::as_str).ok_or("a row has no title")?;
        let one = cell(row, "libsodium").ok_or(format!("{title}: there is no libsodium"))?;
        if let Some(other) = cell(row, "dalek") {
            let _ = writeln!(text, "| {title} | {one} | {other} |");
            continue;
        }
        let bytes = row.get("bytes").and_then(Value::as_integer).ok_or("a row has no bytes")?;
        if !lengths.contains(&bytes) {
            lengths.push(bytes);
        }
        match lines.iter_mut().find(|(known, _)| *known == title) {
            Some((_, cells)) => cells.push(one),
            None => lines.push((title, vec![one])),
        }
    }
    let names: Vec<String> = lengths.iter().map(|bytes| format!("{bytes} bytes")).collect();
    let rule = "---:|".repeat(lengths.len());
    let _ = writeln!(text, "\n| libsodium's time / ours | {} |\n|---|{rule}", names.join(" | "));
    for (title, cells) in lines {
        if cells.len() != lengths.len() {
            return Err(format!("{title}: not every length is there"));
        }
        let _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
    }
    Ok(format!("{text}\n{}", measured(&results, &["gcc"], "nacl_versions")))
}

/// The table of signatures from hash functions in Markdown, and a line with the versions: a row for a
/// parameter set on an instruction set, and a cell for each operation and library.
fn signatures(results: &str) -> Result<String, String> {
    let results: Table = results.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let rows = results.get("signature").and_then(Value::as_array);
    let rows = rows.ok_or("there are no signatures")?;
    // Operations and libraries, and the cells of each line, in the order of the file.
    let (mut columns, mut lines) = (Vec::new(), Vec::<(String, Vec<String>)>::new());
    for row in rows {
        let title = row.get("title").and_then(Value::as_str).ok_or("a row has no title")?;
        let operation = row.get("operation").and_then(Value::as_str);
        let operation = operation.ok_or(format!("{title}: there is no operation"))?;
        for (width, name) in WIDTHS {
            let Some(ratios) = row.get(width).and_then(Value::as_table) else { continue };
            let line = format!("| {title} | {name} |");
            let at = lines.iter().position(|(known, _)| *known == line).unwrap_or_else(|| {
                lines.push((line, Vec::new()));
                lines.len() - 1
            });
            for (library, ratio) in ratios {
                let column = format!("{operation}, {library}");
                if !columns.contains(&column) {
                    columns.push(column);
                }
                lines[at].1.push(number(ratio.as_float().unwrap_or_default()));
            }
        }
    }
    let rule = "---:|".repeat(columns.len());
    let mut text = format!("| | | {} |\n|---|---|{rule}\n", columns.join(" | "));
    for (line, cells) in lines {
        if cells.len() != columns.len() {
            return Err(format!("{line} has {} of {} numbers", cells.len(), columns.len()));
        }
        let _ = writeln!(text, "{line} {} |", cells.join(" | "));
    }
    Ok(format!("{text}\n{}", measured(&results, &["gcc", "rustc"], "signature_versions")))
}

/// The line with the processor, and with the versions of compilers and of all libraries in the table
/// `section`.
fn measured(results: &Table, compilers: &[&str], section: &str) -> String {
    let versions = |key: &str| results.get(key).and_then(Value::as_table).into_iter().flatten();
    let is_processor = |(name, _): &(&String, &Value)| *name == PROCESSOR;
    let processor = versions(section).find(is_processor).and_then(|(_, name)| name.as_str());
    let processor = processor.map_or(String::new(), |name| format!(" on {name}"));
    let tools = versions("versions").filter(|(name, _)| compilers.contains(&name.as_str()));
    let all = tools
        .chain(versions(section).filter(|version| !is_processor(version)))
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()));
    format!("Measured{processor} with {}.\n", all.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "[versions]\ngcc = \"12\"\nL = \"1.0\"\n[[result]]\ncipher = \"C\"\n\
        library = \"L\"\nmode = \"ctr\"\navx2 = { bulk = 1.5, block = 0.5 }\n[[result]]\n\
        cipher = \"C\"\nlibrary = \"M\"\nmode = \"blocks\"\navx2 = { bulk = 0.25, block = 30.0 }\n";

    const TABLE: &str = "| 16 KiB | | L | M | one block |\n|---|---|---|---|---|\n\
        | C | AVX2 | 1.50 | **0.25**\\* | **0.50** |\n\nMeasured with L 1.0; gcc 12.\n";

    #[test]
    fn results_become_a_table() {
        assert_eq!(table(RESULT).as_deref(), Ok(TABLE));
        assert!(table("a = 1").is_err());
        assert!(table("[[result]]\ncipher = 3").is_err());
    }

    #[test]
    fn another_table_is_found() {
        const PAGE: &str = TABLES[0].0;
        let found = |table: &str| {
            let page =
                format!("Text.\n<!-- peers: ciphers -->\n{table}<!-- /peers: ciphers -->\nMore.\n");
            let repo = Repo::sample(&[(RESULTS, RESULT), (PAGE, &page)]);
            check(&repo, false).expect("nothing is written").len()
        };
        assert_eq!(found(TABLE), 0);
        assert_eq!(found(&TABLE.replace("1.50", "1.51")), 1);
        let without = Repo::sample(&[(RESULTS, RESULT), (PAGE, "Text.\n")]);
        assert_eq!(check(&without, false).expect("nothing is written").len(), 1);
    }

    #[test]
    fn what_nacl_has_becomes_two_tables() {
        let row = |title: &str, rest: &str| {
            format!("[[nacl]]\ntitle = {title:?}\nlibsodium = 0.5\n{rest}\n")
        };
        let mut results = String::from("[nacl_versions]\nlibsodium = \"1\"\n");
        results += &row("agreeing", "bytes = 0\ndalek = 2.0");
        for bytes in [64, 1024] {
            results += &row("hash", &format!("bytes = {bytes}"));
        }
        let text = nacl(&results).expect("everything is there");
        assert!(text.contains("| agreeing | **0.50** | 2.00 |\n"), "{text}");
        assert!(text.contains("| 64 bytes | 1024 bytes |\n"), "{text}");
        assert!(text.contains("| hash | **0.50** | **0.50** |\n"), "{text}");
        assert!(text.ends_with("Measured with libsodium 1.\n"), "{text}");
        assert!(nacl(&(results + &row("other", "bytes = 64"))).is_err());
    }

    #[test]
    fn signatures_become_a_table() {
        let row = |operation: &str, ratios: &str| {
            format!("[[signature]]\ntitle = \"set\"\noperation = {operation:?}\n{ratios}\n")
        };
        let mut results =
            String::from("[signature_versions]\nprocessor = \"P\"\nslh-dsa = \"2\"\n");
        results += &row("keys", "avx2 = { slh-dsa = 0.5, PQClean = 2.0 }");
        results += &row("sign", "avx2 = { slh-dsa = 3.0, PQClean = 20.0 }");
        let text = signatures(&results).expect("everything is there");
        assert!(text.starts_with("| | | keys, "), "{text}");
        assert!(text.contains("| set | AVX2 | "), "{text}");
        assert!(text.contains("**0.50**") && text.contains(" 20 "), "{text}");
        assert!(text.ends_with("Measured on P with slh-dsa 2.\n"), "{text}");
        assert!(signatures(&(results + &row("keys", "avx512 = { slh-dsa = 0.5 }"))).is_err());
        assert!(signatures("a = 1").is_err());
    }

    #[test]
    fn a_library_shows_its_fastest_function() {
        let row = "[[result]]\ncipher = \"C\"\nlibrary = \"L\"\nmode = \"ctr\"\n\
            avx2 = { bulk = 1.25, block = 0.5 }\n";
        let text = table(&format!("{RESULT}{row}")).expect("it is a table");
        assert!(text.contains("| C | AVX2 | 1.25 |"), "{text}");
    }
}
