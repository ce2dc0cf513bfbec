//! The Usuba compiler. Pure: text in, text and diagnostics out; no files, clock, threads or
//! environment.
//!
//! ```text
//! .ua text ─syntax→ ast ─typed→ typed program ─lower→ Usuba0 ⟲ passes ─emit→ C (+ header)
//! ```

pub mod circuit;
pub mod diag;
pub mod ir;
pub mod passes;
pub mod syntax;
