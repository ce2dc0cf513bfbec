//! The expected results of modes of operation, as their standards define them, block by block.

use std::ffi::c_int;

use usuba::isa;
use usuba_library::{Description, Kind, Request};

use super::hex;
use super::subject::{
    BLOCKS, Loaded, NULL, Noise, Subject, apply, call, lengths, model, request, root,
};

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The answers of the modes of a primitive, from `reference.rs`.
pub struct Modes<'a> {
    primitive: &'a Description,
    /// The counter or the nonce, and the keystream behind it from a position on.
    start: Vec<u8>,
    from: usize,
    stream: Vec<u8>,
    /// Nonces of running keystreams, and the beginnings of these.
    side: Vec<(Vec<u8>, Vec<u8>)>,
    /// Initial value, ciphertext, plaintext.
    cbc: Option<[Vec<u8>; 3]>,
    xts: Option<Xts>,
}

/// Data units of XTS.
struct Xts {
    tweak_key: Vec<u8>,
    tweak: Vec<u8>,
    units: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'a> Modes<'a> {
    pub fn new(
        subject: &Subject,
        primitive: &'a Description,
        noise: &mut Noise,
        key: &[u8],
    ) -> Modes<'a> {
        let forwards = &primitive.operations[0];
        let size = forwards.input;
        let encrypt =
            |key: &[u8], block: &[u8]| model(&subject.folder, &forwards.function, key, block);
        let mut modes = Modes {
            primitive,
            start: Vec::new(),
            from: 0,
            stream: Vec::new(),
            side: Vec::new(),
            cbc: None,
            xts: None,
        };
        match primitive.kind {
            Kind::Stream(counter) => {
                modes.start = noise.bytes(primitive.nonce);
                let block = |input: &[u8]| encrypt(key, input);
                let mut first = vec![0; counter.bytes];
                // The 32 lowest bits of the counter overflow on the way, and the whole does not.
                if counter.order == usuba_ciphers::Order::Little && counter.bytes > 4 {
                    let number = (1usize << 32) - BLOCKS / 2;
                    first[..4].copy_from_slice(&(number as u32).to_le_bytes());
                    modes.from = number * forwards.output;
                }
                modes.stream = numbered(&modes.start, counter, &first, block);
            }
            Kind::Tweakable { tweak, .. } => {
                // The tweak stands behind the nonce here.
                let nonce = noise.bytes(primitive.nonce);
                let mut first = noise.bytes(tweak.bytes);
                let low = match tweak.order {
                    usuba_ciphers::Order::Little => ..tweak.bytes / 2,
                    usuba_ciphers::Order::Big => ..0,
                };
                first[low].fill(0xff);
                modes.stream = numbered(&nonce, tweak, &first, |input| encrypt(key, input));
                modes.start = [nonce, first].concat();
            }
            Kind::Extended { stream, .. } => {
                modes.start = noise.bytes(primitive.nonce);
                let inner = &subject.single.primitives[stream];
                let Kind::Stream(counter) = inner.kind else { panic!("it is a key stream") };
                let (first, rest) = modes.start.split_at(size);
                let subkey = encrypt(key, first);
                let nonce = [&vec![0; inner.nonce - rest.len()], rest].concat();
                let block = |input: &[u8]| {
                    model(&subject.folder, &inner.operations[0].function, &subkey, input)
                };
                modes.stream = numbered(&nonce, counter, &vec![0; counter.bytes], block);
                let whole = model(&subject.folder, &primitive.name, key, &modes.start);
                assert_eq!(modes.stream[..64], whole[..64]);
            }
            Kind::Running { .. } => {
                let next = &primitive.operations[1];
                for _ in 0..70 {
                    let nonce = noise.bytes(primitive.nonce);
                    let mut state = encrypt(key, &nonce);
                    let mut stream = Vec::new();
                    for _ in 0..4 {
                        let mut out = model(&subject.folder, &next.function, &[], &state);
                        stream.extend(out.split_off(next.input));
                        state = out;
                    }
                    modes.side.push((nonce, stream));
                }
            }
            Kind::Block { inverse, wide } => {
                modes.start = noise.bytes(size);
                // The low half of the counter overflows on the way, and the whole does not.
                modes.start[0] &= 0x7f;
                modes.start[size / 2..].fill(0xff);
                modes.start[size - 1] = 0xf3;
                let mut counter = modes.start.clone();
                for _ in 0..BLOCKS {
                    modes.stream.extend(encrypt(key, &counter));
                    let last =
                        counter.iter().rposition(|&byte| byte != 0xff).expect("below the end");
                    counter[last] += 1;
                    counter[last + 1..].fill(0);
                }
                if let (Some(inverse), true) = (inverse, wide) {
                    let backwards = &primitive.operations[inverse].function;
                    let decrypt = |block: &[u8]| model(&subject.folder, backwards, key, block);
                    let (start, text) = (noise.bytes(16), noise.bytes(16 * BLOCKS));
                    let before = [&start[..], &text].concat();
                    let plain: Vec<u8> = text.chunks(16).flat_map(decrypt).collect();
                    modes.cbc = Some([start, text, xor(&plain, &before)]);
                    modes.xts = Some(Xts::new(noise, key, encrypt));
                }
            }
            _ => {}
        }
        modes
    }

