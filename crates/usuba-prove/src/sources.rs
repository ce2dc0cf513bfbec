//! Sources of one function: a proof that they compute the same function of a key and a block.
//!
//! ```text
//! aes.ua          key ─ schedule128 ──────────── encrypt128 ─ out       the reference semantics on
//! aes_rounds.ua   key ─ inverse_schedule128 ──── decrypt128 ─ out       bits, with its key schedule
//! ```
//!
//! A backend may take another source of a function than the other backends. The rows of a file prove
//! that each function over blocks computes its source. Where the sources are equal, an exported
//! function computes one function on every processor.
//!
//! *Soundness:* both programs are the reference semantics of typed sources, which the proof of each
//! unit ends at. Orders of bytes come from the contracts of the
//! units.
//!
//! *Limits:* the budget of the engines of `usuba-equiv`; beyond it the sources remain two unknown
//! functions.

use usuba::ir::build::Builder;
use usuba::ir::{Eqn, Node, NodeId, Port, Program, Slicing, Val};
use usuba::typed::check;
use usuba_ciphers::Function;
use usuba_equiv::bitblast;
use usuba_equiv::source::Source;
use usuba_library::{Unit, UnitKind};
use usuba_object::byte_order::{Order, Words};

use crate::byte_interface::order;
use crate::key_setup::{self, words};

/// Whether two sources compute the same function: on words, where both have words of the same sizes
/// and no key, and else on bits.
pub fn are_equal(one: &Circuit, other: &Circuit) -> bool {
    let words = [one, other].map(Circuit::on_words);
    let programs = match &words {
        [Some((ports, one)), Some((others, other))] if ports == others => {
            Ok([one.clone(), other.clone()])
        }
        _ => one.on_bits().and_then(|one| Ok([one, other.on_bits()?])),
    };
    programs.is_ok_and(|[one, other]| usuba_equiv::equivalent_apart(&one, &other).is_proved())
}

/// A source of a function over blocks.
#[derive(Clone, Copy)]
pub struct Circuit<'u> {
    pub unit: &'u Unit,
    pub function: &'u Function,
    /// The key schedule.
    pub schedule: Option<&'u Unit>,
}

