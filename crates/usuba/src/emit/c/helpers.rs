//! Operators as C text: an expression where one instruction does it, else a static function.
//!
//!     rotl32_7(v4)   with   static inline __m256i f_rotl32_7(__m256i a)
//!                           {
//!                               const __m256i t0 = _mm256_slli_epi32(a, 7);
//!                               const __m256i t1 = _mm256_srli_epi32(a, 25);
//!                               return _mm256_or_si256(t0, t1);
//!                           }
//!
//! Functions rather than macros: each operand is evaluated once and has a type. Only those that
//! the program needs are printed.

use std::fmt::Write;

use indexmap::IndexMap;

use crate::ir::Op;
use crate::ir::op::Lanes;
use crate::isa::select::select_halves;
use crate::isa::sequence::{Arg, Imm, Selected, Step};
use crate::isa::{Inst, Layout, Target, select, word_lane, word_type};

/// The C form of an operator on given operands.
pub enum Applied {
    /// It is this operand, unchanged.
    Operand(u8),
    /// An expression.
    Text(String),
}

/// Templates longer than this are hidden in a function, so that bodies stay readable.
const LONG: usize = 40;

/// The operators that a kernel uses, and the functions for some of them.
pub struct Helpers<'t> {
    target: &'t Target,
    layout: Layout,
    /// Put before the name of every function.
    prefix: String,
    forms: IndexMap<(Op, u8), Form>,
    shuffles: usize,
    lookups: usize,
    vectors: usize,
    /// The upper half of a product where the compiler has no longer words, if products of two words
    /// are needed, and whether sums are.
    wide: (Option<String>, bool),
}

enum Form {
    /// The operator is one of its operands.
    Operand(u8),
    /// One expression.
    Inline(Selected),
    Function {
        name: String,
        text: String,
    },
}

impl<'t> Helpers<'t> {
    pub fn new(target: &'t Target, layout: Layout, prefix: String) -> Self {
        let forms = IndexMap::new();
        Helpers {
            target,
            layout,
            prefix,
            forms,
            shuffles: 0,
            lookups: 0,
            vectors: 0,
            wide: (None, false),
        }
    }

    /// The C form of `op` with a result of `bits` bits.
    pub fn apply(&mut self, op: &Op, bits: u8, args: &[String]) -> Applied {
        let key = (op.clone(), bits);
        if !self.forms.contains_key(&key) {
            let form = self.form(op, bits);
            self.forms.insert(key.clone(), form);
        }
        match &self.forms[&key] {
            Form::Operand(i) => Applied::Operand(*i),
            Form::Inline(selected) => {
                let mut texts: Vec<String> = Vec::new();
                for step in &selected.steps {
                    let operands = step.args.iter().map(|a| operand(a, args, &texts)).collect();
                    texts.push(instruction(step, operands));
                }
                Applied::Text(texts.pop().expect("an inline form has a step"))
            }
            Form::Function { name, .. } => Applied::Text(format!("{name}({})", args.join(", "))),
        }
    }

    /// The product of two words of 64 bits that are below 2^32, where that is one instruction.
    pub fn product_of_halves(&self, args: &[String]) -> Option<String> {
        let selected = select_halves(self.target, self.layout)?;
        let [step] = &selected.steps[..] else { return None };
        Some(instruction(step, args.to_vec()))
    }

    /// The lower word of a product of two words; a call that ends before its last argument, the
    /// address of the upper word.
    pub fn wide_product(&mut self, [a, b]: &[String; 2]) -> String {
        if self.wide.0.is_none()
            && let Form::Function { text, .. } = self.form(&Op::MulHigh, 64)
        {
            self.wide.0 = Some(text);
        }
        format!("{}product128({a}, {b}", self.prefix)
    }

    /// The lower word of a sum, in the same way, from the lower words and the upper ones.
    pub fn wide_sum(&mut self, [a, b]: &[String; 2], [x, y]: &[String; 2]) -> String {
        self.wide.1 = true;
        format!("{}sum128({a}, {x}, {b}, {y}", self.prefix)
    }

