//! A graph of bits: inputs, `And` and `Xor` of literals, and nodes that steps have shown equal.
//!
//! ```text
//! n5 = n3 & n4       a new node
//! n3 & ~n4           by a window over n1, n2: the literal ~n5, no new node
//! ```
//!
//! A literal is a node or its complement. The constant is node 0. A gate that is trivial, or that was
//! made before, is no new node. For any other gate a [`Guide`] may name a literal that it equals, with
//! evidence, which the graph checks.
//!
//! *Soundness:* nodes are functions of the inputs. Literals are merged only where the evidence shows
//! that they are one function, so literals that are equal are one function.

use std::collections::BTreeSet;

use crate::hash::{Map, Set};

/// A node and whether it is complemented: twice the number of the node, plus one.
pub type Lit = u32;

pub const FALSE: Lit = 0;
pub const TRUE: Lit = 1;

/// The most nodes of a graph.
const NODES: usize = 20_000_000;

/// The most leaves of a window, and the most nodes inside of it.
const LEAVES: usize = 8;
const INSIDE: usize = 1000;

/// The most sums that are expanded at once, and the most products of terms of one step.
const SUMS: usize = 20_000;
const PRODUCTS: usize = 1 << 20;

/// The kind of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    And,
    Xor,
}

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// Node 0, which is false.
    False,
    /// A free variable.
    Input,
    Gate(Kind, [Lit; 2]),
}

/// The evidence that a gate equals a literal. With leaves, both are compared for all values of the leaves,
/// at most eight nodes; all paths from inputs lead through the leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// As they are; but the literals of these earlier steps, by their numbers and in this order, are
    /// the gates that they equal.
    Window(Vec<u32>, Vec<u32>),
    /// The XOR of both, after all XORs in it are expanded and equal terms have cancelled. Nothing may
    /// be left if there are no leaves.
    Parity(Vec<u32>),
    /// The XOR of both is zero as a polynomial over GF(2): after all XORs in it are expanded, each `And`
    /// is the product of its operands, which are expanded, too.
    Polynomial,
}

/// A literal that the next gate equals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub equals: Lit,
    pub evidence: Evidence,
}

/// Names the literals that gates equal.
pub trait Guide {
    /// The step for a gate that would be a new node.
    ///
    /// # Errors
    /// The steps are damaged.
    fn step(&mut self, net: &Net, kind: Kind, of: [Lit; 2]) -> Result<Option<Step>, String>;

    /// Gates that pick an entry of a table by these bits follow.
    fn arguments(&mut self, _: &[Lit]) {}

    /// A new node was made.
    fn made(&mut self, net: &Net);
}

/// The graph.
pub struct Net {
    nodes: Vec<Node>,
    known: Map<(Kind, Lit, Lit), Lit>,
    /// The gates of the steps, and the literals that they equal.
    equal: Vec<(Kind, [Lit; 2], Lit)>,
}

/// The values of a function for all values of eight leaves.
type Values = [u64; 4];

impl Default for Net {
    fn default() -> Net {
        Net { nodes: vec![Node::False], known: Map::default(), equal: Vec::new() }
    }
}

impl Net {
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A free variable.
    pub fn input(&mut self, guide: &mut dyn Guide) -> Result<Lit, String> {
        self.new_node(Node::Input, guide)
    }

    fn new_node(&mut self, node: Node, guide: &mut dyn Guide) -> Result<Lit, String> {
        if self.nodes.len() >= NODES {
            return Err(format!("the graph has more than {NODES} nodes"));
        }
        self.nodes.push(node);
        guide.made(self);
        Ok(2 * (self.nodes.len() as Lit - 1))
    }

