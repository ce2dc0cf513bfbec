//! Several libraries by turns in one process: operations that write an answer of fixed length.
//!
//! All sides get the same input and must give the same output. Then they take turns: a call that is
//! not timed, and a few timed calls; the tenth percentile is the time.

use std::arch::x86_64::{_mm_lfence, _rdtsc};
use std::ffi::{CString, c_char, c_int};
use std::time::{Duration, Instant};

use libloading::Library;

/// How long one operation is measured. A slow one has one turn.
const BUDGET: Duration = Duration::from_millis(700);

/// Timed calls of a side in a turn.
const CALLS: usize = 5;

/// The time-stamp counter.
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has both.
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

/// The tenth percentile.
pub fn tenth(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 10]
}

/// Keeps this process on the processor where it is, so that all sides meet the same one.
pub fn pin() {
    unsafe extern "C" {
        safe fn sched_getcpu() -> i32;
        fn sched_setaffinity(process: i32, size: usize, mask: *const u64) -> i32;
    }
    let here = usize::try_from(sched_getcpu()).unwrap_or(0);
    let mut mask = [0u64; 16];
    mask[here / 64 % 16] = 1 << (here % 64);
    // SAFETY: the mask has the size that is named. Where pinning is forbidden, turns still help.
    unsafe {
        sched_setaffinity(0, size_of_val(&mask), mask.as_ptr());
    }
}

/// An operation; it writes its answer.
type Run<'a> = Box<dyn FnMut(&mut [u8]) + 'a>;

/// One library at one operation.
pub struct Side<'a> {
    library: &'static str,
    run: Run<'a>,
    compared: bool,
    samples: Vec<f64>,
}

/// A side that must give the answer of the first one.
pub fn side<'a>(library: &'static str, run: impl FnMut(&mut [u8]) + 'a) -> Side<'a> {
    Side { library, run: Box::new(run), compared: true, samples: Vec::new() }
}

/// A side that computes another function with the same work.
pub fn similar<'a>(library: &'static str, run: impl FnMut(&mut [u8]) + 'a) -> Side<'a> {
    Side { compared: false, ..side(library, run) }
}

/// The measurement of one operation: the time of others divided by ours.
pub struct Ratios {
    pub operation: String,
    pub others: Vec<(&'static str, f64)>,
}

/// Times all sides, the first of which is ours, and writes a line.
pub fn measure(operation: &str, room: usize, mut sides: Vec<Side>) -> Ratios {
    let mut out = vec![0; room];
    let mut expected = Vec::new();
    for side in sides.iter_mut().filter(|side| side.compared) {
        out.fill(0);
        (side.run)(&mut out);
        match expected.is_empty() {
            true => expected.clone_from(&out),
            false => assert_eq!(out, expected, "{operation} of {}", side.library),
        }
    }
    let begin = Instant::now();
    while begin.elapsed() < BUDGET {
        for side in &mut sides {
            (side.run)(&mut out);
            for _ in 0..CALLS {
                let start = ticks();
                (side.run)(&mut out);
                side.samples.push((ticks() - start) as f64);
            }
        }
    }
    let mut times = sides.into_iter().map(|side| (side.library, tenth(side.samples)));
    let (_, ours) = times.next().expect("our side is first");
    let mut line = format!("{operation:<28} {ours:>9.0}");
    let mut others = Vec::new();
    for (library, time) in times {
        let ratio = time / ours;
        line += &format!("   {library} {ratio:.2}");
        others.push((library, ratio));
    }
    println!("{line}");
    Ratios { operation: operation.to_string(), others }
}

/// A function of a library.
///
/// # Errors
/// The library does not have it.
///
/// # Safety
/// It has this type.
pub unsafe fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: the caller says so.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|error| error.to_string())
}

/// Makes our library take one backend, by its function `force`.
///
/// # Errors
/// The library has no such function, or the processor does not have the backend.
///
/// # Safety
/// The function has the type of `usuba_force_backend`.
pub unsafe fn take(library: &Library, force: &str, backend: &str) -> Result<(), String> {
    let name = CString::new(backend).map_err(|error| error.to_string())?;
    // SAFETY: the caller says so.
    let status = unsafe {
        get::<unsafe extern "C" fn(*const c_char) -> c_int>(library, force)?(name.as_ptr())
    };
    if status == 0 { Ok(()) } else { Err(format!("there is no {backend} here")) }
}

/// The status of a call, which succeeds.
pub fn ok(status: c_int) {
    assert_eq!(status, 0);
}

/// Bytes for keys and messages, the same in every run.
pub fn bytes<const N: usize>(seed: u8) -> [u8; N] {
    std::array::from_fn(|at| (at as u8).wrapping_mul(31).wrapping_add(seed))
}

/// The version of a crate that the manifest names exactly.
pub fn version(name: &str) -> &'static str {
    let mut lines = include_str!("../Cargo.toml").lines();
    let line = lines.find(|line| line.split(' ').next() == Some(name));
    let version = line.and_then(|line| line.split('"').nth(1)).unwrap_or("=unknown");
    version.trim_start_matches('=')
}

/// This processor: its name, and the numbers of its family and model.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        let value = fields.into_iter().find(|(field, _)| field.trim() == name);
        value.map_or("unknown", |(_, value)| value.trim()).to_string()
    };
    let [name, family, model] = ["model name", "cpu family", "model"].map(field);
    format!("{name} (family {family}, model {model})")
}

/// Writes the part of a file of results that `script` measures: over the earlier one, or to the end. It
/// begins with a table `versions`, of this processor first.
///
/// # Errors
/// The file cannot be read or written.
pub fn record(
    path: &str,
    (title, script): (&str, &str),
    versions: &str,
    part: &str,
) -> std::io::Result<()> {
    let known = std::fs::read_to_string(path)?;
    let begin = format!("\n# {title}, by `{script}` in the same way.\n");
    let (before, earlier) = known.split_once(&begin).unwrap_or((&known, ""));
    let head = format!("[{versions}]\nprocessor = {:?}\n", processor());
    std::fs::write(path, format!("{before}{begin}\n{head}{part}{}", parts(earlier)))
}

/// The parts of a file of results that other scripts wrote, which follow the first one.
pub fn parts(text: &str) -> &str {
    text.find("\n\n# ").map_or("", |at| &text[at + 1..])
}
