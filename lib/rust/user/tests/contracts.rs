//! Guarantees of the crate besides results: errors, ends of keystreams, secrets.

use std::mem::MaybeUninit;

use usuba_ciphers::Error;
use usuba_ciphers::aead::AeadInOut;
use usuba_ciphers::chacha20::{ChaCha20, HChaCha20};
use usuba_ciphers::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use usuba_ciphers::cipher::array::Array;
use usuba_ciphers::cipher::zeroize::ZeroizeOnDrop;
use usuba_ciphers::cipher::{
    AlgorithmName, BlockCipherEncrypt, InOutBuf, KeyInit, KeyIvInit, StreamCipher,
    StreamCipherSeek, TweakBlockCipherDecrypt, TweakBlockCipherEncrypt,
};
use usuba_ciphers::clyde::Clyde128;
use usuba_ciphers::curve25519::{PublicKey, SharedSecret, Signature, SigningKey, StaticSecret};
use usuba_ciphers::digest::consts::{U4, U20, U32, U48};
use usuba_ciphers::digest::{
    CustomizedInit, Digest, ExtendableOutput, ExtendableOutputReset, FixedOutput, FixedOutputReset,
    Mac, Reset, Update, XofFixedWrapper, XofReader,
};
use usuba_ciphers::keccak::{
    Cshake128, HmacSha3_256, Kmac128, Kmac256Xof, Kt128, Sha3_256, Shake128, Shake128Lanes,
    Shake256, TurboShake128,
};
use usuba_ciphers::poly1305::Poly1305;
use usuba_ciphers::rectangle::{Rectangle80, Rectangle80Ctr};
use usuba_ciphers::signature::{Keypair, SignatureEncoding, Signer, Verifier};
use usuba_ciphers::sha2::{HkdfSha256, HkdfSha512, HmacSha256, HmacSha512, Sha256, Sha512};
use usuba_ciphers::skein::{
    Skein256Mac, Skein256Xof, Skein512, Skein512Mac, Skein512Tree, Skein1024, skein256_bits,
    skein512_bits, skein512_many,
};
use usuba_ciphers::{Parameters, Tree};

fn stream() -> ChaCha20 {
    ChaCha20::new(&[7; 32].into(), &[9; 12].into())
}

#[test]
fn lengths_that_do_not_fit_are_errors() {
    assert!(Rectangle80::new_from_slice(&[0; 9]).is_err());
    assert!(ChaCha20::new_from_slices(&[0; 32], &[0; 13]).is_err());
    assert!(stream().try_apply_keystream_b2b(&[0; 3], &mut [0; 4]).is_err());
    let cipher = Clyde128::new(&[1; 16].into());
    let mut blocks = [Array::from([5; 16]); 3];
    assert_eq!(cipher.encrypt_each(&[Array::default(); 2], &mut blocks[..]), Err(Error::Length));
    assert_eq!(blocks, [Array::from([5; 16]); 3]);
    let function = HChaCha20::new(&[1; 32].into());
    assert_eq!(function.blocks(&[Array::default()], &mut []), Err(Error::Length));
}

#[test]
fn key_streams_end() {
    // Block numbers have 32 bits.
    let end = 64_u64 << 32;
    let mut stream = stream();
    let mut first = [0; 80];
    stream.write_keystream(&mut first);
    assert!(stream.try_seek(end + 1).is_err());
    assert!(stream.try_seek(-1).is_err());
    stream.seek(end - 100);
    assert!(stream.try_current_pos::<u32>().is_err());
    assert!(stream.check_remaining(100).is_ok());
    let mut data = [1; 101];
    assert!(stream.try_apply_keystream(&mut data).is_err());
    assert_eq!(data, [1; 101]);
    stream.write_keystream(&mut data[..100]);
    assert_eq!(stream.current_pos::<u64>(), end);
    assert!(stream.try_write_keystream(&mut data[..1]).is_err());
    // Unchecked: from the beginning again, in long pieces and in short ones.
    for piece in [180, 7] {
        stream.seek(end - 100);
        let mut over = [0; 180];
        over.chunks_mut(piece).for_each(|piece| stream.unchecked_write_keystream(piece));
        assert_eq!((&over[..100], &over[100..]), (&data[..100], &first[..]));
        assert_eq!(stream.current_pos::<i32>(), 80);
    }
}

