//! Published numbers: files with tables of other publications, and references to their cells.
//!
//! ```json
//! {
//!  "title": "Interleaving", "author": "...", "date": "...", "where": "...",
//!  "section": "Initial benchmark", "about": "...",
//!  "conditions": {"compiler": "Clang 7.0.0"},
//!  "columns": [{"name": "speedup_two", "label": "speed-up", "unit": "ratio", "decimals": 2}],
//!  "rows": [{"name": "ace", "cipher": "ace", "values": {"speedup_two": 1.23}}],
//!  "apart": [{"rows": ["ace"], "why": "..."}]
//! }
//! ```
//!
//! An experiment refers to a column, of one row or of all rows with a cipher:
//!
//! ```toml
//! [[published]]
//! file = "../published/interleaving-ipc.json"   # relative to the experiment
//! column = "speedup_two"
//! target = "gp64"                               # or "any": all targets that are measured
//! compiler = "clang -O3"                        # or "any"
//! ours = "speedup:two"
//! ```
//!
//! `apart` has the reason why a number has none of ours beside it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use usuba::names::unknown;
use usuba_ciphers::files;

/// The word for all targets, compilers or builds.
pub const ANY: &str = "any";

/// The units of columns.
const UNITS: [&str; 15] = [
    "ratio",
    "percent",
    "percent more",
    "percent longer",
    "cycles/byte",
    "cycles",
    "instructions/cycle",
    "seconds",
    "microseconds",
    "million cycles",
    "million instructions",
    "instructions",
    "bytes",
    "count",
    "percent of cycles",
];

/// A table, or the claims, of a section of a publication.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    pub title: String,
    pub author: String,
    pub date: String,
    /// The blog, the conference.
    #[serde(rename = "where")]
    pub place: String,
    pub section: String,
    pub about: String,
    /// Machine, compiler and flags, as far as the publication states them.
    pub conditions: BTreeMap<String, String>,
    /// Contradictions of the publication, and its printing errors.
    #[serde(default)]
    pub remarks: Vec<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    #[serde(default)]
    pub apart: Vec<Apart>,
}

/// A column of a table, or a quantity of claims.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    pub label: String,
    pub unit: String,
    /// Digits after the point; by default as many as each value has.
    #[serde(default)]
    pub decimals: Option<usize>,
}

/// A row of a table, or a claim.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    /// The folder of a cipher.
    #[serde(default)]
    pub cipher: Option<String>,
    #[serde(default)]
    pub slicing: Option<String>,
    /// Ciphers that the publication does not expect to gain.
    #[serde(default)]
    pub starred: bool,
    /// A claim in other words, its section, and a check of it.
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub section: Option<String>,
    #[serde(default)]
    pub check: Option<String>,
    pub values: BTreeMap<String, f64>,
}

/// Numbers without one of ours beside them; all rows or columns if none are named.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    #[serde(default)]
    pub rows: Vec<String>,
    #[serde(default)]
    pub columns: Vec<String>,
    pub why: String,
}

/// A published number in the unit of ours: shares and percentages are ratios.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    pub value: f64,
    /// Half a unit of the last printed digit.
    pub half: f64,
}

impl Post {
    /// Reads a file and checks its names.
    ///
    /// # Errors
    /// The file cannot be read, or something in it has no name or is named twice; the message names
    /// the file.
    pub fn read(path: &Path) -> Result<Post, String> {
        let text = files::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Post::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Post, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let post: Post = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        post.check().map_err(wrong)?;
        Ok(post)
    }

