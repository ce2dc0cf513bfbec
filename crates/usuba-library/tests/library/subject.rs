//! One cipher folder as a shared object that the test loads, and the calls of it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use usuba::isa::{self, Target};
use usuba_ciphers::Cipher;
use usuba_library::{Description, Request, Written};
use usuba_run::cc::{self, Family};

use crate::loaded::Object;
pub(crate) use crate::loaded::call;
pub use crate::loaded::{Noise, STRICT, root, run, write};

mod models {
    include!(concat!(env!("OUT_DIR"), "/ciphers.rs"));
}

pub use models::oracle;

/// One block: the oracle crate where there is one, else `reference.rs`.
pub fn model(folder: &str, function: &str, key: &[u8], block: &[u8]) -> Vec<u8> {
    let oracle = models::oracle(folder, function, key, block);
    oracle.unwrap_or_else(|| models::reference(folder, function, key, block))
}

pub fn request(prefix: &str) -> Request {
    Request {
        targets: usuba_library::usual(),
        prefix: prefix.into(),
        version: "0".into(),
        functions: Vec::new(),
    }
}

pub fn compiler() -> PathBuf {
    cc::find_native(isa::ALL[0].name, Family::Any).expect("there is a C compiler").compiler
}

/// The compilers whose code is called: in a long run every family that is there.
pub fn compilers(long: bool) -> Vec<PathBuf> {
    let families: &[Family] = if long { &[Family::Gcc, Family::Clang] } else { &[Family::Any] };
    let find = |family: &Family| cc::find_native(isa::ALL[0].name, *family).ok();
    families.iter().filter_map(find).map(|machine| machine.compiler).collect()
}

/// A shared object, and the folder that it lies in.
pub struct Loaded {
    object: Object,
    folder: TempDir,
}

impl Loaded {
    pub fn new(single: &Written, flags: &[&str]) -> Loaded {
        Loaded::by(&compiler(), single, flags)
    }

    /// With kernels in assembly language, where it has them; other tests use those in C.
    pub fn by(compiler: &Path, single: &Written, flags: &[&str]) -> Loaded {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &single.files);
        let mut compile = Command::new(compiler);
        compile.args(["-std=c99", "-shared", "-fPIC", "-o", "it.so"]).args(STRICT).args(flags);
        compile.arg(&single.files[1].path);
        if let Some(kernels) = single.files.iter().find(|file| file.path.ends_with(".S")) {
            compile.args(["-DUSUBA_ASSEMBLY", &kernels.path]);
        }
        run(folder.path(), &mut compile);
        let path = folder.path().join("it.so");
        let object = Object::open(path.to_str().expect("a plain path")).expect("it was just built");
        Loaded { object, folder }
    }

    /// Where its header and the object `it.so` are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether there is a function of this name.
    pub fn has(&self, name: &str) -> bool {
        !self.object.address(name).is_null()
    }

    /// The address of a function.
    pub fn find(&self, name: &str) -> *mut c_void {
        self.object.find(name)
    }
}

pub const NULL: *const u8 = std::ptr::null();

impl Noise {
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// A cipher folder as a shared object, and the expected results of its functions.
pub struct Subject {
    pub folder: String,
    pub cipher: Cipher,
    pub single: Written,
    pub loaded: Loaded,
}

impl Subject {
    pub fn new(folder: &str, compiler: &Path, targets: &[&'static Target]) -> Subject {
        Subject::with(folder, compiler, targets, &[])
    }

    /// One that is compiled with `flags`.
    pub fn with(
        folder: &str,
        compiler: &Path,
        targets: &[&'static Target],
        flags: &[&str],
    ) -> Subject {
        let cipher = usuba_ciphers::read(&root().join(folder)).expect("the folder is there");
        Subject::of(cipher, compiler, targets, flags)
    }

    /// One of a description, compiled with `flags`.
    pub fn of(
        cipher: Cipher,
        compiler: &Path,
        targets: &[&'static Target],
        flags: &[&str],
    ) -> Subject {
        let folder = usuba_ciphers::folder_name(&cipher.folder).expect("a name");
        let request = Request { targets: targets.to_vec(), ..request("usuba_") };
        let single = usuba_library::single(&request, &cipher, None).expect("it compiles");
        // The subject of the test is our C, not its optimisation.
        let loaded = Loaded::by(compiler, &single, &[&["-O0"], flags].concat());
        Subject { folder, cipher, single, loaded }
    }

    pub fn common(&self, name: &str) -> String {
        format!("usuba_{}_{name}", self.folder)
    }

    /// The backends that this processor has.
    pub fn backends(&self) -> Vec<String> {
        let address = self.loaded.find(&self.common("backends"));
        // SAFETY: the header declares it so, and it answers static strings.
        let text = |index| unsafe {
            let function: unsafe extern "C" fn(usize) -> *const c_char =
                std::mem::transmute(address);
            let name = function(index);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        (0..).map_while(text).collect()
    }

    pub fn force(&self, name: &str) -> c_int {
        let name = CString::new(name).expect("no zero in it");
        call!(self.loaded, &self.common("force_backend"), name.as_ptr())
    }

    pub fn reference(&self, function: &str, key: &[u8], blocks: &[u8], size: usize) -> Vec<u8> {
        blocks.chunks(size).flat_map(|block| model(&self.folder, function, key, block)).collect()
    }

    /// A context; room for any of them.
    pub fn key(&self, primitive: &Description, bytes: &[u8]) -> Vec<u64> {
        let mut context = vec![0; 8192];
        let init = format!("usuba_{}_init", primitive.name);
        assert_eq!(call!(self.loaded, &init, context.as_mut_ptr(), bytes.as_ptr(), bytes.len()), 0);
        context
    }
}

/// Blocks of the messages: more than a batch of any kernel, and an odd number.
pub const BLOCKS: usize = 1100;

/// Lengths that are tried in a message of `most` bytes.
pub fn lengths(noise: &mut Noise, most: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, most];
    lengths.extend((0..6).map(|_| noise.below(most)));
    lengths.extend((0..6).map(|_| noise.below(200)));
    lengths
}

/// Calls a function with its input at an odd address, in place or apart, and checks the output and
/// the bytes around it.
pub fn apply(
    input: &[u8],
    output: &[u8],
    same: bool,
    offset: usize,
    function: impl Fn(*const u8, *mut u8) -> c_int,
) {
    let mut to = vec![0xa5; output.len() + 128];
    let mut from = vec![0; offset];
    from.extend(input);
    if same {
        to[offset..offset + input.len()].copy_from_slice(input);
    }
    let target = to[offset..].as_mut_ptr();
    let source = if same { target.cast_const() } else { from[offset..].as_ptr() };
    assert_eq!(function(source, target), 0);
    assert!(
        to[offset..offset + output.len()] == *output,
        "{} bytes, in place: {same}",
        input.len()
    );
    let (before, behind) = (&to[..offset], &to[offset + output.len()..]);
    assert!(before.iter().chain(behind).all(|&byte| byte == 0xa5), "it wrote around its output");
}