impl Circuit<'_> {
    /// The function on words, and its ports in the order of its bytes; `None` if it has a key, or is a
    /// program on bits.
    fn on_words(&self) -> Option<(Ports, Program)> {
        let Circuit { unit, function, schedule: None } = *self else { return None };
        let mut program = meaning(unit).ok().filter(|program| program.slicing == Slicing::V)?;
        let node = program.entry().clone();
        let [result] = &node.results[..] else { return None };
        let mut build = Builder::new("function", Slicing::V);
        let (mut ports, mut inputs) = (Ports::new(), Vec::new());
        let mut port = |port: &Port, layout| {
            let order = order(layout);
            // Rows matter in planes only.
            let row = if order == Order::Planes { words(port).row } else { 1 };
            ports.push((port.name.clone(), Words { row, ..words(port) }, order));
            Port::new(&port.name, port.word, &[port.words() as u32])
        };
        for input in &function.inputs {
            let param = node.params.iter().find(|port| port.name == input.param)?;
            inputs.push((&input.param, build.param(port(param, input.bytes))));
        }
        let of_param = |port: &Port| {
            let input = inputs.iter().find(|(name, _)| **name == port.name);
            input.map(|(_, values)| values.clone())
        };
        let arguments = node.params.iter().map(of_param).collect::<Option<Vec<_>>>()?.concat();
        let found = build.call(program.entry, &node, &arguments);
        let main = build.finish(vec![(port(result, function.output.bytes), found)]);
        program.nodes.push(main);
        program.entry = NodeId(program.nodes.len() as u32 - 1);
        Some((ports, program))
    }

    /// The function as a program of bits: from the bits of the bytes of a key and of the inputs to
    /// the bits of the bytes of the output, each from the lowest one of the first byte.
    ///
    /// # Errors
    /// The program has no semantics on bits, or its ports are others than the function has; the
    /// message says which.
    fn on_bits(&self) -> Result<Program, String> {
        let Circuit { unit, function, schedule } = *self;
        let mut nodes = Nodes { all: Vec::new() };
        let main = bits_of(meaning(unit)?)?;
        let node = main.entry().clone();
        let schedule = match schedule {
            Some(unit) => {
                let UnitKind::Schedule { bytes, .. } = unit.kind else {
                    return Err(format!("`{}` is no key schedule", unit.symbol));
                };
                let program = bits_of(meaning(unit)?)?;
                let node = program.entry().clone();
                Some((nodes.add(program, "schedule_"), node, bytes))
            }
            None => None,
        };
        let main = nodes.add(main, "");
        let mut build = Builder::new("function", Slicing::B);
        let bits = |name: &str, bytes: usize| Port::new(name, 1, &[8 * bytes as u32]);
        // Parameters come before calls: the key, then the inputs.
        let port = |name: &str| {
            let ports = node.params.iter();
            ports
                .clone()
                .find(|port| port.name == name)
                .ok_or_else(|| format!("no parameter `{name}`"))
        };
        let key = function.key.as_ref();
        if key.is_some_and(|key| key.schedule.is_some()) != schedule.is_some() {
            return Err("the key schedule is no unit of its own".into());
        }
        let held = match (key, &schedule) {
            (Some(_), Some((_, node, bytes))) => {
                let [param] = &node.params[..] else { return Err("a schedule has one key".into()) };
                Some((words(param), *bytes))
            }
            (Some(key), None) => Some((words(port(&key.param)?), key.bytes)),
            (None, _) => None,
        };
        let key_bits = held.map(|(words, _)| build.param(bits("key", words.bytes())));
        let mut inputs = Vec::new();
        for input in &function.inputs {
            let words = words(port(&input.param)?);
            let found = build.param(bits(&input.param, words.bytes()));
            inputs.push((input.param.clone(), from_bytes(&found, words, input.bytes)?));
        }
        if let (Some(key), Some((words, bytes)), Some(found)) = (key, held, key_bits) {
            let mut found = from_bytes(&found, words, bytes)?;
            if let Some((schedule, node, _)) = schedule {
                let made = build.call(schedule, &node, &found);
                let places = key_setup::made_bits(port(&key.param)?, key.through)?;
                let place =
                    |&at: &usize| made.get(at).copied().ok_or("the schedule makes too few bits");
                found = places.iter().map(place).collect::<Result<_, _>>()?;
            }
            inputs.push((key.param.clone(), found));
        }
        let mut arguments = Vec::new();
        for port in &node.params {
            let input = inputs.iter().find(|(name, _)| *name == port.name);
            let (_, bits) = input.ok_or_else(|| format!("`{}` has no value", port.name))?;
            arguments.extend_from_slice(bits);
        }
        let result = build.call(main, &node, &arguments);
        let [port] = &node.results[..] else { return Err("a function has one output".into()) };
        let places = order(function.output.bytes).bits(words(port));
        let places = places.ok_or("the output has no such order of bytes")?;
        let zero = places.contains(&None).then(|| build.constant(1, 0));
        let out: Option<Vec<Val>> = places
            .into_iter()
            .map(|place| place.map_or(zero, |at| result.get(at).copied()))
            .collect();
        let out = out.ok_or("the output has too few bits")?;
        let node = build.finish(vec![(bits("out", out.len() / 8), out)]);
        nodes.all.push(node);
        let entry = NodeId(nodes.all.len() as u32 - 1);
        Ok(Program::new(nodes.all, entry, Slicing::B))
    }
}

/// Ports of words: their names, numbers and sizes, and their order in bytes.
type Ports = Vec<(String, Words, Order)>;

/// Nodes of several programs.
struct Nodes {
    all: Vec<Node>,
}

impl Nodes {
    /// Adds the nodes of a program, and returns its entry.
    fn add(&mut self, program: Program, prefix: &str) -> NodeId {
        fn renumber(body: &mut [Eqn], first: u32) {
            for eqn in body {
                match eqn {
                    Eqn::Op(_) => {}
                    Eqn::Call(call) => call.node.0 += first,
                    Eqn::Loop(turns) => renumber(&mut turns.body, first),
                }
            }
        }
        let first = self.all.len() as u32;
        for mut node in program.nodes {
            node.name.insert_str(0, prefix);
            // Nodes on words of any size may be one function of bits.
            for port in node.params.iter_mut().chain(&mut node.results) {
                *port = Port::new(&port.name, 1, &[port.values(Slicing::B) as u32]);
            }
            renumber(&mut node.body, first);
            self.all.push(node);
        }
        NodeId(first + program.entry.0)
    }
}

