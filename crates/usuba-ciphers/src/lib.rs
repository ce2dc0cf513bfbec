//! Cipher folders: the schema of `cipher.toml`, test vectors, and the C of a function.
//!
//! Each folder of `ciphers/` that has a `cipher.toml` is one primitive; nothing lists them.
//!
//! - `choice`: parts of a folder.
//! - `fields`: the syntax of names and paths.
//! - `files`: files on disk and files that the program contains.
//! - `library`: the built-in ciphers, and the folders that go before them.
//! - `vectors`: files of test vectors.
//! - `hash`: hash functions, and the function that they apply to its own results.
//! - `scheme`: hand-written C around arithmetic, and authenticated encryption.
//! - `sign`: signatures from hash functions.
//! - `modes`: specifications of modes over strings of bytes; `sealed`: of authenticated encryption,
//!   `curve`: of signatures and products of points.
//! - `known`: known-answer tests under the reference semantics; `composed`: of hash functions and
//!   keystreams, `sponge` among them.
//! - `wrong`: the error for a wrong answer; `readings`: byte orders that would make it right.

mod choice;
mod composed;
pub mod curve;
mod duplex;
mod fields;
pub mod files;
mod hash;
mod known;
mod library;
pub mod loader;
mod mac;
pub mod modes;
mod readings;
mod scheme;
mod seal;
pub mod sealed;
mod sign;
mod sponge;
mod values;
pub mod vectors;
mod wrong;
pub mod xts;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use usuba::emit::bytes::ByteLayout;
use usuba::ir::Slicing;
use usuba::isa::Target;

pub use choice::Need;
pub use composed::Tested;
pub use fields::{folder_name, place, toml};
pub use hash::{Hash, HashMode};
pub use library::Library;
pub use loader::Beside;
pub use mac::{Mac, MacMode};
pub use scheme::{Arithmetic, Lanes, Scheme};
pub use seal::{Duplex, KeyedHash, Seal, SealMode};
pub use sign::{Hashes, Sign, SignMode};
pub use vectors::{HashVector, SealVector, SignVector, Signed, Vector, to_hex};

/// A folder with its functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cipher {
    pub folder: PathBuf,
    pub title: String,
    /// The source of the specification.
    pub spec: String,
    pub functions: Vec<Function>,
    pub streams: Vec<Stream>,
    pub hashes: Vec<Hash>,
    pub arithmetic: Vec<Arithmetic>,
    /// On many operations at once.
    pub lanes: Option<Lanes>,
    /// On one operation, in slicing W: `[lanes]` has four numbers of four operations in a register of
    /// 256 bits, this has four of one.
    pub across: Option<Lanes>,
    pub macs: Vec<Mac>,
    pub seals: Vec<Seal>,
    pub signs: Vec<Sign>,
    /// The hand-written C that makes functions of it.
    pub scheme: Option<Scheme>,
    /// Neighbouring folders whose functions that C calls.
    pub needs: Vec<Need>,
    /// Whether messages in segments and batches are left out, as in NaCl; a file does not say it.
    pub minimal: bool,
}

/// A keystream that two functions make together.
///
/// If `then` has a key and a counter, `first` makes that key from the user's key and the beginning
/// of the nonce, and the rest of the nonce is the end of the nonce of `then`, with zeros before it.
/// If `then` has no key, `first` makes a state from key and nonce, and `then` makes from a state
/// the next one and behind it a part of the keystream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The C name.
    pub name: String,
    /// Names of functions of this folder.
    pub first: String,
    pub then: String,
    /// Bytes of the nonce.
    pub nonce: usize,
    /// The file of test vectors, in the folder: `in` is the nonce, `out` begins the keystream.
    pub vectors: String,
}

