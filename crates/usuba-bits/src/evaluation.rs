//! Graphs of bits on numbers, 64 inputs at once.

use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::value_numbering::Graph;

/// Evaluates all nodes of a bit graph on 64 inputs at once; `params` has one word for each
/// parameter.
pub fn evaluate(graph: &Graph, params: &[u64]) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        // Operands precede the nodes that use them.
        let at = |raw: u64| value(&values, Edge::from_raw(raw));
        values.push(match node.kind {
            Kind::Const => 0,
            Kind::Param => params[node.a as usize],
            Kind::And => at(node.a) & at(node.b),
            Kind::Xor => at(node.a) ^ at(node.b),
            _ => unreachable!("a graph of bits has no other nodes"),
        });
    }
    values
}

/// The value of an edge, given the node values.
pub fn value(values: &[u64], edge: Edge) -> u64 {
    values[edge.node() as usize] ^ 0u64.wrapping_sub(edge.is_complement() as u64)
}
