//! The command line of `usubac test`.

use clap::Args;

use super::common::{
    All, AllFunctions, Cflags, Compilers, Folder, Form, Functions, Jobs, Seed, SlicingFlags,
    Targets,
};

#[derive(Args, Clone, Debug)]
pub struct Test {
    /// Ciphers: built-in names, folders, or programs in folders
    ///
    /// [default: the working directory, if it is a cipher folder]
    #[arg(value_name = "SUBJECT", conflicts_with = "all")]
    pub subjects: Vec<String>,
    #[command(flatten)]
    pub all: All,
    #[command(flatten)]
    pub all_functions: AllFunctions,
    #[command(flatten)]
    pub functions: Functions,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub seed: Seed,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub slicing: SlicingFlags,
    #[command(flatten)]
    pub compilers: Compilers,
    #[command(flatten)]
    pub cflags: Cflags,
    #[command(flatten)]
    pub jobs: Jobs,
    #[command(flatten)]
    pub form: Form,
}
