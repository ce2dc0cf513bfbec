//! The grammars of editors have the words of the lexer. `BLESS=1` rewrites their lists.
//!
//! A list is the line behind the line that ends with its mark:
//!
//! ```text
//! " generated: functions
//! syntax keyword usubaFunction refresh wrap split ...
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use usuba::syntax::{CONTEXTUAL, KEYWORDS};
use usuba::typed::walk::Builtin;

/// A file of a grammar, and how it writes each list that it has.
struct Grammar {
    path: &'static str,
    /// The name of the list, and the line in which `LIST` stands for the words.
    lists: &'static [(&'static str, &'static str)],
    /// How a word is written, and the text between two words.
    quotes: &'static str,
    between: &'static str,
}

const ALL: &str = "keywords";
const SOME: &str = "names with a meaning in some places";
const SCHEME: &str = "contextual words of the grammar";
const CALLED: &str = "functions";
const OTHERS: &str = "all other functions";

const GRAMMARS: &[Grammar] = &[
    Grammar {
        path: "vim/syntax/usuba.vim",
        lists: &[
            (ALL, "syntax keyword usubaKeyword LIST"),
            (SOME, "syntax keyword usubaContextual LIST"),
            (CALLED, "syntax keyword usubaFunction LIST"),
        ],
        quotes: "",
        between: " ",
    },
    Grammar {
        path: "tree-sitter-usuba/grammar.js",
        lists: &[(ALL, "const KEYWORDS = [LIST];")],
        quotes: "\"",
        between: ", ",
    },
    Grammar {
        path: "tree-sitter-usuba/queries/highlights.scm",
        lists: &[
            (ALL, "[LIST] @keyword"),
            (SCHEME, "[LIST] @keyword"),
            (CALLED, "  (#any-of? @function.builtin LIST))"),
            (OTHERS, "  (#not-any-of? @function LIST)"),
        ],
        quotes: "\"",
        between: " ",
    },
    Grammar {
        path: "vscode/syntaxes/usuba.tmLanguage.json",
        lists: &[
            (ALL, r#"      "match": "(?:LIST)(?![A-Za-z0-9_'])""#),
            // The words stand for names in front of an operator, a comma or a closing bracket,
            // except the words behind a type, which no operator follows.
            (SOME, r#"      "match": "(?:LIST)(?![A-Za-z0-9_'])(?!\\s*[=:;&|^+*/%<>\\[-])""#),
            (CALLED, r#"          "match": "(?:LIST)(?=\\s*\\()""#),
        ],
        quotes: "",
        between: "|",
    },
];

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors")
}

#[test]
fn grammars_have_the_words_of_the_lexer() {
    let functions: Vec<&str> = Builtin::NAMED.iter().map(|(name, ..)| *name).collect();
    // In the tree of the grammar `nat` is the name of a type.
    let of_grammar: Vec<&str> = CONTEXTUAL.iter().copied().filter(|word| *word != "nat").collect();
    for grammar in GRAMMARS {
        let path = editors().join(grammar.path);
        let written = fs::read_to_string(&path).expect("a grammar");
        let mut lines: Vec<String> = written.lines().map(String::from).collect();
        for (list, line) in grammar.lists {
            let words = match *list {
                ALL => KEYWORDS,
                SOME => CONTEXTUAL,
                SCHEME => &of_grammar,
                _ => &functions,
            };
            let mark = format!("generated: {list}");
            let has_mark = |line: &String| line.trim_end_matches(['"', ',']).ends_with(&mark);
            let at = lines.iter().position(has_mark).expect("the mark of a list");
            let quotes = grammar.quotes;
            let words: Vec<String> =
                words.iter().map(|word| format!("{quotes}{word}{quotes}")).collect();
            lines[at + 1] = line.replace("LIST", &words.join(grammar.between));
        }
        let now = lines.join("\n") + "\n";
        if std::env::var_os("BLESS").is_some() {
            fs::write(path, now).expect("blessed");
            continue;
        }
        assert_eq!(now, written, "run `cargo xtask bless grammars`");
    }
}
