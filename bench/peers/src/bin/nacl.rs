//! Benchmark of NaCl and similar functions, in turn: ours, libsodium and the dalek crates.
//!
//! ```text
//! nacl OURS.so [BACKEND]     a line for each operation: ticks of ours, and theirs divided by ours
//! nacl OURS.so -o FILE       also the ratios at the end of a file of results
//! ```
//!
//! libsodium sets a key up in every call of its authenticated encryption, and we do here, too.

use std::ffi::{CStr, c_char, c_int};
use std::process::ExitCode;

use ed25519_dalek::{Signature, Signer, SigningKey};
use libloading::Library;
use usuba_peers::turns::{Ratios, bytes, get, measure, ok, record, side, take, version};
use x25519_dalek::{PublicKey, StaticSecret};

/// Bytes of the message that is signed.
const SIGNED: usize = 256;

/// Bytes of messages of everything else.
const LENGTHS: [usize; 4] = [64, 256, 1024, 16384];

type Sign = unsafe extern "C" fn(*mut u8, *mut u64, *const u8, u64, *const u8) -> c_int;
type Verify = unsafe extern "C" fn(*const u8, *const u8, u64, *const u8) -> c_int;
type Two = unsafe extern "C" fn(*mut u8, *const u8) -> c_int;
type Three = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;
type Keys = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
type Hash = unsafe extern "C" fn(*mut u8, *const u8, u64) -> c_int;
type OurHash = unsafe extern "C" fn(*const u8, usize, *mut u8) -> c_int;
type Auth = unsafe extern "C" fn(*mut u8, *const u8, u64, *const u8) -> c_int;
type Init = unsafe extern "C" fn(*mut u64, *const u8, usize) -> c_int;
/// Key, nonce, data, its length, input, its length, output, tag; opening with the last two swapped.
type OurSeal = unsafe extern "C" fn(
    *const u64,
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u8,
    *mut u8,
) -> c_int;
type OurOpen = unsafe extern "C" fn(
    *const u64,
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
) -> c_int;
type OurBox =
    unsafe extern "C" fn(*const u64, *const u8, *const u8, usize, *mut u8, *mut u8) -> c_int;
type OurBoxOpen =
    unsafe extern "C" fn(*const u64, *const u8, *const u8, usize, *const u8, *mut u8) -> c_int;
type Seal = unsafe extern "C" fn(
    *mut u8,
    *mut u8,
    *mut u64,
    *const u8,
    u64,
    *const u8,
    u64,
    *const u8,
    *const u8,
    *const u8,
) -> c_int;
type Open = unsafe extern "C" fn(
    *mut u8,
    *const u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
) -> c_int;
type Box24 = unsafe extern "C" fn(*mut u8, *mut u8, *const u8, u64, *const u8, *const u8) -> c_int;
type Box24Open =
    unsafe extern "C" fn(*mut u8, *const u8, *const u8, u64, *const u8, *const u8) -> c_int;

