//! The option that says where ciphers are.

use std::path::PathBuf;

use clap::Args;
use usuba_ciphers::Library;

#[derive(Args, Clone, Debug)]
pub struct Ciphers {
    /// Look for cipher folders in this folder first; the ciphers of usubac are built in
    #[arg(long = "ciphers", alias = "folder", value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

impl Ciphers {
    pub fn library(&self) -> Library {
        Library { folder: self.folder.clone() }
    }
}
