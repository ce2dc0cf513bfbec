//! Errors and panics as exceptions of Python.
//!
//! ```text
//! Err(Failure)  →  usuba.Error, with findings
//! a panic       →  usuba.InternalError, with message and place
//! ```

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pyo3::prelude::*;
use usuba::diag::{Diagnostic, Severity, Sources};

/// The stack of a thread, in bytes: several times the usual stack of a main thread.
pub const STACK: usize = 64 << 20;

/// A finding: severity, code, message, file, line, column, help; the place is `None` for a finding
/// about a whole compilation. Lines and columns begin at 1, and columns count bytes.
pub type Finding = (&'static str, String, String, Option<(String, usize, usize)>, Option<String>);

/// The reason why a call has no result.
pub enum Failure {
    /// A wrong argument: the message, and one thing to try.
    Argument(String, String),
    /// Findings about a program.
    Findings(Vec<Finding>),
}

impl Failure {
    /// The findings of a program as a failure.
    pub fn findings(sources: &Sources, findings: &[Diagnostic]) -> Failure {
        Failure::Findings(findings.iter().map(|one| finding(sources, one)).collect())
    }
}

/// A message of another crate, which may end with a help.
impl From<String> for Failure {
    fn from(text: String) -> Failure {
        match text.split_once("; help: ") {
            Some((text, help)) => Failure::Argument(text.to_string(), help.to_string()),
            None => Failure::Argument(text, String::new()),
        }
    }
}

/// A diagnostic as Python takes it.
pub fn finding(sources: &Sources, finding: &Diagnostic) -> Finding {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = finding.span.map(|span| {
        let (line, column) = sources.line_col(span.file, span.start);
        (sources.file(span.file).name.clone(), line, column)
    });
    let code = finding.code.as_str().to_string();
    (severity, code, finding.message.clone(), place, finding.help.clone())
}

thread_local! {
    /// The place of the last panic of this thread.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes panics of this module silent: their text is in the exception.
pub fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        PLACE.with(|last| *last.borrow_mut() = place.unwrap_or_default());
    }));
}

/// Runs `work` without the lock of the interpreter, on a thread with a large stack.
///
/// # Errors
/// `usuba.Error` for a failure, `usuba.InternalError` for a panic, `OSError` without a thread.
pub fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let caught = || {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
            let place = PLACE.with(|last| last.borrow().clone());
            format!("{}{place}", said(&*payload))
        })
    };
    let done = py.detach(|| {
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, caught)?;
            let ended = thread.join();
            Ok::<_, std::io::Error>(ended.unwrap_or_else(|payload| Err(said(&*payload))))
        })
    });
    match done? {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(exception(py, failure)?),
        Err(panic) => Err(raise(py, "InternalError", panic)?),
    }
}

/// The message of a panic.
fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or("no message".into())
}

fn exception(py: Python<'_>, failure: Failure) -> PyResult<PyErr> {
    match failure {
        Failure::Argument(text, help) => {
            let class = py.import("usuba._errors")?.getattr("Error")?;
            Ok(PyErr::from_value(class.call1((text, help))?))
        }
        Failure::Findings(findings) => raise(py, "of_findings", findings),
    }
}

/// The exception that a function of `usuba._errors` makes.
fn raise<'py, T: IntoPyObject<'py>>(py: Python<'py>, name: &str, argument: T) -> PyResult<PyErr> {
    let class = py.import("usuba._errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call1((argument,))?))
}