    /// The functions of pairs.
    fn wide(&self) -> String {
        let (prefix, qualifier) = (&self.prefix, self.target.qualifier());
        let mut text = String::new();
        if let Some(half) = &self.wide.0 {
            if !self.forms.contains_key(&(Op::MulHigh, 64)) {
                let _ = writeln!(text, "#ifndef __SIZEOF_INT128__\n{half}#endif\n");
            }
            let _ = writeln!(
                text,
                "{qualifier}static inline uint64_t {prefix}product128(uint64_t a, uint64_t b, uint64_t *high)\n{{\n\
                 #ifdef __SIZEOF_INT128__\n    \
                 __extension__ const unsigned __int128 r = (unsigned __int128)a * b;\n    \
                 *high = (uint64_t)(r >> 64);\n    return (uint64_t)r;\n\
                 #else\n    *high = {prefix}mulhigh64(a, b);\n    return a * b;\n#endif\n}}\n"
            );
        }
        if self.wide.1 {
            let _ = writeln!(
                text,
                "{qualifier}static inline uint64_t {prefix}sum128(uint64_t a, uint64_t x, uint64_t b, uint64_t y, \
                 uint64_t *high)\n{{\n\
                 #ifdef __SIZEOF_INT128__\n    \
                 __extension__ const unsigned __int128 r =\n        \
                 ((unsigned __int128)x << 64 | a) + ((unsigned __int128)y << 64 | b);\n    \
                 *high = (uint64_t)(r >> 64);\n    return (uint64_t)r;\n\
                 #else\n    *high = x + y + (uint64_t)(a + b < a);\n    return a + b;\n#endif\n}}\n"
            );
        }
        text
    }

