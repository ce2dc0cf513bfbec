//! The equations of a stage, compared with the stage before it.
//!
//! ```text
//! after inline      v7 = plain[0] ^ key[0]      v9 = v7 <<< 1
//! after cse         v7 = plain[0] ^ key[0]      (v9 is gone: it was v8)
//! ```
//!
//! Passes number values anew, so that a comparison of numbers shows nothing. Here a value has one
//! name in all stages: the DAG of the prover gives equal functions of the parameters of a node the
//! same edge, and an edge keeps the name that it got in the first stage that computes it. Further
//! values on the same edge get names of their own. Results of calls, and the values that a loop
//! hands on, are symbols: a value that an inlined call computes is a new one. The names are for
//! reading; `proof` shows that stages are equal.

use rustc_hash::FxHashMap;
use serde::Serialize;
use usuba::ir::{Eqn, Loop, Node, NodeId, Op, OpEqn, Program, Slicing, Val};
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::ports::element;
use usuba_equiv::value_numbering::Graph;

use crate::texts::{Places, Range};

/// The most lines of a listing: more would keep the page from being usable.
const MOST_LINES: usize = 20_000;

/// A listing.
#[derive(Serialize)]
pub struct Listing {
    lines: Vec<Line>,
    /// Lines that are left out at the end.
    cut: usize,
    /// Equations that the pass added, rewrote, moved and removed.
    new: usize,
    changed: usize,
    moved: usize,
    gone: usize,
}

/// A line of a listing.
#[derive(Serialize, Clone, Debug)]
pub struct Line {
    depth: usize,
    text: String,
    /// The name of the value that it defines; empty for heads and ends.
    name: String,
    state: State,
    range: Option<Range>,
}

/// A line compared with the stage before.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum State {
    Same,
    /// The value is new.
    New,
    /// The value was there, and is computed in another way.
    Changed,
    /// The same equation at another place.
    Moved,
    /// The value is not there any more.
    Gone,
}

/// An unknown function of edges.
#[derive(PartialEq, Eq, Hash)]
struct Symbol {
    about: String,
    edges: Vec<Edge>,
}

/// The names of values in all stages so far.
pub struct Names {
    graph: Graph,
    symbols: FxHashMap<Symbol, u64>,
    /// By node, edge, and the number of earlier values of the same node on that edge.
    known: FxHashMap<(String, Edge, u32), u32>,
    /// The number of names in each node.
    counts: FxHashMap<String, u32>,
    texts: Vec<String>,
    /// For each stage and node the name of each value.
    stages: Vec<Vec<Vec<u32>>>,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            graph: Graph::new(None),
            symbols: FxHashMap::default(),
            known: FxHashMap::default(),
            counts: FxHashMap::default(),
            texts: Vec::new(),
            stages: Vec::new(),
        }
    }
}

impl Names {
    /// The number of stages whose values have names.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Names the values of the next stage; `same` if it is the last one again.
    pub fn see(&mut self, program: &Program, same: bool) {
        let names = match self.stages.last().filter(|_| same) {
            Some(names) => names.clone(),
            None => program.nodes.iter().map(|node| self.node(program, node)).collect(),
        };
        self.stages.push(names);
    }

    /// The name of a value of a stage.
    pub fn of(&self, stage: usize, node: NodeId, v: Val) -> String {
        self.text(stage, node.0 as usize, v).to_string()
    }

    fn text(&self, stage: usize, node: usize, v: Val) -> &str {
        &self.texts[self.stages[stage][node][v.0 as usize] as usize]
    }

    fn node(&mut self, program: &Program, node: &Node) -> Vec<u32> {
        let params = parameters(program, node);
        let mut numbering = Numbering {
            names: self,
            program,
            node,
            edges: vec![Edge::NONE; node.bits.len()],
            defined: Vec::new(),
            loops: 0,
        };
        for (at, name) in params.iter().enumerate() {
            numbering.set(Val(at as u32), format!("{} {name}", node.name), Vec::new());
        }
        numbering.block(&node.body);
        let Numbering { edges, defined, .. } = numbering;
        let mut seen: FxHashMap<Edge, u32> = FxHashMap::default();
        let mut numbers = vec![u32::MAX; edges.len()];
        for v in defined {
            let at = v.0 as usize;
            let edge = edges[at];
            let times = seen.entry(edge).or_insert(0);
            *times += 1;
            let key = (node.name.clone(), edge, *times);
            let next = self.texts.len() as u32;
            numbers[at] = *self.known.entry(key).or_insert(next);
            if numbers[at] == next {
                self.texts.push(params.get(at).cloned().unwrap_or_else(|| {
                    let count = self.counts.entry(node.name.clone()).or_insert(0);
                    *count += 1;
                    format!("v{count}")
                }));
            }
        }
        numbers
    }

