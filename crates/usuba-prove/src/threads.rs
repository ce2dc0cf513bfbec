//! Work on several threads, in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Stack bytes of a thread: case splits of a proof are nested calls.
const STACK: usize = 64 << 20;

/// The results of `work` for each task, on `jobs` threads, or one for each core. Durations differ
/// widely, so each idle thread takes the next task.
///
/// # Errors
/// The system starts no thread.
pub fn each<T: Sync, R: Send>(
    tasks: &[T],
    jobs: Option<u16>,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, String> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = jobs.map_or(cores, |jobs| jobs as usize).min(tasks.len());
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(at) else { break };
            let found = work(task);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, found));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            let thread = thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, run).map_err(|why| format!("no threads: {why}"))?;
        }
        Ok::<_, String>(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, found)| found).collect())
}