    /// The functions, in the order of their first use.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for form in self.forms.values() {
            if let Form::Function { text, .. } = form {
                all.push_str(text);
                all.push('\n');
            }
        }
        all.push_str(&self.wide());
        all
    }

    fn form(&mut self, op: &Op, bits: u8) -> Form {
        if let Op::Lookup(table) = op {
            let name = self.name(op, bits);
            let name = format!("{}{name}", self.prefix);
            let text = lookup(self.target, &name, table, bits);
            return Form::Function { name, text };
        }
        let make = |extended| {
            select(self.target, self.layout, op, bits, extended)
                .expect("lowering refuses operators that the target lacks")
        };
        let plain = make(false);
        let extended = make(true);
        let when = extended.when();
        if when.is_empty() {
            if let Arg::Operand(i) = plain.result {
                return Form::Operand(i);
            }
            let short = plain.steps.iter().all(|s| s.row.text(s.lane).len() <= LONG);
            let constant = plain.steps.iter().all(|s| s.args.is_empty());
            if constant || plain.steps.len() == 1 && short {
                return Form::Inline(plain);
            }
        }
        let name = self.name(op, bits);
        let name = format!("{}{name}", self.prefix);
        let text = self.function(&name, op, bits, &plain, &extended, when);
        Form::Function { name, text }
    }

    fn name(&mut self, op: &Op, bits: u8) -> String {
        match op {
            Op::Const(value) => format!("const{bits}_{value:x}"),
            Op::Copy => format!("copy{bits}"),
            Op::Not => format!("not{bits}"),
            Op::And => "and".to_string(),
            Op::Or => "or".to_string(),
            Op::Xor => "xor".to_string(),
            Op::Andn => format!("andn{bits}"),
            Op::Lut3(table) => format!("lut{bits}_{table:02x}"),
            Op::Add => format!("add{bits}"),
            Op::Sub => format!("sub{bits}"),
            Op::Mul => format!("mul{bits}"),
            Op::MulHigh => format!("mulhigh{bits}"),
            Op::Clmul => format!("clmul{bits}"),
            Op::ClmulHigh => format!("clmulhigh{bits}"),
            Op::MulAdd(k) => format!("muladd{k}_{bits}"),
            Op::MulAddHigh(k) => format!("muladdhigh{k}_{bits}"),
            Op::Less => format!("less{bits}"),
            Op::Resize(from) => format!("resize{from}_{bits}"),
            Op::Shl(k) => format!("shl{bits}_{k}"),
            Op::Shr(k) => format!("shr{bits}_{k}"),
            Op::Sar(k) => format!("sar{bits}_{k}"),
            Op::Rotl(k) => format!("rotl{bits}_{k}"),
            Op::Shuffle(_) => {
                self.shuffles += 1;
                format!("shuffle{bits}_n{}", self.shuffles)
            }
            Op::Bitmask(i) => format!("bitmask{bits}_{i}"),
            Op::Pack => format!("pack{bits}"),
            Op::Lookup(_) => {
                self.lookups += 1;
                format!("lookup{bits}_n{}", self.lookups)
            }
            Op::Affine(matrix, c) => format!("affine_{matrix:016x}_{c:02x}"),
            Op::AffineInverse(matrix, c) => format!("affine_inverse_{matrix:016x}_{c:02x}"),
            Op::Lanes(lanes) => {
                self.vectors += 1;
                let about = match lanes {
                    Lanes::Const(_) => "literal",
                    Lanes::Each(_) => "each",
                    Lanes::Move(_) => "move",
                    Lanes::Join(_) => "join",
                };
                format!("{about}{bits}_n{}", self.vectors)
            }
        }
    }

    fn function(
        &self,
        name: &str,
        op: &Op,
        bits: u8,
        plain: &Selected,
        extended: &Selected,
        when: &str,
    ) -> String {
        let source = match op {
            Op::Pack => bits / 2,
            Op::Resize(from) => *from,
            _ => bits,
        };
        let letters = ["a", "b", "c"];
        let params: Vec<String> = letters[..op.arity()]
            .iter()
            .map(|l| format!("{} {l}", self.target.c_type(self.layout, source)))
            .collect();
        let result = self.target.c_type(self.layout, bits);
        let mut text = String::new();
        if let Op::Shuffle(pattern) = op {
            let _ = writeln!(text, "/* groups {} of {bits} bits */", list(pattern));
        }
        if let Op::Lanes(lanes) = op {
            let _ = writeln!(text, "/* {} */", about(lanes));
        }
        let qualifier = self.target.qualifier();
        let params = params.join(", ");
        let _ = writeln!(text, "{qualifier}static inline {result} {name}({params})\n{{");
        for (i, letter) in letters[..op.arity()].iter().enumerate() {
            if !plain.uses(i as u8) && !extended.uses(i as u8) {
                let _ = writeln!(text, "    (void){letter};");
            }
        }
        if when.is_empty() {
            self.lines(&mut text, plain, &letters);
        } else {
            let _ = writeln!(text, "#ifdef {when}");
            self.lines(&mut text, extended, &letters);
            text.push_str("#else\n");
            self.lines(&mut text, plain, &letters);
            text.push_str("#endif\n");
        }
        text.push_str("}\n");
        text
    }

    fn lines(&self, text: &mut String, selected: &Selected, letters: &[&str; 3]) {
        let params: Vec<String> = letters.iter().map(|l| l.to_string()).collect();
        let mut names: Vec<String> = Vec::new();
        let mut next = 0;
        for (at, step) in selected.steps.iter().enumerate() {
            let operands = step.args.iter().map(|a| operand(a, &params, &names)).collect();
            let value = instruction(step, operands);
            if selected.result == Arg::Step(at as u16) {
                let _ = writeln!(text, "    return {value};");
                return;
            }
            if step.row.inst == Inst::Splat && !self.target.simd {
                names.push(value);
                continue;
            }
            let ty = if self.target.simd { self.target.register } else { word_type(step.lane) };
            let _ = writeln!(text, "    const {ty} t{next} = {value};");
            names.push(format!("t{next}"));
            next += 1;
        }
        let _ = writeln!(text, "    return {};", operand(&selected.result, &params, &names));
    }
}

