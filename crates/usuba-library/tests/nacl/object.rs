//! C as a shared object, loaded into the test.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use usuba::isa;
use usuba_library::{File, Request};
use usuba_run::cc::{self, Family};

use crate::loaded::Object;
pub(crate) use crate::loaded::call;
pub use crate::loaded::{Noise, STRICT, root, run, write};

/// The definitions for each variant of the arithmetic.
pub const VARIANTS: [&[&str]; 3] =
    [&[], &["-DUSUBA_WORD_BITS=32"], &["-DUSUBA_WORD_BITS=32", "-DUSUBA_SMALL"]];

/// Hand-written C that `usubac dist` does not write, by its path in `lib`.
pub fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib").join(path)
}

pub fn request() -> Request {
    let portable = isa::find("gp64").expect("it exists");
    Request {
        targets: vec![portable],
        prefix: "usuba_".into(),
        version: "0".into(),
        functions: Vec::new(),
    }
}

pub fn compiler(family: Family) -> Option<PathBuf> {
    cc::find_native("gp64", family).ok().map(|machine| machine.compiler)
}

/// The files of Curve25519, the header first.
pub fn curve() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let cipher = usuba_ciphers::read(&root().join("curve25519")).expect("the folder is there");
        usuba_library::single(&request(), &cipher, Some("it")).expect("it compiles").files
    })
}

/// The files of NaCl.
pub fn nacl() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| written(&request()))
}

/// NaCl for a request.
pub fn written(request: &Request) -> Vec<File> {
    let ciphers = usuba_library::nacl_ciphers(&root()).expect("the folders are there");
    usuba_library::nacl(request, &ciphers, &mut |_| {}).expect("it compiles").files
}

/// A shared object, and the folder that it lies in.
pub struct Loaded {
    object: Object,
    _folder: Option<TempDir>,
}

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
        let object = Object::open(path.to_str().expect("a plain path")).expect("it was just built");
        Loaded { object, _folder: Some(folder) }
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
            let Some(object) = names.iter().find_map(|name| Object::open(name)) else {
                println!("skipped: there is no libsodium");
                return None;
            };
            let sodium = Loaded { object, _folder: None };
            assert!(call!(sodium, "sodium_init") >= 0);
            Some(sodium)
        };
        FOUND.get_or_init(find).as_ref()
    }

    /// The address of a function.
    pub fn find(&self, name: &str) -> *mut c_void {
        self.object.find(name)
    }
}

impl Noise {
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