#[test]
fn counters_end() {
    let counter = Array::from([0xff; 8]);
    let cipher = Rectangle80::new(&[3; 10].into());
    let mut block = counter;
    cipher.encrypt_block(&mut block);
    let mut data = [0; 9];
    assert_eq!(cipher.ctr(&counter, 0, &mut data[..]), Err(Error::Counter));
    assert_eq!(cipher.ctr_keystream(&counter, 8, &mut data[..1]), Err(Error::Counter));
    assert_eq!(data, [0; 9]);
    cipher.ctr(&counter, 0, &mut data[..8]).expect("one block");
    assert_eq!(block[..], data[..8]);
    let mut stream = Rectangle80Ctr::new(&[3; 10].into(), &counter);
    assert!(stream.check_remaining(9).is_err());
    assert!(stream.try_apply_keystream(&mut data[..8]).is_ok());
    assert_eq!(data, [0; 9]);
    // The stream and the function agree in the middle of a message.
    let counter = Array::from([0x55; 8]);
    let (mut one, mut other) = (vec![3; 5000], vec![4; 5000]);
    let mut stream = cipher.clone().into_ctr(&counter);
    stream.seek(13_usize);
    stream.apply_keystream(&mut one);
    let from = vec![3; 5000];
    let pair = InOutBuf::new(&from, &mut other).expect("as long");
    cipher.ctr(&counter, 13, pair).expect("far from the end");
    assert_eq!(one, other);
}

#[test]
fn tweaks_belong_to_their_blocks() {
    let cipher = Clyde128::new(&[1; 16].into());
    let tweaks: Vec<_> = (0..1000).map(|i: u32| Array::from([(i * 7) as u8; 16])).collect();
    let plain: Vec<_> = (0..1000).map(|i: u32| Array::from([(i * 11) as u8; 16])).collect();
    let mut text = vec![Array::default(); 1000];
    let pair = InOutBuf::new(&plain, &mut text).expect("as many");
    cipher.encrypt_each(&tweaks, pair).expect("as many");
    for ((tweak, plain), text) in tweaks.iter().zip(&plain).zip(&text) {
        let mut block = *plain;
        cipher.encrypt_block(tweak, &mut block);
        assert_eq!(block, *text);
        cipher.decrypt_block(tweak, &mut block);
        assert_eq!(block, *plain);
    }
    cipher.decrypt_each(&tweaks, &mut text[..]).expect("as many");
    assert_eq!(text, plain);
}

#[test]
fn tweaks_count() {
    let cipher = Clyde128::new(&[1; 16].into());
    let (nonce, mut tweak) = (Array::from([2; 16]), Array::from([0xff; 16]));
    assert_eq!(cipher.ctrt(&nonce, &tweak, 1, &mut [0; 16][..]), Err(Error::Counter));
    tweak[15] = 0;
    let mut stream = [0; 40];
    cipher.ctrt_keystream(&nonce, &tweak, 0, &mut stream).expect("far from the end");
    let mut data = [0x77; 30];
    cipher.ctrt(&nonce, &tweak, 10, &mut data[..]).expect("as above");
    assert!(data.iter().zip(&stream[10..]).all(|(byte, key)| byte ^ 0x77 == *key));
    let mut block = nonce;
    cipher.encrypt_block(&tweak, &mut block);
    assert_eq!(block[..], stream[..16]);
    // The next tweak, little-endian.
    tweak[..15].fill(0);
    tweak[15] = 1;
    let mut block = nonce;
    cipher.encrypt_block(&tweak, &mut block);
    assert_eq!(block[..], stream[16..32]);
}

/// The hash of bytes, by the function that takes everything at once.
fn whole(parameters: &Parameters, message: &[u8], length: usize) -> Vec<u8> {
    let mut output = vec![0; length];
    skein512_bits(parameters, message, 8 * message.len() as u64, &mut output).expect("it fits");
    output
}