    fn check(&self) -> Result<(), String> {
        let columns = || self.columns.iter().map(|column| &*column.name);
        let rows = || self.rows.iter().map(|row| &*row.name);
        for (kind, mut names) in
            [("columns", columns().collect::<Vec<_>>()), ("rows", rows().collect())]
        {
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("two {kind} are called `{}`", pair[0]));
            }
        }
        if let Some(column) = self.columns.iter().find(|c| !UNITS.contains(&&*c.unit)) {
            return Err(unknown("unit", &column.unit, UNITS));
        }
        let named = self.rows.iter().flat_map(|row| row.values.keys());
        for name in named.chain(self.apart.iter().flat_map(|apart| &apart.columns)) {
            if !columns().any(|column| column == name) {
                return Err(unknown("column", name, columns()));
            }
        }
        match self.apart.iter().flat_map(|apart| &apart.rows).find(|name| self.row(name).is_none())
        {
            Some(name) => Err(unknown("row", name, rows())),
            None => Ok(()),
        }
    }

    /// The row of a name.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The reason why a number has none of ours beside it.
    pub fn apart(&self, row: &str, column: &str) -> Option<&str> {
        let names = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        let found = self.apart.iter().find(|a| names(&a.rows, row) && names(&a.columns, column));
        found.map(|apart| &*apart.why)
    }

    /// The names of the row and the column of each number.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows
            .iter()
            .flat_map(|row| row.values.keys().map(move |column| (&*row.name, &**column)))
    }

    /// The number of a row and a column, which exist.
    fn figure(&self, row: &Row, column: &Column) -> Option<Figure> {
        let value = *row.values.get(&column.name)?;
        let decimals = column.decimals.unwrap_or_else(|| {
            let text = value.to_string();
            text.split_once('.').map_or(0, |(_, digits)| digits.len())
        });
        let half = 0.5 * 10f64.powi(-(decimals as i32));
        let scaled = |value: f64| match &*column.unit {
            "percent" => value / 100.0,
            "percent more" => 1.0 + value / 100.0,
            "percent longer" => 1.0 / (1.0 + value / 100.0),
            _ => value,
        };
        let half = (scaled(value + half) - scaled(value - half)).abs() / 2.0;
        Some(Figure { value: scaled(value), half })
    }

    /// All numbers as a table in Markdown, with their source.
    pub fn table(&self) -> String {
        let mut out = String::from("| row |");
        self.columns.iter().for_each(|column| out += &format!(" {} |", column.label));
        out += "\n|---|";
        out += &"---:|".repeat(self.columns.len());
        out.push('\n');
        for row in &self.rows {
            out += &format!("| {} |", row.name);
            for column in &self.columns {
                let value = row.values.get(&column.name).map(f64::to_string);
                out += &format!(" {} |", value.unwrap_or_default());
            }
            out.push('\n');
        }
        let unit = self.columns.first().map_or("", |column| &column.unit);
        format!("{out}\nIn {unit}.\nSource: {}.\n", self.source())
    }

    /// The publication, and the machine of its measurement.
    pub fn source(&self) -> String {
        let machine = self.conditions.get("machine").map_or("machine not stated", |text| text);
        format!("{}, {} ({}); {machine}", self.author, self.title, self.place)
    }
}

/// A reference of an experiment to published numbers.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reference {
    /// Relative to the folder of the experiment.
    pub file: String,
    /// All rows that fit, if absent: with a cipher, or of a level.
    #[serde(default)]
    pub row: Option<String>,
    pub column: String,
    /// A row, by whose number each number is divided into: the speed-up over that row.
    #[serde(default)]
    pub over: Option<String>,
    /// As `over`, for another column of the same row.
    #[serde(default)]
    pub over_column: Option<String>,
}

/// A number that a reference found.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// The name of the file without its ending.
    pub file: String,
    pub row: Row,
    pub column: String,
    pub figure: Figure,
    pub source: String,
}

