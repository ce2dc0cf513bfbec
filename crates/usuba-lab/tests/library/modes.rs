//! What modes of operation should answer, as their standards define them, block by block.

use usuba_lab::cipher;
use usuba_lab::dist::{Description, Kind};

use super::subject::{BLOCKS, Noise, Subject, apply, call, lengths, model};

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The answers of the modes of a primitive, from `reference.rs`.
pub struct Modes<'a> {
    primitive: &'a Description,
    /// The counter or the nonce, and the key stream behind it.
    start: Vec<u8>,
    stream: Vec<u8>,
    /// Nonces of running key streams, and the beginnings of these.
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
            stream: Vec::new(),
            side: Vec::new(),
            cbc: None,
            xts: None,
        };
        match primitive.kind {
            Kind::Stream(counter) => {
                modes.start = noise.bytes(primitive.nonce);
                let block = |input: &[u8]| encrypt(key, input);
                modes.stream = numbered(&modes.start, counter, &vec![0; counter.bytes], block);
            }
            Kind::Tweakable { tweak, .. } => {
                // The tweak stands behind the nonce here.
                let nonce = noise.bytes(primitive.nonce);
                let mut first = noise.bytes(tweak.bytes);
                let low = match tweak.order {
                    cipher::Order::Little => ..tweak.bytes / 2,
                    cipher::Order::Big => ..0,
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
                // The low half passes its end on the way, and the whole does not.
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

    /// Key streams with a state: one in parts, in two ways, and many side by side.
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

/// The key stream of [`BLOCKS`] numbered blocks: `first`, which counts, stands in the nonce.
fn numbered(
    nonce: &[u8],
    counter: cipher::Counter,
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
            cipher::Order::Little => bytes.iter_mut().for_each(&mut add),
            cipher::Order::Big => bytes.iter_mut().rev().for_each(&mut add),
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
