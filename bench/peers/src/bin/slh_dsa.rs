//! Benchmark of SLH-DSA in turn: ours, the crate `slh-dsa` and SPHINCS+ of PQClean.
//!
//! ```text
//! slh_dsa FOLDER BACKEND...   a line for each operation: ticks of ours, and theirs divided by ours
//! slh_dsa FOLDER -o FILE      AVX2 and AVX-512, also as ratios in a file of results
//! ```
//!
//! FOLDER has our library and, for each parameter set that PQClean has there, an object with the
//! functions of `adapters/pqclean.c`. Signatures are deterministic, and the crate must give the same
//! ones as our library. PQClean has SPHINCS+ 3.1, which calls the hash functions about as often, but
//! encodes the message differently, so its signatures are different, too.

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::process::ExitCode;
use std::ptr::null;

use libloading::Library;
use slh_dsa::{ParameterSet, Signature, SigningKey, VerifyingKey};
use usuba_peers::turns::{
    Ratios, bytes, get, measure, ok, pin, record, side, similar, take, version,
};

/// Bytes of the message that is signed.
const SIGNED: usize = 256;

/// Words of a work area; ours needs less.
const WORK: usize = 16 << 10;

/// The backends of the tables.
const BACKENDS: [&str; 2] = ["avx2", "avx512"];

/// The crate and PQClean, as lines and results name them.
const CRATE: &str = "slh-dsa";
const CLEAN: &str = "PQClean";

/// Seed, public key, secret key, work area.
type OurKeys = unsafe extern "C" fn(*const u8, *mut u8, *mut u8, *mut u64) -> c_int;
/// Key, context, its length, message, its length, randomness, signature, work area.
type OurSign = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    *mut u64,
) -> c_int;
/// Key, context, its length, message, its length, signature, its length, work area.
type OurVerify = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u64,
) -> c_int;
type Keys = unsafe extern "C" fn(*const u8, *mut u8, *mut u8) -> c_int;
type Sign = unsafe extern "C" fn(*const u8, *const u8, usize, *mut u8) -> c_int;
type Verify = unsafe extern "C" fn(*const u8, *const u8, usize, *const u8, usize) -> c_int;

/// Keys, signatures and their verification in a parameter set with hashes of `n` bytes.
fn set<P: ParameterSet>(
    n: usize,
    ours: &Library,
    folder: &Path,
    all: &mut Vec<Ratios>,
) -> Result<(), String> {
    let title = P::NAME;
    let name = title.to_lowercase().replace('-', "_");
    let (seed, message) = (bytes::<96>(1), bytes::<SIGNED>(4));
    let parts = [&seed[..n], &seed[n..2 * n], &seed[2 * n..3 * n]];
    let generate = || SigningKey::<P>::slh_keygen_internal(parts[0], parts[1], parts[2]);
    let key = generate();
    let (secret, public) = (key.to_bytes(), key.as_ref().to_bytes());
    let sign = || key.try_sign_with_context(&message, b"", None).expect("a context of no bytes");
    let signature = sign().to_bytes();
    let clean = clean(folder, title)?;
    // SAFETY: these are the types of our header and of the adapter, and all bytes are there.
    unsafe {
        let mut work = vec![0; WORK];
        let function: OurKeys = get(ours, &format!("usuba_{name}_keypair_from_seed"))?;
        let one = |out: &mut [u8]| {
            let (secret, public) = out.split_at_mut(4 * n);
            let (secret, public) = (secret.as_mut_ptr(), public.as_mut_ptr());
            ok(function(seed.as_ptr(), public, secret, work.as_mut_ptr()));
        };
        let two = |out: &mut [u8]| {
            let key = generate();
            out[..4 * n].copy_from_slice(&key.to_bytes());
            out[4 * n..].copy_from_slice(&key.as_ref().to_bytes());
        };
        let mut sides = vec![side("ours", one), side(CRATE, two)];
        let (mut their_secret, mut their_public) = (vec![0; 4 * n], vec![0; 2 * n]);
        if let Some(clean) = &clean {
            let function: Keys = get(clean, "peer_keys")?;
            let (secret, public) = (their_secret.as_mut_ptr(), their_public.as_mut_ptr());
            sides.push(similar(CLEAN, move |_| ok(function(seed.as_ptr(), public, secret))));
        }
        all.push(measure(&format!("{title} keys"), 6 * n, sides));

        let mut work = vec![0; WORK];
        let function: OurSign = get(ours, &format!("usuba_{name}_sign"))?;
        let one = |out: &mut [u8]| {
            let (secret, message, to) = (secret.as_ptr(), message.as_ptr(), out.as_mut_ptr());
            ok(function(secret, null(), 0, message, SIGNED, null(), to, work.as_mut_ptr()));
        };
        let two = |out: &mut [u8]| out.copy_from_slice(&sign().to_bytes());
        let mut sides = vec![side("ours", one), side(CRATE, two)];
        let mut their_signature = vec![0; signature.len()];
        if let Some(clean) = &clean {
            let function: Sign = get(clean, "peer_sign")?;
            let (secret, to) = (their_secret.as_ptr(), their_signature.as_mut_ptr());
            let message = message.as_ptr();
            sides.push(similar(CLEAN, move |_| ok(function(secret, message, SIGNED, to))));
        }
        all.push(measure(&format!("{title} sign"), signature.len(), sides));

        let mut work = vec![0; WORK];
        let function: OurVerify = get(ours, &format!("usuba_{name}_verify"))?;
        let length = signature.len();
        let one = |_: &mut [u8]| {
            let (public, message, from) = (public.as_ptr(), message.as_ptr(), signature.as_ptr());
            let work = work.as_mut_ptr();
            ok(function(public, null(), 0, message, SIGNED, from, length, work));
        };
        // A key and a signature that come as bytes, as they do for the others.
        let two = |_: &mut [u8]| {
            let public = VerifyingKey::<P>::try_from(&public[..]).expect("a key");
            let known = Signature::<P>::try_from(&signature[..]).expect("a signature");
            public.try_verify_with_context(&message, b"", &known).expect("it is right");
        };
        let mut sides = vec![side("ours", one), side(CRATE, two)];
        if let Some(clean) = &clean {
            let function: Verify = get(clean, "peer_verify")?;
            let (public, from) = (their_public.as_ptr(), their_signature.as_ptr());
            let message = message.as_ptr();
            sides
                .push(similar(CLEAN, move |_| ok(function(public, message, SIGNED, from, length))));
        }
        all.push(measure(&format!("{title} verify"), 1, sides));
    }
    Ok(())
}