/// A function of the byte interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The C name, and the name in the vectors.
    pub name: String,
    /// The file of the node, in the folder.
    pub source: String,
    /// The entry node.
    pub node: String,
    /// A node that computes the same in less code.
    pub small: Option<String>,
    /// Instances of the node in a kernel, where measurements know better than the model.
    pub interleave: Option<u32>,
    pub slicings: Vec<Slicing>,
    /// The names of the targets that it is made for; see [`Function::is_for`].
    pub targets: Vec<String>,
    /// The parts of a block, in the order of its bytes; at least one.
    pub inputs: Vec<Parameter>,
    pub output: Parameter,
    pub key: Option<Key>,
    /// The position of the block number in the input, if the output is a keystream.
    pub counter: Option<Counter>,
    /// The position of the tweak of a tweakable block cipher in the input, and its way of counting.
    pub tweak: Option<Counter>,
    /// The file of the test vectors, in the folder.
    pub vectors: String,
    pub direction: Direction,
}

/// The bytes of an input that count the blocks of a keystream; the others are the nonce, or the
/// block of a cipher whose tweak counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The first byte.
    pub at: usize,
    pub bytes: usize,
    pub order: Order,
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Order {
    #[serde(rename = "le")]
    Little,
    #[serde(rename = "be")]
    Big,
}

/// A parameter or result of the node and how it lies in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub param: String,
    #[serde(deserialize_with = "values::layout")]
    pub bytes: ByteLayout,
}

/// The key parameter, and the node that computes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    pub param: String,
    pub bytes: ByteLayout,
    /// File and node of the schedule.
    pub schedule: Option<(String, String)>,
    /// The way from the bits of the key schedule to the parameter, if not word by word.
    pub through: Option<ByteLayout>,
}

/// The way to read the vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Encrypt,
    /// `out` and the end of `in` that has its length change places; the bytes before it (a tweak)
    /// stay.
    Decrypt,
    Permute,
}

