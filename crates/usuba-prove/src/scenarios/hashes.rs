//! Hash functions of Merkle and Damgård and of sponges, HMAC and HKDF.

use usuba_bits::cell::Cell;
use usuba_ciphers::modes::HashFunction;
use usuba_ciphers::{Hash, HashMode};
use usuba_library::Description;

use super::run::{Room, Run, at, number};
use super::{FORGED, Scenarios};
use crate::unit::MOST_BLOCKS;

impl<'a> Scenarios<'a> {
    pub(super) fn hash(&mut self, primitive: &Description) {
        let name = &primitive.name;
        let mut hashes = self.ciphers.iter().flat_map(|cipher| &cipher.hashes);
        let Some(hash) = hashes.find(|hash| hash.name == *name) else { return };
        let Ok((_, applied)) = self.known.applied(&hash.chain, 0) else { return };
        let (chain, block) = (applied.sizes[2], applied.sizes[1] - applied.sizes[2]);
        self.messages(hash, chain, block);
        if hash.has_hmac(block) {
            self.codes(hash, block);
        }
        if hash.mode == HashMode::MerkleDamgard && hash.has_hmac(block) {
            self.keys(hash, block);
        }
    }

    /// One message, several, and one in pieces.
    fn messages(&mut self, hash: &'a Hash, chain: usize, block: usize) {
        let (name, output) = (&hash.name, hash.output);
        let whole = (0..=MOST_BLOCKS * block + block / 2).collect();
        self.add(
            [&format!("{name}_hash")],
            format!("out = {name}(in)"),
            vec![("length", whole)],
            move |run, [function], sizes| {
                let (text, out) = (run.text("in", sizes[0]), run.room("out", output));
                run.call(function, &[at(text), number(sizes[0]), at(out)])?;
                hashed(run, hash, &[text], out)
            },
        );
        let lengths = || vec![0, 1, block - 1, block, block + 1, 2 * block];
        let places = ["begin", "update", "final"].map(|part| format!("{name}_{part}"));
        self.add(
            places.each_ref().map(|name| &**name),
            format!("begin, update a, update b, final: out = {name}(a ++ b)"),
            vec![("a", lengths()), ("b", lengths())],
            move |run, [begin, update, last], sizes| {
                let state = run.state(begin)?;
                let [a, b] = [0, 1].map(|part| run.text("in", sizes[part]));
                let out = run.room("out", output);
                run.call(begin, &[at(state)])?;
                run.call(update, &[at(state), at(a), number(sizes[0])])?;
                run.call(update, &[at(state), at(b), number(sizes[1])])?;
                run.call(last, &[at(state), at(out)])?;
                hashed(run, hash, &[a, b], out)
            },
        );
        self.add(
            [&format!("{name}_blocks")],
            format!(
                "chain = {}(… {}(chain ++ first block) … ++ last block)",
                hash.chain, hash.chain
            ),
            vec![("nblocks", (0..=MOST_BLOCKS).collect())],
            move |run, [function], sizes| {
                let (value, text) = (run.text("chain", chain), run.text("in", sizes[0] * block));
                let (before, blocks) = (run.bytes(value), run.bytes(text));
                run.call(function, &[at(value), at(text), number(sizes[0])])?;
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let expected = mode.chained(&mut run.symbols(), before, &blocks)?;
                run.expect(value, &expected)
            },
        );
        let short = || vec![0, block - 1, block + 1];
        self.add(
            [&format!("{name}_hash_many")],
            format!("out[i] = {name}(in[i])"),
            vec![("count", vec![0, 1, 2, 3]), ("lengths[0]", short()), ("lengths[1]", short())],
            move |run, [function], sizes| {
                let lengths = [sizes[1], sizes[2], 3];
                let lengths = &lengths[..sizes[0]];
                let texts: Vec<Room> =
                    lengths.iter().map(|&length| run.text("message", length)).collect();
                let places = run.addresses("in", &texts);
                let numbers = run.lengths("lengths", lengths);
                let out = run.room("out", sizes[0] * output);
                run.call(function, &[at(places), at(numbers), number(sizes[0]), at(out)])?;
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let mut expected = Vec::new();
                for text in texts {
                    let text = run.bytes(text);
                    expected.extend(mode.hash(&mut run.symbols(), &text)?);
                }
                run.expect(out, &expected)
            },
        );
    }

