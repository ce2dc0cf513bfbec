//! `usubac headers`: writes the headers for `--abi usubac`, which the executable contains.

use std::fs;
use std::path::Path;

use crate::output::{Place, plain, write_all};
use crate::{Failure, fault};

/// Name and text of each header.
const HEADERS: &[(&str, &str)] = &[
    ("STD.h", include_str!("../../../../include/usubac/STD.h")),
    ("SSE.h", include_str!("../../../../include/usubac/SSE.h")),
    ("AVX.h", include_str!("../../../../include/usubac/AVX.h")),
    ("AVX512.h", include_str!("../../../../include/usubac/AVX512.h")),
    ("Neon.h", include_str!("../../../../include/usubac/Neon.h")),
    ("usubac_simd.h", include_str!("../../../../include/usubac/usubac_simd.h")),
    ("usubac_transpose.h", include_str!("../../../../include/usubac/usubac_transpose.h")),
];

pub fn run(folder: &Path) -> Result<(), Failure> {
    fault::stage("writing the headers");
    fs::create_dir_all(folder).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder.display(), plain(&error)))
    })?;
    let place = |(name, text): &(&str, &str)| (Place::File(folder.join(name)), text.to_string());
    write_all(&HEADERS.iter().map(place).collect::<Vec<_>>())
}
