//! C as a shared object, loaded into the test.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use usuba::target;
use usuba_lab::cc::{self, Family};
use usuba_lab::cipher;
use usuba_lab::dist::{self, File, Request};

pub const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// What to define for each variant of the arithmetic.
pub const VARIANTS: [&[&str]; 3] =
    [&[], &["-DUSUBA_WORD_BITS=32"], &["-DUSUBA_WORD_BITS=32", "-DUSUBA_SMALL"]];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers")
}

/// Hand-written C that is no part of what `usubac dist` writes, by its path in `lib`.
pub fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib").join(path)
}

pub fn request() -> Request {
    let portable = target::find("gp64").expect("it exists");
    Request { targets: vec![portable], prefix: "usuba_".into(), version: "0".into() }
}

pub fn compiler(family: Family) -> Option<PathBuf> {
    cc::find_native("gp64", family).ok().map(|machine| machine.compiler)
}

/// The files of Curve25519, the header first.
pub fn curve() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let cipher = cipher::read(&root().join("curve25519")).expect("the folder is there");
        dist::single(&request(), &cipher, Some("it")).expect("it compiles").files
    })
}

/// The files of NaCl.
pub fn nacl() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| dist::nacl(&request(), &root(), &mut |_| {}).expect("it compiles"))
}

pub fn write(folder: &Path, files: &[File]) {
    for file in files {
        std::fs::write(folder.join(&file.path), &file.text).expect("the folder can be written");
    }
}

/// Runs a command in `folder`; its output counts as the reason of a failure.
pub fn run(folder: &Path, command: &mut Command) -> String {
    let output = command.current_dir(folder).output().expect("the program is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}\n{errors}");
    text
}

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A shared object, loaded for as long as the process lives.
pub struct Loaded {
    handle: *mut c_void,
    _folder: Option<TempDir>,
}

// SAFETY: a handle is a number that any thread may ask for addresses.
unsafe impl Send for Loaded {}
// SAFETY: the same.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The C file among `files`, compiled with `flags`.
    pub fn new(files: &[File], flags: &[&str]) -> Loaded {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), files);
        let sources = files.iter().filter(|file| file.path.ends_with(".c"));
        let mut compile = Command::new(compiler(Family::Any).expect("there is a C compiler"));
        compile.args(["-std=gnu99", "-O1", "-shared", "-fPIC", "-o", "it.so"]).args(STRICT);
        run(folder.path(), compile.args(flags).args(sources.map(|file| &file.path)));
        let path = folder.path().join("it.so");
        let handle = open(path.to_str().expect("a plain path")).expect("it was just built");
        Loaded { handle, _folder: Some(folder) }
    }

    /// Curve25519 in each variant.
    pub fn variants() -> &'static [Loaded] {
        static ALL: OnceLock<Vec<Loaded>> = OnceLock::new();
        ALL.get_or_init(|| VARIANTS.iter().map(|flags| Loaded::new(curve(), flags)).collect())
    }

    /// libsodium, if it is installed; a test that goes without says so.
    pub fn sodium() -> Option<&'static Loaded> {
        static FOUND: OnceLock<Option<Loaded>> = OnceLock::new();
        let find = || {
            let names = ["libsodium.so", "libsodium.so.23", "libsodium.so.26", "libsodium.dylib"];
            let handle = names.iter().find_map(|name| open(name));
            let Some(handle) = handle else {
                println!("skipped: there is no libsodium");
                return None;
            };
            let sodium = Loaded { handle, _folder: None };
            assert!(call!(sodium, "sodium_init") >= 0);
            Some(sodium)
        };
        FOUND.get_or_init(find).as_ref()
    }

    /// The address of a function.
    pub fn find(&self, name: &str) -> *mut c_void {
        let text = CString::new(name).expect("no zero in it");
        // SAFETY: the handle is one of dlopen.
        let address = unsafe { dlsym(self.handle, text.as_ptr()) };
        assert!(!address.is_null(), "there is no {name}");
        address
    }
}

fn open(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).expect("no zero in it");
    // SAFETY: what is opened are libraries, whose code at loading time is trusted.
    let handle = unsafe { dlopen(name.as_ptr(), 2) };
    (!handle.is_null()).then_some(handle)
}

/// Calls a C function that answers a status. Pointers and lengths are all passed as 64 bits, which
/// is what the calling conventions of 64-bit machines make of them.
macro_rules! call {
    ($loaded:expr, $name:expr $(, $argument:expr)*) => {{
        let address = $loaded.find($name);
        // SAFETY: the header declares as many arguments of these kinds, and answers a status.
        unsafe {
            let function: unsafe extern "C" fn($($crate::object::call!(@type $argument)),*)
                -> std::ffi::c_int = std::mem::transmute(address);
            function($($argument as usize),*)
        }
    }};
    (@type $argument:expr) => { usize };
}
pub(crate) use call;

/// A sequence of numbers (SplitMix64).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }

    pub fn vec(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Lengths of messages: all short ones, and those around blocks of hashes and streams.
pub fn lengths() -> Vec<usize> {
    let edges = [512usize, 1024, 4096].into_iter().flat_map(|n| [n - 17, n - 1, n, n + 1, n + 64]);
    (0..=300).chain(edges).collect()
}