    /// HMAC.
    fn codes(&mut self, hash: &'a Hash, block: usize) {
        let (name, output) = (&hash.name, hash.output);
        let lengths = || vec![0, 1, block - block / 8 - 1, block - block / 8, block, block + 1];
        let keys = || ("key_length", vec![0, 1, block - 1, block, block + 1]);
        self.add(
            [&format!("hmac_{name}_tag")],
            format!("tag = hmac-{name}(key, in)"),
            vec![keys(), ("length", lengths())],
            move |run, [function], sizes| {
                let (key, text) = (run.text("key", sizes[0]), run.text("in", sizes[1]));
                let tag = run.room("tag", output);
                let given = [at(key), number(sizes[0]), at(text), number(sizes[1]), at(tag)];
                run.call(function, &given)?;
                authenticated(run, hash, key, &[text], tag)
            },
        );
        let short = || vec![0, block + 1];
        let tags = || ("tag_length", vec![output / 2, output / 2 + 1, output]);
        self.add(
            [&format!("hmac_{name}_check")],
            format!("refused where tag differs from the first bytes of hmac-{name}(key, in)"),
            vec![("key_length", short()), ("length", short()), tags()],
            move |run, [function], sizes| {
                let (key, text) = (run.text("key", sizes[0]), run.text("in", sizes[1]));
                let tag = run.text("tag", sizes[2]);
                let differs = other_code(run, hash, key, text, tag)?;
                let given = [
                    at(key),
                    number(sizes[0]),
                    at(text),
                    number(sizes[1]),
                    at(tag),
                    number(sizes[2]),
                ];
                run.call_refused(function, &given, (differs, FORGED))
            },
        );
        let places = ["begin", "update", "verify"].map(|part| format!("hmac_{name}_{part}"));
        self.add(
            places.each_ref().map(|name| &**name),
            format!(
                "begin, update, verify: refused where tag differs from the first bytes of \
                 hmac-{name}(key, in)"
            ),
            vec![("key_length", short()), ("length", short()), tags()],
            move |run, [begin, update, last], sizes| {
                let (state, key) = (run.state(begin)?, run.text("key", sizes[0]));
                let (text, tag) = (run.text("in", sizes[1]), run.text("tag", sizes[2]));
                let differs = other_code(run, hash, key, text, tag)?;
                run.call(begin, &[at(state), at(key), number(sizes[0])])?;
                run.call(update, &[at(state), at(text), number(sizes[1])])?;
                let given = [at(state), at(tag), number(sizes[2])];
                run.call_refused(last, &given, (differs, FORGED))
            },
        );
        let pieces = || vec![0, 1, block - 1, block];
        let places = ["begin", "update", "final"].map(|part| format!("hmac_{name}_{part}"));
        self.add(
            places.each_ref().map(|name| &**name),
            format!("begin, update a, update b, final: tag = hmac-{name}(key, a ++ b)"),
            vec![keys(), ("a", pieces()), ("b", pieces())],
            move |run, [begin, update, last], sizes| {
                let (state, key) = (run.state(begin)?, run.text("key", sizes[0]));
                let [a, b] = [1, 2].map(|part| run.text("in", sizes[part]));
                let tag = run.room("tag", output);
                run.call(begin, &[at(state), at(key), number(sizes[0])])?;
                run.call(update, &[at(state), at(a), number(sizes[1])])?;
                run.call(update, &[at(state), at(b), number(sizes[2])])?;
                run.call(last, &[at(state), at(tag)])?;
                authenticated(run, hash, key, &[a, b], tag)
            },
        );
    }

