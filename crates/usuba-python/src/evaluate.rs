//! `usuba.evaluate`: the reference semantics over batches.
//!
//! Threads cannot share a typed program, so each thread of a large batch reads its own.

use numpy::ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use usuba::typed::{Instance, Var, VarType, eval};

use crate::failure::{Failure, STACK, run};
use crate::source::{Read, Source};

/// Rows that are worth a thread.
const ROWS: usize = 64;

/// Parameters or results: name, bits of a word, words.
type Ports = Vec<(String, u8, usize)>;

/// Parameters and results of the entry, in their order.
#[pyfunction]
pub fn ports(py: Python<'_>, source: Source) -> PyResult<(Ports, Ports)> {
    run(py, move || {
        let read = source.read()?;
        both(&read, &read.instance(source.word)?)
    })
}

fn both(read: &Read, instance: &Instance) -> Result<(Ports, Ports), Failure> {
    let decl = &read.checked.program.decls[instance.decl];
    let all = |vars: &[Var]| {
        let words = vars.iter().filter_map(|var| match &var.ty {
            VarType::Words { atom, .. } => {
                let bits = instance.apply(atom).bits()?;
                Some((var.name.to_string(), bits, var.ty.atoms()))
            }
            VarType::Nat => None,
        });
        words.collect()
    };
    Ok((all(&decl.params), all(&decl.results)))
}

/// Evaluates the entry on each row of `words`: all words of all parameters, in their order. A row of
/// the result has all words of all results.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    source: Source,
    words: PyReadonlyArray2<'py, u64>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let rows = words.as_array();
    let done = run(py, move || rows_of(&source, rows))?;
    Ok(done.into_pyarray(py))
}

fn rows_of(source: &Source, rows: ArrayView2<'_, u64>) -> Result<Array2<u64>, Failure> {
    let read = source.read()?;
    let instance = read.instance(source.word)?;
    let (inputs, outputs) = both(&read, &instance)?;
    fits(&inputs, rows)?;
    let width: usize = outputs.iter().map(|(_, _, words)| words).sum();
    let count = rows.nrows();
    let mut flat = vec![0; count * width];
    // A node without results has rows of no words.
    let chunk = (ROWS * width).max(1);
    match count <= ROWS {
        true => part(&read, &instance, rows, 0, &mut flat, width)?,
        // Threads of this call alone: the threads of a pool that stays are missing after a fork.
        false => threads()?.install(|| {
            flat.par_chunks_mut(chunk).enumerate().try_for_each_init(
                || source.read().and_then(|read| Ok((read.instance(source.word)?, read))),
                |own, (number, out)| match own {
                    Ok((instance, read)) => part(read, instance, rows, number * ROWS, out, width),
                    Err(_) => Err(Failure::Argument(
                        "the program or an included file changed during the evaluation".into(),
                        "evaluate again".into(),
                    )),
                },
            )
        })?,
    }
    let shaped = Array2::from_shape_vec((count, width), flat);
    Ok(shaped.expect("one row of results for each row of inputs"))
}

fn threads() -> Result<ThreadPool, Failure> {
    let pool = ThreadPoolBuilder::new().stack_size(STACK).build();
    pool.map_err(|error| Failure::from(format!("cannot start threads: {error}")))
}

/// Evaluates the rows from `first` on that `out` has room for.
fn part(
    read: &Read,
    instance: &Instance,
    rows: ArrayView2<'_, u64>,
    first: usize,
    out: &mut [u64],
    width: usize,
) -> Result<(), Failure> {
    for (at, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
        let row: Vec<u64> = rows.row(first + at).iter().copied().collect();
        let found = eval(&read.checked.program, instance, &row);
        let found = found.map_err(|findings| Failure::findings(&read.sources, &findings))?;
        out.copy_from_slice(&found);
    }
    Ok(())
}

/// Checks the number of words and their sizes.
fn fits(inputs: &Ports, rows: ArrayView2<'_, u64>) -> Result<(), Failure> {
    let all: Vec<(&str, usize, u8)> = inputs
        .iter()
        .flat_map(|(name, bits, words)| (0..*words).map(move |at| (&**name, at, *bits)))
        .collect();
    if rows.ncols() != all.len() {
        let shapes =
            inputs.iter().map(|(name, bits, words)| format!("{name} {words} of {bits} bits"));
        let text = format!("found {} words in a row, expected {}", rows.ncols(), all.len());
        let help = format!("the parameters are {}", shapes.collect::<Vec<_>>().join(", "));
        return Err(Failure::Argument(text, help));
    }
    for ((row, at), &word) in rows.indexed_iter() {
        let (name, index, bits) = all[at];
        if bits < 64 && word >> bits != 0 {
            let text = format!(
                "found {word:#x} in row {row}, word {index} of `{name}`, expected a number of {bits} bits"
            );
            return Err(Failure::Argument(
                text,
                format!("mask it: words & {:#x}", (1u64 << bits) - 1),
            ));
        }
    }
    Ok(())
}