impl Reference {
    /// Finds the numbers: of the named row, or of all rows that `fits` chooses. `folder` contains the
    /// experiment.
    ///
    /// # Errors
    /// The file, the row or the column does not exist.
    pub fn find(&self, folder: &Path, fits: impl Fn(&Row) -> bool) -> Result<Vec<Number>, String> {
        let path = folder.join(&self.file);
        let post = Post::read(&path)?;
        self.find_in(&post, fits).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn find_in(&self, post: &Post, fits: impl Fn(&Row) -> bool) -> Result<Vec<Number>, String> {
        let row = |name: &str| {
            let names = post.rows.iter().map(|row| &*row.name);
            post.row(name).ok_or_else(|| unknown("row", name, names))
        };
        let column = |name: &str| {
            let names = post.columns.iter().map(|column| &*column.name);
            post.column(name).ok_or_else(|| unknown("column", name, names))
        };
        let own = column(&self.column)?;
        let other = self.over_column.as_deref().map(column).transpose()?;
        let base = self.over.as_deref().map(row).transpose()?;
        let rows: Vec<&Row> = match &self.row {
            Some(name) => vec![row(name)?],
            None => post.rows.iter().filter(|row| fits(row)).collect(),
        };
        let mut found = Vec::new();
        for row in rows {
            let Some(mut figure) = post.figure(row, own) else { continue };
            if other.is_some() || base.is_some() {
                let of = (base.unwrap_or(row), other.unwrap_or(own));
                let Some(over) = post.figure(of.0, of.1) else {
                    return Err(format!("`{}` has no `{}`", of.0.name, of.1.name));
                };
                let value = over.value / figure.value;
                let share = over.half / over.value + figure.half / figure.value;
                figure = Figure { value, half: value * share };
            }
            let file = Path::new(&self.file).file_stem().unwrap_or_default();
            found.push(Number {
                file: file.to_string_lossy().into_owned(),
                row: row.clone(),
                column: self.column.clone(),
                figure,
                source: post.source(),
            });
        }
        if found.is_empty() {
            return Err(format!("no row that fits has a number in `{}`", self.column));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
        "title": "T", "author": "A", "date": "D", "where": "W", "section": "S", "about": "B",
        "conditions": {"machine": "M"},
        "columns": [{"name": "gain", "label": "gain", "unit": "percent more"},
                    {"name": "time", "label": "time", "unit": "cycles/byte", "decimals": 2}],
        "rows": [{"name": "one", "cipher": "des", "values": {"gain": 44.8, "time": 4.8}},
                 {"name": "two", "values": {"time": 4.0}}],
        "apart": [{"rows": ["one"], "columns": ["gain"], "why": "not today"}]
    }"#;

    fn parse(text: &str) -> Result<Post, String> {
        Post::parse(Path::new("x.json"), text)
    }

    fn reference(row: Option<&str>, column: &str, over: Option<&str>) -> Reference {
        Reference {
            file: "x.json".into(),
            row: row.map(String::from),
            column: column.into(),
            over: over.map(String::from),
            over_column: None,
        }
    }

    #[test]
    fn numbers_are_found_by_their_names() {
        let post = parse(TEXT).expect("it is well-formed");
        let found = reference(None, "gain", None)
            .find_in(&post, |row| row.cipher.is_some())
            .expect("one row has a cipher");
        let [number] = &found[..] else { panic!("{found:?}") };
        assert!((number.figure.value - 1.448).abs() < 1e-12, "{number:?}");
        assert!((number.figure.half - 0.0005).abs() < 1e-12, "{number:?}");
        assert_eq!((&*number.row.name, &*number.source), ("one", "A, T (W); M"));
        let found = reference(Some("two"), "time", Some("one"))
            .find_in(&post, |row| row.cipher.is_some())
            .expect("both");
        assert!((found[0].figure.value - 1.2).abs() < 1e-12, "{found:?}");
        assert!((found[0].figure.half - 1.2 * (0.005 / 4.8 + 0.005 / 4.0)).abs() < 1e-12);
        assert_eq!(post.apart("one", "gain"), Some("not today"));
        assert_eq!(post.apart("one", "time"), None);
        assert_eq!(post.numbers().count(), 3);
    }

    #[test]
    fn unknown_names_are_one_error() {
        let post = parse(TEXT).expect("it is well-formed");
        for (reference, why) in [
            (reference(Some("tow"), "time", None), "no row `tow`; help: did you mean `two`?"),
            (reference(None, "tim", None), "no column `tim`; help: did you mean `time`?"),
            (reference(Some("one"), "time", Some("none")), "no row `none`"),
            (reference(Some("two"), "gain", None), "no row that fits has a number in `gain`"),
        ] {
            let error = reference
                .find_in(&post, |row| row.cipher.is_some())
                .expect_err("it does not exist");
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn malformed_files_are_refused() {
        for (old, new, why) in [
            ("\"percent more\"", "\"furlongs\"", "x.json: there is no unit `furlongs`"),
            ("\"name\": \"two\"", "\"name\": \"one\"", "two rows are called `one`"),
            ("{\"time\": 4.0}", "{\"tide\": 4.0}", "no column `tide`"),
            ("\"rows\": [\"one\"]", "\"rows\": [\"three\"]", "no row `three`"),
            ("\"title\"", "\"titel\"", "unknown field `titel`"),
        ] {
            let error = parse(&TEXT.replace(old, new)).expect_err("it is malformed");
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
    }
}
