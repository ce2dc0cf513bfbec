//! The chapter "The three studies, again": each published number beside ours, on any number of
//! machines, rendered from files of numbers.
//!
//! The text is a template, whose numbers have names. A table, a sentence or a sum with a number is
//! made here or in `tables`; plots are made in `pictures`.

mod pictures;
mod tables;

use std::fs;
use std::path::Path;

use minijinja::{Environment, UndefinedBehavior, context};

use super::lines::{self, Beside, Line, Lines};
use super::published::Post;
use super::verdict::{Against, LEAST_PROCESSES};
use crate::bench::NOISY;
use crate::difference::FLOOR;
use usuba_ciphers::files;
use usuba_run::stats;

/// The text of the chapter, with places for numbers and tables.
pub const TEMPLATE: &str = include_str!("studies.md.template");

/// The ending of the files of numbers.
const ENDING: &str = ".rows.json";

/// The numbers of all experiments on a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// The name of its folder.
    pub name: String,
    pub experiments: Vec<Lines>,
}

/// A published number with ours.
struct Claim<'a> {
    post: &'a Post,
    file: &'a str,
    beside: &'a Beside,
    /// For each machine its lines, in the order of the machines.
    ours: Vec<Vec<(&'a Line, &'a Beside)>>,
}

/// The chapter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chapter {
    pub text: String,
    /// The name of the file and the text of each plot.
    pub plots: Vec<(String, String)>,
}

impl Machine {
    /// Reads the files of numbers in a folder.
    ///
    /// # Errors
    /// The folder has none, or one of another version.
    pub fn read(folder: &Path) -> Result<Machine, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
        let entries = fs::read_dir(folder).map_err(|error| wrong(&error))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| wrong(&error))?.path();
            if path.to_string_lossy().ends_with(ENDING) {
                paths.push(path);
            }
        }
        paths.sort();
        let mut experiments: Vec<Lines> = Vec::new();
        for path in &paths {
            let wrong = |why: &str| format!("{}: {why}", path.display());
            let text = fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
            let lines: Lines =
                serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
            if lines.format != lines::FORMAT {
                return Err(wrong("numbers of another version; run the experiment again"));
            }
            experiments.push(lines);
        }
        // A whole run stands for its quick form.
        let whole: Vec<String> =
            experiments.iter().filter(|e| !e.quick).map(|e| e.experiment.clone()).collect();
        experiments.retain(|lines| !lines.quick || !whole.contains(&lines.experiment));
        if experiments.is_empty() {
            let help = "help: `usubac bench --experiment NAME -o FOLDER` writes one";
            return Err(wrong(&format!("there is no file `NAME{ENDING}`; {help}")));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Machine { name, experiments })
    }

    /// The numbers of an experiment.
    fn experiment(&self, name: &str) -> Option<&Lines> {
        self.experiments.iter().find(|lines| lines.experiment == name)
    }

    /// All lines.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.experiments.iter().flat_map(|lines| &lines.lines)
    }
}

/// The published files: their names without endings, and their contents.
///
/// # Errors
/// A file is malformed.
pub fn posts() -> Result<Vec<(String, Post)>, String> {
    let folder = files::experiments().join("../published");
    let paths = files::entries(&folder).map_err(|error| error.to_string())?;
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Post::read(path).map(|post| (name, post))
    };
    paths.iter().map(read).collect()
}

/// Programs of others that were counted as ours.
fn programs() -> Result<Post, String> {
    Post::read(&files::experiments().join("nacl-sign/programs.json"))
}

/// All published numbers that have one of ours on some machine, in the order of the files.
fn claims<'a>(machines: &'a [Machine], posts: &'a [(String, Post)]) -> Vec<Claim<'a>> {
    let mut all: Vec<Claim> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        for line in machine.lines() {
            for beside in &line.published {
                let same = |claim: &&mut Claim| {
                    let known = claim.beside;
                    (&known.file, &known.row, &known.column)
                        == (&beside.file, &beside.row, &beside.column)
                        && known.value == beside.value
                        && known.against.is_some() == beside.against.is_some()
                };
                if let Some(claim) = all.iter_mut().find(same) {
                    claim.ours[at].push((line, beside));
                } else if let Some((file, post)) =
                    posts.iter().find(|(name, _)| *name == beside.file)
                {
                    let mut ours = vec![Vec::new(); machines.len()];
                    ours[at].push((line, beside));
                    all.push(Claim { post, file, beside, ours });
                }
            }
        }
    }
    let place = |claim: &Claim| {
        let file = posts.iter().position(|(name, _)| name == claim.file);
        let row = claim.post.rows.iter().position(|row| row.name == claim.beside.row);
        let column = claim.post.columns.iter().position(|c| c.name == claim.beside.column);
        (file, row, column, claim.beside.against.is_none())
    };
    all.sort_by_key(place);
    all
}

