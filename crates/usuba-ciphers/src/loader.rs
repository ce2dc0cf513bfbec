//! Reads included files from the folder of the including file.

use std::fs;
use std::path::Path;

use usuba::syntax::splice::Loader;

/// Finds includes next to the including file.
pub struct Beside;

impl Loader for Beside {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let file = Path::new(including).parent().unwrap_or(Path::new("")).join(path);
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Ok((file.display().to_string(), text))
    }
}
