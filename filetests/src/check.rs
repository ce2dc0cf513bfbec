//! `# test check`: the findings of a program, errors of lowering included.

use std::path::Path;

use crate::compile::{self, Source};
use crate::file::TestFile;
use crate::messages;

pub fn wanted(test: &TestFile, path: &Path) -> Result<String, String> {
    let mut source = Source::new(path, &messages::strip(&test.head));
    let diags = match source.front(&test.settings, None) {
        Ok(checked) => {
            let (settings, slicing) = (&test.settings, test.settings.slicing());
            let lowered =
                compile::optimise(&checked, settings, slicing, settings.level, &mut |_, _| ());
            let mut diags = checked.warnings;
            diags.extend(lowered.err().unwrap_or_default());
            diags
        }
        Err(diags) => diags,
    };
    Ok(test.with_expect(&messages::attach(&source.sources, source.root, &diags), ""))
}
