//! `usubac check`: every rule of the language, and with a slicing those of the slicing.

use super::{front, slice};
use crate::Failure;
use crate::args::Check;
use crate::report::Reporter;

pub fn run(args: &Check, reporter: Reporter) -> Result<(), Failure> {
    let input = front::read(&args.file, &args.language, reporter)?;
    // Without a slicing the program may be a library whose word sizes are still open.
    if args.language.slicing().is_some() || args.language.word.is_some() {
        let target = usuba::isa::find("gp64").expect("the plain target exists");
        slice::check(&input, &args.language, target, reporter)?;
    }
    Ok(())
}
