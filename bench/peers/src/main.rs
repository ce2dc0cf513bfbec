//! Benchmark of our library and others, in turn; `scripts/peers` builds the adapters and starts it.
//!
//! ```text
//! usuba-peers FOLDER            adapters in FOLDER, results to standard output
//! usuba-peers FOLDER -o FILE    and to a file
//! usuba-peers FOLDER serpent128 these ciphers only
//! usuba-peers FOLDER --ticks    show ticks per byte and block beside ratios
//! ```
//!
//! Libraries read environment and processor when they start, so every width has a process of its
//! own. Without AVX-512, `usuba_force_backend` chooses our code and `OPENSSL_ia32cap` masks it for
//! OpenSSL; the others use none.

mod adapter;
mod ciphers;
mod measure;
mod report;
mod rustcrypto;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use adapter::Peer;
use ciphers::Cipher;
use measure::Time;
use report::Results;
use usuba_peers::turns::{parts, pin, processor};

/// Instruction sets of our side. Where ours must not use AVX-512, the others must not, either; they
/// may use GFNI everywhere.
const WIDTHS: [&str; 4] = ["avx2", "avx2_gfni", "avx512", "avx512_gfni"];

/// Shared objects of `scripts/peers`, and the names of the libraries. Ours is first.
const OBJECTS: [(&str, &str); 11] = [
    ("usuba", "Usuba"),
    ("openssl", "OpenSSL"),
    ("libsodium", "libsodium"),
    ("botan", "Botan"),
    ("libgcrypt", "libgcrypt"),
    ("cryptopp", "Crypto++"),
    ("bearssl", "BearSSL"),
    ("skein", "Skein's authors"),
    ("ascon_aead", "ascon-c"),
    ("ascon_hash", "ascon-c"),
    ("s2n_bignum", "s2n-bignum"),
];

/// `OPENSSL_ia32cap` without AVX-512.
const NO_AVX512: &str = ":~0xd0230000";

struct Arguments {
    folder: PathBuf,
    out: Option<PathBuf>,
    ciphers: Vec<String>,
    ticks: bool,
    milliseconds: u64,
    /// The width of this process; absent in the one that people start.
    inside: Option<String>,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next()?);
    let mut arguments = Arguments {
        folder,
        out: None,
        ciphers: Vec::new(),
        ticks: false,
        milliseconds: 2500,
        inside: None,
    };
    while let Some(word) = words.next() {
        match &*word {
            "-o" => arguments.out = Some(words.next()?.into()),
            "--ticks" => arguments.ticks = true,
            "--milliseconds" => arguments.milliseconds = words.next()?.parse().ok()?,
            "--inside" => arguments.inside = Some(words.next()?),
            name if ciphers::ALL.iter().any(|cipher| cipher.name == name) => {
                arguments.ciphers.push(word);
            }
            _ => return None,
        }
    }
    Some(arguments)
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!(
            "usuba-peers FOLDER [-o FILE] [--ticks] [--milliseconds N] [CIPHER]...\n\nCiphers: {}",
            ciphers::ALL.iter().map(|cipher| cipher.name).collect::<Vec<_>>().join(" ")
        );
        return ExitCode::from(2);
    };
    let result = match &arguments.inside {
        Some(width) => inside(&arguments, width),
        None => outside(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts one process for each setting and writes the results down.
fn outside(arguments: &Arguments) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut results: Results = Vec::new();
    for width in WIDTHS {
        let mut command = Command::new(&program);
        command.arg(&arguments.folder).args(["--inside", width]);
        command.args(["--milliseconds", &arguments.milliseconds.to_string()]);
        command.args(&arguments.ciphers);
        if !width.starts_with("avx512") {
            command.env("OPENSSL_ia32cap", NO_AVX512);
        }
        command.stderr(std::process::Stdio::inherit());
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("no results for {width}"));
        }
        read(&String::from_utf8_lossy(&output.stdout), width, &mut results)?;
    }
    print!("{}", report::table(&results));
    if arguments.ticks {
        show_ticks(&results);
    }
    match &arguments.out {
        None => Ok(()),
        Some(path) => {
            let tools = [
                ("processor", processor()),
                ("gcc", version("CC", "gcc")),
                ("rustc", version("RUSTC", "rustc")),
            ];
            let known = std::fs::read_to_string(path).unwrap_or_default();
            let text = report::text(&results, &tools) + parts(&known);
            std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
        }
    }
}