    /// The edge of an unknown function.
    fn symbol(&mut self, bits: u8, about: String, edges: Vec<Edge>) -> Edge {
        let next = self.symbols.len() as u64;
        let number = *self.symbols.entry(Symbol { about, edges }).or_insert(next);
        self.graph.intern(Kind::Param, bits, 0, number, 0)
    }

    /// A stage, by its number and program, with its differences from `before`.
    pub fn listing(
        &self,
        before: Option<(usize, &Program)>,
        (stage, program): (usize, &Program),
        places: &Places,
    ) -> Listing {
        let lines = |stage: usize, program: &Program| {
            let mut all = Vec::new();
            for (at, node) in program.nodes.iter().enumerate() {
                let mut writer =
                    Writer { names: self, stage, program, node, at, places, lines: Vec::new() };
                writer.node();
                all.push((node.name.clone(), writer.lines));
            }
            all
        };
        let new = lines(stage, program);
        let lines = match before {
            Some((stage, program)) => compared(lines(stage, program), new),
            None => new.into_iter().flat_map(|(_, lines)| lines).collect(),
        };
        let count = |state| lines.iter().filter(|line| line.state == state).count();
        let [new, changed, moved, gone] =
            [State::New, State::Changed, State::Moved, State::Gone].map(count);
        let cut = lines.len().saturating_sub(MOST_LINES);
        let mut lines = lines;
        lines.truncate(MOST_LINES);
        Listing { lines, cut, new, changed, moved, gone }
    }
}

/// The names of the flattened parameters of a node; ports of further instances have the number of
/// the instance.
fn parameters(program: &Program, node: &Node) -> Vec<String> {
    let values = node.params.iter().map(|port| port.values(program.slicing)).sum();
    let mut copies: FxHashMap<String, usize> = FxHashMap::default();
    let name = |at| {
        let name = element(&node.params, program.slicing, at);
        let copy = copies.entry(name.clone()).or_insert(0);
        *copy += 1;
        if *copy == 1 { name } else { format!("{name}@{}", *copy - 1) }
    };
    (0..values).map(name).collect()
}

/// Gives edges to the values of one node.
struct Numbering<'a> {
    names: &'a mut Names,
    program: &'a Program,
    node: &'a Node,
    edges: Vec<Edge>,
    /// Values in the order of the text.
    defined: Vec<Val>,
    /// Loops so far.
    loops: usize,
}

impl Numbering<'_> {
    fn edge(&self, v: Val) -> Edge {
        self.edges[v.0 as usize]
    }

    fn list(&self, values: &[Val]) -> Vec<Edge> {
        values.iter().map(|&v| self.edge(v)).collect()
    }

    fn define(&mut self, v: Val, edge: Edge) {
        self.edges[v.0 as usize] = edge;
        self.defined.push(v);
    }

    fn set(&mut self, v: Val, about: String, edges: Vec<Edge>) {
        let bits = self.node.bits[v.0 as usize];
        let edge = self.names.symbol(bits, about, edges);
        self.define(v, edge);
    }

    fn block(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.op(e),
                Eqn::Call(call) => {
                    let callee = &self.program.node(call.node).name;
                    for (at, &dst) in call.dsts.iter().enumerate() {
                        let args = self.list(&call.args);
                        self.set(dst, format!("{callee}.{at}"), args);
                    }
                }
                Eqn::Loop(lp) => self.lp(lp),
            }
        }
    }

    fn op(&mut self, e: &OpEqn) {
        let args = self.list(&e.args);
        // The DAG has words, and no vectors of them.
        if self.program.slicing == Slicing::W || matches!(e.op, Op::Lanes(_)) {
            self.set(e.dst, format!("{:?}", e.op), args);
            return;
        }
        let bits = self.node.bits[e.dst.0 as usize];
        let edge = self.names.graph.op(&e.op, bits, &args);
        self.define(e.dst, edge);
    }

    /// A value that a loop hands on is known by its loop, its start and its next value.
    fn lp(&mut self, lp: &Loop) {
        self.loops += 1;
        let name = format!("loop {} {}", self.loops, lp.count);
        let mut times: FxHashMap<Edge, usize> = FxHashMap::default();
        for c in &lp.carried {
            let init = self.edge(c.init);
            let time = times.entry(init).or_insert(0);
            *time += 1;
            self.set(c.param, format!("{name} carried {time}"), vec![init]);
        }
        for read in &lp.reads {
            let list = self.list(&read.list);
            self.set(read.dst, format!("{name} read"), list);
        }
        self.block(&lp.body);
        for c in &lp.carried {
            let handed = self.list(&[c.param, c.next]);
            self.set(c.result, format!("{name} result"), handed);
        }
        for collect in &lp.collects {
            for (turn, &result) in collect.results.iter().enumerate() {
                let value = self.list(&[collect.value]);
                self.set(result, format!("{name} turn {turn}"), value);
            }
        }
    }
}

