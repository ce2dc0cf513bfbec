//! Compiles the C of the families that are asked for. No flags choose instruction sets: the
//! sources do that themselves, and the program asks the processor when it runs.

use std::env;

/// What all families need.
const COMMON: &[&str] = &[@COMMON_SOURCES@];

/// The feature of a family as Cargo spells it for build scripts, and its sources.
const FAMILIES: &[(&str, &[&str])] = &[
@FAMILIES@];

fn main() {
    println!("cargo::rerun-if-changed=c");
    let mut build = cc::Build::new();
    build.include("c/include").define("USUBA_STATIC", None).std("c99").warnings(false);
    build.flag_if_supported("-fvisibility=hidden");
    build.files(COMMON.iter().map(|name| format!("c/src/{name}")));
    for (feature, sources) in FAMILIES {
        if env::var_os(format!("CARGO_FEATURE_{feature}")).is_some() {
            build.files(sources.iter().map(|name| format!("c/src/{name}")));
        }
    }
    build.compile("@PACKAGE@");
}
