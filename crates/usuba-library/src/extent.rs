//! Bytes of C by function and target.
//!
//! ```text
//! kB of C             gp64    avx2   total
//! chacha20_block V     3.2     9.8    13.0
//! keys                                 1.5
//! modes                               20.1
//! total                3.9    14.2    39.7
//! ```
//!
//! The comments and directives before a function belong to it. A shared function counts for the
//! first of its users.

use super::Folder;
use super::cores::letter;

/// The name of the row of functions that belong to no function of a cipher.
const SHARED: &str = "shared";
pub const MODES: &str = "modes";
pub const KEYS: &str = "keys";

/// Bytes of one function in one part of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The target; empty for C that is not for one target.
    pub target: String,
    /// The function of a cipher with its slicing, or one of the other rows.
    pub row: String,
    pub bytes: usize,
}

/// The rows of functions whose C names begin with a text.
pub fn rows(folders: &[Folder]) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for folder in folders {
        rows.extend(folder.cores.iter().map(|core| {
            (core.symbol.clone(), format!("{} {}", core.function.name, letter(core.slicing)))
        }));
        let cipher = folder.cipher;
        let own = cipher.arithmetic.iter().map(|arithmetic| &arithmetic.name);
        let lanes = cipher.lanes.iter().chain(&cipher.across).map(|lanes| &lanes.name);
        let row = |name: &String| (format!("usuba_{name}_"), "arithmetic".to_string());
        rows.extend(own.chain(lanes).map(row));
    }
    // The longest beginning of a name decides.
    rows.sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
    rows
}

/// The extents of a part of a file; `rest` is the row of functions without one.
pub fn extents(target: &str, text: &str, rest: &str, rows: &[(String, String)]) -> Vec<Extent> {
    let rest = if target.is_empty() { rest } else { SHARED };
    let mut all: Vec<Extent> = Vec::new();
    let mut add = |row: &str, bytes: usize| match all.iter_mut().find(|extent| extent.row == row) {
        Some(extent) => extent.bytes += bytes,
        None => {
            all.push(Extent { target: target.to_string(), row: row.to_string(), bytes });
        }
    };
    let (mut row, mut bytes) = (None, 0);
    for line in text.split_inclusive('\n') {
        bytes += line.len();
        if row.is_none()
            && !line.starts_with([' ', '#', '/', '{', '}', '*'])
            && let Some((before, _)) = line.split_once('(')
        {
            let name = before.rsplit([' ', '*']).next().unwrap_or_default();
            let own = rows.iter().find(|(start, _)| name.starts_with(start));
            row = own.map(|(_, row)| &**row);
        }
        if line.trim_end() == "}" {
            add(row.unwrap_or(rest), bytes);
            (row, bytes) = (None, 0);
        }
    }
    add(rest, bytes);
    all.retain(|extent| extent.bytes > 0);
    all
}

/// The table of the extents of a file, in kilobytes of 1000 bytes.
pub fn table(extents: &[Extent]) -> String {
    let mut targets: Vec<&str> = Vec::new();
    let mut rows: Vec<&str> = Vec::new();
    for Extent { target, row, .. } in extents {
        if !target.is_empty() && !targets.contains(&&**target) {
            targets.push(target);
        }
        if !rows.contains(&&**row) {
            rows.push(row);
        }
    }
    let last =
        |row: &&str| [SHARED, KEYS, MODES].iter().position(|name| name == row).map(|at| at + 1);
    rows.sort_by_key(|row| last(row).unwrap_or(0));
    let sum = |target: Option<&str>, row: Option<&str>| -> usize {
        let is_there = |extent: &&Extent| {
            target.is_none_or(|target| extent.target == target)
                && row.is_none_or(|row| extent.row == row)
        };
        extents.iter().filter(is_there).map(|extent| extent.bytes).sum()
    };
    let width = rows.iter().map(|row| row.len()).max().unwrap_or(0).max("kB of C".len());
    let columns = || targets.iter().map(|target| Some(*target)).chain([None]);
    let wide = |target: Option<&str>| target.map_or(0, str::len).max(6) + 2;
    let line = |name: &str, cell: &dyn Fn(Option<&str>) -> String| {
        let cells = columns().map(|target| format!("{:>1$}", cell(target), wide(target)));
        let text = format!("{name:<width$}{}", cells.collect::<String>());
        format!("{}\n", text.trim_end())
    };
    let number = |bytes: usize| match bytes {
        0 => String::new(),
        _ => format!("{:.1}", bytes as f64 / 1000.0),
    };
    let mut text = line("kB of C", &|target| target.unwrap_or("total").to_string());
    for row in rows {
        text += &line(row, &|target| number(sum(target, Some(row))));
    }
    text + &line("total", &|target| number(sum(target, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_in_one_row() {
        let text = "/* about f */\nstatic void usuba_f_V(T *x)\n{\n    x = 1;\n}\n#define A\nT \
                    usuba_fe_mul(void) {\n}\n\nint other(void)\n{\n}\n/* end */\n";
        let rows = [("usuba_f_V".into(), "f V".into()), ("usuba_fe_".into(), "arithmetic".into())];
        let all = extents("avx2", text, "", &rows);
        let found: Vec<(&str, usize)> = all.iter().map(|e| (&*e.row, e.bytes)).collect();
        assert_eq!(found, [("f V", 57), ("arithmetic", 35), (SHARED, 31)]);
        assert_eq!(all.iter().map(|extent| extent.bytes).sum::<usize>(), text.len());
    }

    #[test]
    fn rows_and_columns_have_sums() {
        let one = |target: &str, row: &str, bytes| Extent {
            target: target.into(),
            row: row.into(),
            bytes,
        };
        let all = [
            one("", MODES, 2000),
            one("gp64", "f V", 1000),
            one("avx512_gfni", "f V", 1500),
            one("avx512_gfni", SHARED, 40),
            one("", KEYS, 300),
        ];
        assert_eq!(
            table(&all),
            "kB of C    gp64  avx512_gfni   total\n\
             f V         1.0          1.5     2.5\n\
             shared                   0.0     0.0\n\
             keys                             0.3\n\
             modes                            2.0\n\
             total       1.0          1.5     4.8\n"
        );
    }
}