    pub fn and(&mut self, a: Lit, b: Lit, guide: &mut dyn Guide) -> Result<Lit, String> {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (FALSE, _) => Ok(FALSE),
            (TRUE, _) => Ok(b),
            _ if a == b => Ok(a),
            _ if a ^ b == 1 => Ok(FALSE),
            _ => self.gate(Kind::And, [a, b], guide),
        }
    }

    pub fn xor(&mut self, a: Lit, b: Lit, guide: &mut dyn Guide) -> Result<Lit, String> {
        let flip = (a ^ b) & 1;
        let (a, b) = (a & !1, b & !1);
        let (a, b) = (a.min(b), a.max(b));
        Ok(flip
            ^ match a {
                _ if a == b => FALSE,
                FALSE => b,
                _ => self.gate(Kind::Xor, [a, b], guide)?,
            })
    }

    fn gate(&mut self, kind: Kind, of: [Lit; 2], guide: &mut dyn Guide) -> Result<Lit, String> {
        if let Some(&known) = self.known.get(&(kind, of[0], of[1])) {
            return Ok(known);
        }
        let literal = match guide.step(self, kind, of)? {
            Some(step) => {
                self.check(kind, of, &step)?;
                self.equal.push((kind, of, step.equals));
                step.equals
            }
            None => self.new_node(Node::Gate(kind, of), guide)?,
        };
        self.known.insert((kind, of[0], of[1]), literal);
        Ok(literal)
    }

    /// Checks the evidence of a step for a gate.
    ///
    /// # Errors
    /// It does not show the gate equal.
    pub fn check(&self, kind: Kind, [a, b]: [Lit; 2], step: &Step) -> Result<(), String> {
        let leaves: &[u32] = match &step.evidence {
            Evidence::Window(leaves, _) | Evidence::Parity(leaves) => leaves,
            Evidence::Polynomial => &[],
        };
        let exists = |node: u32| (node as usize) < self.nodes.len();
        if !exists(step.equals / 2) || !leaves.iter().all(|&leaf| exists(leaf)) {
            return Err("a step names a node that does not exist".into());
        }
        if leaves.len() > LEAVES {
            return Err("a window has too many leaves".into());
        }
        let mut window = Window::new(self, leaves);
        let holds = match &step.evidence {
            Evidence::Window(_, gates) => {
                for &gate in gates {
                    let gate = self.equal.get(gate as usize);
                    window.assume(gate.ok_or("a step names a step that does not exist")?)?;
                }
                window.of_gate(kind, [a, b])? == window.of(step.equals)?
            }
            Evidence::Parity(_) if kind == Kind::Xor => {
                let (terms, flip) = self.expanded(&[a, b, step.equals])?;
                let mut sum = [0u64.wrapping_sub(flip as u64); 4];
                for term in terms {
                    let values = window.of(2 * term)?;
                    (0..4).for_each(|i| sum[i] ^= values[i]);
                }
                sum == [0; 4]
            }
            Evidence::Parity(_) => false,
            Evidence::Polynomial => self.is_zero(kind, [a, b], step.equals)?,
        };
        match holds {
            true => Ok(()),
            false => Err("the evidence of a step does not show it".into()),
        }
    }

    /// The terms of a XOR that are no XORs and do not cancel, and whether it is complemented.
    fn expanded(&self, of: &[Lit]) -> Result<(BTreeSet<u32>, bool), String> {
        let (mut sums, mut terms, mut flip) = (BTreeSet::new(), BTreeSet::new(), false);
        let mut more = of.to_vec();
        for _ in 0..SUMS {
            for literal in more.drain(..) {
                flip ^= literal & 1 == 1;
                let node = literal / 2;
                let set = match self.nodes[node as usize] {
                    Node::False => continue,
                    Node::Gate(Kind::Xor, _) => &mut sums,
                    _ => &mut terms,
                };
                if !set.remove(&node) {
                    set.insert(node);
                }
            }
            // Operands are older, so this node does not come again.
            match sums.pop_last().map(|node: u32| self.nodes[node as usize]) {
                Some(Node::Gate(_, operands)) => more.extend(operands),
                _ => return Ok((terms, flip)),
            }
        }
        Err("a sum of a step is too long".into())
    }

    /// Whether the polynomial of a gate and a literal is zero. Node 0 stands for the number 1 in products.
    fn is_zero(&self, kind: Kind, [a, b]: [Lit; 2], equals: Lit) -> Result<bool, String> {
        let (sum, mut products) = match kind {
            Kind::And => (self.expanded(&[equals])?, vec![[a, b]]),
            Kind::Xor => (self.expanded(&[a, b, equals])?, Vec::new()),
        };
        let mut left = Set::default();
        let mut turn = |a: u32, b: u32| {
            let product = if a == b { (0, a) } else { (a.min(b), a.max(b)) };
            if !left.remove(&product) {
                left.insert(product);
            }
        };
        for term in with_number(sum) {
            match self.nodes[term as usize] {
                Node::Gate(Kind::And, of) => products.push(of),
                _ => turn(0, term),
            }
        }
        let mut count = 0;
        for [a, b] in products {
            let [a, b] = [self.expanded(&[a])?, self.expanded(&[b])?].map(with_number);
            count += a.len() * b.len();
            if count > PRODUCTS {
                return Err("a step has too many products".into());
            }
            a.iter().for_each(|&a| b.iter().for_each(|&b| turn(a, b)));
        }
        Ok(left.is_empty())
    }
}

