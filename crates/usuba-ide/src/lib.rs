//! Answers about Usuba programs for editors: a text and a place in, plain data out.
//!
//! ```text
//! texts ─Analysis::new→ findings, names, types ─┬─ definition, references, rename, symbols
//!                                               ├─ complete, hover
//!                                               └─ hints ← costs (a compilation of each node)
//! ```
//!
//! The crate knows no protocol and has no side effects: the caller reads files ([`Loader`]) and
//! decides when to compute. [`Analysis::new`] takes milliseconds and is computed again after each
//! edit; [`costs::costs`] compiles every node, so that callers run it beside the editor and drop it
//! at the next edit.
//!
//! # Broken text
//!
//! While a text has errors, every answer comes from the current text, never from an older one: the
//! parser continues behind an error in an equation at the next equation, and behind an error in a
//! declaration at the next declaration, and the resolver gives types for the declarations that are
//! left. So places are always places of the text that the user sees. Some answers need more:
//!
//! - The definition of a name in an equation that the parser gave up is found by its spelling.
//! - [`complete`] reads the tokens of a declaration that the parser gave up.
//! - Costs exist for programs without errors only. They name nodes, and places in the text by
//!   their lines, so that a caller may show the costs of the last such program, where its nodes
//!   are now; see [`hints`].
//!
//! # Modules
//!
//! - `analysis`: a program with its includes, and its findings.
//! - `names`: definitions and uses of names; `rename`: new names for them.
//! - `complete`, `hover`, `symbols`: one answer each; `words`: the meaning of operators and words.
//! - `tokens`: kinds of words, for colours.
//! - `tables`: properties and circuits of tables.
//! - `costs`: operations and register pressure of nodes; `hints`: their places.
//! - `lines`: places as editors count them; `memory`: files of pages.

mod analysis;
pub mod complete;
pub mod costs;
pub mod hints;
pub mod hover;
pub mod lines;
pub mod memory;
pub mod names;
pub mod rename;
pub mod symbols;
pub mod tables;
pub mod tokens;
pub mod words;

pub use analysis::{Analysis, Include, Outline, ROOT, Settings, formatted};
pub use usuba::syntax::splice::Loader;
