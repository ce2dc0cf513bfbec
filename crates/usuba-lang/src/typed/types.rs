//! Types, declarations and instances.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diag::Span;
use crate::syntax::ast;
pub use crate::syntax::ast::ByteOrder;

/// Most atoms that one variable may have.
pub const MAX_ATOMS: u64 = 1 << 20;

/// Most elementary steps (atoms declared, computed or copied) of one program, loops and calls
/// unrolled.
pub const MAX_STEPS: u64 = 1 << 24;

/// Longest head of a declaration in a message.
pub const MAX_SIGNATURE: usize = 200;

/// The checker stops after this number of errors.
pub const MAX_ERRORS: usize = 100;

/// A slicing direction as far as it is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    H,
    V,
    B,
    /// Lanes of one register hold different words of one instance.
    W,
    /// Follows from the call or the command line; matches every direction.
    Var(Rc<str>),
}

/// How instances are packed in registers; it never changes the results of one instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Slicing {
    /// Every value is one bit; bit i of a register belongs to instance i.
    B,
    /// Every value sits in one lane of its word size; lane i belongs to instance i.
    V,
    /// The bits of a word spread over the elements of a register.
    H,
    /// Every value is a vector of words of one instance; see [`Lanes`](crate::op::Lanes).
    W,
}

/// A word size as far as it is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Size {
    /// 1 to 64, or 128.
    Bits(u8),
    /// Follows from the call; in a node that is checked by itself it stays open.
    Var(Rc<str>),
}

/// The type of one atom.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    pub dir: Dir,
    pub size: Size,
}

/// The type of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VarType {
    /// A compile-time integer.
    Nat,
    /// An array of words, outer dimension first; the vector length of the type word is the
    /// innermost dimension. No dimension: one word.
    Words { atom: Atom, dims: Vec<u32> },
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: Rc<str>,
    pub span: Span,
    pub ty: VarType,
    /// Declared `const`: a uniform value, equal in all instances.
    pub constant: bool,
    /// The order of its bytes in memory, if it is a port of bytes.
    pub bytes: Option<ByteOrder>,
    /// The ranges of its words, as the text says: by turns, if there are several; empty if it says
    /// none.
    pub ranges: Vec<Range>,
}

impl Var {
    /// The range of the word with this number.
    pub fn range(&self, at: usize) -> Option<Range> {
        Some(self.ranges[at.checked_rem(self.ranges.len())?])
    }
}

/// An interval of words, both ends in it, and where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub low: u128,
    pub high: u128,
    pub span: Span,
}

/// The integer that some words stand for.
#[derive(Clone, Debug)]
pub struct ValueMap {
    pub name: Rc<str>,
    /// Where its name stands.
    pub span: Span,
    pub params: Vec<Var>,
    pub term: ast::Term,
}

/// Index of a declaration in [`Program::decls`].
pub type DeclId = usize;

#[derive(Clone, Debug)]
pub struct Decl {
    pub name: Rc<str>,
    pub name_span: Span,
    pub opts: Vec<ast::DeclOpt>,
    pub params: Vec<Var>,
    pub results: Vec<Var>,
    /// Written with `[]`; otherwise there is exactly one alternative.
    pub array: bool,
    /// Whether a [standard include](crate::standard) declares it.
    pub is_standard: bool,
    /// The pre- and postconditions. The checker checks names and shapes; `usubac prove` proves the
    /// rest.
    pub contract: Vec<ast::Clause>,
    /// The nodes that stay calls where this node is the entry, each a kernel of its own.
    pub links: Vec<DeclId>,
    pub kind: Kind,
}

/// The kind of a declaration; one member per alternative.
#[derive(Clone, Debug)]
pub enum Kind {
    Node(Vec<Body>),
    Table(Vec<ast::IntList>),
    Perm(Vec<ast::IntList>),
}

#[derive(Clone, Debug)]
pub struct Body {
    pub vars: Vec<Var>,
    pub stmts: Vec<ast::Stmt>,
    /// The declarations that it calls, sorted.
    pub calls: Vec<DeclId>,
    pub span: Span,
}

/// A program in which every name is known. Calls go to earlier declarations only.
#[derive(Clone, Debug)]
pub struct Program {
    pub decls: Vec<Decl>,
    /// Value maps, of which contracts speak.
    pub values: Vec<ValueMap>,
    pub entry: DeclId,
    pub arguments: Arguments,
    pub flags: Flags,
}

