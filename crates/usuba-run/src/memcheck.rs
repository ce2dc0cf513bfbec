//! Dynamic constant-time checks: programs under valgrind, with secrets marked as undefined memory.
//!
//! ```text
//! usuba_undefined(key, 32);        a branch or an address that depends on a bit of it is reported
//! usuba_defined(out, 64);          these are no secrets any more
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for lines in reports. Valgrind before version 3.20 does not read DWARF 5 of clang.
pub const LINES: [&str; 2] = ["-gdwarf-4", "-g1"];

/// The client request of valgrind, a no-op outside of it. The four rotations are by 128 bits in
/// total, and the next instruction exchanges a register with itself. Valgrind recognizes this
/// sequence as a request with its arguments at rax (`valgrind.h`, amd64-linux). The requests of
/// memcheck count from "MC" (`memcheck.h`): 1 makes memory undefined, 2 defined.
pub const REQUESTS: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static void usuba_request(uint64_t number, const void *memory, size_t bytes) {
    volatile uint64_t request[6] = {number, (uint64_t)(uintptr_t)memory, bytes, 0, 0, 0};
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "=d"(result) : "a"(&request[0]), "0"(result) : "cc", "memory");
}
static void usuba_undefined(const void *memory, size_t bytes) {
    usuba_request(0x4d430001, memory, bytes);
}
static void usuba_defined(const void *memory, size_t bytes) {
    usuba_request(0x4d430002, memory, bytes);
}
"#;

/// The path of valgrind, or the reason why there is none.
pub fn valgrind() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("valgrind"));
    found.find(|file| file.is_file()).ok_or_else(|| "there is no valgrind".to_string())
}

/// The exit status of a program with memcheck errors.
const REPORTED: i32 = 99;

/// Runs a program under valgrind and returns its reports, empty if there are none.
///
/// # Errors
/// The program dies.
pub fn examined(program: &Path) -> Result<String, String> {
    let mut command = Command::new(valgrind()?);
    command.args(["--tool=memcheck", "--quiet", "--leak-check=no", "--error-limit=no"]);
    // Memcheck then tracks additions bit by bit.
    command.args(["--expensive-definedness-checks=yes", &format!("--error-exitcode={REPORTED}")]);
    let output = command.arg(program).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) if said.is_empty() => Ok(String::new()),
        Some(REPORTED) => Ok(said),
        _ => Err(format!("it ended with {}: {said}", output.status)),
    }
}