/// An array look-up; beyond the end of the table is zero.
fn lookup(target: &Target, name: &str, table: &[u64], bits: u8) -> String {
    let (qualifier, ty) = (target.qualifier(), word_type(word_lane(bits)));
    let entries: Vec<String> = table.iter().map(u64::to_string).collect();
    let whole = bits < 64 && table.len() as u64 == 1 << bits;
    let value = match whole {
        true => "table[a]".to_string(),
        false => format!("a < {} ? table[a] : 0", table.len()),
    };
    let mut text =
        format!("/* not constant-time */\n{qualifier}static inline {ty} {name}({ty} a)\n{{\n");
    let _ = writeln!(text, "    static const {ty} table[{}] = {{", table.len());
    for line in entries.chunks(16) {
        let _ = writeln!(text, "        {},", line.join(", "));
    }
    let _ = writeln!(text, "    }};\n    return {value};\n}}");
    text
}

fn operand(arg: &Arg, params: &[String], steps: &[String]) -> String {
    match arg {
        Arg::Operand(i) => params[*i as usize].clone(),
        Arg::Step(i) => steps[*i as usize].clone(),
    }
}

fn list(pattern: &[u8]) -> String {
    pattern.iter().map(|p| p.to_string()).collect::<Vec<_>>().join(" ")
}

/// An operator on lanes, in words.
fn about(lanes: &Lanes) -> String {
    match lanes {
        Lanes::Const(_) => "a literal for each lane".to_string(),
        Lanes::Each(ops) => {
            let of = |op: &Op| match op {
                Op::Rotl(k) => format!("<<< {k}"),
                Op::Shl(k) => format!("<< {k}"),
                Op::Shr(k) => format!(">> {k}"),
                Op::Sar(k) => format!(">>! {k}"),
                Op::Const(_) => "zero".to_string(),
                _ => "as it is".to_string(),
            };
            ops.iter().map(of).collect::<Vec<_>>().join(", ")
        }
        Lanes::Move(pattern) => format!("lanes {}", list(pattern)),
        Lanes::Join(pattern) => format!("lanes {} of a and b", list(pattern)),
    }
}

/// One instruction on operands that are names or constants.
fn instruction(step: &Step, operands: Vec<String>) -> String {
    let text = step.row.text(step.lane);
    match step.imm {
        Imm::None => fill(&text, &operands, "", "", ""),
        Imm::Int(k) if step.row.inst == Inst::Splat => {
            fill(&text, &operands, &literal(k, step.lane), "", "")
        }
        Imm::Int(k) => fill(&text, &operands, &k.to_string(), "", ""),
        Imm::Bytes(bytes) => {
            let (low, high) = halves(&bytes);
            let (low, high) = (literal(low, 64), literal(high, 64));
            fill(&text, &operands, "", &high, &low)
        }
        Imm::Register(words, count) => {
            let words: Vec<String> = words[..count as usize]
                .iter()
                .rev()
                .map(|&word| format!("(long long){}", literal(word, 64)))
                .collect();
            let (high, low) = (&words[words.len() - 2], &words[words.len() - 1]);
            let text = text.replace("{v}", &words.join(", "));
            let bare = |word: &str| word.trim_start_matches("(long long)").to_string();
            fill(&text, &operands, "", &bare(high), &bare(low))
        }
    }
}

/// The two little-endian words of 16 bytes in memory order.
pub fn halves(bytes: &[u8; 16]) -> (u64, u64) {
    let word = |b: &[u8]| b.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64);
    (word(&bytes[..8]), word(&bytes[8..]))
}

/// A template with its places filled. A brace before a blank is a brace of C.
pub fn fill(template: &str, args: &[String], k: &str, hi: &str, lo: &str) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        if rest[open + 1..].starts_with(' ') {
            text.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        }
        let close = open + rest[open..].find('}').expect("templates close what they open");
        text.push_str(&rest[..open]);
        match &rest[open + 1..close] {
            "k" => text.push_str(k),
            "hi" => text.push_str(hi),
            "lo" => text.push_str(lo),
            digit => {
                let at: usize = digit.parse().expect("a place is an operand or a known letter");
                text.push_str(&args[at]);
            }
        }
        rest = &rest[close + 1..];
    }
    text.push_str(rest);
    text
}

/// An unsigned C constant of the type of a lane.
pub fn literal(value: u64, lane: u8) -> String {
    if lane == 64 { format!("0x{value:x}ULL") } else { format!("0x{value:x}u") }
}