#[test]
fn hashes_by_traits_are_those_by_functions() {
    let message: Vec<u8> = (0..1000).map(|i: u32| (i * 7) as u8).collect();
    let parameters = Parameters { nonce: Some(b"nonce"), ..Parameters::default() };
    let key = [3; 77];
    let keyed = Parameters { key: &key, ..Parameters::default() };
    for cut in [0, 1, 64, 65, 640, 1000] {
        let mut hash: Skein512<U48> = Skein512::new();
        Digest::update(&mut hash, &message[..cut]);
        let other = hash.clone();
        Digest::update(&mut hash, &message[cut..]);
        assert_eq!(hash.finalize_reset()[..], whole(&Parameters::default(), &message, 48));
        assert_eq!(hash.finalize()[..], whole(&Parameters::default(), &[], 48));
        assert_eq!(other.finalize()[..], whole(&Parameters::default(), &message[..cut], 48));
        let hash = Skein512::<U20>::with(&parameters).expect("there is no tree");
        let hash = Digest::chain_update(hash, &message[..cut]);
        let bits = 8 * (1000 - cut) as u64;
        let output = hash.finalize_bits(&message[cut..], bits).expect("as many");
        assert_eq!(output[..], whole(&parameters, &message, 20));
        let mut mac: Skein512Mac = Mac::chain_update(
            <Skein512Mac as KeyInit>::new_from_slice(&key).expect("any length"),
            &message[..cut],
        );
        assert_eq!(mac.finalize_fixed_reset()[..], whole(&keyed, &message[..cut], 64));
        Mac::update(&mut mac, &message);
        assert!(mac.clone().verify_slice(&whole(&keyed, &message, 64)).is_ok());
        assert!(mac.verify_slice(&whole(&keyed, &message[1..], 64)).is_err());
    }
}

#[test]
fn endless_outputs_go_on() {
    let mut hash = Skein256Xof::default();
    hash.update(b"message");
    let mut reader = hash.finalize_xof_reset();
    let (mut first, mut second) = ([0; 700], [0; 700]);
    for piece in first.chunks_mut(13) {
        reader.read(piece);
    }
    hash.update(b"mess");
    hash.update(b"age");
    hash.finalize_xof().read(&mut second);
    assert_eq!(first, second);
}

#[test]
fn trees_grow_from_pieces() {
    let message = vec![5; 20_000];
    let tree = Tree { leaf: 2, fan_out: 1, height: 4 };
    let parameters = Parameters { tree: Some(tree), ..Parameters::default() };
    let mut hash: Skein512Tree = Skein512Tree::with(&parameters).expect("there is a tree");
    hash.update(&message[..777]);
    hash.update(&message[777..]);
    assert_eq!(hash.finalize_fixed()[..], whole(&parameters, &message, 64));
    assert_eq!(Skein512::<U20>::with(&parameters).err(), Some(Error::Parameter));
    let small = Parameters { tree: Some(Tree { height: 1, ..tree }), ..parameters };
    assert_eq!(Skein512Tree::<U20>::with(&small).err(), Some(Error::Parameter));
    assert_eq!(Skein512Tree::<U20>::with(&Parameters::default()).err(), Some(Error::Parameter));
    assert_eq!(whole(&parameters, &message, 20).len(), 20);
}

#[test]
fn hashes_refuse_what_does_not_fit() {
    let none = Parameters::default();
    let mut output = [0xa5; 64];
    assert_eq!(skein256_bits(&none, &[1, 2], 17, &mut output), Err(Error::Length));
    assert_eq!(skein512_many(&none, &[b"one", b"two"], 31, &mut output), Err(Error::Length));
    assert_eq!(output, [0xa5; 64]);
    assert!(Skein1024::<U20>::default().finalize_bits(&[1], 9).is_err());
    assert!(<Skein256Mac as KeyInit>::new_from_slice(&[]).is_err());
    assert_eq!(Skein256Mac::<U20>::with(&none).err(), Some(Error::Length));
}

