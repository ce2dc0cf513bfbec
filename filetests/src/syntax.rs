//! `# test syntax`: what the parser says, and what the formatter makes of a text without errors.

use std::path::Path;

use usuba::syntax::{parse, print};

use crate::compile::Source;
use crate::file::TestFile;
use crate::messages;

/// Without `expect:` the formatter must leave the text as it is; with it, it must make that, and
/// leave that as it is.
pub fn wanted(test: &TestFile, path: &Path) -> Result<String, String> {
    let text = messages::strip(&test.head);
    let source = Source::new(path, &text);
    let (tree, diags) = parse(&source.sources, source.root);
    if !diags.is_empty() {
        let head = messages::attach(&source.sources, source.root, &diags);
        return Ok(test.with_expect(&head, ""));
    }
    let formatted = print::format(&tree, &text);
    let again = Source::new(path, &formatted);
    let (tree, diags) = parse(&again.sources, again.root);
    if !diags.is_empty() {
        return Err(format!("the formatted text is wrong:\n{}", again.explain(&diags)));
    }
    if print::format(&tree, &formatted) != formatted {
        return Err(format!("formatting twice changes the text again:\n{formatted}"));
    }
    match test.expects {
        true => Ok(test.with_expect(&text, &formatted)),
        false => Ok(formatted),
    }
}
