//! The grammars of editors have the words of the lexer. `BLESS=1` rewrites their lists.

use std::fs;
use std::path::Path;

use usuba::syntax::{CONTEXTUAL, KEYWORDS};
use usuba::typed::walk::Builtin;

#[test]
fn grammars_have_the_words_of_the_lexer() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vim/syntax/usuba.vim");
    let written = fs::read_to_string(&path).expect("a grammar");
    let functions: Vec<&str> = Builtin::NAMED.iter().map(|(name, ..)| *name).collect();
    let lists = [
        ("keywords", "usubaKeyword", KEYWORDS),
        ("names with a meaning in some places", "usubaContextual", CONTEXTUAL),
        ("functions", "usubaFunction", &functions),
    ];
    let mut lines: Vec<String> = written.lines().map(String::from).collect();
    for (list, group, words) in lists {
        let mark = format!("\" generated: {list}");
        let at = lines.iter().position(|line| *line == mark).expect("the mark of a list");
        lines[at + 1] = format!("syntax keyword {group} {}", words.join(" "));
    }
    let now = lines.join("\n") + "\n";
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, now).expect("blessed");
        return;
    }
    assert_eq!(now, written, "run `cargo xtask bless grammars`");
}
