//! `usuba.compile`: C and header of a kernel, and the programs after each pass.

use pyo3::prelude::*;
use usuba::emit::c::kernel;
use usuba::emit::header::header;
use usuba::{isa, optimise};

use crate::check::usual;
use crate::failure::{Failure, run};
use crate::source::{Read, Source};

/// A kernel: C, header, name, prototype, slicing, flags of the C compiler, instances of one
/// register, register sets, instructions, and values that are live at once.
type Kernel = (String, String, String, String, String, Vec<&'static str>, u32, u32, u64, usize);

/// Compiles the entry of a program.
#[pyfunction]
pub fn compile(
    py: Python<'_>,
    source: Source,
    slicing: String,
    target: String,
    prefix: String,
) -> PyResult<Kernel> {
    run(py, move || {
        let mut options = usual(&source, &slicing, &target)?;
        options.c.prefix = prefix;
        options.c.command = format!("usuba.compile({:?}, {slicing:?}, {target:?})", source.name);
        let read = source.read()?;
        options.c.source_hash =
            format!("sha256 {}", usuba_run::fingerprint::fingerprint(&read.sources));
        let program = optimised(&read, &options, &mut |_, _| {})?;
        let target = options.target;
        let emitted = kernel(&program, target, &options.c);
        let head = header(&program, target, &options.c, &emitted);
        let slicing = format!("{:?}", program.slicing);
        let (operations, live) = (emitted.stats.operations.computing(), emitted.stats.live);
        let flags = target.cflags.to_vec();
        let (lanes, copies) = (emitted.lanes, emitted.copies);
        let (text, name, prototype) = (emitted.text, emitted.name, emitted.prototype);
        Ok((text, head, name, prototype, slicing, flags, lanes, copies, operations, live))
    })
}

/// The names of lowering and of all passes, with the Usuba0 program after each.
#[pyfunction]
pub fn stages(
    py: Python<'_>,
    source: Source,
    slicing: String,
    target: String,
) -> PyResult<Vec<(String, String)>> {
    run(py, move || {
        let options = usual(&source, &slicing, &target)?;
        let mut all = Vec::new();
        optimised(&source.read()?, &options, &mut |pass, program| {
            all.push((pass.to_string(), usuba::dump::program(program)));
        })?;
        Ok(all)
    })
}

fn optimised(
    read: &Read,
    options: &usuba::Options,
    observer: &mut dyn FnMut(&str, &usuba::ir::Program),
) -> Result<usuba::ir::Program, Failure> {
    let program = optimise(&read.checked.program, options, observer);
    program.map_err(|findings| Failure::findings(&read.sources, &findings))
}

/// The names of all targets.
#[pyfunction]
pub fn targets() -> Vec<&'static str> {
    isa::all().map(|target| target.name).collect()
}
