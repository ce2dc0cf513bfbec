//! The crates of the RustCrypto project. Block ciphers run in the CTR mode of its crate `ctr`,
//! which passes batches of the size that a cipher takes at once.

use std::marker::PhantomData;

use ascon_aead::AsconAead128;
use ascon_aead::aead::{AeadInOut, Nonce};
use cipher::InOutBuf;
use cipher::{
    Block, BlockCipherEncrypt, InnerIvInit, KeyInit, KeyIvInit, StreamCipher,
    StreamCipherCoreWrapper,
};
use cmac::Mac;
use ctr::flavors::{Ctr64BE, Ctr128BE};
use skein::digest::consts::{U32, U64, U128};
use skein::digest::{Digest, ExtendableOutput, Update, XofReader};

use usuba_peers::turns::version;

use crate::adapter::{Peer, State};

const NAME: &str = "RustCrypto";

/// A stream cipher, which takes key and nonce together.
struct Stream<C> {
    key: Vec<u8>,
    cipher: PhantomData<C>,
}

impl<C: KeyIvInit + StreamCipher> State for Stream<C> {
    fn run(&mut self, start: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let mut cipher = C::new_from_slices(&self.key, start).map_err(|error| error.to_string())?;
        cipher.try_apply_keystream_b2b(input, output).map_err(|error| error.to_string())
    }
}

/// The permutation on each state in turn, in the byte order of NIST SP 800-232.
struct Ascon;