impl Claim<'_> {
    /// The verdict on a machine; `None` for figures of a processor, and without a number of ours.
    fn against(&self, machine: usize) -> Option<Against> {
        let all: Option<Vec<Against>> =
            self.ours[machine].iter().map(|(_, beside)| beside.against).collect();
        all.filter(|all| !all.is_empty()).map(|all| Against::of_all(&all))
    }

    /// The number of ours on a machine, or the range of several.
    fn ours(&self, machine: usize) -> String {
        let values: Vec<f64> = self.ours[machine].iter().map(|(line, _)| line.value).collect();
        tables::range(&values)
    }
}

/// Renders the chapter.
///
/// # Errors
/// A plot cannot be drawn, or the template has a name that is unknown here.
pub fn chapter(machines: &[Machine], posts: &[(String, Post)]) -> Result<Chapter, String> {
    let claims = claims(machines, posts);
    let programs = programs()?;
    let plots = pictures::all(machines, &programs)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let text = environment
        .render_str(
            TEMPLATE,
            context! {
                floor => tables::percent(FLOOR),
                noisy => tables::percent(NOISY),
                confidence => tables::percent(stats::CONFIDENCE),
                level => stats::SIGNIFICANT,
                processes => LEAST_PROCESSES,
                numbers => posts.iter().map(|(_, post)| post.numbers().count()).sum::<usize>(),
                theirs => tables::theirs(posts),
                ours => tables::ours(machines),
                extents => tables::extents(machines)?,
                helped => tables::helped(machines, posts),
                means => tables::means(machines, posts, &claims),
                interleaving => tables::files(machines, &claims, &["interleaving-", "draft-interleaving"]),
                bitslicing => tables::files(machines, &claims, &["scheduling-bitslice", "scheduling-spills", "draft-bitslicing"]),
                mslicing => tables::files(machines, &claims, &["scheduling-mslice", "scheduling-windows", "draft-unrolling"]),
                inlining => tables::files(machines, &claims, &["draft-inlining"]),
                cycles => tables::files(machines, &claims, &["usuba-cycles"]),
                stages => tables::stages(machines),
                simd => tables::files(machines, &claims, &["simd-"]),
                steps => tables::steps(machines, "nacl-sign"),
                operations => tables::steps(machines, "nacl-box"),
                programs => programs.table(),
                ticks => tables::ticks(machines),
                sparknacl => tables::files(machines, &claims, &["sparknacl-"]),
                verdicts => tables::verdicts(machines, &claims),
                near => tables::near(&claims),
                sums => tables::sums(machines, &claims),
                absent => tables::absent(machines),
                apart => tables::apart(posts),
                plots => plots.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
            },
        )
        .map_err(|error| format!("the template of the chapter: {error:#}"))?;
    Ok(Chapter { text: text.trim_end().to_string() + "\n", plots })
}

/// The words of a text with a digit, outside of names of the template and of names such as `AVX2`.
pub fn typed_numbers(template: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut rest = template;
    // Names of the template, then code.
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        prose += &rest[..at];
        let close = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let end = rest[at..].find(close).map_or(rest.len(), |end| at + end + close.len());
        rest = &rest[end..];
    }
    prose += rest;
    let parts = prose.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '.' || c == '_';
    let words = parts.split(|c: char| !is_part(c));
    let typed = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
            && word.chars().any(|c| c.is_ascii_digit())
    };
    words.filter(typed).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_name_are_found() {
        let text =
            "AVX2 and RV32IM in {{ count }} of 96 rows, {% for x in y[1] %}`-O3`, 1.5 % x86-64";
        assert_eq!(typed_numbers(text), ["96", "1.5"]);
        assert_eq!(typed_numbers(TEMPLATE), [""; 0]);
    }

    #[test]
    fn descriptions_of_experiments_have_no_typed_numbers() {
        let paths = files::entries(&files::experiments()).expect("they are built in");
        for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "toml")) {
            let text = files::read_to_string(path).expect("it is built in");
            let table: toml::Table = text.parse().expect("TOML");
            let about = table["about"].as_str().expect("a text");
            assert_eq!(typed_numbers(about), [""; 0], "{}", path.display());
            assert!(!table.contains_key("conclusion"), "{}", path.display());
        }
    }
}
