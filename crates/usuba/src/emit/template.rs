//! Templates: files that are mostly text, with `@value@` where a value goes.
//!
//! ```text
//! {# A key schedule. `name`: the C name; `steps`: each a statement. #}
//! void @name@_init(@name@_ctx *ctx)
//! {
//! {% for step in steps %}
//!     @step@;
//! {% endfor %}
//! }
//! ```
//!
//! The language is Jinja's, except that values stand between `@`, as in files that CMake or autoconf
//! configure: C and Rust have braces of their own. Lines with a statement or a comment alone leave
//! no trace. A value that a template names and its context lacks is an error, not an empty text.
//! Names that a user chose are checked before they become values: nothing is escaped here.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, filters, functions, tests};

pub use minijinja::{Value, context};

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let syntax = SyntaxConfig::builder()
        .variable_delimiters("@", "@")
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the delimiters differ");
    // Only the functions of the language that templates use: the rest would be part of every
    // program that contains the compiler.
    let mut environment = Environment::empty();
    environment.add_filter("join", filters::join);
    environment.add_filter("last", filters::last);
    environment.add_filter("length", filters::length);
    environment.add_filter("map", filters::map);
    environment.add_filter("replace", filters::replace);
    environment.add_filter("upper", filters::upper);
    environment.add_function("range", functions::range);
    environment.add_test("none", tests::is_none);
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment
});

/// The text of a template and its path, for messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Template {
    pub path: &'static str,
    pub text: &'static str,
}

impl Template {
    /// The text with the values of a [`context!`].
    ///
    /// # Panics
    /// The template is no template, or names a value that the context lacks: both are mistakes in
    /// this program.
    pub fn render(self, context: Value) -> String {
        let template = ENVIRONMENT.template_from_named_str(self.path, self.text);
        let text = template.and_then(|template| template.render(context));
        text.unwrap_or_else(|error| panic!("template {error:#}"))
    }
}

/// The template in a file, relative to the file that calls this.
#[macro_export]
macro_rules! template {
    ($path:expr) => {
        $crate::emit::template::Template { path: $path, text: include_str!($path) }
    };
}

pub use template;

#[cfg(test)]
mod checks {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The files below `folder` that end with `.in`.
    fn templates(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => templates(&path, found),
                false => found.extend(path.extension().is_some_and(|e| e == "in").then_some(path)),
            }
        }
    }

    /// The names behind a sign or word in the statements and values of a template.
    fn names_behind<'t>(text: &'t str, sign: &str) -> Vec<&'t str> {
        let comment = text.find("#}").map_or(0, |end| end + 2);
        let statements =
            text[comment..].split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
        let values = text[comment..].lines().flat_map(|line| line.split('@').skip(1).step_by(2));
        // Closures of Rust and operators of C stand in and between values, too.
        let is_value =
            |value: &&str| value.starts_with(char::is_alphabetic) && !value.contains("||");
        let values = values.filter(is_value);
        let mut names = Vec::new();
        for part in statements.chain(values) {
            for rest in part.split(sign).skip(1).filter(|rest| !rest.starts_with('"')) {
                let rest = rest.trim_start().trim_start_matches("not ").trim_start();
                let end =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                names.push(&rest[..end]);
            }
        }
        names
    }

    /// A filter or test that the environment lacks is found only where a statement runs.
    #[test]
    fn each_template_uses_filters_and_tests_that_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Vec::new();
        for folder in ["lib", "crates"] {
            templates(&root.join(folder), &mut found);
        }
        let mut used = [0, 0];
        for path in found {
            let text = fs::read_to_string(&path).expect("a text");
            let filters = ["join", "last", "length", "map", "replace", "upper"];
            for (at, (sign, known)) in [("|", &filters[..]), (" is ", &["none"])].iter().enumerate()
            {
                for name in names_behind(&text, sign) {
                    assert!(known.contains(&name), "{}: `{sign}` {name}", path.display());
                    used[at] += 1;
                }
            }
        }
        assert!(used[0] > 20 && used[1] > 0, "{used:?}");
    }

    #[test]
    fn each_template_begins_with_a_comment_that_names_its_values() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Vec::new();
        for folder in ["lib", "crates"] {
            templates(&root.join(folder), &mut found);
        }
        assert!(found.len() > 100, "{} templates", found.len());
        for path in found {
            let (text, shown) = (fs::read_to_string(&path).expect("a text"), path.display());
            let template = ENVIRONMENT.template_from_str(&text);
            let template = template.unwrap_or_else(|error| panic!("{shown}: {error}"));
            let comment = text.split("#}").next().filter(|text| text.starts_with("{#"));
            let comment = comment.unwrap_or_else(|| panic!("{shown} begins without a comment"));
            let globals = ["range"];
            for name in template.undeclared_variables(false) {
                let named = comment.contains(&format!("`{name}`"));
                assert!(
                    named || globals.contains(&&*name),
                    "{shown}: `{name}` is not in the comment"
                );
            }
        }
    }

    #[test]
    #[should_panic(expected = "undefined value")]
    fn a_value_that_a_context_lacks_is_an_error() {
        Template { path: "t", text: "@here@ @missing@" }.render(context! { here => 1 });
    }
}
