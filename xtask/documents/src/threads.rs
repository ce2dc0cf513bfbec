//! The pages of GPU threads: registers, from counts of compilers, and speed, from a run on a device.

use std::io;

use xtask::repo::{Finding, Repo};

/// Compares the pages with their files, or writes them.
///
/// # Errors
/// A page cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, text) in [("threads", registers(repo)), ("gpu-speed", speed(repo))] {
        let path = format!("docs/book/src/reference/{name}.md");
        findings.extend(crate::generated(repo, &path, &text, bless)?);
    }
    Ok(findings)
}

/// Counts of compilers for devices, which a test holds.
const COUNTS: &str = "bench/gpu/counts.txt";

/// The page of registers: a row for each row of the counts.
fn registers(repo: &Repo) -> String {
    let counts = repo.get(COUNTS).map_or("", |file| &file.text);
    let version = |name: &str| {
        let mut lines = counts.lines();
        let found = lines.find_map(|line| line.strip_prefix(&format!("# {name} ")));
        found.unwrap_or("").to_string()
    };
    let mut text = format!(
        "# Registers of GPU threads\n\n\
         <!-- Written by `cargo xtask bless` from {COUNTS}. -->\n\n\
         How many registers does each cipher need in a thread of a CUDA device?\n\n\
         The table has the first function over blocks of each cipher in V and in B, for compute capability 9.0.\n\
         *lop3* counts these instructions in the PTX by clang {}, in a rolled loop once; *memory* is its loads and stores of memory of the thread.\n\
         *Registers*, the bytes of the *stack* and the bytes that are *spilled* are by ptxas {}; a thread has 255 registers at most.\n\
         [Speed of GPU threads](gpu-speed.md) has measured figures.\n\n\
         | function | slicing | lop3 | memory | registers | stack | spilled |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
        version("clang"),
        version("ptxas")
    );
    for line in counts.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [function, rest @ ..] = &words[..] else { continue };
        text += &format!("| `{function}` | {} |\n", rest.join(" | "));
    }
    text + "\n## Next\n\n[Threads of a GPU](../gpu.md).\n"
}

/// Output of `scripts/gpu` on a device, with comments that say which compilers and which device.
const SPEEDS: &str = "bench/gpu/h200.txt";

/// The page of speeds: a row for each row of the run.
fn speed(repo: &Repo) -> String {
    let run = repo.get(SPEEDS).map_or("", |file| &file.text);
    let notes: Vec<&str> = run.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let rows: Vec<[&str; 5]> = run.lines().filter_map(row).collect();
    let wrong: Vec<&str> = run.lines().filter_map(|line| line.strip_prefix("wrong: ")).collect();
    let mut text = format!(
        "# Speed of GPU threads\n\n\
         <!-- Written by `cargo xtask bless` from {SPEEDS}. -->\n\n\
         How fast is each cipher on a CUDA device, in V and in B?\n\n\
         {}\n\n\
         A function over blocks reads 256 MiB in the memory of the device and writes its results there: Gbit/s are of the results.\n\
         A search tries keys of which each lane has its own: the table has 10<sup>9</sup> keys in a second.\n\
         *Bound* is the share of the instructions that the device can execute: 64 lanes of each multiprocessor in each cycle of the highest clock, for the instructions of a kernel without those that move and transpose blocks.\n\
         A share above 100 % means that the model counts more instructions than the compiler for the device needs.\n\
         A thread has *registers*, and bytes of its own *memory* for values that do not fit in them.\n\n",
        notes.join("\n")
    );
    for (title, search, unit) in
        [("Blocks", false, "Gbit/s"), ("Searches", true, "10<sup>9</sup> keys/s")]
    {
        text += &format!(
            "## {title}\n\n| function | registers | memory | {unit} | bound |\n|---|---:|---:|---:|---:|\n"
        );
        for [function, registers, memory, rate, bound] in
            rows.iter().filter(|row| row[0].ends_with("_search") == search)
        {
            let function = function.strip_prefix("usuba_").unwrap_or(function);
            text += &format!("| `{function}` | {registers} | {memory} | {rate} | {bound} % |\n");
        }
        text += "\n";
    }
    if !wrong.is_empty() {
        text += "## Wrong results\n\n\
                 Every function was compared with the same text as C of the host, and these differ on this device:\n\n";
        wrong.iter().for_each(|line| text += &format!("* {line}\n"));
        text += "\n";
    }
    text + "## Next\n\n[Threads of a GPU](../gpu.md).\n"
}

/// A function with its numbers, if a line has them.
fn row(line: &str) -> Option<[&str; 5]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [function, registers, memory, rate, bound, "%"] if function.starts_with("usuba_") => {
            Some([function, registers, memory, rate, bound])
        }
        _ => None,
    }
}