/// The reference semantics of a unit.
fn meaning(unit: &Unit) -> Result<Program, String> {
    let (output, options) = (unit.compile()?, &unit.task.options);
    let typed = &output.checked.program;
    let slicing = check::slicing(typed, options.slicing).map_err(|finding| finding.message)?;
    let instance = check::entry_instance(typed, slicing, options.word);
    let instance = instance.map_err(|finding| finding.message)?;
    Ok(Source::new(typed, &instance, slicing)?.program)
}

fn bits_of(program: Program) -> Result<Program, String> {
    match program.slicing {
        Slicing::B => Ok(program),
        _ => bitblast::apart(&program).ok_or_else(|| "it is too long on bits".into()),
    }
}

/// The bits of words in the bits of bytes.
fn from_bytes(
    found: &[Val],
    words: Words,
    bytes: usuba::emit::bytes::ByteLayout,
) -> Result<Vec<Val>, String> {
    let no_order = || "words do not have that order of bytes".to_string();
    let places = order(bytes).bits(words).ok_or_else(no_order)?;
    let mut bits = vec![None; words.count * words.bits];
    for (&value, place) in found.iter().zip(places) {
        bits[place.ok_or_else(no_order)?] = Some(value);
    }
    bits.into_iter().collect::<Option<_>>().ok_or_else(no_order)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use usuba::isa;
    use usuba_library::Request;

    use super::*;
    use crate::scenarios::Known;

    /// The units of a cipher for two targets.
    fn units(name: &str) -> Vec<Unit> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(name);
        let cipher = usuba_ciphers::read(&folder).expect("the folder is there");
        let targets = ["gp64", "avx2_gfni"].map(|name| isa::find(name).expect("a target"));
        let (targets, version) = (targets.to_vec(), "0.1.0".to_string());
        let request = Request { targets, prefix: "usuba_".into(), version, functions: Vec::new() };
        usuba_library::single(&request, &cipher, Some("it")).expect("it compiles").units
    }

    /// Tables and circuits, fixsliced programs, instructions, displaced and inverse round keys, and
    /// sums in another order.
    #[test]
    fn all_sources_of_the_ciphers_are_equal() {
        let expected = [
            ("aes", "aes128_decrypt", "aes.ua aes_fixsliced.ua aes_rounds.ua"),
            ("camellia", "camellia128_encrypt", "camellia.ua camellia_bytes.ua"),
            ("gift", "gift128b_encrypt", "gift128.ua gift128_fixsliced.ua"),
            ("sha2", "sha256_compress", "sha256.ua sha256_rounds.ua"),
            ("sm4", "sm4_encrypt", "sm4.ua sm4_bytes.ua"),
        ];
        for (cipher, function, sources) in expected {
            let units = units(cipher);
            let known = Known::new(&units, &[]).expect("words of keys have a layout").united();
            let found = known.iter().find(|several| several.function == function);
            assert_eq!(found.map(|several| several.sources.join(" ")).as_deref(), Some(sources));
        }
    }

    /// A function with another key schedule, and with two bits of its output in each other's place.
    #[test]
    fn other_functions_are_not_equal() {
        let units = units("aes");
        let of = |name: &str| units.iter().find(|unit| unit.symbol == name).expect(name);
        let circuit = |name: &str, schedule: &str| {
            let UnitKind::Blocks(blocks) = &of(name).kind else { panic!("{name}") };
            Circuit { unit: of(name), function: &blocks.function, schedule: Some(of(schedule)) }
        };
        let decrypt = circuit("usuba_aes128_decrypt_B_gp64", "usuba_aes128_made0");
        let rounds = |made| circuit("usuba_aes128_decrypt_rounds_W_avx2_aes", made);
        assert!(are_equal(&decrypt, &rounds("usuba_aes128_made2")));
        assert!(!are_equal(&decrypt, &rounds("usuba_aes128_made0")));
        assert!(!are_equal(&decrypt, &rounds("usuba_aes128_made1")));
        let [one, mut other] = [decrypt, rounds("usuba_aes128_made2")]
            .map(|circuit| circuit.on_bits().expect("it has a meaning on bits"));
        let entry = other.entry.0 as usize;
        other.nodes[entry].outs.swap(17, 18);
        assert!(!usuba_equiv::equivalent_apart(&one, &other).is_proved());
    }
}