/// The version of a compiler, without its name.
fn version(variable: &str, name: &str) -> String {
    let program = std::env::var(variable).unwrap_or_else(|_| name.to_string());
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    words.into_iter().find(number).unwrap_or("unknown").trim_end_matches(')').to_string()
}

fn show_ticks(results: &Results) {
    println!();
    for (width, cipher, mode, times) in results {
        for Time { library, bulk, long, block, fresh, .. } in times {
            let (bulk, long) = (bulk / measure::BULK as f64, long / measure::LONG as f64);
            println!(
                "{cipher:<12} {width:<11} {mode:<6} {library:<10} {bulk:>8.3} {long:>8.3} {block:>8.0} {fresh:>8.0}"
            );
        }
    }
}

/// Lines of one process: cipher, mode, library, version, call, four times.
fn read(text: &str, width: &str, results: &mut Results) -> Result<(), String> {
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[cipher, mode, library, version, call, ref times @ ..] = &fields[..] else {
            return Err(format!("`{line}` is no result"));
        };
        let times: Result<Vec<f64>, _> = times.iter().map(|time| time.parse()).collect();
        let Ok(&[bulk, long, block, fresh]) = times.as_deref() else {
            return Err(format!("`{line}` has other numbers"));
        };
        let time = Time {
            library: library.into(),
            version: version.into(),
            call: call.into(),
            bulk,
            long,
            block,
            fresh,
        };
        let same = |one: &&mut (String, String, String, Vec<Time>)| {
            (&*one.0, &*one.1, &*one.2) == (width, cipher, mode)
        };
        match results.iter_mut().find(same) {
            Some((.., times)) => times.push(time),
            None => results.push((width.into(), cipher.into(), mode.into(), vec![time])),
        }
    }
    Ok(())
}

/// Measures in this process; one line for each result.
fn inside(arguments: &Arguments, width: &str) -> Result<(), String> {
    pin();
    let peers = peers(&arguments.folder, width)?;
    let chosen =
        |name: &str| arguments.ciphers.is_empty() || arguments.ciphers.iter().any(|c| c == name);
    let here = |c: &&Cipher| c.gfni || !width.ends_with("gfni");
    let wanted = ciphers::ALL.iter().filter(|c| here(c) && chosen(c.name));
    for cipher in wanted {
        let having = |mode: &str, peer: &&Peer| peer.cipher == cipher.name && peer.mode == mode;
        let modes: BTreeSet<&str> = peers.iter().map(|peer| &*peer.mode).collect();
        for mode in modes {
            let sides: Vec<&Peer> = peers.iter().filter(|peer| having(mode, peer)).collect();
            // Ours is first, and there is another library to compare with.
            if sides.len() < 2 || sides[0].library != OBJECTS[0].1 {
                continue;
            }
            let budget = Duration::from_millis(arguments.milliseconds);
            for time in measure::measure(cipher, &sides, budget)? {
                let Time { library, version, call, bulk, long, block, fresh } = time;
                let name = cipher.name;
                println!(
                    "{name}\t{mode}\t{library}\t{version}\t{call}\t{bulk}\t{long}\t{block}\t{fresh}"
                );
            }
        }
    }
    Ok(())
}

/// Every library that is here, ours first.
fn peers(folder: &Path, width: &str) -> Result<Vec<Peer>, String> {
    let mut peers = Vec::new();
    for (number, (file, library)) in OBJECTS.into_iter().enumerate() {
        let path = folder.join(format!("{file}.so"));
        if path.is_file() || number == 0 {
            peers.extend(adapter::load(&path, library, width)?);
        }
    }
    peers.extend(rustcrypto::peers());
    Ok(peers)
}
