//! Interrupts: Ctrl-C, SIGTERM and SIGHUP end the children and remove the temporary files.
//!
//! ```text
//! SIGTERM → usubac ─┬→ SIGTERM → gcc, kernels and their children
//!                   ├→ the temporary folder is removed
//!                   └→ status 130
//! ```
//!
//! All temporary files of the process lie below one folder, so that its removal is complete.
//! `tune` takes the first interrupt itself and stops between two measurements.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::Failure;

/// The status of a process that an interrupt ended.
const STATUS: i32 = 130;

static POSTPONED: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens to interrupts and makes the folder of temporary files, which lives as long as the
/// result. Without such a folder, commands that need none still work.
pub fn guard() -> Result<Option<TempDir>, Failure> {
    let folder = tempfile::Builder::new().prefix("usuba-").tempdir().ok();
    let path = folder.as_ref().map(|folder| folder.path().to_path_buf());
    if let Some(path) = &path {
        let _ = tempfile::env::override_temp_dir(path); // only a second call fails
    }
    let handled = ctrlc::set_handler(move || {
        let first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if first && POSTPONED.load(Ordering::Relaxed) {
            return;
        }
        end_children(std::process::id());
        path.as_deref().map(remove);
        std::process::exit(STATUS);
    });
    handled.map_err(|error| Failure::program(format!("cannot listen to interrupts: {error}")))?;
    Ok(folder)
}

/// Leaves the first interrupt to the command, which asks for the result.
pub fn postpone() -> &'static AtomicBool {
    POSTPONED.store(true, Ordering::Relaxed);
    &INTERRUPTED
}

/// Removes a folder into which other threads may still write.
fn remove(folder: &Path) {
    for _ in 0..20 {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        sleep(Duration::from_millis(5));
    }
}

/// Ends all descendants of a process, as Linux lists them. Elsewhere only a terminal does.
#[cfg(target_os = "linux")]
fn end_children(process: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return };
    for task in tasks.flatten() {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in list.split_whitespace().filter_map(|child| child.parse::<u32>().ok()) {
            end_children(child);
            if let Some(pid) = Pid::from_raw(child as i32) {
                let _ = kill_process(pid, Signal::TERM); // it may have ended by itself
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn end_children(_: u32) {}