/// The arguments of the entry: its alternative, `nat` parameters and word sizes.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Arguments {
    pub index: Option<i64>,
    pub nats: Vec<i64>,
    /// Bits by the name of the size, sorted.
    pub sizes: Vec<(Rc<str>, u8)>,
}

/// Flags that change the semantics of a program or the set of accepted programs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Flags {
    /// Tables from one word to one word are array look-ups (not constant-time).
    pub keep_tables: bool,
    /// Read ten known tables least significant bit first, as the OCaml compiler did.
    pub legacy_tables: bool,
}

/// An instance: one use of a declaration, with everything besides its arguments that its semantics
/// depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Instance {
    pub decl: DeclId,
    pub alternative: usize,
    /// Values of the `nat` parameters, in order.
    pub nats: Vec<i64>,
    /// Word sizes of the size variables, sorted by name.
    pub sizes: Vec<(Rc<str>, Size)>,
    /// Directions of the direction variables, sorted by name.
    pub dirs: Vec<(Rc<str>, Dir)>,
    /// One bit column of a node that works on each column alike: every word has one bit.
    pub column: bool,
}

impl Atom {
    /// Atoms may meet when sizes are equal and no two explicit directions differ; an open size
    /// or direction meets everything.
    pub fn compatible(&self, other: &Atom) -> bool {
        self.same_size(other) && self.same_dir(other)
    }

    pub fn same_size(&self, other: &Atom) -> bool {
        match (&self.size, &other.size) {
            (Size::Bits(a), Size::Bits(b)) => a == b,
            _ => true,
        }
    }

    pub fn same_dir(&self, other: &Atom) -> bool {
        match (&self.dir, &other.dir) {
            (Dir::Var(_), _) | (_, Dir::Var(_)) => true,
            (a, b) => a == b,
        }
    }

    /// The word size if it is known.
    pub fn bits(&self) -> Option<u8> {
        match self.size {
            Size::Bits(bits) => Some(bits),
            Size::Var(_) => None,
        }
    }
}

impl std::fmt::Display for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("u")?;
        match &self.dir {
            Dir::H => f.write_str("<H>")?,
            Dir::V => f.write_str("<V>")?,
            Dir::B => f.write_str("<B>")?,
            Dir::W => f.write_str("<W>")?,
            Dir::Var(_) => {}
        }
        match &self.size {
            Size::Bits(bits) => write!(f, "{bits}"),
            Size::Var(name) => write!(f, "'{name}"),
        }
    }
}

impl VarType {
    /// Number of atoms; a `nat` counts as one.
    pub fn atoms(&self) -> usize {
        match self {
            VarType::Nat => 1,
            VarType::Words { dims, .. } => dims.iter().map(|&d| d as usize).product(),
        }
    }
}

impl Program {
    /// The declarations that a declaration and its contract call, directly or not, in the order of
    /// the text; it is the last one.
    pub fn reached(&self, id: DeclId) -> Vec<DeclId> {
        let mut reached = BTreeSet::new();
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            if reached.insert(id) {
                next.extend(self.calls(id));
            }
        }
        reached.into_iter().collect()
    }

    /// The declarations that a declaration and its contract call.
    fn calls(&self, id: DeclId) -> Vec<DeclId> {
        let decl = &self.decls[id];
        let mut calls = Vec::new();
        if let Kind::Node(bodies) = &decl.kind {
            calls.extend(bodies.iter().flat_map(|body| &body.calls));
        }
        for clause in &decl.contract {
            self.applied(&clause.left, &mut calls);
            self.applied(&clause.right, &mut calls);
        }
        calls
    }

    /// Adds the nodes that a term applies, also inside of value maps.
    fn applied(&self, term: &ast::Term, nodes: &mut Vec<DeclId>) {
        match &term.kind {
            ast::TermKind::Int(_) | ast::TermKind::Var(_) => {}
            ast::TermKind::Apply { callee, args } => {
                let name = &*callee.name;
                nodes.extend(self.decls.iter().position(|decl| *decl.name == *name));
                let map = self.values.iter().find(|map| *map.name == *name);
                map.into_iter().for_each(|map| self.applied(&map.term, nodes));
                args.iter().for_each(|arg| self.applied(arg, nodes));
            }
            ast::TermKind::Bin(_, left, right) => {
                self.applied(left, nodes);
                self.applied(right, nodes);
            }
            ast::TermKind::Sum { term, .. } => self.applied(term, nodes),
        }
    }
}