fn curves(ours: &Library, sodium: &Library, all: &mut Vec<Ratios>) -> Result<(), String> {
    let (seed, scalar, point) = (bytes::<32>(1), bytes::<32>(2), bytes::<32>(3));
    let message = bytes::<SIGNED>(4);
    let length = SIGNED as u64;
    let dalek = SigningKey::from_bytes(&seed);
    let secret = dalek.to_keypair_bytes();
    let public = dalek.verifying_key();
    let signature = dalek.sign(&message).to_bytes();
    let names = |name: &str| [format!("usuba_{name}"), name.to_string()];
    // SAFETY: these are the types of NaCl's header, which both libraries have.
    unsafe {
        let [one, other] = names("crypto_sign_detached");
        let (one, other) = (get::<Sign>(ours, &one)?, get::<Sign>(sodium, &other)?);
        let call = |function: Sign| {
            let (message, secret) = (message.as_ptr(), secret.as_ptr());
            move |out: &mut [u8]| {
                let to = out.as_mut_ptr();
                ok(function(to, std::ptr::null_mut(), message, length, secret));
            }
        };
        let rust = |out: &mut [u8]| out.copy_from_slice(&dalek.sign(&message).to_bytes());
        let sides =
            vec![side("ours", call(one)), side("libsodium", call(other)), side("dalek", rust)];
        all.push(measure("sign 256", 64, sides));
        let [one, other] = names("crypto_sign_verify_detached");
        let (one, other) = (get::<Verify>(ours, &one)?, get::<Verify>(sodium, &other)?);
        let key = public.to_bytes();
        let call = |function: Verify| {
            let (signature, message, key) = (signature.as_ptr(), message.as_ptr(), key.as_ptr());
            move |_: &mut [u8]| ok(function(signature, message, length, key))
        };
        // A key that comes as bytes, as it does for the others.
        let known = Signature::from_bytes(&signature);
        let rust = |_: &mut [u8]| {
            let public = ed25519_dalek::VerifyingKey::from_bytes(&key).expect("a point");
            public.verify_strict(&message, &known).expect("it is right");
        };
        let sides =
            vec![side("ours", call(one)), side("libsodium", call(other)), side("dalek", rust)];
        all.push(measure("verify 256", 1, sides));
        let [one, other] = names("crypto_scalarmult");
        let (one, other) = (get::<Three>(ours, &one)?, get::<Three>(sodium, &other)?);
        let call = |function: Three| {
            let (scalar, point) = (scalar.as_ptr(), point.as_ptr());
            move |out: &mut [u8]| ok(function(out.as_mut_ptr(), scalar, point))
        };
        let rust = |out: &mut [u8]| out.copy_from_slice(&x25519_dalek::x25519(scalar, point));
        let sides =
            vec![side("ours", call(one)), side("libsodium", call(other)), side("dalek", rust)];
        all.push(measure("x25519", 32, sides));
        let [one, other] = names("crypto_scalarmult_base");
        let (one, other) = (get::<Two>(ours, &one)?, get::<Two>(sodium, &other)?);
        let call = |function: Two| {
            let scalar = scalar.as_ptr();
            move |out: &mut [u8]| ok(function(out.as_mut_ptr(), scalar))
        };
        let rust = |out: &mut [u8]| {
            out.copy_from_slice(PublicKey::from(&StaticSecret::from(scalar)).as_bytes());
        };
        let sides =
            vec![side("ours", call(one)), side("libsodium", call(other)), side("dalek", rust)];
        all.push(measure("x25519 base", 32, sides));
        let [one, other] = names("crypto_sign_seed_keypair");
        let (one, other) = (get::<Keys>(ours, &one)?, get::<Keys>(sodium, &other)?);
        let call = |function: Keys| {
            let seed = seed.as_ptr();
            move |out: &mut [u8]| {
                let (public, secret) = out.split_at_mut(32);
                ok(function(public.as_mut_ptr(), secret.as_mut_ptr(), seed));
            }
        };
        let rust = |out: &mut [u8]| {
            let key = SigningKey::from_bytes(&seed);
            out[..32].copy_from_slice(key.verifying_key().as_bytes());
            out[32..].copy_from_slice(&key.to_keypair_bytes());
        };
        let sides =
            vec![side("ours", call(one)), side("libsodium", call(other)), side("dalek", rust)];
        all.push(measure("ed25519 keys", 96, sides));
    }
    Ok(())
}

/// Authenticated encryption with associated data: our name, libsodium's, and bytes of a nonce.
fn seals(
    ours: &Library,
    sodium: &Library,
    (name, other, nonce): (&str, &str, usize),
    length: usize,
    all: &mut Vec<Ratios>,
) -> Result<(), String> {
    let (key, nonce) = (bytes::<32>(5), bytes::<24>(6)[..nonce].to_vec());
    let text: Vec<u8> = (0..length).map(|at| at as u8).collect();
    let (data, none) = (std::ptr::null(), std::ptr::null_mut());
    let size = length as u64;
    // SAFETY: these are the types of both headers, and contexts are shorter.
    unsafe {
        let init: Init = get(ours, &format!("usuba_{name}_init"))?;
        let seal: OurSeal = get(ours, &format!("usuba_{name}_seal_detached"))?;
        let open: OurOpen = get(ours, &format!("usuba_{name}_open_detached"))?;
        let their: Seal = get(sodium, &format!("crypto_aead_{other}_encrypt_detached"))?;
        let their_open: Open = get(sodium, &format!("crypto_aead_{other}_decrypt_detached"))?;
        let one = |out: &mut [u8]| {
            let mut context = [0u64; 128];
            let (to, tag) = out.split_at_mut(length);
            ok(init(context.as_mut_ptr(), key.as_ptr(), 32));
            let (from, to) = (text.as_ptr(), to.as_mut_ptr());
            let (context, nonce, tag) = (context.as_ptr(), nonce.as_ptr(), tag.as_mut_ptr());
            ok(seal(context, nonce, data, 0, from, length, to, tag));
        };
        let two = |out: &mut [u8]| {
            let (to, tag) = out.split_at_mut(length);
            let (to, tag, from) = (to.as_mut_ptr(), tag.as_mut_ptr(), text.as_ptr());
            let (nonce, key) = (nonce.as_ptr(), key.as_ptr());
            ok(their(to, tag, none, from, size, data, 0, data, nonce, key));
        };
        let mut sealed = vec![0; length + 16];
        two(&mut sealed);
        let (from, tag) = (sealed.as_ptr(), sealed[length..].as_ptr());
        let sides = vec![side("ours", one), side("libsodium", two)];
        all.push(measure(&format!("{name} seal {length}"), length + 16, sides));
        let one = |out: &mut [u8]| {
            let mut context = [0u64; 128];
            ok(init(context.as_mut_ptr(), key.as_ptr(), 32));
            let (context, nonce, to) = (context.as_ptr(), nonce.as_ptr(), out.as_mut_ptr());
            ok(open(context, nonce, data, 0, from, length, tag, to));
        };
        let two = |out: &mut [u8]| {
            let (to, nonce, key) = (out.as_mut_ptr(), nonce.as_ptr(), key.as_ptr());
            ok(their_open(to, data, from, size, tag, data, 0, nonce, key));
        };
        let sides = vec![side("ours", one), side("libsodium", two)];
        all.push(measure(&format!("{name} open {length}"), length, sides));
    }
    Ok(())
}

