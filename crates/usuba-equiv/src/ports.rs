//! The correspondence between the inputs and outputs of two programs.
//!
//! ```text
//! before:  x, k        → y
//! after:   x, x''2, k  → y, y''2      two instances: x, k → y and x''2, k → y''2
//! ```
//!
//! A pass keeps the ports of the entry, or interleaves instances: it gives every port that is not
//! constant once per instance, the instances of a port next to each other.

use usuba::ir::{Node, Port, Slicing};

/// The instances of a program inside of another program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copies {
    /// For each instance, the inputs of the larger program that are its inputs, in its order.
    pub inputs: Vec<Vec<usize>>,
    /// The same for outputs.
    pub outputs: Vec<Vec<usize>>,
}

impl Copies {
    /// The instances of `before` in `after`; one instance if the ports are the same.
    ///
    /// # Errors
    /// The ports do not correspond; the text says which.
    pub fn find(before: &Node, after: &Node, slicing: Slicing) -> Result<Copies, String> {
        let (old, new) = (before.results.len(), after.results.len());
        let factor = new.checked_div(old).unwrap_or(1);
        if factor == 0 || factor * old != new {
            return Err(format!("{old} results became {new}"));
        }
        let inputs = places(&before.params, &after.params, factor, slicing, true)?;
        let outputs = places(&before.results, &after.results, factor, slicing, false)?;
        Ok(Copies { inputs, outputs })
    }

    /// The number of instances.
    pub fn factor(&self) -> usize {
        self.inputs.len()
    }
}

/// The name of a value among the flattened values of ports, as the source writes it; in bitslicing
/// with the number of the bit, counted from the most significant one.
pub fn element(ports: &[Port], slicing: Slicing, at: usize) -> String {
    let mut rest = at;
    for port in ports {
        let values = port.values(slicing);
        if rest >= values {
            rest -= values;
            continue;
        }
        let mut size = values;
        let mut name = port.name.clone();
        for &dim in &port.value_dims(slicing) {
            size /= dim as usize;
            name += &format!("[{}]", rest / size);
            rest %= size;
        }
        return name;
    }
    format!("number {at}")
}

/// For each instance the places of its values among the values of `after`. Constant parameters are
/// shared.
fn places(
    before: &[Port],
    after: &[Port],
    factor: usize,
    slicing: Slicing,
    share: bool,
) -> Result<Vec<Vec<usize>>, String> {
    let mut copies = vec![Vec::new(); factor];
    let mut given = after.iter();
    let mut first = 0;
    for port in before {
        let values = port.values(slicing);
        let times = if share && port.constant { 1 } else { factor };
        for copy in 0..times {
            let name = match copy {
                0 => port.name.clone(),
                _ => format!("{}''{}", port.name, copy + 1),
            };
            let same = |p: &&Port| p.name == name && p.word == port.word && p.dims == port.dims;
            if given.next().filter(same).is_none() {
                return Err(format!("the port `{name}` is gone, moved or of another shape"));
            }
            let range = first..first + values;
            match times {
                1 => copies.iter_mut().for_each(|list| list.extend(range.clone())),
                _ => copies[copy].extend(range),
            }
            first += values;
        }
    }
    match given.next() {
        Some(port) => Err(format!("the port `{}` is new", port.name)),
        None => Ok(copies),
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::{Inline, Port};

    use super::*;

    fn node(params: &[Port], results: &[Port]) -> Node {
        Node {
            name: "f".into(),
            params: params.to_vec(),
            results: results.to_vec(),
            bits: Vec::new(),
            origins: Default::default(),
            body: Vec::new(),
            outs: Vec::new(),
            inline: Inline::Auto,
        }
    }

    fn port(name: &str, words: u32) -> Port {
        Port::new(name, 16, &[words])
    }

    #[test]
    fn copies_share_constants() {
        let before = node(&[port("x", 2), port("k", 1).constant()], &[port("y", 2)]);
        let after = node(
            &[port("x", 2), port("x''2", 2), port("k", 1).constant()],
            &[port("y", 2), port("y''2", 2)],
        );
        let copies = Copies::find(&before, &after, Slicing::V).expect("two copies");
        assert_eq!(copies.inputs, [[0, 1, 4], [2, 3, 4]]);
        assert_eq!(copies.outputs, [[0, 1], [2, 3]]);
        let same = Copies::find(&before, &before, Slicing::V).expect("one copy");
        assert_eq!(same.inputs, [[0, 1, 2]]);
    }

    #[test]
    fn other_ports_are_refused() {
        let before = node(&[port("x", 2), port("z", 1)], &[port("y", 2)]);
        for (params, results) in [
            (vec![port("z", 1), port("x", 2)], vec![port("y", 2)]),
            (vec![port("x", 2)], vec![port("y", 2)]),
            (vec![port("x", 3), port("z", 1)], vec![port("y", 2)]),
            (vec![port("x", 2), port("z", 1)], vec![port("y", 2), port("y''3", 2)]),
            (vec![port("x", 2), port("z", 1)], vec![]),
            (vec![port("x", 2), port("z", 1), port("w", 1)], vec![port("y", 2)]),
        ] {
            assert!(Copies::find(&before, &node(&params, &results), Slicing::V).is_err());
        }
    }
}
