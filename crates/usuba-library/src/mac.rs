//! Generation of message authentication codes: `[[mac]]` in `cipher.toml`.
//!
//! ```text
//! aes128_cmac          CBC-MAC of aes128, and a mask for the last block: NIST SP 800-38B
//! ```

use super::Folder;
use super::interface::{Description, Kind};
use super::template::{self as t, context};

impl Folder<'_> {
    /// The header's view of message authentication codes.
    pub fn mac_descriptions(&self) -> Vec<Description> {
        let describe = |mac: &usuba_ciphers::Mac| Description {
            name: mac.name.clone(),
            kind: Kind::Mac,
            key: mac.key,
            nonce: 0,
            operations: Vec::new(),
        };
        self.cipher.macs.iter().map(describe).collect()
    }

    /// Declarations or definitions of all message authentication codes.
    pub fn macs(&self, common: &str, header: bool) -> String {
        let mut text = String::new();
        if !header && !self.cipher.macs.is_empty() {
            text += t::TIMES_X;
            text += t::CMAC;
        }
        for mac in &self.cipher.macs {
            let templates: &[t::Template] =
                if header { &[t::CMAC_H] } else { &[t::CBC_MAC_C, t::CMAC_C] };
            let comment = |text: &str| text.replace("*/", "* /");
            let name = &mac.name;
            let values = context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec), name,
                upper => name.to_uppercase(), cipher => &mac.cipher, key_bytes => mac.key, common,
            };
            text += &t::render(templates, &values);
        }
        text
    }
}