fn boxes(
    ours: &Library,
    sodium: &Library,
    length: usize,
    all: &mut Vec<Ratios>,
) -> Result<(), String> {
    let (key, nonce) = (bytes::<32>(5), bytes::<24>(6));
    let text: Vec<u8> = (0..length).map(|at| at as u8).collect();
    let size = length as u64;
    // SAFETY: these are the types of both headers, and contexts are shorter.
    unsafe {
        let init: Init = get(ours, "usuba_xsalsa20poly1305_init")?;
        let seal: OurBox = get(ours, "usuba_xsalsa20poly1305_seal_detached")?;
        let open: OurBoxOpen = get(ours, "usuba_xsalsa20poly1305_open_detached")?;
        let their: Box24 = get(sodium, "crypto_secretbox_detached")?;
        let their_open: Box24Open = get(sodium, "crypto_secretbox_open_detached")?;
        let one = |out: &mut [u8]| {
            let mut context = [0u64; 128];
            let (to, tag) = out.split_at_mut(length);
            ok(init(context.as_mut_ptr(), key.as_ptr(), 32));
            let (context, nonce, from) = (context.as_ptr(), nonce.as_ptr(), text.as_ptr());
            ok(seal(context, nonce, from, length, to.as_mut_ptr(), tag.as_mut_ptr()));
        };
        let two = |out: &mut [u8]| {
            let (to, tag) = out.split_at_mut(length);
            let (to, tag, from) = (to.as_mut_ptr(), tag.as_mut_ptr(), text.as_ptr());
            ok(their(to, tag, from, size, nonce.as_ptr(), key.as_ptr()));
        };
        let mut sealed = vec![0; length + 16];
        two(&mut sealed);
        let (from, tag) = (sealed.as_ptr(), sealed[length..].as_ptr());
        let sides = vec![side("ours", one), side("libsodium", two)];
        all.push(measure(&format!("secretbox seal {length}"), length + 16, sides));
        let one = |out: &mut [u8]| {
            let mut context = [0u64; 128];
            ok(init(context.as_mut_ptr(), key.as_ptr(), 32));
            ok(open(context.as_ptr(), nonce.as_ptr(), from, length, tag, out.as_mut_ptr()));
        };
        let two = |out: &mut [u8]| {
            let (nonce, key) = (nonce.as_ptr(), key.as_ptr());
            ok(their_open(out.as_mut_ptr(), from, tag, size, nonce, key));
        };
        let sides = vec![side("ours", one), side("libsodium", two)];
        all.push(measure(&format!("secretbox open {length}"), length, sides));
    }
    Ok(())
}

fn hashes(
    ours: &Library,
    sodium: &Library,
    length: usize,
    all: &mut Vec<Ratios>,
) -> Result<(), String> {
    let key = bytes::<32>(5);
    let text: Vec<u8> = (0..length).map(|at| at as u8).collect();
    let (from, size) = (text.as_ptr(), length as u64);
    // SAFETY: these are the types of both headers.
    unsafe {
        for (name, bytes) in [("sha512", 64), ("sha256", 32)] {
            let one: OurHash = get(ours, &format!("usuba_{name}_hash"))?;
            let two: Hash = get(sodium, &format!("crypto_hash_{name}"))?;
            let sides = vec![
                side("ours", |out: &mut [u8]| ok(one(from, length, out.as_mut_ptr()))),
                side("libsodium", |out: &mut [u8]| ok(two(out.as_mut_ptr(), from, size))),
            ];
            all.push(measure(&format!("{name} {length}"), bytes, sides));
        }
        let one: Auth = get(ours, "usuba_crypto_onetimeauth")?;
        let two: Auth = get(sodium, "crypto_onetimeauth")?;
        let call = |function: Auth| {
            let key = key.as_ptr();
            move |out: &mut [u8]| ok(function(out.as_mut_ptr(), from, size, key))
        };
        let sides = vec![side("ours", call(one)), side("libsodium", call(two))];
        all.push(measure(&format!("poly1305 {length}"), 16, sides));
    }
    Ok(())
}