    pub fn check(&self, subject: &Subject, context: &[u64], noise: &mut Noise) {
        let name = &self.primitive.name;
        self.check_running(subject, context, noise);
        let (add, make) = match self.primitive.kind {
            Kind::Stream(_) | Kind::Extended { .. } => {
                (format!("usuba_{name}_xor"), format!("usuba_{name}_keystream"))
            }
            Kind::Tweakable { .. } => return self.check_tweakable(subject, context, noise),
            Kind::Block { .. } => {
                (format!("usuba_{name}_ctr"), format!("usuba_{name}_ctr_keystream"))
            }
            _ => return,
        };
        let (key, start) = (context.as_ptr(), self.start.as_ptr());
        for length in lengths(noise, self.stream.len()) {
            let position = noise.below(self.stream.len() - length + 1);
            let stream = &self.stream[position..position + length];
            let position = self.from + position;
            let text = noise.bytes(length);
            let (same, offset) = (length % 2 == 0, noise.below(64));
            apply(&text, &xor(&text, stream), same, offset, |from, to| {
                call!(subject.loaded, &add, key, start, position, from, to, length)
            });
            apply(&[], stream, false, offset, |_, to| {
                call!(subject.loaded, &make, key, start, position, to, length)
            });
        }
        if let Some([start, text, plain]) = &self.cbc {
            let name = format!("usuba_{name}_cbc_decrypt");
            for length in lengths(noise, text.len()) {
                let length = length / 16 * 16;
                let (same, offset) = (length % 32 == 0, noise.below(64));
                apply(&text[..length], &plain[..length], same, offset, |from, to| {
                    call!(subject.loaded, &name, key, start.as_ptr(), from, to, length)
                });
            }
        }
        if let Some(xts) = &self.xts {
            let tweak_key = subject.key(self.primitive, &xts.tweak_key);
            let name = |what: &str| format!("usuba_{name}_xts_{what}");
            for (plain, text) in &xts.units {
                for (what, from, to) in [("encrypt", plain, text), ("decrypt", text, plain)] {
                    let (same, offset) = (noise.below(2) == 0, noise.below(64));
                    apply(from, to, same, offset, |from, to| {
                        let (tweak_key, tweak) = (tweak_key.as_ptr(), xts.tweak.as_ptr());
                        let length = plain.len();
                        call!(subject.loaded, &name(what), key, tweak_key, tweak, from, to, length)
                    });
                }
            }
        }
    }
}