impl Decl {
    /// Whether its text states a contract: a range or a clause.
    pub fn has_contract(&self) -> bool {
        !self.contract.is_empty() || self.all_vars().any(|var| !var.ranges.is_empty())
    }

    pub fn alternatives(&self) -> usize {
        match &self.kind {
            Kind::Node(bodies) => bodies.len(),
            Kind::Table(lists) | Kind::Perm(lists) => lists.len(),
        }
    }

    /// The head of the declaration as the language writes it, without ranges; at most
    /// [`MAX_SIGNATURE`] characters.
    pub fn signature(&self) -> String {
        let var = |var: &Var| match &var.ty {
            VarType::Nat => format!("{}:nat", var.name),
            VarType::Words { atom, dims } => {
                let dims: String = dims.iter().map(|dim| format!("[{dim}]")).collect();
                format!("{}:{atom}{dims}", var.name)
            }
        };
        let list = |vars: &[Var]| vars.iter().map(var).collect::<Vec<_>>().join(", ");
        let array = if self.array { "[]" } else { "" };
        let (params, results) = (list(&self.params), list(&self.results));
        let text = format!("{}{array} {} ({params}) returns ({results})", self.noun(), self.name);
        match text.char_indices().nth(MAX_SIGNATURE) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }

    /// "node", "table" or "perm".
    pub fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Node(_) => "node",
            Kind::Table(_) => "table",
            Kind::Perm(_) => "perm",
        }
    }

    /// Names of the size variables in the signature and bodies, sorted.
    pub fn size_vars(&self) -> Vec<Rc<str>> {
        self.collect_vars(|atom| match &atom.size {
            Size::Var(name) => Some(name.clone()),
            Size::Bits(_) => None,
        })
    }

    /// Directions that are written explicitly anywhere in the declaration, with a place.
    pub fn explicit_dirs(&self) -> Vec<(Dir, Span)> {
        self.all_vars()
            .filter_map(|var| match &var.ty {
                VarType::Words { atom: Atom { dir: Dir::Var(_), .. }, .. } | VarType::Nat => None,
                VarType::Words { atom, .. } => Some((atom.dir.clone(), var.span)),
            })
            .collect()
    }

    /// Parameters, results, and the locals of every alternative.
    pub fn all_vars(&self) -> impl Iterator<Item = &Var> {
        let bodies: &[Body] = match &self.kind {
            Kind::Node(bodies) => bodies,
            _ => &[],
        };
        let locals = bodies.iter().flat_map(|b| b.vars.iter());
        self.params.iter().chain(&self.results).chain(locals)
    }

    fn collect_vars(&self, pick: impl Fn(&Atom) -> Option<Rc<str>>) -> Vec<Rc<str>> {
        let mut names: Vec<Rc<str>> = self
            .all_vars()
            .filter_map(|var| match &var.ty {
                VarType::Words { atom, .. } => pick(atom),
                VarType::Nat => None,
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Instance {
    /// The instance with nothing bound: the declaration as it stands.
    pub fn open(decl: DeclId, alternative: usize) -> Instance {
        Instance {
            decl,
            alternative,
            nats: Vec::new(),
            sizes: Vec::new(),
            dirs: Vec::new(),
            column: false,
        }
    }

    /// `atom` with the variables of this instance replaced.
    pub fn apply(&self, atom: &Atom) -> Atom {
        let size = match &atom.size {
            _ if self.column => Size::Bits(1),
            Size::Bits(bits) => Size::Bits(*bits),
            Size::Var(name) => find(&self.sizes, name).unwrap_or(Size::Var(name.clone())),
        };
        let dir = match &atom.dir {
            Dir::Var(name) => find(&self.dirs, name).unwrap_or(Dir::Var(name.clone())),
            dir => dir.clone(),
        };
        Atom { dir, size }
    }

    pub(super) fn bind_size(&mut self, name: &Rc<str>, size: Size) {
        bind(&mut self.sizes, name, size);
    }

    pub(super) fn bind_dir(&mut self, name: &Rc<str>, dir: Dir) {
        bind(&mut self.dirs, name, dir);
    }
}

fn find<T: Clone>(list: &[(Rc<str>, T)], name: &Rc<str>) -> Option<T> {
    list.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone())
}

fn bind<T>(list: &mut Vec<(Rc<str>, T)>, name: &Rc<str>, value: T) {
    if let Err(at) = list.binary_search_by(|(n, _)| n.cmp(name)) {
        list.insert(at, (name.clone(), value));
    }
}