impl State for Ascon {
    fn run(&mut self, _: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        for (from, to) in input.chunks_exact(40).zip(output.chunks_exact_mut(40)) {
            let mut state = ascon::State::default();
            for (word, bytes) in state.iter_mut().zip(from.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
            ascon::permute12(&mut state);
            for (word, bytes) in state.iter().zip(to.chunks_exact_mut(8)) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        Ok(())
    }
}

/// Authenticated encryption of `count` messages in sequence; each text has 16 bytes less than its share,
/// and its tag fills them.
struct Seal<C> {
    cipher: C,
    count: usize,
}

impl<C: AeadInOut> State for Seal<C> {
    fn run(&mut self, start: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let nonce = Nonce::<C>::try_from(start).map_err(|_| "a nonce has another length")?;
        let share = input.len() / self.count;
        for (text, to) in input.chunks_exact(share).zip(output.chunks_exact_mut(share)) {
            let (to, end) = to.split_at_mut(share - 16);
            let both = InOutBuf::new(&text[..share - 16], to).map_err(|error| error.to_string())?;
            let sealed = self.cipher.encrypt_inout_detached(&nonce, b"", both);
            end.copy_from_slice(&sealed.map_err(|error| error.to_string())?);
        }
        Ok(())
    }
}

/// A hash function on `count` messages in sequence.
struct Hash<D> {
    count: usize,
    hash: PhantomData<D>,
}

impl<D: Digest> State for Hash<D> {
    fn run(&mut self, _: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let messages = input.chunks_exact(input.len() / self.count);
        for (message, to) in messages.zip(output.chunks_exact_mut(<D as Digest>::output_size())) {
            to.copy_from_slice(&D::digest(message));
        }
        Ok(())
    }
}

/// CMAC of `count` messages in sequence.
struct Tag {
    function: cmac::Cmac<aes::Aes128>,
    count: usize,
}

impl State for Tag {
    fn run(&mut self, _: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let messages = input.chunks_exact(input.len() / self.count);
        for (message, to) in messages.zip(output.chunks_exact_mut(16)) {
            Mac::update(&mut self.function, message);
            to.copy_from_slice(&self.function.finalize_reset().into_bytes());
        }
        Ok(())
    }
}

fn peer<S: State + 'static>(
    cipher: &str,
    name: &str,
    mode: &str,
    call: &str,
    init: impl Fn(&[u8]) -> Option<S> + 'static,
) -> Peer {
    Peer {
        library: NAME.to_string(),
        version: format!("{name} {}", version(name)),
        cipher: cipher.to_string(),
        mode: mode.to_string(),
        call: call.to_string(),
        init: Box::new(move |key| init(key).map(|state| Box::new(state) as Box<dyn State>)),
    }
}

/// A block cipher with a type of its own, because a generic type would need many bounds.
macro_rules! counter {
    ($cipher:literal, $name:literal, $call:literal, $type:ty, $flavor:ty) => {{
        struct Counter($type);
        impl State for Counter {
            fn run(&mut self, start: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
                let core = ctr::CtrCore::<&$type, $flavor>::inner_iv_slice_init(&self.0, start)
                    .map_err(|error| error.to_string())?;
                let mut stream = StreamCipherCoreWrapper::from_core(core);
                stream.try_apply_keystream_b2b(input, output).map_err(|error| error.to_string())
            }
        }
        peer($cipher, $name, "ctr", $call, |key| <$type>::new_from_slice(key).ok().map(Counter))
    }};
}

/// A block cipher without a mode, its tweak after the key.
macro_rules! blocks {
    ($cipher:literal, $name:literal, $call:literal, $type:ty) => {{
        struct Blocks($type);
        impl State for Blocks {
            fn run(&mut self, _: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
                let (input, _) = Block::<$type>::slice_as_chunks(input);
                let (output, _) = Block::<$type>::slice_as_chunks_mut(output);
                let same = self.0.encrypt_blocks_b2b(input, output);
                same.map_err(|error| error.to_string())
            }
        }
        peer($cipher, $name, "blocks", $call, |key| {
            let (key, tweak) = key.split_at(key.len() - 16);
            let cipher = <$type>::new_with_tweak(key.try_into().ok()?, tweak.try_into().ok()?);
            Some(Blocks(cipher))
        })
    }};
}

/// The crate `ascon-aead`, which does not belong to the RustCrypto project.
macro_rules! seal {
    ($cipher:literal, $count:literal) => {
        Peer {
            library: "ascon-aead".to_string(),
            ..peer($cipher, "ascon-aead", "seal", "AsconAead128", |key| {
                let cipher = AsconAead128::new_from_slice(key).ok()?;
                Some(Seal { cipher, count: $count })
            })
        }
    };
}

macro_rules! tag {
    ($cipher:literal, $count:literal) => {
        peer($cipher, "cmac", "mac", "Cmac<Aes128>", |key| {
            Some(Tag { function: cmac::Cmac::new_from_slice(key).ok()?, count: $count })
        })
    };
}

macro_rules! stream {
    ($cipher:literal, $name:literal, $call:literal, $type:ty) => {
        peer($cipher, $name, "ctr", $call, |key| {
            Some(Stream::<$type> { key: key.to_vec(), cipher: PhantomData })
        })
    };
}

/// An output of 32 bytes.
struct Xof<D>(PhantomData<D>);

impl<D: Default + Update + ExtendableOutput> State for Xof<D> {
    fn run(&mut self, _: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let mut function = D::default();
        function.update(input);
        function.finalize_xof().read(&mut output[..32]);
        Ok(())
    }
}

macro_rules! hash {
    ($cipher:literal, $name:literal, $call:literal, $type:ty, $count:literal) => {
        peer($cipher, $name, "hash", $call, |_| {
            Some(Hash::<$type> { count: $count, hash: PhantomData })
        })
    };
}

/// All of them.
pub fn peers() -> Vec<Peer> {
    vec![
        stream!("chacha20", "chacha20", "chacha20::ChaCha20", chacha20::ChaCha20),
        stream!("salsa20", "salsa20", "salsa20::Salsa20", salsa20::Salsa20),
        counter!("serpent128", "serpent", "Ctr128BE<Serpent>", serpent::Serpent, Ctr128BE),
        counter!(
            "camellia128",
            "camellia",
            "Ctr128BE<Camellia128>",
            camellia::Camellia128,
            Ctr128BE
        ),
        counter!(
            "camellia256",
            "camellia",
            "Ctr128BE<Camellia256>",
            camellia::Camellia256,
            Ctr128BE
        ),
        counter!("sm4", "sm4", "Ctr128BE<Sm4>", sm4::Sm4, Ctr128BE),
        counter!("aes128", "aes", "Ctr128BE<Aes128>", aes::Aes128, Ctr128BE),
        counter!("aes256", "aes", "Ctr128BE<Aes256>", aes::Aes256, Ctr128BE),
        counter!("des", "des", "Ctr64BE<Des>", des::Des, Ctr64BE),
        counter!("tdes", "des", "Ctr64BE<TdesEde3>", des::TdesEde3, Ctr64BE),
        blocks!("threefish256", "threefish", "Threefish256", threefish::Threefish256),
        blocks!("threefish512", "threefish", "Threefish512", threefish::Threefish512),
        blocks!("threefish1024", "threefish", "Threefish1024", threefish::Threefish1024),
        hash!("skein256", "skein", "Skein256<U32>", skein::Skein256<U32>, 1),
        hash!("skein512", "skein", "Skein512<U64>", skein::Skein512<U64>, 1),
        hash!("skein1024", "skein", "Skein1024<U128>", skein::Skein1024<U128>, 1),
        hash!("skein256_8", "skein", "Skein256<U32>", skein::Skein256<U32>, 8),
        hash!("skein512_8", "skein", "Skein512<U64>", skein::Skein512<U64>, 8),
        hash!("skein1024_8", "skein", "Skein1024<U128>", skein::Skein1024<U128>, 8),
        hash!("sha256", "sha2", "Sha256", sha2::Sha256, 1),
        hash!("sha3_256", "sha3", "Sha3_256", sha3::Sha3_256, 1),
        hash!("sha3_256_8", "sha3", "Sha3_256", sha3::Sha3_256, 8),
        peer("shake128", "shake", "hash", "Shake128", |_| {
            Some(Xof::<shake::Shake128>(PhantomData))
        }),
        peer("kt128", "k12", "hash", "Kt128", |_| Some(Xof::<k12::Kt128>(PhantomData))),
        hash!("ascon_hash256", "ascon-hash256", "AsconHash256", ascon_hash256::AsconHash256, 1),
        hash!("ascon_hash256_8", "ascon-hash256", "AsconHash256", ascon_hash256::AsconHash256, 8),
        peer("aes128_gcm", "aes-gcm", "seal", "Aes128Gcm", |key| {
            Some(Seal { cipher: aes_gcm::Aes128Gcm::new_from_slice(key).ok()?, count: 1 })
        }),
        peer("aes128_gcm_siv", "aes-gcm-siv", "seal", "Aes128GcmSiv", |key| {
            Some(Seal { cipher: aes_gcm_siv::Aes128GcmSiv::new_from_slice(key).ok()?, count: 1 })
        }),
        peer("aes128_ocb", "ocb3", "seal", "Ocb3<Aes128>", |key| {
            type Ocb = ocb3::Ocb3<aes::Aes128, ocb3::consts::U12>;
            Some(Seal { cipher: Ocb::new_from_slice(key).ok()?, count: 1 })
        }),
        peer("aes128_ccm", "ccm", "seal", "Ccm<Aes128>", |key| {
            type Ccm = ccm::Ccm<aes::Aes128, ccm::consts::U16, ccm::consts::U12>;
            Some(Seal { cipher: Ccm::new_from_slice(key).ok()?, count: 1 })
        }),
        tag!("aes128_cmac", 1),
        tag!("aes128_cmac_8", 8),
        seal!("ascon_aead128", 1),
        seal!("ascon_aead128_8", 8),
        peer("ascon_p12", "ascon", "blocks", "ascon::permute12", |_| Some(Ascon)),
    ]
}