/// Everything, on a backend of ours; all ratios, and the version of libsodium.
fn compare(ours: &str, backend: Option<&str>) -> Result<(Vec<Ratios>, String), String> {
    // SAFETY: libraries only detect the processor when they are loaded.
    let open = |name: &str| unsafe { Library::new(name) }.map_err(|error| error.to_string());
    let ours = open(ours)?;
    let sodium = open("libsodium.so").or_else(|_| open("libsodium.so.23"))?;
    // SAFETY: these are the types of both headers.
    unsafe {
        let start: unsafe extern "C" fn() -> c_int = get(&sodium, "sodium_init")?;
        if start() < 0 {
            return Err("libsodium does not start".into());
        }
        if let Some(backend) = backend {
            take(&ours, "usuba_nacl_force_backend", backend)?;
        }
    }
    let mut all = Vec::new();
    curves(&ours, &sodium, &mut all)?;
    for length in LENGTHS {
        seals(&ours, &sodium, ("chacha20poly1305", "chacha20poly1305_ietf", 12), length, &mut all)?;
        seals(
            &ours,
            &sodium,
            ("xchacha20poly1305", "xchacha20poly1305_ietf", 24),
            length,
            &mut all,
        )?;
        boxes(&ours, &sodium, length, &mut all)?;
        hashes(&ours, &sodium, length, &mut all)?;
    }
    // SAFETY: it returns a static string.
    let version = unsafe {
        let version: unsafe extern "C" fn() -> *const c_char =
            get(&sodium, "sodium_version_string")?;
        CStr::from_ptr(version()).to_string_lossy().into_owned()
    };
    Ok((all, version))
}

/// Operations without their lengths, and their titles in tables.
const TITLES: [(&str, &str); 14] = [
    ("sign", "signing 256 bytes"),
    ("verify", "verifying them, strictly"),
    ("x25519", "X25519"),
    ("x25519 base", "X25519 of the base point"),
    ("ed25519 keys", "keys of Ed25519 from a seed"),
    ("chacha20poly1305 seal", "ChaCha20-Poly1305, seal"),
    ("chacha20poly1305 open", "ChaCha20-Poly1305, open"),
    ("xchacha20poly1305 seal", "XChaCha20-Poly1305, seal"),
    ("xchacha20poly1305 open", "XChaCha20-Poly1305, open"),
    ("secretbox seal", "secret box, seal"),
    ("secretbox open", "secret box, open"),
    ("sha512", "SHA-512"),
    ("sha256", "SHA-256"),
    ("poly1305", "Poly1305 alone"),
];

/// The part of a file of results.
fn part(all: &[Ratios], sodium: &str) -> String {
    let mut text = format!("libsodium = {sodium:?}\n");
    for name in ["ed25519-dalek", "x25519-dalek"] {
        text += &format!("{name} = {:?}\n", version(name));
    }
    for Ratios { operation, others } in all {
        let (operation, bytes) = match operation.rsplit_once(' ') {
            Some((name, bytes)) if bytes.parse::<usize>().is_ok() => (name, bytes),
            _ => (&**operation, "0"),
        };
        let title = TITLES.iter().find(|(known, _)| *known == operation);
        let title = title.map_or(operation, |(_, title)| title);
        text += &format!("\n[[nacl]]\ntitle = {title:?}\nbytes = {bytes}\n");
        for (library, ratio) in others {
            text += &format!("{library} = {ratio:.2}\n");
        }
    }
    text
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let (ours, backend, file) = match words[..] {
        [ours] => (ours, None, None),
        [ours, "-o", file] => (ours, None, Some(file)),
        [ours, backend] => (ours, Some(backend), None),
        _ => {
            eprintln!("nacl OURS.so [BACKEND | -o FILE]");
            return ExitCode::from(2);
        }
    };
    let done = compare(ours, backend).and_then(|(all, sodium)| match file {
        Some(file) => {
            record(file, ("NaCl", "scripts/peers-nacl"), "nacl_versions", &part(&all, &sodium))
                .map_err(|error| format!("{file}: {error}"))
        }
        None => Ok(()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nacl: {error}");
            ExitCode::FAILURE
        }
    }
}
