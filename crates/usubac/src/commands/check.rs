//! `usubac check`: checks every rule of the language, and with a slicing its rules too.

use super::{front, slice};
use crate::Failure;
use crate::args::Check;
use crate::report::Reporter;

pub fn run(args: &Check, reporter: Reporter) -> Result<(), Failure> {
    let input = front::read(&args.file, &args.language, reporter)?;
    // Without a slicing the program may be a library that is polymorphic in its word sizes.
    if args.language.slicing()?.is_some() || args.language.word.is_some() {
        let target = usuba::isa::find("gp64").expect("the plain target exists");
        slice::check(&input, &args.language, target, reporter)?;
    }
    Ok(())
}