/// The first bytes of an output.
fn first<const N: usize>(hash: impl ExtendableOutput, message: &[u8]) -> [u8; N] {
    let mut output = [0; N];
    hash.chain(message).finalize_xof_into(&mut output);
    output
}

#[test]
fn lanes_take_as_many_messages_as_were_begun() {
    assert_eq!(Shake128Lanes::new(0).err(), Some(Error::Length));
    assert_eq!(Shake128Lanes::new(9).err(), Some(Error::Length));
    let mut lanes = Shake128Lanes::new(2).expect("there are 8");
    for wrong in [0, 1, 3, 9] {
        assert_eq!(lanes.absorb(&vec![&b"one"[..]; wrong]), Err(Error::Parameter));
    }
    assert_eq!(lanes.absorb(&[b"one", b"three"]), Err(Error::Length));
    // None of them was taken.
    lanes.absorb(&[b"one", b"two"]).expect("as many, of one length");
    let (mut one, mut two) = ([0xa5; 336], [0xa5; 336]);
    assert_eq!(lanes.squeeze_blocks(&mut [&mut one]), Err(Error::Parameter));
    assert_eq!(lanes.squeeze_blocks(&mut []), Err(Error::Parameter));
    assert_eq!(lanes.squeeze_blocks(&mut [&mut one, &mut two[..168]]), Err(Error::Length));
    let parts = &mut [&mut one[..167], &mut two[..167]];
    assert_eq!(lanes.squeeze_blocks(parts), Err(Error::Length));
    assert_eq!((one, two), ([0xa5; 336], [0xa5; 336]));
    // No block is no output.
    lanes.squeeze_blocks(&mut [&mut [], &mut []]).expect("no blocks");
    lanes.absorb(&[b"!", b"?"]).expect("the output has not begun");
    lanes.clone().squeeze_blocks(&mut [&mut one, &mut two]).expect("whole blocks");
    let wanted = [b"one!", b"two?"].map(|message| first(Shake128::default(), message));
    assert_eq!([one, two], wanted);
    lanes.squeeze_blocks(&mut [&mut one, &mut two]).expect("whole blocks");
    assert_eq!(lanes.absorb(&[b"one", b"two"]), Err(Error::State));
    assert_eq!(lanes.absorb(&[b"one"]), Err(Error::State));
}

#[test]
fn outputs_refuse_what_does_not_fit() {
    for domain in [0, 0x80, 0xff] {
        assert_eq!(TurboShake128::with(domain).err(), Some(Error::Parameter));
        assert_eq!(TurboShake128::many(domain, &[], 1, &mut []), Err(Error::Parameter));
    }
    let mut output = [0xa5; 64];
    let messages: [&[u8]; 2] = [b"one", b"two"];
    for length in [0, 31, 33, usize::MAX] {
        assert_eq!(Shake256::many(&messages, length, &mut output), Err(Error::Length));
        let many = Cshake128::many(b"", b"", &messages, length, &mut output);
        assert_eq!(many, Err(Error::Length));
        assert_eq!(TurboShake128::many(1, &messages, length, &mut output), Err(Error::Length));
    }
    assert_eq!(output, [0xa5; 64]);
    assert_eq!(Shake256::many(&[], 32, &mut []), Ok(()));
}