/// `cipher.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    spec: String,
    /// Nothing without functions.
    #[serde(default)]
    source: String,
    #[serde(default)]
    function: Vec<FileFunction>,
    #[serde(default)]
    stream: Vec<FileStream>,
    #[serde(default)]
    hash: Vec<Hash>,
    #[serde(default)]
    arithmetic: Vec<Arithmetic>,
    lanes: Option<Lanes>,
    across: Option<Lanes>,
    #[serde(default)]
    mac: Vec<Mac>,
    #[serde(default)]
    seal: Vec<Seal>,
    #[serde(default)]
    sign: Vec<Sign>,
    scheme: Option<Scheme>,
    #[serde(default)]
    needs: Vec<Need>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStream {
    name: String,
    first: String,
    then: String,
    nonce: usize,
    vectors: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFunction {
    name: String,
    source: Option<String>,
    node: String,
    small: Option<String>,
    #[serde(default, deserialize_with = "values::instances")]
    interleave: Option<u32>,
    #[serde(deserialize_with = "values::slicings")]
    slicings: Vec<Slicing>,
    #[serde(default, deserialize_with = "values::targets")]
    targets: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    input: Vec<Parameter>,
    output: Parameter,
    key: Option<FileKey>,
    counter: Option<Counter>,
    tweak: Option<Counter>,
    vectors: String,
    direction: Direction,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileKey {
    param: String,
    #[serde(deserialize_with = "values::layout")]
    bytes: ByteLayout,
    schedule: Option<String>,
    #[serde(default, deserialize_with = "values::some_layout")]
    through: Option<ByteLayout>,
}

/// One parameter, or a list of them.
fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Parameter>, D::Error> {
    struct OneOrMore;
    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<Parameter>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a parameter `{ param = …, bytes = … }` or a list of them")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Parameter::deserialize(MapAccessDeserializer::new(map)).map(|one| vec![one])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    from.deserialize_any(OneOrMore)
}

/// All cipher folders under `root`, by name.
///
/// # Errors
/// A folder cannot be read, or a `cipher.toml` is malformed; the message names it.
pub fn find(root: &Path) -> Result<Vec<Cipher>, String> {
    let fail = |error: std::io::Error| format!("cannot read {}: {error}", root.display());
    let mut folders = files::entries(root).map_err(fail)?;
    folders.retain(|folder| is_cipher(folder));
    folders.iter().map(|folder| read(folder)).collect()
}

/// Whether a folder describes a cipher.
pub fn is_cipher(folder: &Path) -> bool {
    files::is_file(&folder.join("cipher.toml"))
}

/// The cipher of one folder.
///
/// # Errors
/// `cipher.toml` is missing or malformed; the message names it.
pub fn read(folder: &Path) -> Result<Cipher, String> {
    let path = folder.join("cipher.toml");
    let text = files::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&path, &text)
}

/// The cipher that `text`, the content of the `cipher.toml` at `path`, describes.
///
/// # Errors
/// The text is malformed; the message names the place.
pub fn parse(path: &Path, text: &str) -> Result<Cipher, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let file: File = fields::checked(path, text)?;
    // Functions of one name are one function, compiled in several ways.
    let mut names: BTreeMap<&str, Option<(&str, Direction)>> = BTreeMap::new();
    let functions = file.function.iter().map(|f| (&f.name, Some((&*f.vectors, f.direction))));
    let streams = file.stream.iter().map(|s| (&s.name, None));
    let others = file.hash.iter().map(|h| &h.name).chain(file.seal.iter().map(|s| &s.name));
    let others = others.chain(file.sign.iter().map(|s| &s.name));
    let others = others.chain(file.mac.iter().map(|m| &m.name));
    for (name, meaning) in functions.chain(streams).chain(others.map(|name| (name, None))) {
        let other = names.insert(name, meaning);
        if other.is_some_and(|other| other.is_none() || other != meaning) {
            return Err(wrong(format!(
                "two tables with different vectors are named `{name}`; help: rename one of them"
            )));
        }
    }
    let functions: Vec<Function> =
        file.function.into_iter().map(|f| function(f, &file.source)).collect();
    let streams = file.stream.into_iter().map(|s| stream(s, &functions).map_err(wrong));
    let streams = streams.collect::<Result<_, _>>()?;
    for Hash { name, chain, .. } in &file.hash {
        hash::chained(&functions, chain)
            .map_err(|error| wrong(format!("hash `{name}` names {error}")))?;
    }
    for seal in &file.seal {
        seal.check(&functions).map_err(wrong)?;
    }
    for sign in &file.sign {
        let is_needed = |function: &str| file.needs.iter().any(|need| need.has(function));
        sign.check(&functions, is_needed).map_err(wrong)?;
    }
    let is_composed = !(file.seal.is_empty() && file.mac.is_empty());
    if functions.is_empty() && file.arithmetic.is_empty() && !is_composed {
        return Err(wrong("there is neither a function nor arithmetic in it".to_string()));
    }
    let lists = file.arithmetic.iter().map(|a| (&a.name, a.unknown()));
    let wide = file.lanes.iter().chain(&file.across).map(|lanes| (&lanes.name, lanes.unknown()));
    for (name, unknown) in lists.chain(wide) {
        if let Some((list, node)) = unknown {
            return Err(wrong(format!(
                "`{list}` of `{name}` has `{node}`, which is not in `nodes`"
            )));
        }
    }
    if file.scheme.is_some() == file.arithmetic.is_empty() {
        return Err(wrong("`scheme` and arithmetic need each other".to_string()));
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let (title, spec) = (file.title, file.spec);
    let (hashes, arithmetic) = (file.hash, file.arithmetic);
    let (scheme, needs) = (file.scheme, file.needs);
    let (lanes, across, seals, signs) = (file.lanes, file.across, file.seal, file.sign);
    Ok(Cipher {
        folder,
        title,
        spec,
        functions,
        streams,
        hashes,
        arithmetic,
        lanes,
        across,
        macs: file.mac,
        seals,
        signs,
        scheme,
        needs,
        minimal: false,
    })
}

/// `ciphers`, and before each of them the folders that it needs and that are missing: the needed
/// functions of them.
///
/// # Errors
/// As [`read`], and a folder does not have a needed function.
pub fn with_needs(ciphers: &[Cipher]) -> Result<Vec<Cipher>, String> {
    let mut all: Vec<Cipher> = Vec::new();
    let mut parts: BTreeMap<PathBuf, Option<Vec<String>>> = BTreeMap::new();
    add_needs(ciphers, &mut all, &mut parts)?;
    let part = |cipher: Cipher| match parts.get(&cipher.folder) {
        Some(Some(functions)) => cipher.only(functions),
        _ => Ok(cipher),
    };
    all.into_iter().map(part).collect()
}

/// Adds `ciphers` and their needs to `all`, and to `parts` the functions of each folder that is
/// there because of needs; `None` for all functions.
fn add_needs(
    ciphers: &[Cipher],
    all: &mut Vec<Cipher>,
    parts: &mut BTreeMap<PathBuf, Option<Vec<String>>>,
) -> Result<(), String> {
    for cipher in ciphers {
        for Need { folder, function } in &cipher.needs {
            let beside = cipher.folder.with_file_name(folder);
            // A copy of a built-in folder stands alone.
            let folder = if is_cipher(&beside) { beside } else { files::ciphers().join(folder) };
            let named = |other: &Cipher| other.folder.file_name() == folder.file_name();
            if ciphers.iter().any(named) {
                continue;
            }
            if !all.iter().any(named) {
                add_needs(&[read(&folder)?], all, parts)?;
                parts.insert(folder.clone(), Some(Vec::new()));
            }
            match (parts.get_mut(&folder), function) {
                (Some(Some(functions)), Some(function)) => functions.push(function.clone()),
                (Some(known), None) => *known = None,
                _ => {}
            }
        }
        all.push(cipher.clone());
    }
    Ok(())
}

fn stream(file: FileStream, functions: &[Function]) -> Result<Stream, String> {
    let FileStream { name, first, then, nonce, vectors } = file;
    let find = |wanted: &String| {
        let function = functions.iter().find(|function| function.name == *wanted);
        function.ok_or_else(|| format!("stream `{name}` names `{wanted}`, which is no function"))
    };
    let (begins, goes_on) = (find(&first)?, find(&then)?);
    if begins.key.is_none() {
        return Err(format!("stream `{name}` begins with `{first}`, which has no key"));
    }
    if goes_on.key.is_some() && goes_on.counter.is_none() {
        return Err(format!("stream `{name}` goes on with `{then}`, which has no counter"));
    }
    Ok(Stream { name, first, then, nonce, vectors })
}

fn function(file: FileFunction, source: &str) -> Function {
    let source = file.source.unwrap_or_else(|| source.to_string());
    let key = file.key.map(|FileKey { param, bytes, schedule, through }| {
        let schedule = schedule.map(|node| match node.split_once(':') {
            Some((file, node)) => (file.to_string(), node.to_string()),
            None => (source.clone(), node),
        });
        Key { param, bytes, schedule, through }
    });
    Function {
        slicings: file.slicings,
        targets: file.targets,
        inputs: file.input,
        output: file.output,
        key,
        counter: file.counter,
        tweak: file.tweak,
        name: file.name,
        source,
        node: file.node,
        small: file.small,
        interleave: file.interleave,
        vectors: file.vectors,
        direction: file.direction,
    }
}

impl Function {
    /// The slicings in which it is made for a target. Where registers have no lanes, W is V, and is
    /// not made once more.
    pub fn slicings_on(&self, target: &Target) -> impl Iterator<Item = Slicing> + '_ {
        let lanes = target.simd;
        let twice = move |slicing: &Slicing| {
            *slicing == Slicing::W && !lanes && self.slicings.contains(&Slicing::V)
        };
        self.slicings.iter().copied().filter(move |slicing| !twice(slicing))
    }

    /// Whether it is made for a target: for a target that it names, or, if it names none, for any
    /// target without a base, whose instructions are enough for most programs.
    pub fn is_for(&self, target: &Target) -> bool {
        match self.targets.is_empty() {
            true => target.base.is_none(),
            false => self.targets.iter().any(|name| name == target.name),
        }
    }
}

