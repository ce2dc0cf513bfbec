//! The programs in `arithmetic`, with the files that they include.

use std::path::{Path, PathBuf};

use usuba::diag::Sources;
use usuba::syntax::splice::Loader;
use usuba::typed::Program;

/// The program in which formulas are checked.
fn whole(formulas: &str) -> &'static str {
    match formulas {
        "field25519/formulas/powers.ua" => "field25519/limbs51.ua",
        "field25519/formulas/rolled.ua" => "field25519/rolled25.ua",
        "curve25519/formulas/factors.ua" => "curve25519/small25.ua",
        _ if formulas.starts_with("field25519/") => "field25519/limbs25.ua",
        _ => "curve25519/limbs51.ua",
    }
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic")
}

/// The text of a program, by its path below the folder.
pub fn text(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files by their paths below the folder, one with another text.
struct Below<'a> {
    name: &'a str,
    text: &'a str,
}

impl Loader for Below<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let mut parts: Vec<&str> = including.split('/').collect();
        parts.pop();
        for part in path.split('/') {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part);
            }
        }
        let name = parts.join("/");
        let text = if name == self.name { self.text.to_string() } else { text(&name) };
        Ok((name, text))
    }
}

/// A checked program with another text under this name. A file that is no program by itself is
/// checked as part of one.
pub fn front(name: &str, text: &str, entry: Option<&str>) -> (Program, Sources) {
    let mut sources = Sources::default();
    let root = match name.contains("/formulas/") {
        true => sources.add(whole(name), self::text(whole(name))),
        false => sources.add(name, text),
    };
    let mut below = Below { name, text };
    let checked = usuba::front(&mut sources, root, &mut below, entry, Default::default());
    (checked.unwrap_or_else(|found| panic!("{name}: {found:?}")).program, sources)
}