#[test]
fn outputs_depend_on_parameters_and_begin_again() {
    let message: Vec<u8> = (0..20_000).map(|i: u32| (i * 7) as u8).collect();
    let plain: [u8; 40] = first(Shake128::default(), &message);
    assert_eq!(first(Cshake128::default(), &message), plain);
    assert_eq!(first(Cshake128::with(b"", b""), &message), plain);
    let custom: [u8; 40] = first(Cshake128::new_customized(b"custom"), &message);
    assert_eq!(first(Cshake128::with(b"", b"custom"), &message), custom);
    assert_ne!(first(Cshake128::with(b"custom", b""), &message), custom);
    assert_ne!(custom, plain);
    assert_eq!(XofFixedWrapper::<Shake128, U32>::digest(&message)[..], plain[..32]);
    let other = TurboShake128::with(0x1f).expect("a domain");
    assert_eq!(first::<40>(TurboShake128::default(), &message), first(other, &message));
    // Three leaves in pieces, behind a message that is forgotten.
    let mut tree = Kt128::with(b"custom");
    tree.update(&message[..9000]);
    Reset::reset(&mut tree);
    for piece in message.chunks(1001) {
        tree.update(piece);
    }
    let wanted: [u8; 40] = first(Kt128::with(b"custom"), &message);
    let mut output = [0; 40];
    let mut reader = tree.finalize_xof_reset();
    reader.read(&mut output[..3]);
    reader.clone().read(&mut output[3..]);
    assert_eq!(output, wanted);
    assert_eq!(first::<40>(tree, &message), wanted);
    // The length of a tag is part of its message, and the length of an output is not.
    let tag = Kmac128::<U32>::with(b"key", b"custom").chain_update(&message).finalize();
    let short = Kmac128::<U4>::with(b"key", b"custom").chain_update(&message).finalize();
    assert_ne!(tag.into_bytes()[..4], short.into_bytes()[..]);
    let long: [u8; 400] = first(Kmac256Xof::with(b"key", b"custom"), &message);
    assert_eq!(long[..40], first::<40>(Kmac256Xof::with(b"key", b"custom"), &message));
    assert_ne!(long[..40], first::<40>(Kmac256Xof::with(b"kez", b"custom"), &message));
}

#[test]
fn nothing_shows_a_secret() {
    struct Name<T>(std::marker::PhantomData<T>);
    impl<T: AlgorithmName> std::fmt::Display for Name<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            T::write_alg_name(f)
        }
    }
    assert_eq!(format!("{:?}", stream()), "ChaCha20 { .. }");
    assert_eq!(format!("{:?}", Clyde128::new(&[1; 16].into())), "Clyde128 { .. }");
    let mac: Skein512Mac<U20> = Skein512Mac::new(&[1; 64].into());
    assert_eq!(format!("{mac:?}"), "Skein512 { .. }");
    let mac: Kmac128 = Kmac128::new_from_slice(b"key").expect("keys have any length");
    assert_eq!(format!("{mac:?}"), "Kmac128 { .. }");
    assert_eq!(format!("{:?}", Kt128::with(b"custom")), "Kt128 { .. }");
    assert_eq!(format!("{:?}", Shake128Lanes::new(1).expect("one")), "Shake128 { .. }");
    assert_eq!(Name::<Sha3_256>(std::marker::PhantomData).to_string(), "Sha3_256");
    assert_eq!(Name::<Shake128>(std::marker::PhantomData).to_string(), "Shake128");
    assert_eq!(Name::<Skein512<U20>>(std::marker::PhantomData).to_string(), "Skein512-160");
    assert_eq!(Name::<Rectangle80>(std::marker::PhantomData).to_string(), "Rectangle80");
    assert_eq!(Name::<Rectangle80Ctr>(std::marker::PhantomData).to_string(), "Rectangle80Ctr");
}

/// The bytes of a value after it was dropped.
fn dropped<T: ZeroizeOnDrop>(value: T) -> Vec<u8> {
    let mut place = MaybeUninit::new(value);
    // SAFETY: the value exists, and is not used again.
    unsafe { place.assume_init_drop() };
    // SAFETY: the memory is still there, and these types have no gaps between their integers.
    unsafe { std::slice::from_raw_parts(place.as_ptr().cast(), size_of::<T>()) }.to_vec()
}