impl Cipher {
    /// The names of functions, with and without their direction, and of everything that is made of
    /// them.
    fn names(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.iter().flat_map(|f| [&*f.name, f.stem()]);
        let streams = self.streams.iter().map(|stream| &*stream.name);
        let hashes = self.hashes.iter().map(|hash| &*hash.name);
        let seals = self.seals.iter().map(|seal| &*seal.name);
        let signs = self.signs.iter().map(|sign| &*sign.name);
        let macs = self.macs.iter().map(|mac| &*mac.name);
        functions.chain(streams).chain(hashes).chain(macs).chain(seals).chain(signs)
    }

    /// The names of everything that `usubac test` reports, in the order of the description.
    pub fn tested(&self) -> impl Iterator<Item = &str> {
        let functions = self.functions.iter().map(|function| &*function.name);
        let streams = self.streams.iter().map(|stream| &*stream.name);
        let hashes = self.hashes.iter().map(|hash| &*hash.name);
        let seals = self.seals.iter().map(|seal| &*seal.name);
        let arithmetic = self.arithmetic.iter().map(|arithmetic| &*arithmetic.name);
        let macs = self.macs.iter().map(|mac| &*mac.name);
        functions.chain(streams).chain(hashes).chain(macs).chain(seals).chain(arithmetic)
    }