    /// HKDF.
    fn keys(&mut self, hash: &'a Hash, block: usize) {
        let (name, output) = (&hash.name, hash.output);
        let salts = || ("salt_length", vec![0, 1, block, block + 1]);
        let secrets = || ("secret_length", vec![0, 1, output, block + 1]);
        let infos = || ("info_length", vec![0, 1, block - output - 1, block, 2 * block + 1]);
        let lengths = || ("length", vec![0, 1, output, output + 1, 3 * output]);
        let (extract, expand) = (format!("hkdf_{name}_extract"), format!("hkdf_{name}_expand"));
        self.add(
            [&extract],
            format!("key = hmac-{name}(salt, secret)"),
            vec![salts(), secrets()],
            move |run, [function], sizes| {
                let (salt, secret) = (run.text("salt", sizes[0]), run.text("secret", sizes[1]));
                let key = run.room("key", output);
                let given = [at(salt), number(sizes[0]), at(secret), number(sizes[1]), at(key)];
                run.call(function, &given)?;
                let (salt, secret) = (run.bytes(salt), run.bytes(secret));
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let expected = mode.extract(&mut run.symbols(), &salt, &secret)?;
                run.expect(key, &expected)
            },
        );
        self.add(
            [&expand],
            format!("out = hkdf-{name}-expand(key, info)"),
            vec![("key_length", vec![output, block + 1]), infos(), lengths()],
            move |run, [function], sizes| {
                let (key, info) = (run.text("key", sizes[0]), run.text("info", sizes[1]));
                let out = run.room("out", sizes[2]);
                let given = [
                    at(key),
                    number(sizes[0]),
                    at(info),
                    number(sizes[1]),
                    at(out),
                    number(sizes[2]),
                ];
                run.call(function, &given)?;
                let (key, info) = (run.bytes(key), run.bytes(info));
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let expected = mode.expand(&mut run.symbols(), &key, &info, sizes[2])?;
                run.expect(out, &expected)
            },
        );
        self.add(
            [&format!("hkdf_{name}_derive")],
            format!("out = hkdf-{name}-expand(hmac-{name}(salt, secret), info)"),
            vec![
                ("salt_length", vec![0, output]),
                ("secret_length", vec![output]),
                infos(),
                lengths(),
            ],
            move |run, [function], sizes| {
                let (salt, secret) = (run.text("salt", sizes[0]), run.text("secret", sizes[1]));
                let (info, out) = (run.text("info", sizes[2]), run.room("out", sizes[3]));
                let given = [
                    at(salt),
                    number(sizes[0]),
                    at(secret),
                    number(sizes[1]),
                    at(info),
                    number(sizes[2]),
                    at(out),
                    number(sizes[3]),
                ];
                run.call(function, &given)?;
                let [salt, secret, info] = [salt, secret, info].map(|room| run.bytes(room));
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let symbols = &mut run.symbols();
                let key = mode.extract(symbols, &salt, &secret)?;
                let expected = mode.expand(symbols, &key, &info, sizes[3])?;
                run.expect(out, &expected)
            },
        );
    }
}

/// Checks that a buffer has the hash of texts, one behind the other.
fn hashed(run: &mut Run, hash: &Hash, texts: &[Room], out: Room) -> Result<(), String> {
    let text = texts.iter().flat_map(|&text| run.bytes(text)).collect::<Vec<_>>();
    let mode = HashFunction::new(&run.symbols(), hash)?;
    let expected = mode.hash(&mut run.symbols(), &text)?;
    run.expect(out, &expected)
}

/// Whether a tag differs from the beginning of the HMAC of a text.
fn other_code(
    run: &mut Run,
    hash: &Hash,
    key: Room,
    text: Room,
    tag: Room,
) -> Result<Cell, String> {
    let [key, text, tag] = [key, text, tag].map(|room| run.bytes(room));
    let mode = HashFunction::new(&run.symbols(), hash)?;
    let code = mode.hmac(&mut run.symbols(), &key, &text)?;
    Ok(run.symbols().differ(&tag, &code[..tag.len()]))
}

/// Checks that a buffer has the HMAC of texts, one behind the other.
fn authenticated(
    run: &mut Run,
    hash: &Hash,
    key: Room,
    texts: &[Room],
    tag: Room,
) -> Result<(), String> {
    let text = texts.iter().flat_map(|&text| run.bytes(text)).collect::<Vec<_>>();
    let key = run.bytes(key);
    let mode = HashFunction::new(&run.symbols(), hash)?;
    let expected = mode.hmac(&mut run.symbols(), &key, &text)?;
    run.expect(tag, &expected)
}
