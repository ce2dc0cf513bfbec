//! Traces of programs and of functions, by code of its own.
//!
//! The evaluator of the language here and the reference semantics (`usuba_lang::typed::walk`) share the
//! parser and the typed tree. The reader of objects and the machine share nothing with the prover:
//! they follow the ELF specification and the manual of the instruction set. Tests compare the traces
//! of all cipher programs with the reference semantics, and traces of their objects with traces of
//! their sources and with traces by the decoder of the prover.
//!
//! ```text
//! program, instance --- source --- Trace
//! object, symbol ------ riscv ---- Trace
//! ```
//!
//! - `source`: evaluates a program on words of a trace.
//! - `elf`: reads objects; `decode`: reads instructions; `machine`: runs them on words of a trace.

mod decode;
mod elf;
mod machine;
mod source;

pub use machine::{Array, riscv};
pub use source::source;

/// A value, or the reason why there is none.
type Run<T> = Result<T, String>;