/// Writes the lines of one node.
struct Writer<'a> {
    names: &'a Names,
    stage: usize,
    program: &'a Program,
    node: &'a Node,
    at: usize,
    places: &'a Places,
    lines: Vec<Line>,
}

/// The most members of a list that a line shows.
const MOST_MEMBERS: usize = 4;

impl Writer<'_> {
    fn name(&self, v: Val) -> &str {
        self.names.text(self.stage, self.at, v)
    }

    fn list(&self, values: &[Val]) -> String {
        let names: Vec<&str> = values.iter().map(|&v| self.name(v)).collect();
        names.join(", ")
    }

    /// The first members of a list.
    fn few(&self, values: &[Val]) -> String {
        let few = self.list(&values[..values.len().min(MOST_MEMBERS)]);
        if values.len() > MOST_MEMBERS { format!("{few}, …") } else { few }
    }

    fn line(&mut self, depth: usize, defines: Option<Val>, text: String) {
        let name = defines.map(|v| self.name(v).to_string()).unwrap_or_default();
        let range = defines.and_then(|v| self.node.origins.of(v));
        let range = range.and_then(|span| self.places.range(span));
        self.lines.push(Line { depth, text, name, state: State::Same, range });
    }

    fn node(&mut self) {
        self.line(0, None, format!("node {}", self.node.name));
        self.block(&self.node.body, 1);
        let results = format!("return {}", self.list(&self.node.outs));
        self.line(1, None, results);
    }

    fn block(&mut self, eqns: &[Eqn], depth: usize) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let text = format!("{} = {}", self.name(e.dst), self.expression(e));
                    self.line(depth, Some(e.dst), text);
                }
                Eqn::Call(call) => {
                    let callee = &self.program.node(call.node).name;
                    let text = format!("{callee}({})", self.list(&call.args));
                    let text = match call.dsts.is_empty() {
                        true => text,
                        false => format!("{} = {text}", self.list(&call.dsts)),
                    };
                    self.line(depth, call.dsts.first().copied(), text);
                }
                Eqn::Loop(lp) => self.lp(lp, depth),
            }
        }
    }

    fn lp(&mut self, lp: &Loop, depth: usize) {
        self.line(depth, None, format!("{} times", lp.count));
        for c in &lp.carried {
            let [param, init, next] = [c.param, c.init, c.next].map(|v| self.name(v));
            let text = format!("{param} = {init}, then {next}");
            self.line(depth + 1, Some(c.param), text);
        }
        for read in &lp.reads {
            let text = format!("{} = {} by turns", self.name(read.dst), self.few(&read.list));
            self.line(depth + 1, Some(read.dst), text);
        }
        self.block(&lp.body, depth + 1);
        for c in &lp.carried {
            let text = format!("{} = the last {}", self.name(c.result), self.name(c.next));
            self.line(depth, Some(c.result), text);
        }
        for collect in &lp.collects {
            let (results, value) = (self.few(&collect.results), self.name(collect.value));
            let text = format!("{results} = {value} of each turn");
            self.line(depth, collect.results.first().copied(), text);
        }
    }

    fn expression(&self, e: &OpEqn) -> String {
        let arg = |at: usize| self.name(e.args[at]);
        let infix = |sign: &str| format!("{} {sign} {}", arg(0), arg(1));
        let shift = |sign: &str, k: &u8| format!("{} {sign} {k}", arg(0));
        match &e.op {
            Op::Const(value) => format!("{value:#x}"),
            Op::Copy => arg(0).to_string(),
            Op::Not => format!("~{}", arg(0)),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Xor => infix("^"),
            Op::Andn => format!("~{} & {}", arg(0), arg(1)),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Shl(k) => shift("<<", k),
            Op::Shr(k) => shift(">>", k),
            Op::Sar(k) => shift(">>!", k),
            Op::Rotl(k) => shift("<<<", k),
            Op::Lut3(table) => format!("lut3 {table:#04x}({})", self.list(&e.args)),
            Op::Bitmask(k) => format!("bitmask({}, {k})", arg(0)),
            op => format!("{}({})", op.name(), self.list(&e.args)),
        }
    }
}