/// The object of PQClean for a parameter set.
fn clean(folder: &Path, title: &str) -> Result<Option<Library>, String> {
    let set = title.to_lowercase().replace("slh-dsa", "sphincs");
    let path = folder.join(format!("{set}-simple.so"));
    // SAFETY: it does nothing when it is loaded. Its names stay its own.
    path.is_file()
        .then(|| unsafe { Library::new(path) }.map_err(|error| error.to_string()))
        .transpose()
}

/// All parameter sets on a backend of ours.
fn compare(folder: &Path, backend: &str) -> Result<Vec<Ratios>, String> {
    // SAFETY: our library only detects the processor when it is loaded, and has this function.
    let ours = unsafe {
        let ours = Library::new(folder.join("usuba.so")).map_err(|error| error.to_string())?;
        take(&ours, "usuba_force_backend", backend)?;
        ours
    };
    println!("{backend}");
    let mut all = Vec::new();
    set::<slh_dsa::Sha2_128s>(16, &ours, folder, &mut all)?;
    set::<slh_dsa::Sha2_128f>(16, &ours, folder, &mut all)?;
    set::<slh_dsa::Sha2_192f>(24, &ours, folder, &mut all)?;
    set::<slh_dsa::Sha2_256f>(32, &ours, folder, &mut all)?;
    set::<slh_dsa::Shake128f>(16, &ours, folder, &mut all)?;
    Ok(all)
}

/// The part of a file of results: backends and their ratios.
fn part(folder: &Path, results: &[(&str, Vec<Ratios>)]) -> Result<String, String> {
    let mut text = format!("{CRATE} = {:?}\n", version(CRATE));
    if let Some(clean) = clean(folder, slh_dsa::Sha2_128s::NAME)? {
        // SAFETY: it returns a literal of the adapter.
        let version = unsafe {
            let version: unsafe extern "C" fn() -> *const c_char = get(&clean, "peer_version")?;
            CStr::from_ptr(version()).to_string_lossy().into_owned()
        };
        text += &format!("{CLEAN} = {version:?}\n");
    }
    let count = results.first().map_or(0, |(_, all)| all.len());
    for number in 0..count {
        let operation = &results[0].1[number].operation;
        let (title, operation) = operation.split_once(' ').unwrap_or((operation, ""));
        text += &format!("\n[[signature]]\ntitle = {title:?}\noperation = {operation:?}\n");
        for (backend, all) in results {
            let cells = all[number].others.iter();
            let cells: Vec<String> =
                cells.map(|(library, ratio)| format!("{library} = {ratio:.2}")).collect();
            text += &format!("{backend} = {{ {} }}\n", cells.join(", "));
        }
    }
    Ok(text)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let (folder, backends, file) = match &words[..] {
        [folder, "-o", file] => (folder, &BACKENDS[..], Some(file)),
        [folder, backends @ ..] if !backends.is_empty() => (folder, backends, None),
        _ => {
            eprintln!("slh_dsa FOLDER (BACKEND... | -o FILE)");
            return ExitCode::from(2);
        }
    };
    pin();
    let folder = Path::new(folder);
    let all = backends.iter().map(|backend| Ok((*backend, compare(folder, backend)?)));
    let done = all.collect::<Result<Vec<_>, String>>().and_then(|all| match file {
        Some(file) => {
            let part = part(folder, &all)?;
            record(file, ("SLH-DSA", "scripts/peers-slh-dsa"), "signature_versions", &part)
                .map_err(|error| format!("{file}: {error}"))
        }
        None => Ok(()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slh_dsa: {error}");
            ExitCode::FAILURE
        }
    }
}
