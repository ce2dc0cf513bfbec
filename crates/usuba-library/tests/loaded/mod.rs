//! C that is compiled into a shared object and loaded into the test.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use usuba_run::objects;

use usuba_library::File;

/// The flags with which our C compiles.
pub const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Where the cipher folders are.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers")
}

pub fn write(folder: &Path, files: &[File]) {
    for file in files {
        let path = folder.join(&file.path);
        std::fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
        std::fs::write(path, &file.text).expect("the folder can be written");
    }
}

/// Runs a command in `folder`; its output counts as the reason of a failure.
pub fn run(folder: &Path, command: &mut Command) -> String {
    let output = objects::Cache::user().run(command.current_dir(folder));
    let output = output.expect("the program is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}\n{errors}");
    text
}

/// Flags under which a program stops at the first read or write outside of an object, and at the
/// first undefined operation.
pub const SANITIZED: [&str; 3] =
    ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Whether a compiler has the libraries of [`SANITIZED`], which are packages of their own for some.
pub fn sanitizes(compiler: &Path) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("main.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("the folder can be written");
    let mut compile = Command::new(compiler);
    let output =
        compile.args(SANITIZED).arg("-o").arg(folder.path().join("main")).arg(source).output();
    let links = output.is_ok_and(|output| output.status.success());
    if !links {
        println!("skipped: {} has no sanitizers", compiler.display());
    }
    links
}

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A shared object, loaded for as long as the process lives.
pub struct Object {
    handle: *mut c_void,
}

// SAFETY: a handle is a number, and any thread may look up addresses with it.
unsafe impl Send for Object {}
// SAFETY: the same.
unsafe impl Sync for Object {}

impl Object {
    /// The object of a path, or of a name that the system knows; `None` if there is none.
    pub fn open(name: &str) -> Option<Object> {
        let name = CString::new(name).expect("no zero in it");
        // SAFETY: only libraries are opened, whose code at loading time is trusted.
        let handle = unsafe { dlopen(name.as_ptr(), 2) };
        (!handle.is_null()).then_some(Object { handle })
    }

    /// The address of a function; null if there is none.
    pub fn address(&self, name: &str) -> *mut c_void {
        let text = CString::new(name).expect("no zero in it");
        // SAFETY: the handle comes from dlopen.
        unsafe { dlsym(self.handle, text.as_ptr()) }
    }

    /// The address of a function that is there.
    pub fn find(&self, name: &str) -> *mut c_void {
        let address = self.address(name);
        assert!(!address.is_null(), "there is no {name}");
        address
    }
}

/// Calls a C function that answers a status. Pointers, lengths and positions are all passed as 64
/// bits, as the calling conventions of 64-bit machines do.
macro_rules! call {
    ($loaded:expr, $name:expr $(, $argument:expr)*) => {{
        let address = $loaded.find($name);
        // SAFETY: the header declares as many arguments of these kinds, and answers a status.
        unsafe {
            let function: unsafe extern "C" fn($($crate::loaded::call!(@type $argument)),*)
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
}