impl Modes<'_> {
    fn check_tweakable(&self, subject: &Subject, context: &[u64], noise: &mut Noise) {
        let (key, name) = (context.as_ptr(), &self.primitive.name);
        let (nonce, tweak) = self.start.split_at(self.primitive.nonce);
        let (nonce, tweak) = (nonce.as_ptr(), tweak.as_ptr());
        let (add, make) = (format!("usuba_{name}_ctrt"), format!("usuba_{name}_ctrt_keystream"));
        for length in lengths(noise, self.stream.len()) {
            let position = noise.below(self.stream.len() - length + 1);
            let stream = &self.stream[position..position + length];
            let text = noise.bytes(length);
            let (same, offset) = (length % 2 == 0, noise.below(64));
            apply(&text, &xor(&text, stream), same, offset, |from, to| {
                call!(subject.loaded, &add, key, nonce, tweak, position, from, to, length)
            });
            apply(&[], stream, false, offset, |_, to| {
                call!(subject.loaded, &make, key, nonce, tweak, position, to, length)
            });
        }
    }

    /// Keystreams with a state: one in parts, in two ways, and a batch of them.
    fn check_running(&self, subject: &Subject, context: &[u64], noise: &mut Noise) {
        let Kind::Running { .. } = self.primitive.kind else { return };
        let (key, name) = (context.as_ptr(), &self.primitive.name);
        let function = |what: &str| format!("usuba_{name}_{what}");
        for (nonce, stream) in self.side.iter().take(9) {
            let mut state = vec![0u64; 512];
            let state = state.as_mut_ptr();
            let (begin, nonce) = (function("begin"), nonce.as_ptr());
            assert_eq!(call!(subject.loaded, &begin, state, key, nonce), 0);
            let mut done = 0;
            while done < stream.len() {
                let part = noise.below(100).min(stream.len() - done);
                let (stream, text) = (&stream[done..done + part], noise.bytes(part));
                let (same, offset) = (part % 2 == 0, noise.below(64));
                match noise.below(2) {
                    0 => apply(&text, &xor(&text, stream), same, offset, |from, to| {
                        call!(subject.loaded, &function("xor"), state, from, to, part)
                    }),
                    _ => apply(&[], stream, false, offset, |_, to| {
                        call!(subject.loaded, &function("keystream"), state, to, part)
                    }),
                }
                done += part;
            }
        }
        let most = self.side[0].1.len();
        for count in [1, 2, 5, 63, 64, 65, self.side.len()] {
            let length = if count == 5 { most } else { noise.below(most) };
            let sides = &self.side[..count];
            let nonces: Vec<u8> = sides.iter().flat_map(|(nonce, _)| nonce.clone()).collect();
            let streams: Vec<u8> =
                sides.iter().flat_map(|(_, stream)| stream[..length].to_vec()).collect();
            apply(&nonces, &streams, false, noise.below(64), |from, to| {
                call!(subject.loaded, &function("keystreams"), key, from, count, to, length)
            });
        }
    }
}

/// The keystream of [`BLOCKS`] numbered blocks: `first`, which counts, stands in the nonce.
fn numbered(
    nonce: &[u8],
    counter: usuba_ciphers::Counter,
    first: &[u8],
    block: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut stream = Vec::new();
    for number in 0..BLOCKS as u64 {
        let mut bytes = first.to_vec();
        let mut carry = number;
        let mut add = |byte: &mut u8| {
            carry += *byte as u64;
            *byte = carry as u8;
            carry >>= 8;
        };
        match counter.order {
            usuba_ciphers::Order::Little => bytes.iter_mut().for_each(&mut add),
            usuba_ciphers::Order::Big => bytes.iter_mut().rev().for_each(&mut add),
        }
        let mut input = nonce.to_vec();
        input.splice(counter.at..counter.at, bytes);
        stream.extend(block(&input));
    }
    stream
}

impl Xts {
    fn new(noise: &mut Noise, key: &[u8], encrypt: impl Fn(&[u8], &[u8]) -> Vec<u8>) -> Xts {
        let (tweak_key, tweak) = (noise.bytes(key.len()), noise.bytes(16));
        let mut units = Vec::new();
        for length in [16, 17, 31, 32, 47, 16 * 16 + 5, 16 * BLOCKS, 16 * BLOCKS - 1] {
            let plain = noise.bytes(length);
            let text = Xts::encrypt(&plain, encrypt(&tweak_key, &tweak), &|b| encrypt(key, b));
            units.push((plain, text));
        }
        Xts { tweak_key, tweak, units }
    }