    /// The first function of this name, with or without its direction.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name || f.stem() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The first function of a description with this `input`.
    fn inputs(input: &str) -> Result<Vec<Parameter>, String> {
        let text = format!(
            "title = \"t\"\nspec = \"s\"\nsource = \"f.ua\"\n[[function]]\nname = \"f\"\nnode = \"f\"\n\
             slicings = [\"V\"]\n{input}output = {{ param = \"y\", bytes = \"be\" }}\n\
             vectors = \"v\"\ndirection = \"permute\"\n"
        );
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::write(folder.path().join("cipher.toml"), text).expect("a file can be written");
        read(folder.path()).map(|cipher| cipher.functions[0].inputs.clone())
    }

    #[test]
    fn an_input_is_one_parameter_or_several() {
        let parameter = |name: &str, bytes| Parameter { param: name.into(), bytes };
        let (x, t) = (parameter("x", ByteLayout::Be), parameter("t", ByteLayout::Le));
        let one = inputs("input = { param = \"x\", bytes = \"be\" }\n");
        assert_eq!(one, Ok(vec![x.clone()]));
        let table = "{ param = \"t\", bytes = \"le\" }, { param = \"x\", bytes = \"be\" }";
        assert_eq!(inputs(&format!("input = [{table}]\n")), Ok(vec![t, x]));
    }

    #[test]
    fn a_wrong_input_is_refused_in_one_sentence() {
        let message = |text: &str| inputs(text).expect_err("it is malformed");
        assert!(
            message("input = []\n")
                .contains(":8:9: `input` is an empty list, expected at least one")
        );
        let wanted = "expected a parameter `{ param = …, bytes = … }` or a list of them";
        assert!(message("input = 7\n").contains(wanted), "{}", message("input = 7\n"));
        assert!(message("input = [{ param = \"x\" }]\n").contains("missing field `bytes`"));
        let unknown = "input = [{ param = \"x\", bytes = \"middle\" }]\n";
        let found = "found byte layout `middle`, expected one of `be`, `le`, `planes`, `le-bits`";
        assert!(message(unknown).ends_with(found));
    }

    #[test]
    fn a_node_that_is_seldom_called_must_be_one_of_the_list() {
        let folder = tempfile::tempdir().expect("a folder");
        let curve = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/curve25519");
        let text = files::read_to_string(&curve.join("cipher.toml")).expect("cipher.toml");
        let wrong = text.replacen("seldom = [\"lift\"]", "seldom = [\"lifts\"]", 1);
        assert_ne!(text, wrong);
        fs::write(folder.path().join("cipher.toml"), wrong).expect("a file");
        let message = read(folder.path()).expect_err("there is no such node");
        assert!(
            message.ends_with("`seldom` of `ge` has `lifts`, which is not in `nodes`"),
            "{message}"
        );
    }
}
