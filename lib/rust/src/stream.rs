//! Keystreams: stream ciphers, and CTR mode of block ciphers.

use core::fmt;

use cipher::array::Array;
use cipher::typenum::Unsigned;
use cipher::{
    AlgorithmName, InOutBuf, Iv, IvSizeUser, Key as KeyBytes, KeyIvInit, KeySizeUser,
    OverflowError, SeekNum, StreamCipher, StreamCipherError, StreamCipherSeek,
};

use crate::ffi::{self, Key, KeyStream};

/// The block number of a block that is not there.
const NONE: u64 = u64::MAX;

/// A keystream with its key, its nonce or first counter, and its position.
///
/// Pieces of at least a block go through the C directly; for shorter pieces the current block is
/// kept.
/// [`StreamCipher::check_remaining`] and seeking respect the end, where the number of a block would
/// overflow, or the position no longer has 64 bits; the functions of [`StreamCipher`] called
/// `unchecked` continue there from position 0.
pub struct Stream<K: KeyStream> {
    key: Key<K>,
    start: Array<u8, K::StartSize>,
    /// The position in bytes in the keystream, at most `end`.
    position: u64,
    end: u64,
    /// The keystream of block number `held`.
    block: Array<u8, K::BlockSize>,
    held: u64,
}

impl<K: KeyStream> Stream<K> {
    pub(crate) fn from_key(key: Key<K>, start: &Array<u8, K::StartSize>) -> Self {
        let size = K::BlockSize::U64;
        // Whole blocks, so that a position at the end is one at the beginning.
        let end = K::blocks(start).saturating_mul(size);
        let end = end - end % size;
        Stream { key, start: start.clone(), position: 0, end, block: Array::default(), held: NONE }
    }

    /// The next bytes of the keystream, in as few parts as possible.
    fn go(&mut self, mut data: Data<'_, '_>) {
        let size = K::BlockSize::U64;
        while data.len() > 0 {
            if self.position == self.end {
                self.position = 0;
            }
            let left = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
            let part = data.len().min(left);
            let part = match part >= K::BlockSize::USIZE {
                true => {
                    let (now, later) = data.split_at(part);
                    data = later;
                    let done = match now {
                        Data::Xor(data) => self.key.xor(&self.start, self.position, data),
                        Data::Write(to) => self.key.keystream(&self.start, self.position, to),
                    };
                    done.expect("it ends before the end");
                    part
                }
                false => {
                    let number = self.position / size;
                    let skip = (self.position % size) as usize;
                    if self.held != number {
                        let to = &mut self.block;
                        let done = self.key.keystream(&self.start, number * size, to);
                        done.expect("a block before the end is whole");
                        self.held = number;
                    }
                    let part = part.min(K::BlockSize::USIZE - skip);
                    let (now, later) = data.split_at(part);
                    data = later;
                    let stream = &self.block[skip..skip + part];
                    match now {
                        Data::Xor(mut data) => data.xor_in2out(stream),
                        Data::Write(to) => to.copy_from_slice(stream),
                    }
                    part
                }
            };
            self.position += part as u64;
        }
    }
}

/// The operation on the next bytes.
enum Data<'i, 'o> {
    /// XOR of the keystream.
    Xor(InOutBuf<'i, 'o, u8>),
    /// Output of the keystream.
    Write(&'o mut [u8]),
}

impl Data<'_, '_> {
    fn len(&self) -> usize {
        match self {
            Data::Xor(data) => data.len(),
            Data::Write(to) => to.len(),
        }
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Data::Xor(data) => {
                let (first, second) = data.split_at(at);
                (Data::Xor(first), Data::Xor(second))
            }
            Data::Write(to) => {
                let (first, second) = to.split_at_mut(at);
                (Data::Write(first), Data::Write(second))
            }
        }
    }
}

impl<K: KeyStream> Drop for Stream<K> {
    fn drop(&mut self) {
        ffi::wipe(&mut self.block);
    }
}

impl<K: KeyStream> Clone for Stream<K> {
    fn clone(&self) -> Self {
        let Stream { key, start, position, end, block, held } = self;
        let (key, start, block) = (key.clone(), start.clone(), block.clone());
        Stream { key, start, position: *position, end: *end, block, held: *held }
    }
}

impl<K: KeyStream> fmt::Debug for Stream<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::STREAM).finish_non_exhaustive()
    }
}

impl<K: KeyStream> AlgorithmName for Stream<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::STREAM)
    }
}

impl<K: KeyStream> KeySizeUser for Stream<K> {
    type KeySize = K::KeySize;
}

impl<K: KeyStream> IvSizeUser for Stream<K> {
    type IvSize = K::StartSize;
}

impl<K: KeyStream> KeyIvInit for Stream<K> {
    fn new(key: &KeyBytes<Self>, iv: &Iv<Self>) -> Self {
        Stream::from_key(Key::new(key), iv)
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyStream> cipher::zeroize::ZeroizeOnDrop for Stream<K> {}

impl<K: KeyStream> StreamCipher for Stream<K> {
    fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
        match u64::try_from(data_len) {
            Ok(length) if length <= self.end - self.position => Ok(()),
            _ => Err(StreamCipherError),
        }
    }

    fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
        self.go(Data::Xor(buf));
    }

    fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
        self.go(Data::Write(buf));
    }
}

impl<K: KeyStream> StreamCipherSeek for Stream<K> {
    fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
        // Blocks of one byte, of which the last one is used up.
        T::from_block_byte(self.position, 1, 1)
    }

    fn try_seek<T: SeekNum>(&mut self, pos: T) -> Result<(), StreamCipherError> {
        let (position, _) = pos.into_block_byte::<u64>(1)?;
        if position > self.end {
            return Err(StreamCipherError);
        }
        self.position = position;
        Ok(())
    }
}
