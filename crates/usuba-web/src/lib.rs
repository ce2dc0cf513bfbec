//! The compiler as a WebAssembly module for the explorer: one call, JSON in and JSON out.
//!
//! ```text
//! {"ask":"compile","slot":0,"root":"f.ua","files":{…},"settings":{"slicing":"V","target":"avx2"}}
//! {"answer":{"command":"usubac f.ua -V --target avx2","stages":[{"pass":"lower",…},…]}}
//! ```
//!
//! A *slot* keeps one compilation, so that later questions about its stages, its text or its proof
//! need no second one; the page compares two slots. Answers have only as much text as a pane shows.
//! Places are lines and columns as editors count them ([`usuba_ide::lines`]).
//!
//! - [`question`]: the shapes of questions; `session`: their dispatch.
//! - `texts`: programs with their includes; `findings`: answers about the text of a program.
//! - `compilation`: a compilation and all its stages; `settings`: its options.
//! - `listing`: the equations of a stage, under names that stay from stage to stage.
//! - `output`: C and assembly language with the places of their lines.
//! - `circuits`: tables as gates, with their cryptographic properties.
//! - `proof`: one claim of the proof at a time.
//! - `host`: the functions that the module exports; `clock`: the one that it imports.

mod circuits;
mod clock;
mod compilation;
mod findings;
mod host;
mod listing;
mod output;
mod proof;
pub mod question;
mod session;
mod settings;
mod texts;

pub use session::Session;