/// The terms of a sum, with node 0 for the number 1.
fn with_number((terms, flip): (BTreeSet<u32>, bool)) -> Vec<u32> {
    flip.then_some(0).into_iter().chain(terms).collect()
}

/// The functions of the leaves of a window.
struct Window<'a> {
    net: &'a Net,
    known: Map<u32, Values>,
}

impl Window<'_> {
    fn new<'a>(net: &'a Net, leaves: &[u32]) -> Window<'a> {
        let small = [0xaaaa_aaaa_aaaa_aaaa, 0xcccc_cccc_cccc_cccc, 0xf0f0_f0f0_f0f0_f0f0];
        let more = [0xff00_ff00_ff00_ff00, 0xffff_0000_ffff_0000, 0xffff_ffff_0000_0000];
        let variables = small.into_iter().chain(more).map(|word: u64| [word; 4]);
        let last = [[0, u64::MAX, 0, u64::MAX], [0, 0, u64::MAX, u64::MAX]];
        let known = leaves.iter().copied().zip(variables.chain(last));
        Window { net, known: [(0, [0; 4])].into_iter().chain(known).collect() }
    }

    /// Takes the values of a node from a gate that equals its literal.
    fn assume(&mut self, &(kind, of, equals): &(Kind, [Lit; 2], Lit)) -> Result<(), String> {
        let flip = 0u64.wrapping_sub(u64::from(equals & 1));
        let values = self.of_gate(kind, of)?.map(|word| word ^ flip);
        self.known.entry(equals / 2).or_insert(values);
        Ok(())
    }

    /// The values of a gate.
    fn of_gate(&mut self, kind: Kind, [a, b]: [Lit; 2]) -> Result<Values, String> {
        Ok(both(kind, self.of(a)?, self.of(b)?))
    }

    /// The values of a literal.
    fn of(&mut self, literal: Lit) -> Result<Values, String> {
        let mut open = vec![literal / 2];
        while let Some(&node) = open.last() {
            if self.known.contains_key(&node) {
                open.pop();
                continue;
            }
            let Node::Gate(kind, operands) = self.net.nodes[node as usize] else {
                return Err("an input is no leaf of the window of a step".into());
            };
            if self.known.len() > INSIDE {
                return Err("a window is too large".into());
            }
            let values = operands.map(|operand| self.value(operand));
            match values {
                [Some(a), Some(b)] => {
                    self.known.insert(node, both(kind, a, b));
                }
                _ => open.extend(operands.map(|operand| operand / 2)),
            }
        }
        Ok(self.value(literal).expect("it was computed above"))
    }

    fn value(&self, literal: Lit) -> Option<Values> {
        let flip = 0u64.wrapping_sub(u64::from(literal & 1));
        self.known.get(&(literal / 2)).map(|values| values.map(|word| word ^ flip))
    }
}

fn both(kind: Kind, a: Values, b: Values) -> Values {
    std::array::from_fn(|i| if kind == Kind::And { a[i] & b[i] } else { a[i] ^ b[i] })
}