#[test]
fn keys_are_wiped() {
    assert_eq!(dropped(Rectangle80::new(&[0xab; 10].into())).iter().max(), Some(&0));
    assert_eq!(dropped(Clyde128::new(&[0xab; 16].into())).iter().max(), Some(&0));
    assert_eq!(dropped(HChaCha20::new(&[0xab; 32].into())).iter().max(), Some(&0));
    let mac: Skein512Mac<U20> = Skein512Mac::new(&[0xab; 64].into());
    assert_eq!(dropped(mac).iter().max(), Some(&0));
    let mac: Kmac128 = Kmac128::with(&[0xab; 64], b"");
    assert_eq!(dropped(mac).iter().max(), Some(&0));
    let mac = HmacSha3_256::new_from_slice(&[0xab; 64]).expect("keys have any length");
    assert_eq!(dropped(mac).iter().max(), Some(&0));
    let mut lanes = Shake128Lanes::new(8).expect("there are 8");
    lanes.absorb(&[&[0xab; 200][..]; 8]).expect("as many");
    assert_eq!(dropped(lanes).iter().max(), Some(&0));
    assert_eq!(dropped(Shake128::default().chain([0xab; 9]).finalize_xof()).iter().max(), Some(&0));
    let mut stream = ChaCha20::new(&[0xab; 32].into(), &[0; 12].into());
    let mut piece = [0; 5];
    stream.write_keystream(&mut piece);
    let left = dropped(stream);
    assert!(!left.windows(4).any(|bytes| bytes == [0xab; 4] || *bytes == piece[..4]));
}

#[test]
fn codes_are_verified_and_may_be_cut() {
    // RFC 4231, case 2.
    let wanted = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let mut mac = HmacSha256::new_from_slice(b"Jefe").expect("keys have any length");
    Mac::update(&mut mac, b"what do ya want ");
    Mac::update(&mut mac, b"for nothing?");
    let tag = mac.clone().finalize().into_bytes();
    assert_eq!(tag.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), wanted);
    mac.clone().verify_truncated_left(&tag[..16]).expect("it is the beginning");
    assert!(mac.clone().verify_slice(&[0; 32]).is_err());
    // It begins again with the same key.
    assert_eq!(mac.finalize_reset().into_bytes(), tag);
    Mac::update(&mut mac, b"what do ya want for nothing?");
    assert!(mac.verify(&tag).is_ok());
    let mut code = Poly1305::new(&[7; 32].into());
    Mac::update(&mut code, &[1; 20]);
    assert!(code.verify_slice(&[0; 16]).is_err());
    assert!(Poly1305::new_from_slice(&[7; 31]).is_err());
    assert!(HmacSha512::new_from_slice(&[]).is_ok());
}

#[test]
fn hashes_begin_again_and_keys_are_derived() {
    let mut hash = Sha512::new();
    Digest::update(&mut hash, b"abc");
    let first = hash.finalize_reset();
    assert_eq!(first, Sha512::digest(b"abc"));
    assert_eq!(hash.finalize(), Sha512::digest(b""));
    let messages: Vec<&[u8]> = vec![b"abc"; 100];
    let mut hashes = vec![Default::default(); 100];
    Sha256::many(&messages, &mut hashes).expect("as many");
    assert!(hashes.iter().all(|hash| *hash == Sha256::digest(b"abc")));
    assert_eq!(Sha256::many(&messages, &mut hashes[1..]), Err(Error::Length));
    // RFC 5869, case 1.
    let salt: Vec<u8> = (0..13).collect();
    let keys = HkdfSha256::new(&salt, &[0x0b; 22]);
    let mut key = [0; 8];
    keys.expand(&(0xf0..=0xf9).collect::<Vec<u8>>(), &mut key).expect("it is short");
    assert_eq!(key, [0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a]);
    let mut again = [0; 8];
    let same = HkdfSha256::from_key(keys.key());
    same.expand(&(0xf0..=0xf9).collect::<Vec<u8>>(), &mut again).expect("it is short");
    assert_eq!(key, again);
    assert_eq!(keys.expand(b"", &mut [0; 255 * 32 + 1]), Err(Error::Length));
    let long = HkdfSha512::new(b"", b"").expand(b"", &mut [0; 255 * 64]);
    assert_eq!(long, Ok(()));
}

