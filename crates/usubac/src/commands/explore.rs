//! `usubac explore`: the page of the explorer with a program in it, for use without a network.
//!
//! ```text
//! the page              <script … id="program">null</script>
//! the same with f.ua    <script … id="program">{"root":"f.ua","files":{"f.ua":"node f …"},…}</script>
//! ```
//!
//! The page has the compiler, so that the program can be edited in it. It is a file of its own beside
//! this program, of the same version.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;
use usuba::diag::{FileId, Sources};
use usuba::syntax::ast::Item;
use usuba::syntax::parse;
use usuba::syntax::splice::Loader;
use usuba_ide::memory::joined;

use super::front::{self, Input};
use crate::args::Explore;
use crate::files::{self, IncludeLoader};
use crate::output::{Place, write_all};
use crate::report::Reporter;
use crate::{Failure, fault};

/// The place of the program in the page.
const EMPTY: &str = r#"<script type="application/json" id="program">null</script>"#;

/// The version in the page.
const VERSION: &str = r#"<meta name="usuba-version" content=""#;

/// Paths of the page from the folder of this program: where it is installed, and where it is built.
const PAGES: [&str; 2] = ["../share/usuba/explorer.html", "../explorer/explorer.html"];

/// The state of the page, as its links have it.
#[derive(Serialize)]
struct State {
    root: String,
    files: BTreeMap<String, String>,
    settings: [Settings; 1],
}

#[derive(Serialize)]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    slicing: Option<String>,
    target: &'static str,
    cpu: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
}

pub fn run(args: &Explore, reporter: Reporter) -> Result<(), Failure> {
    let language = &args.language;
    if language.keep_tables || language.legacy_tables {
        return Err(Failure::usage("the explorer has neither --keep-tables nor --legacy-tables"));
    }
    let target = args.targets.one("avx2")?.target;
    if args.cpu.unit(target).is_none() {
        let (cpu, target) = (args.cpu.name, target.name);
        return Err(Failure::usage(format!("`--cpu {cpu}` does not fit --target {target}")));
    }
    let page = page(args.page.as_deref())?;
    let input = front::read(&args.file, language, reporter)?;
    fault::stage("writing the page");
    let (root, files) = named(&args.file, &input, &language.includes.include)?;
    let settings = Settings {
        slicing: language.slicing()?.map(|slicing| format!("{slicing:?}")),
        target: target.name,
        cpu: args.cpu.name,
        word: language.word,
        entry: language.entry().map(str::to_string),
    };
    let place = match (&args.output.output, args.file.file_stem()) {
        (Some(path), _) => Place::new(path),
        (None, Some(stem)) if args.file != Path::new("-") => {
            Place::File(PathBuf::from(stem).with_extension("html"))
        }
        _ => Place::Stdout,
    };
    let state = State { root, files, settings: [settings] };
    let state = serde_json::to_string(&state).expect("strings and numbers have a JSON form");
    // No text of a program ends the element that it stands in.
    let state = state.replace('<', "\\u003c");
    let filled = EMPTY.replace("null", &state);
    write_all(&[(place, page.replacen(EMPTY, &filled, 1))])
}

/// The text of the page, which has a place for a program and the version of this program.
fn page(given: Option<&Path>) -> Result<String, Failure> {
    let program = env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new(""));
    let built_in: Vec<PathBuf> = PAGES.iter().map(|path| folder.join(path)).collect();
    let path = match given {
        Some(path) => path,
        None => built_in.iter().find(|path| path.is_file()).ok_or_else(|| {
            let installed = built_in[0].display();
            Failure::program(format!(
                "the page of the explorer is not at {installed}; help: `scripts/explorer` of the \
                 sources builds it, and --page names it"
            ))
        })?,
    };
    let text = files::read(path)?;
    let name = text.name;
    let version = text.text.split(VERSION).nth(1).and_then(|rest| rest.split('"').next());
    match version.filter(|_| text.text.contains(EMPTY)) {
        Some(env!("CARGO_PKG_VERSION")) => Ok(text.text),
        Some(version) => Err(Failure::program(format!(
            "{name} is the explorer of usubac {version}, and this is {}; help: build it again by \
             `scripts/explorer`",
            env!("CARGO_PKG_VERSION")
        ))),
        None => Err(Failure::program(format!(
            "{name} is no page of the explorer; help: `scripts/explorer` builds one"
        ))),
    }
}

/// The files of a program under the names that the page finds them by: the root is called as its
/// file, and an include as its path from the file that includes it. The first is the root.
fn named(
    file: &Path,
    input: &Input,
    dirs: &[PathBuf],
) -> Result<(String, BTreeMap<String, String>), Failure> {
    let root = match file.file_name() {
        Some(name) if file != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "program.ua".to_string(),
    };
    let mut loader = IncludeLoader::of(&input.sources, dirs);
    let mut names = BTreeMap::from([(0, root.clone())]);
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let id = FileId(at as u32);
        for path in includes(&input.sources, id) {
            let found = found(&mut loader, &input.sources, id, &path)?;
            let name = joined(&names[&at], &path);
            match names.get(&found) {
                Some(known) if *known == name => {}
                Some(known) => {
                    return Err(Failure::program(format!(
                        "`include \"{path}\"` means a file that is {known} elsewhere, and the page \
                         has one name for each; help: include it by one path"
                    )));
                }
                None if names.values().any(|known| *known == name) => {
                    return Err(Failure::program(format!(
                        "two files are both {name} in the page; help: rename one of them"
                    )));
                }
                None => {
                    names.insert(found, name);
                    open.push(found);
                }
            }
        }
    }
    let text = |(at, name): (usize, String)| (name, input.sources.files[at].text.clone());
    Ok((root, names.into_iter().map(text).collect()))
}

/// The paths of the includes of a file.
fn includes(sources: &Sources, file: FileId) -> Vec<String> {
    let items = parse(sources, file).0.items.into_iter();
    let path = |item| match item {
        Item::Include { path, .. } => Some(path),
        Item::Decl(_) => None,
    };
    items.filter_map(path).collect()
}

/// The number of the file that an include means.
fn found(
    loader: &mut IncludeLoader,
    sources: &Sources,
    including: FileId,
    path: &str,
) -> Result<usize, Failure> {
    let (name, _) = loader.load(&sources.file(including).name, path).map_err(Failure::program)?;
    let at = sources.files.iter().position(|file| file.name == name);
    at.ok_or_else(|| Failure::program(format!("{name} changed while it was read")))
}
