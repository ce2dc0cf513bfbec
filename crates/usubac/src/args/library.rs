//! The option that says where ciphers are.

use std::path::PathBuf;

use clap::Args;
use usuba_ciphers::Library;

#[derive(Args, Clone, Debug)]
pub struct Folder {
    /// Look for cipher folders in this folder first; the ciphers of usubac are built in
    #[arg(id = "folder", long = "ciphers", alias = "folder", value_name = "DIR")]
    pub ciphers: Option<PathBuf>,
}

impl Folder {
    pub fn library(&self) -> Library {
        Library { folder: self.ciphers.clone() }
    }
}
