//! Families of processors, as data: hosts that run their code, and toolchains for all others.
//!
//! ```text
//! sse, avx2, avx512    hosts x86_64;    no cross toolchain
//! neon                 hosts aarch64;   aarch64-linux-gnu-gcc, qemu-aarch64
//! ```
//!
//! Nothing in this crate runs a compiler. The crate that does, `scripts/setup`, the libraries and
//! the documents read these tables, so that a new target names its processors in its own file.

/// Processors that share an instruction set, and how programs for them are built elsewhere.
#[derive(PartialEq, Eq, Debug)]
pub struct Processor {
    /// Its name in messages.
    pub name: &'static str,
    /// Hosts that run its code, as in `std::env::consts::ARCH`; empty if each host does.
    pub hosts: &'static [&'static str],
    /// The C macro that compilers for it define, or `internal.h` of a library; empty for none.
    pub guard: &'static str,
    /// Whether libraries contain its code unless the user names targets.
    pub library: bool,
    /// Whether a program can ask for the features in the flags by `__builtin_cpu_supports`.
    pub asks: bool,
    /// How other hosts build and run programs.
    pub cross: Option<&'static Cross>,
    /// The marks of its functions, where a host starts them.
    pub device: Option<&'static Device>,
}

/// A processor beside the host, whose functions lie in the same files as the functions of the host.
#[derive(PartialEq, Eq, Debug)]
pub struct Device {
    /// C above the first function, with the macros of rows and functions. It is guarded against
    /// being read twice.
    pub prelude: &'static str,
    /// The text before every function that is `static inline`, with a blank behind it.
    pub qualifier: &'static str,
    /// The same for functions that other files call.
    pub exported: &'static str,
    /// The function that selects four of the bytes of two words, by the digits of a number as `prmt`
    /// does.
    pub bytes: &'static str,
    /// The text before a loop that must become straight code: its registers have no index.
    pub copied: &'static str,
}

/// A compiler and an emulator for processors that are not the host's.
#[derive(PartialEq, Eq, Debug)]
pub struct Cross {
    pub compiler: Tool,
    /// Whether the compiler is clang, else gcc.
    pub clang: bool,
    /// Flags that select the environment.
    pub cflags: &'static [&'static str],
    pub emulator: Tool,
    /// Arguments of the emulator before the program.
    pub arguments: &'static [&'static str],
    pub system: System,
}

/// A program that is installed or not.
#[derive(PartialEq, Eq, Debug)]
pub struct Tool {
    /// Its description in messages.
    pub about: &'static str,
    /// The environment variable that names another one.
    pub variable: &'static str,
    /// Its names, the preferred one first.
    pub names: &'static [&'static str],
    /// Packages of Debian that contain it, separated by spaces; `a/b` is a choice.
    pub packages: &'static str,
}

/// The environment that programs run in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// A C library and an operating system.
    Hosted,
    /// 32-bit RISC-V Linux system calls and nothing else: no C library, no headers beyond the
    /// compiler's own.
    BareRiscv32,
}

/// Every processor: code in plain C.
pub static ANY_PROCESSOR: Processor = Processor {
    name: "any",
    hosts: &[],
    guard: "",
    library: true,
    asks: true,
    cross: None,
    device: None,
};

/// x86-64 of Intel and AMD.
pub static X86_64: Processor = Processor {
    name: "x86-64",
    hosts: &["x86_64"],
    guard: "USUBA_X86_64",
    library: true,
    asks: true,
    cross: None,
    device: None,
};

impl Processor {
    /// Whether a host, as in `std::env::consts::ARCH`, runs its code.
    pub fn runs_on(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.contains(&host)
    }
}
