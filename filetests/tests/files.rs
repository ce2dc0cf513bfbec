//! `cargo test -p filetests`: every file of `tests/`.

fn main() {
    let args = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&args, filetests::suite::trials()).exit();
}
