//! Programs for the tests of this crate.

use std::path::Path;

use usuba::circuit::Profile;
use usuba::diag::Sources;
use usuba::ir::{Program, Slicing};
use usuba::syntax::splice::NoIncludes;
use usuba::{Slice, front, to_usuba0};
use usuba_gen::level::is_whole;

/// How many random programs of a shape a test takes: `quick`, or twenty times as many in the whole
/// run.
pub fn random_programs(quick: u64) -> u64 {
    if is_whole() { 20 * quick } else { quick }
}

/// The programs of `tests/passes`, each with the name of its pass; bitsliced if its flags say so,
/// else vertical if it can be.
pub fn pass_programs() -> Vec<(String, Program)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/passes");
    let mut paths = Vec::new();
    for folder in std::fs::read_dir(root).expect("the tests of passes") {
        let folder = folder.expect("a folder").path();
        let files = std::fs::read_dir(folder).expect("a folder of tests");
        paths.extend(files.map(|file| file.expect("a test").path()));
    }
    paths.sort();
    let programs = paths.iter().flat_map(|path| {
        let folder = path.parent()?.file_name()?.to_str()?.to_string();
        let text = std::fs::read_to_string(path).expect("the test can be read");
        let bits = text.lines().any(|line| line.starts_with("# flags:") && line.contains("-B"));
        let mut slicings = [Slicing::V, Slicing::B];
        slicings.rotate_left(bits as usize);
        let mut sources = Sources::default();
        let root = sources.add("test.ua", text);
        let checked = front(&mut sources, root, &mut NoIncludes, None, Default::default()).ok()?;
        let program = slicings.into_iter().find_map(|slicing| {
            let slice = Slice {
                slicing,
                word: Some(16),
                profile: Profile::Basic,
                vectors: true,
                instructions: None,
            };
            to_usuba0(&checked.program, slice, &|_, _, _| None).ok()
        });
        Some((folder, program?))
    });
    programs.collect()
}
