//! The module `usuba._core` of Python: the compiler, its reference semantics and its provers.
//!
//! ```text
//! python/src/usuba/*.py  ─ checks shapes and types, has the documented API
//!          │ plain values: texts, numbers, tuples, arrays of uint64
//!          ▼
//! this crate  ─ runs on a thread with a large stack, without the lock of the interpreter
//! ```
//!
//! Functions here are private to the package; users call `usuba.check` and so on. A function gives
//! a value, or raises `usuba.Error` with findings, or `usuba.InternalError` after a panic.
//!
//! - `failure`: errors and panics as exceptions.
//! - `source`: programs as Python describes them, and their includes.
//! - `check`, `compile`, `evaluate`, `prove`, `circuit`, `dist`: one file for each function.

mod check;
mod circuit;
mod compile;
mod dist;
mod evaluate;
mod failure;
mod prove;
mod source;

use pyo3::prelude::*;

/// The functions of `usuba._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    failure::quiet();
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(circuit::circuit, module)?)?;
    module.add_function(wrap_pyfunction!(compile::compile, module)?)?;
    module.add_function(wrap_pyfunction!(compile::stages, module)?)?;
    module.add_function(wrap_pyfunction!(compile::targets, module)?)?;
    module.add_function(wrap_pyfunction!(dist::dist, module)?)?;
    module.add_function(wrap_pyfunction!(dist::verify, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::ports, module)?)?;
    module.add_function(wrap_pyfunction!(prove::prove, module)?)?;
    module.add_function(wrap_pyfunction!(source::built_in, module)?)?;
    Ok(())
}
