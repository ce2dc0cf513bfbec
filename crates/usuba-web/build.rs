//! The stack of the WebAssembly module: nested syntax needs more than the default of 1 MB.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-cdylib-link-arg=-zstack-size=16777216");
    }
}