    /// IEEE 1619-2018, 5.3.2, with the tweak already encrypted.
    fn encrypt(plain: &[u8], mut tweak: Vec<u8>, block: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        for part in plain.chunks(16) {
            let mut input = part.to_vec();
            let short = part.len() < 16;
            if short {
                let before = blocks.last_mut().expect("a whole block comes first");
                input.extend(before.drain(part.len()..));
            }
            let output = xor(&block(&xor(&input, &tweak)), &tweak);
            blocks.insert(blocks.len() - short as usize, output);
            let top = tweak[15] >> 7;
            for i in (0..16).rev() {
                tweak[i] = tweak[i] << 1 | if i > 0 { tweak[i - 1] >> 7 } else { 0 };
            }
            tweak[0] ^= top * 0x87;
        }
        blocks.concat()
    }
}

/// NIST SP 800-38A (F.2.2, F.5.1), IEEE 1619-2018 (vectors 2 and 15), RFC 8439 (2.4.2).
#[test]
fn published_answers_of_the_modes() {
    let single = |folder: &str| {
        let cipher = usuba_ciphers::read(&root().join(folder)).expect("the folder is there");
        let targets = vec![isa::find("gp64").expect("it exists")];
        let request = Request { targets, ..request("usuba_") };
        usuba_library::single(&request, &cipher, None).expect("it compiles")
    };
    let aes = Loaded::new(&single("aes"), &["-O0"]);
    let key = |bytes: &str| {
        let (mut context, bytes) = (vec![0u64; 512], hex(bytes));
        let status =
            call!(aes, "usuba_aes128_init", context.as_mut_ptr(), bytes.as_ptr(), bytes.len());
        assert_eq!(status, 0);
        context
    };
    let plain = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
                     30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710");
    let main = key("2b7e151628aed2a6abf7158809cf4f3c");
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let text = hex("874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
                    5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee");
    apply(&plain, &text, false, 3, |from, to| {
        call!(aes, "usuba_aes128_ctr", main.as_ptr(), counter.as_ptr(), 0, from, to, plain.len())
    });
    let start = hex("000102030405060708090a0b0c0d0e0f");
    let text = hex("7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
                    73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7");
    apply(&text, &plain, true, 3, |from, to| {
        call!(aes, "usuba_aes128_cbc_decrypt", main.as_ptr(), start.as_ptr(), from, to, text.len())
    });
    let units = [
        (
            ["11111111111111111111111111111111", "22222222222222222222222222222222"],
            "33333333330000000000000000000000",
            "4444444444444444444444444444444444444444444444444444444444444444",
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        ),
        (
            ["fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0", "bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0"],
            "9a785634120000000000000000000000",
            "000102030405060708090a0b0c0d0e0f10",
            "6c1625db4671522d3d7599601de7ca09ed",
        ),
    ];
    for ([first, second], tweak, plain, text) in units {
        let (first, second) = (key(first), key(second));
        let (tweak, plain, text) = (hex(tweak), hex(plain), hex(text));
        for (name, from, to) in [
            ("usuba_aes128_xts_encrypt", &plain, &text),
            ("usuba_aes128_xts_decrypt", &text, &plain),
        ] {
            apply(from, to, false, 3, |from, to| {
                let (first, second) = (first.as_ptr(), second.as_ptr());
                call!(aes, name, first, second, tweak.as_ptr(), from, to, plain.len())
            });
        }
    }
    let chacha = Loaded::new(&single("chacha20"), &["-O0"]);
    let bytes: Vec<u8> = (0..32).collect();
    let mut context = vec![0u64; 512];
    let context = context.as_mut_ptr();
    assert_eq!(call!(chacha, "usuba_chacha20_init", context, bytes.as_ptr(), 32), 0);
    let nonce = hex("000000000000004a00000000");
    let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
                  the future, sunscreen would be it.";
    let text = hex("6e2e359a2568f98041ba0728dd0d6981 e97e7aec1d4360c20a27afccfd9fae0b
                    f91b65c5524733ab8f593dabcd62b357 1639d624e65152ab8f530c359f0861d8
                    07ca0dbf500d6a6156a38e088a22b65e 52bc514d16ccf806818ce91ab7793736
                    5af90bbf74a35be6b40b8eedf2785e42 874d");
    // The first block counts 1 there.
    apply(plain, &text, true, 5, |from, to| {
        call!(chacha, "usuba_chacha20_xor", context, nonce.as_ptr(), 64, from, to, plain.len())
    });
    wrong_arguments(&aes, &chacha, context);
}

/// Every kind of mistake: the status that names it, and a buffer that stays as it was.
fn wrong_arguments(aes: &Loaded, chacha: &Loaded, chacha_key: *mut u64) {
    const ERROR_NULL: c_int = 1;
    const ERROR_LENGTH: c_int = 2;
    const ERROR_COUNTER: c_int = 3;
    const ERROR_OVERLAP: c_int = 4;
    let mut context = vec![0xa5u64; 512];
    let untouched = context.clone();
    let bytes = [7u8; 16];
    let key = context.as_mut_ptr();
    assert_eq!(call!(aes, "usuba_aes128_init", key, NULL, 16), ERROR_NULL);
    assert_eq!(call!(aes, "usuba_aes128_init", NULL, bytes.as_ptr(), 16), ERROR_NULL);
    for length in [0, 15, 17, 24, 32, usize::MAX] {
        assert_eq!(call!(aes, "usuba_aes128_init", key, bytes.as_ptr(), length), ERROR_LENGTH);
    }
    assert_eq!(context, untouched);
    let key = context.as_mut_ptr();
    assert_eq!(call!(aes, "usuba_aes128_init", key, bytes.as_ptr(), 16), 0);
    let mut buffer = vec![0xa5u8; 4096];
    let start = [0xffu8; 16];
    let (from, to) = (buffer.as_ptr(), buffer[2048..].as_mut_ptr());
    let start = start.as_ptr();
    let near = from.wrapping_add(16);
    let ctr = "usuba_aes128_ctr";
    let expected = [
        (call!(aes, ctr, NULL, start, 0, from, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, NULL, 0, from, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, NULL, to, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, from, NULL, 16), ERROR_NULL),
        (call!(aes, ctr, key, start, 0, NULL, NULL, 0), 0),
        // The last counter allows one block.
        (call!(aes, ctr, key, start, 0, from, to, 17), ERROR_COUNTER),
        (call!(aes, ctr, key, start, 16, from, to, 1), ERROR_COUNTER),
        (call!(aes, ctr, key, bytes.as_ptr(), 0, from, near, 17), ERROR_OVERLAP),
        (call!(aes, ctr, key, bytes.as_ptr(), 0, near, from, 17), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, start, from, to, 17), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, NULL, from, to, 16), ERROR_NULL),
        (call!(aes, "usuba_aes128_cbc_decrypt", key, start, near, from, 32), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_xts_encrypt", key, key, start, from, to, 15), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_xts_encrypt", key, NULL, start, from, to, 16), ERROR_NULL),
        (
            call!(aes, "usuba_aes128_xts_decrypt", key, key, start, from, to, (16 << 20) + 1),
            ERROR_LENGTH,
        ),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, NULL, to, 1), ERROR_NULL),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, from, to, usize::MAX), ERROR_LENGTH),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, from, near, 2), ERROR_OVERLAP),
        (call!(aes, "usuba_aes128_encrypt_blocks", key, NULL, NULL, 0), 0),
        // 2^32 blocks of 64 bytes, and not one more.
        (
            call!(chacha, "usuba_chacha20_keystream", chacha_key, start, 64u64 << 32, to, 1),
            ERROR_COUNTER,
        ),
        (
            call!(
                chacha,
                "usuba_chacha20_keystream",
                chacha_key,
                start,
                (64u64 << 32) - 64,
                to,
                65
            ),
            ERROR_COUNTER,
        ),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at}");
    }
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
    let (from, to) = (buffer.as_ptr(), buffer[2048..].as_mut_ptr());
    assert_eq!(call!(aes, ctr, key, start, 0, from, to, 16), 0, "the last counter");
    let end = (64u64 << 32) - 64;
    assert_eq!(call!(chacha, "usuba_chacha20_keystream", chacha_key, start, end, to, 64), 0);
}