/// The lines after a pass, with the lines that it removed where they were.
fn compared(before: Vec<(String, Vec<Line>)>, after: Vec<(String, Vec<Line>)>) -> Vec<Line> {
    let mut found = Vec::new();
    let mut old: FxHashMap<String, Vec<Line>> = before.iter().cloned().collect();
    for (name, lines) in after {
        found.extend(match old.remove(&name) {
            Some(old) => node_compared(old, lines),
            None => lines.into_iter().map(|line| Line { state: State::New, ..line }).collect(),
        });
    }
    for (name, lines) in before {
        if old.contains_key(&name) {
            let head = lines.into_iter().take(1);
            found.extend(head.map(|line| Line { state: State::Gone, ..line }));
        }
    }
    found
}

fn node_compared(before: Vec<Line>, after: Vec<Line>) -> Vec<Line> {
    let places: FxHashMap<&str, usize> =
        before.iter().enumerate().map(|(at, line)| (line.name.as_str(), at)).collect();
    let was = |line: &Line| match line.name.is_empty() {
        true => None,
        false => places.get(line.name.as_str()).copied(),
    };
    let kept: Vec<(usize, usize)> =
        after.iter().enumerate().filter_map(|(at, line)| Some((at, was(line)?))).collect();
    let stays = increasing(&kept.iter().map(|(_, old)| *old).collect::<Vec<_>>());
    let in_order: FxHashMap<usize, bool> =
        kept.iter().zip(stays).map(|((at, _), stays)| (*at, stays)).collect();
    let survives: FxHashMap<&str, ()> = after.iter().map(|line| (line.name.as_str(), ())).collect();
    let mut found = Vec::with_capacity(after.len());
    let mut next = 0;
    for (at, line) in after.iter().enumerate() {
        let old = was(line);
        let state = match old {
            _ if line.name.is_empty() => State::Same,
            None => State::New,
            Some(old) if before[old].text != line.text => State::Changed,
            Some(_) if in_order[&at] => State::Same,
            Some(_) => State::Moved,
        };
        // Removed lines stand before the first line that was behind them and has stayed.
        if let Some(old) = old.filter(|_| in_order[&at]) {
            found.extend(gone(&before[next..old], &survives));
            next = old;
        }
        found.push(Line { state, ..line.clone() });
    }
    let end = found.pop();
    found.extend(gone(&before[next..], &survives));
    found.extend(end);
    found
}

fn gone<'a>(
    lines: &'a [Line],
    survives: &'a FxHashMap<&str, ()>,
) -> impl Iterator<Item = Line> + 'a {
    let is_gone = |line: &&Line| !line.name.is_empty() && !survives.contains_key(&*line.name);
    lines.iter().filter(is_gone).map(|line| Line { state: State::Gone, ..line.clone() })
}

/// For each number whether it is part of one longest increasing subsequence.
fn increasing(numbers: &[usize]) -> Vec<bool> {
    // For each length the place of the smallest last number of such a subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; numbers.len()];
    for (at, &number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers[end] < number);
        previous[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chosen = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        chosen[place] = true;
        at = previous[place];
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_increasing_subsequence_stays() {
        assert_eq!(increasing(&[0, 3, 1, 2, 4]), [true, false, true, true, true]);
        assert_eq!(increasing(&[]), [false; 0]);
        assert_eq!(increasing(&[2, 1]).iter().filter(|stays| **stays).count(), 1);
    }
}
