//! Files in memory, for pages that have no disk.
//!
//! ```text
//! gcm/gcm.ua  includes "../aes/box.ua"   →   aes/box.ua
//! ```
//!
//! A file is found by its path from the file that includes it; folders above the first one do not
//! exist.

use std::collections::BTreeMap;

use usuba::syntax::splice::Loader;

/// Finds includes among texts by their names.
pub struct InMemory<'a>(pub &'a BTreeMap<String, String>);

impl Loader for InMemory<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let name = joined(including, path);
        let text = self.0.get(&name);
        let text = text.ok_or_else(|| format!("there is no file {name} here"))?;
        Ok((name, text.clone()))
    }
}

/// The name of a file that another one names by a path.
pub fn joined(including: &str, path: &str) -> String {
    let folder = including.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_found_from_the_including_file() {
        let files = BTreeMap::from([("aes/box.ua".to_string(), "text".to_string())]);
        let mut memory = InMemory(&files);
        let found = Ok(("aes/box.ua".to_string(), "text".to_string()));
        assert_eq!(memory.load("aes/aes.ua", "box.ua"), found);
        assert_eq!(memory.load("gcm/gcm.ua", "../aes/./box.ua"), found);
        let missing = memory.load("aes.ua", "/etc/passwd");
        assert_eq!(missing, Err("there is no file etc/passwd here".to_string()));
    }
}
