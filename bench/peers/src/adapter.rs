//! Libraries behind one interface: libraries in C and C++ as shared objects with the functions of
//! `adapters/peer.h`, libraries in Rust directly.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library as Object;

/// A cipher with a key, ready for messages.
pub trait State {
    /// One message from `start` on.
    ///
    /// # Errors
    /// The library refuses.
    fn run(&mut self, start: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String>;
}

/// Sets a key up; none if the library does not have the cipher here.
pub type Init = Box<dyn Fn(&[u8]) -> Option<Box<dyn State>>>;

/// One cipher of one library.
pub struct Peer {
    pub library: String,
    pub version: String,
    /// Of the table of ciphers.
    pub cipher: String,
    /// `ctr`, `blocks`, `hash`, `mac` or `seal`.
    pub mode: String,
    /// The name of the called function.
    pub call: String,
    pub init: Init,
}

/// As in `adapters/peer.h`.
#[repr(C)]
struct Entry {
    cipher: *const c_char,
    mode: *const c_char,
    call: *const c_char,
    number: c_int,
    init: unsafe extern "C" fn(c_int, *const u8) -> *mut c_void,
    run: unsafe extern "C" fn(*mut c_void, *const u8, *const u8, *mut u8, usize) -> c_int,
    drop: unsafe extern "C" fn(*mut c_void),
}

struct Foreign {
    entry: &'static Entry,
    state: *mut c_void,
}

impl State for Foreign {
    fn run(&mut self, start: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        assert_eq!(input.len(), output.len(), "a message keeps its length");
        // SAFETY: the state is the adapter's own, and all bytes are there.
        let status = unsafe {
            let (from, to) = (input.as_ptr(), output.as_mut_ptr());
            (self.entry.run)(self.state, start.as_ptr(), from, to, input.len())
        };
        if status == 0 { Ok(()) } else { Err(format!("it answers {status}")) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the state is not used after this.
        unsafe { (self.entry.drop)(self.state) }
    }
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: adapters pass literals and the version strings of libraries.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The ciphers of the adapter at `path`, for the library `library`. `width` is the instruction set
/// that our own library is forced to use; other libraries detect the processor.
///
/// # Errors
/// It cannot be loaded, or does not have the instruction set.
pub fn load(path: &Path, library: &str, width: &str) -> Result<Vec<Peer>, String> {
    let say = |error: libloading::Error| format!("{library}: {error}");
    // SAFETY: adapters and libraries only detect the processor when they are loaded. The object
    // stays, because peers are used until the program ends.
    let object: &'static Object = Box::leak(Box::new(unsafe { Object::new(path) }.map_err(say)?));
    // SAFETY: these are the types of `adapters/peer.h`.
    unsafe {
        if let Ok(choose) =
            object.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"peer_width")
        {
            let name = CString::new(width).map_err(|error| error.to_string())?;
            if choose(name.as_ptr()) != 0 {
                return Err(format!("{library}: this processor does not have {width}"));
            }
        }
        let version: libloading::Symbol<unsafe extern "C" fn() -> *const c_char> =
            object.get(b"peer_version").map_err(say)?;
        let list: libloading::Symbol<unsafe extern "C" fn(usize) -> *const Entry> =
            object.get(b"peer_list").map_err(say)?;
        let version = version();
        if version.is_null() {
            return Err(format!("{library}: it does not start"));
        }
        let entries = (0..).map_while(|index| list(index).as_ref());
        Ok(entries
            .map(|entry: &'static Entry| Peer {
                library: library.to_string(),
                version: text(version),
                cipher: text(entry.cipher),
                mode: text(entry.mode),
                call: text(entry.call),
                init: Box::new(move |key| {
                    let state = (entry.init)(entry.number, key.as_ptr());
                    let state = (!state.is_null()).then_some(Foreign { entry, state });
                    state.map(|state| Box::new(state) as Box<dyn State>)
                }),
            })
            .collect())
    }
}
