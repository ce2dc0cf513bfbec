//! Published and computed answers of every cipher, each in calls with few and with many blocks.

// Which of these are used depends on the ciphers.
#![allow(dead_code)]

use @CRATE@::cipher::array::{Array, ArraySize};
use @CRATE@::cipher::typenum::Unsigned;
use @CRATE@::cipher::{
    BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit, KeyIvInit, KeySizeUser,
    StreamCipher, StreamCipherSeek, Tweak, TweakBlockCipherDecrypt, TweakBlockCipherEncrypt,
};
use @CRATE@::Error;

/// Numbers of blocks: fewer and more than any kernel takes at once, in the last case by far.
const COUNTS: [usize; 5] = [0, 1, 3, 70, 1100];

/// Bytes, written in hexadecimal.
fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn array<N: ArraySize>(hex: &str) -> Array<u8, N> {
    Array::try_from(&bytes(hex)[..]).expect("it has this length")
}

fn key<C: KeyInit>(hex: &str) -> C {
    assert!(C::new_from_slice(&vec![0; <C as KeySizeUser>::KeySize::USIZE + 1]).is_err());
    C::new(&array::<C::KeySize>(hex))
}

/// Blocks in place, by the loops of somebody else, as modes of other crates have them.
struct Loops<'a, N: ArraySize>(&'a mut [Array<u8, N>]);

impl<N: ArraySize> BlockSizeUser for Loops<'_, N> {
    type BlockSize = N;
}

impl<N: ArraySize> BlockCipherEncClosure for Loops<'_, N> {
    fn call<B: BlockCipherEncBackend<BlockSize = N>>(self, backend: &B) {
        let (chunks, tail) = Array::slice_as_chunks_mut(self.0);
        chunks.iter_mut().for_each(|chunk| backend.encrypt_par_blocks_inplace(chunk));
        backend.encrypt_tail_blocks_inplace(tail);
    }
}

impl<N: ArraySize> BlockCipherDecClosure for Loops<'_, N> {
    fn call<B: BlockCipherDecBackend<BlockSize = N>>(self, backend: &B) {
        let (chunks, tail) = Array::slice_as_chunks_mut(self.0);
        chunks.iter_mut().for_each(|chunk| backend.decrypt_par_blocks_inplace(chunk));
        backend.decrypt_tail_blocks_inplace(tail);
    }
}

/// Key, plaintext, ciphertext.
fn block<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(answers: &[[&str; 3]]) {
    for [secret, plain, text] in answers {
        let cipher: C = key(secret);
        let (plain, text) = (array::<C::BlockSize>(plain), array::<C::BlockSize>(text));
        let mut one = plain.clone();
        cipher.encrypt_block(&mut one);
        assert_eq!(one, text);
        cipher.decrypt_block(&mut one);
        assert_eq!(one, plain);
        for count in COUNTS {
            let plains = vec![plain.clone(); count];
            let texts = vec![text.clone(); count];
            let mut to = vec![Array::default(); count];
            cipher.encrypt_blocks_b2b(&plains, &mut to).expect("as many");
            assert_eq!(to, texts);
            cipher.decrypt_blocks(&mut to);
            assert_eq!(to, plains);
            cipher.encrypt_with_backend(Loops(&mut to));
            assert_eq!(to, texts);
            cipher.decrypt_with_backend(Loops(&mut to));
            assert_eq!(to, plains);
            to.push(Array::default());
            assert!(cipher.encrypt_blocks_b2b(&plains, &mut to).is_err());
        }
    }
}

/// Key, counter, first block of the key stream.
fn ctr<C: KeyIvInit + StreamCipher + StreamCipherSeek>(answers: &[[&str; 3]]) {
    for [secret, counter, stream] in answers {
        pieces::<C>(secret, counter, 0, stream);
    }
}

