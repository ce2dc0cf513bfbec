//! From Rust: encrypts a message in pieces, as it would come from a file.
//!
//! ```sh
//! usubac dist --kind rust -o usuba-ciphers chacha20
//! cargo new example && cd example
//! cargo add --path ../usuba-ciphers
//! cp rust.rs src/main.rs && cargo run
//! ```

use usuba_ciphers::chacha20::ChaCha20;
use usuba_ciphers::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

fn main() {
    let mut message = *b"Whoever has the same key and nonce reads this again.\0";
    let mut stream =
        ChaCha20::new(b"a key nobody else knows, really\0".into(), b"never twice\0".into());
    // The stream keeps its position.
    for piece in message.chunks_mut(10) {
        stream.apply_keystream(piece);
    }
    for byte in &message[..16] {
        print!("{byte:02x}");
    }
    println!(" by {}", usuba_ciphers::backend());
    stream.seek(0_u32);
    stream.apply_keystream(&mut message);
    println!("{}", String::from_utf8_lossy(&message[..message.len() - 1]));
}
