//! `# count: xor=2 and=1 loop=0`: operators written in the entry.
//!
//! The names are the operators of Usuba0, and `call`; `all` is the number of operators that
//! compute. In `pass` tests they are counted after the pass. Other operators may have any number.

use usuba::ir::{Program, live};

/// Compares the operators of the entry with the words of one `count:` line.
///
/// # Errors
/// A word that is malformed, or every count that differs.
pub fn compare(program: &Program, words: &str) -> Result<(), String> {
    let counts = live::written(&program.entry().body);
    let mut wrong = Vec::new();
    for word in words.split_whitespace() {
        let parts = word.split_once('=').and_then(|(name, n)| Some((name, n.parse::<u64>().ok()?)));
        let Some((name, want)) = parts else {
            return Err(format!("`{word}` is not `operator=number`"));
        };
        let have = if name == "all" { counts.computing() } else { counts.of(name) };
        if have != want {
            wrong.push(format!("{name}: expected {want}, found {have}"));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\nall counts: {:?}", wrong.join("\n"), counts.by_name)),
    }
}