#[test]
fn what_was_forged_is_not_opened() {
    let (key, nonce) = (ChaCha20Poly1305::new(&[7; 32].into()), [9; 12].into());
    let plain = *b"a message";
    let mut text = plain;
    let mut tag = key.seal(&nonce, b"data", text.as_mut_slice().into()).expect("it is short");
    assert_ne!(text, plain);
    let sealed = text;
    for bit in 0..128 {
        tag[bit / 8] ^= 1 << (bit % 8);
        let opened = key.open(&nonce, b"data", text.as_mut_slice().into(), &tag);
        assert_eq!((opened, text), (Err(Error::Forged), sealed));
        tag[bit / 8] ^= 1 << (bit % 8);
    }
    let opened = key.open(&nonce, b"dat", text.as_mut_slice().into(), &tag);
    assert_eq!(opened, Err(Error::Forged));
    let mut apart = [0; 9];
    let buffers = InOutBuf::new(&text, &mut apart).expect("equal lengths");
    key.decrypt_inout_detached(&nonce, b"data", buffers, &tag).expect("it is right");
    assert_eq!(apart, plain);
    assert_eq!(format!("{:?}", XChaCha20Poly1305::new(&[7; 32].into())), "XChaCha20Poly1305 { .. }");
    assert_eq!(dropped(key).iter().max(), Some(&0));
    assert_eq!(dropped(HmacSha512::new_from_slice(&[7; 9]).expect("a key")).iter().max(), Some(&0));
    assert_eq!(dropped(HkdfSha512::new(b"salt", b"secret")).iter().max(), Some(&0));
}

/// The calls of code that uses the traits only.
fn sign_and_verify<K>(key: &K, message: &[u8]) -> Signature
where
    K: Keypair<VerifyingKey: Verifier<Signature>> + Signer<Signature>,
{
    let signature = key.sign(message);
    key.verifying_key().verify(message, &signature).expect("it was just made");
    Signature::try_from(&signature.to_bytes()[..]).expect("it has this length")
}

#[test]
fn signatures_by_traits() {
    let key = SigningKey::from([7; 32]);
    let signature = sign_and_verify(&key, b"message");
    assert_eq!(signature, key.sign(b"message"));
    let known = key.verifying_key();
    assert!(known.verify(b"massage", &signature).is_err());
    // No point, and one of small order.
    for other in [[2; 32], [0; 32]] {
        assert!(usuba_ciphers::curve25519::VerifyingKey::from(other)
            .verify(b"message", &signature)
            .is_err());
    }
    assert_eq!(Signature::try_from(&[0; 63][..]), Err(Error::Length));
    assert!(SigningKey::try_from(&[7; 31][..]).is_err());
    assert_eq!(SigningKey::try_from(&[7; 32][..]).expect("a seed").sign(b"message"), signature);
    assert_eq!(key.as_bytes(), &[7; 32]);
    for context in [0, 256] {
        assert_eq!(key.with_context(&vec![1; context]).err(), Some(Error::Length));
        assert_eq!(known.with_context(&vec![1; context]).err(), Some(Error::Length));
    }
    assert_eq!(key.sign_prehashed(&[1; 256], &[0; 64]), Err(Error::Length));
    assert_eq!(known.verify_prehashed(&[1; 256], &[0; 64], &signature), Err(Error::Length));
    let made = key.sign_prehashed(&[1; 255], &[0; 64]).expect("it is not longer");
    assert_eq!(known.verify_prehashed(&[1; 255], &[0; 64], &made), Ok(()));
}

#[test]
fn secrets_of_curves_are_wiped_and_not_shown() {
    let secret = StaticSecret::from([7; 32]);
    let public = PublicKey::from(&StaticSecret::from([9; 32]));
    let shared = || secret.diffie_hellman(&public).expect("no small order");
    assert!(shared().as_bytes().iter().any(|&byte| byte != 0));
    assert_eq!(format!("{:?}", shared()), "SharedSecret { .. }");
    assert_eq!(format!("{:?}", SigningKey::from([7; 32])), "SigningKey { .. }");
    assert_eq!(dropped::<SharedSecret>(shared()).iter().max(), Some(&0));
    assert_eq!(dropped(secret).iter().max(), Some(&0));
    assert_eq!(dropped(SigningKey::from([7; 32])).iter().max(), Some(&0));
}