/// Key, nonce, number of the block, block of the key stream.
fn stream<C: KeyIvInit + StreamCipher + StreamCipherSeek>(answers: &[(&str, &str, u64, &str)]) {
    for (secret, nonce, number, stream) in answers {
        pieces::<C>(secret, nonce, number * (stream.len() as u64 / 2), stream);
    }
}

/// One block of key stream at `position`, as a whole, in pieces, and in front of others.
fn pieces<C: KeyIvInit + StreamCipher + StreamCipherSeek>(
    secret: &str,
    nonce: &str,
    position: u64,
    stream: &str,
) {
    let (secret, nonce, stream) = (bytes(secret), bytes(nonce), bytes(stream));
    let mut cipher = C::new_from_slices(&secret, &nonce).expect("these lengths");
    for step in [1, 3, 5, stream.len()] {
        cipher.seek(position);
        let mut message: Vec<u8> = (0..stream.len() as u8).collect();
        message.chunks_mut(step).for_each(|piece| cipher.apply_keystream(piece));
        let back: Vec<u8> = message.iter().zip(&stream).map(|(byte, key)| byte ^ key).collect();
        assert!(back.iter().enumerate().all(|(at, byte)| *byte == at as u8));
        assert_eq!(cipher.current_pos::<u64>(), position + stream.len() as u64);
    }
    cipher.seek(position);
    let mut long = vec![0; stream.len() * 300 + 7];
    if cipher.try_write_keystream(&mut long).is_ok() {
        assert_eq!(long[..stream.len()], stream[..]);
        cipher.seek(position + 5);
        let mut again = vec![0; long.len() - 5];
        again.chunks_mut(11).for_each(|piece| cipher.write_keystream(piece));
        assert_eq!(long[5..], again);
    }
}

/// Key, tweak, plaintext, ciphertext.
fn tweak<C>(answers: &[[&str; 4]])
where
    C: KeyInit + TweakBlockCipherEncrypt + TweakBlockCipherDecrypt,
{
    for [secret, tweak, plain, text] in answers {
        let (cipher, tweak): (C, Tweak<C>) = (key(secret), array(tweak));
        let mut block = array::<C::BlockSize>(plain);
        cipher.encrypt_block(&tweak, &mut block);
        assert_eq!(block, array::<C::BlockSize>(text));
        cipher.decrypt_block(&tweak, &mut block);
        assert_eq!(block, array::<C::BlockSize>(plain));
    }
}

/// Input and output; `function` is one of many blocks.
fn map<N: ArraySize, M: ArraySize>(
    [input, output]: [&str; 2],
    mut function: impl FnMut(&[Array<u8, N>], &mut [Array<u8, M>]) -> Result<(), Error>,
) {
    for count in COUNTS {
        let from = vec![array(input); count];
        let mut to = vec![Array::default(); count];
        function(&from, &mut to).expect("as many");
        assert_eq!(to, vec![array(output); count]);
        let mut more = vec![Array::default(); count + 1];
        assert_eq!(function(&from, &mut more), Err(Error::Length));
        assert!(more.iter().all(|block| *block == Array::default()));
    }
}

fn permutation<const N: usize>(answers: &[[&str; 2]], permute: fn(&mut [[u8; N]])) {
    for [before, after] in answers {
        let state = |hex: &str| <[u8; N]>::try_from(bytes(hex)).expect("it has this length");
        for count in COUNTS {
            let mut states = vec![state(before); count];
            permute(&mut states);
            assert_eq!(states, vec![state(after); count]);
        }
    }
}

#[test]
fn backends_can_be_forced() {
    for name in @CRATE@::backends() {
        @CRATE@::force_backend(Some(name)).expect("it is there");
        assert!(@CRATE@::backends().any(|name| name == @CRATE@::backend()));
    }
    assert_eq!(@CRATE@::force_backend(Some("none")), Err(Error::Backend));
    @CRATE@::force_backend(None).expect("there is a best one");
}
@TESTS@
