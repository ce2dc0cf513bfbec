//! Reads programs, and includes from the folder of the including file.

use std::io;
use std::path::Path;

use usuba::syntax::splice::Loader;

use crate::files;

/// Finds includes next to the including file.
pub struct Beside;

impl Loader for Beside {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let file = Path::new(including).parent().unwrap_or(Path::new("")).join(path);
        let text = files::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Ok((file.display().to_string(), text))
    }
}

/// The text of a file.
///
/// # Errors
/// The file cannot be read; the text names it and says why.
pub fn read(path: &Path) -> Result<String, String> {
    let text = files::read_to_string(path);
    text.map_err(|error| format!("cannot read {}: {}", path.display(), plain(&error)))
}

/// An error of the system without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
