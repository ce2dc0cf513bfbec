//! The contract of a function over blocks: the bits of the program in its buffers.
//!
//! ```text
//! f(ctx, in, out, n)    ctx: words of `rk`, each in a C integer; or it is not read
//!                       in:  `plain` by the order "be", block after block
//!                       out: `cipher` by the order "be"
//! f(ctx, in, text, out, n)       the same, and `out` is the XOR with `text`
//! ```

use usuba::ir::{Port, Program};

use super::byte_order::{Order, Words};
use super::compare::Demands;
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::execution::{self, Run};
use usuba_equiv::value_numbering::Graph;

/// The first pointer of a function over blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyPointer {
    /// There is none: the first parameter is the input.
    Absent,
    /// It may point anywhere, and is not read.
    Unused,
    /// It points to the words of this parameter of the program, one after the other, each in the
    /// smallest C integer that holds it.
    Words(String),
}

/// The XOR of the results and of a text, which is a parameter before `out`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Xored {
    /// The number of blocks is a multiple of this one, which divides [`Interface::batch`].
    pub unit: u32,
    /// Whether `out` is the text; otherwise they do not overlap.
    pub in_place: bool,
}

/// A function over blocks: `symbol(key, in, out, n)`, or `symbol(key, in, text, out, n)`.
#[derive(Clone, Debug)]
pub struct Interface<'a> {
    pub symbol: String,
    /// The program of a block; each of several interleaved instances is one.
    pub program: &'a Program,
    /// The parameters that a block consists of, by name, in the order of their bytes.
    pub inputs: Vec<(String, Order)>,
    /// The order of the bytes of the only result.
    pub output: Order,
    pub key: KeyPointer,
    /// Blocks of a turn of the longest loop, or a multiple.
    pub batch: u32,
    /// Whether `out` is `in`; otherwise they do not overlap.
    pub in_place: bool,
    pub xored: Option<Xored>,
    pub demands: Demands,
}

/// The bits of the blocks and the key, and the bits of the results.
pub struct Meaning {
    pub input: Vec<Edge>,
    /// The results of the program.
    pub output: Vec<Edge>,
    /// The bits of the text; none without one.
    pub text: Vec<Edge>,
    /// Each word of the key in its C integer, from the least significant bit on; `None` is zero.
    pub key: Vec<Option<Edge>>,
    /// Bytes of an integer of the key.
    pub key_align: u64,
    /// Bits of all words of the key.
    pub key_bits: usize,
}

fn words(port: &Port) -> Words {
    let row = port.dims.last().map_or(1, |&size| size as usize);
    Words { count: port.words(), row, bits: port.word as usize }
}

/// The bits of parameters, as parameters of the DAG.
struct Params<'g> {
    graph: &'g mut Graph,
    count: u64,
}

impl Params<'_> {
    fn next(&mut self) -> Edge {
        self.count += 1;
        self.graph.intern(Kind::Param, 1, 0, self.count - 1, 0)
    }
}

impl Interface<'_> {
    /// Gives each bit of a block, of the key and of the text a parameter of the graph, in this order, and runs the program,
    /// which is on bits.
    ///
    /// # Errors
    /// The names differ from the program, or an order does not fit its words.
    pub fn meaning(&self, program: &Program, run: &mut Run) -> Result<Meaning, String> {
        let mut params = Params { graph: &mut run.graph, count: 0 };
        let bits: usize = self.input_bits()?.into_iter().sum();
        let input: Vec<Edge> = (0..bits).map(|_| params.next()).collect();
        let (mut key, mut key_align, mut words_of_key) = (Vec::new(), 1, Vec::new());
        if let KeyPointer::Words(name) = &self.key {
            let words = words(self.port(name)?);
            words_of_key = (0..words.count * words.bits).map(|_| params.next()).collect();
            let size = words.bits.next_power_of_two().max(8);
            for word in words_of_key.chunks(words.bits) {
                let bits = word.iter().rev().map(|&edge| Some(edge));
                key.extend(bits.chain(std::iter::repeat(None)).take(size));
            }
            key_align = size as u64 / 8;
        }
        let mut text_bits = Vec::new();
        if self.xored.is_some() {
            let results = self.program.results();
            let [result] = results[..] else { return Err("there is not one result".into()) };
            let places = self.output.bits(words(&result[0]));
            let places = places.ok_or_else(|| no_order(&result[0].name))?;
            text_bits = places.iter().map(|_| params.next()).collect();
        }
        let output = self.output_of(program, run, &input, &words_of_key)?;
        let key_bits = words_of_key.len();
        Ok(Meaning { input, output, text: text_bits, key, key_align, key_bits })
    }

    /// Bits of each input.
    ///
    /// # Errors
    /// As [`Interface::meaning`].
    pub fn input_bits(&self) -> Result<Vec<usize>, String> {
        let bits = |(name, order): &(String, Order)| {
            let places = order.bits(words(self.port(name)?)).ok_or_else(|| no_order(name))?;
            Ok(places.len())
        };
        self.inputs.iter().map(bits).collect()
    }

    /// A parameter of the program, in one of its copies.
    fn port(&self, name: &str) -> Result<&Port, String> {
        let groups = self.program.params();
        let found = groups.iter().find(|group| group[0].name == name);
        found.map(|group| &group[0]).ok_or_else(|| format!("the program has no parameter `{name}`"))
    }

    /// The bits of a result in memory, for the bits of a block and for the words of the key, the
    /// most significant bit of each first. `program` is the program on bits.
    ///
    /// # Errors
    /// As [`Interface::meaning`].
    pub fn output_of(
        &self,
        program: &Program,
        run: &mut Run,
        input: &[Edge],
        key: &[Edge],
    ) -> Result<Vec<Edge>, String> {
        let entry = program.entry;
        let program = self.program;
        let zero = run.graph.constant(1, 0);
        let (mut rest, mut of_ports) = (input, Vec::new());
        for (name, order) in &self.inputs {
            let words = words(self.port(name)?);
            let places = order.bits(words).ok_or_else(|| no_order(name))?;
            let mut edges = vec![zero; words.count * words.bits];
            let (own, behind) = rest.split_at(places.len());
            rest = behind;
            for (place, &edge) in places.into_iter().zip(own) {
                if let Some(at) = place {
                    edges[at] = edge;
                }
            }
            of_ports.push((name, edges));
        }
        if let KeyPointer::Words(name) = &self.key {
            of_ports.push((name, key.to_vec()));
        }
        let mut all = Vec::new();
        for group in &program.params() {
            let name = &group[0].name;
            let edges = of_ports.iter().find(|(known, _)| *known == name);
            let (_, edges) = edges.ok_or_else(|| format!("nobody gives `{name}`"))?;
            for _ in *group {
                all.extend_from_slice(edges);
            }
        }
        let outs = run.node(execution::Side::Before, entry, &all);
        let outs = outs.map_err(|stop| stop.to_string())?;
        let results = program.results();
        let [result] = results[..] else { return Err("there is not one result".into()) };
        let words = words(&result[0]);
        let size = words.count * words.bits;
        // All instances have equal inputs, so all of them have equal results.
        if outs.len() != size * result.len() || outs.chunks(size).any(|copy| copy != &outs[..size])
        {
            return Err("the copies of the program could not be shown equal".into());
        }
        let places = self.output.bits(words).ok_or_else(|| no_order(&result[0].name))?;
        Ok(places.into_iter().map(|place| place.map_or(zero, |at| outs[at])).collect())
    }
}

fn no_order(name: &str) -> String {
    format!("the words of `{name}` do not have that order of bytes")
}
