//! Generation of arithmetic kernels for hand-written C: `[[arithmetic]]` in `cipher.toml`.
//!
//! ```text
//! fe   limbs51.ua on gp64   limbs25.ua on gp32   usuba_fe_mul, usuba_fe_square, …
//!      typedef usuba_word usuba_fe[5]            [10] where words have 32 bits
//! ```
//!
//! One C file has all variants, and an `#if` selects one by `USUBA_WORD_BITS` and `USUBA_SMALL` of
//! `lib/c/common/words.h`. All functions are `static`; nodes share one copy of a common callee.

use std::collections::{BTreeSet, HashMap, HashSet};

use usuba::emit::c::COptions;
use usuba::ir::{Node, Slicing};
use usuba::isa::{self, Target};
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::PipelineOptions;
use usuba::passes::{inline, unroll};

use usuba_ciphers::{Arithmetic, Cipher, Lanes};
use usuba_run::functions::{Compiled, Task};

/// Kernels as C functions.
#[derive(Clone, Default, Debug)]
pub struct Kernels {
    pub text: String,
    /// The kernels in the text for words of 64 bits.
    pub tasks: Vec<Kernel>,
}

/// A kernel that the text defines.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub task: Task,
    /// The C functions of the nodes that its program links.
    pub calls: Vec<String>,
    /// Whether it remains a function of the object, which proofs of its callers use.
    pub is_apart: bool,
}

/// A compile variant of the arithmetic.
struct Variant {
    /// The condition of its `#if`.
    condition: &'static str,
    target: &'static str,
    /// The program for its word size.
    program: fn(&Arithmetic) -> &String,
    /// Whether it uses the nodes for small memory.
    small: bool,
    inline: inline::Mode,
    unroll: unroll::Mode,
}

/// Unrolled code for processors with caches; rolled loops and calls where code size matters.
const VARIANTS: [Variant; 3] = [
    Variant {
        condition: "USUBA_WORD_BITS == 64",
        target: "gp64",
        program: |arithmetic| &arithmetic.gp64,
        small: false,
        inline: inline::Mode::Auto,
        unroll: unroll::Mode::All,
    },
    Variant {
        condition: "!defined(USUBA_SMALL)",
        target: "gp32",
        program: |arithmetic| &arithmetic.gp32,
        small: false,
        inline: inline::Mode::Light,
        unroll: unroll::Mode::Auto,
    },
    Variant {
        condition: "1",
        target: "gp32",
        program: |arithmetic| arithmetic.small.as_ref().unwrap_or(&arithmetic.gp32),
        small: true,
        inline: inline::Mode::Light,
        unroll: unroll::Mode::None,
    },
];

/// Compiles all variants of a folder's arithmetic to C; empty if there is none.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn compile(cipher: &Cipher) -> Result<Kernels, String> {
    let mut all = Kernels::default();
    if cipher.arithmetic.is_empty() {
        return Ok(all);
    }
    for (number, variant) in VARIANTS.iter().enumerate() {
        let directive = if number == 0 { "#if" } else { "#elif" };
        let Kernels { text, tasks } = variant.kernels(cipher)?;
        all.text += &format!("\n{directive} {}\n{text}", variant.condition);
        if number == 0 {
            all.tasks = tasks;
        }
    }
    all.text += "#endif\n";
    Ok(all)
}

/// A kernel as the library compiles it.
pub struct Form<'c> {
    pub arithmetic: &'c Arithmetic,
    /// The program, by its path from the folder.
    pub source: &'c str,
    pub node: &'c str,
    pub target: &'static Target,
    pub pipeline: PipelineOptions,
    /// Nodes that are kernels of their own.
    pub linked: &'c [String],
}

/// The kernels of a folder's arithmetic on words of 64 bits, or else of 32 bits; with `small`, for
/// small memory.
pub fn forms(cipher: &Cipher, is_64: bool, small: bool) -> Vec<Form<'_>> {
    let number = if is_64 { 0 } else { 1 + usize::from(small) };
    VARIANTS[number].forms(cipher)
}

impl Variant {
    fn pipeline(&self) -> PipelineOptions {
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.inline = self.inline;
        pipeline.pass.unroll = self.unroll;
        pipeline
    }

    fn forms<'c>(&self, cipher: &'c Cipher) -> Vec<Form<'c>> {
        let target: &'static Target = isa::find(self.target).expect("variants name targets");
        let mut forms = Vec::new();
        for arithmetic in &cipher.arithmetic {
            let more = match self.target {
                "gp64" => &arithmetic.wide_nodes,
                _ => &arithmetic.narrow_nodes,
            };
            let nodes = arithmetic.nodes(self.small).iter().chain(more);
            forms.extend(nodes.map(|node| Form {
                arithmetic,
                source: (self.program)(arithmetic),
                node,
                target,
                pipeline: with_calls(self.pipeline(), node, &arithmetic.seldom),
                linked: arithmetic.links(node),
            }));
        }
        forms
    }

    fn kernels(&self, cipher: &Cipher) -> Result<Kernels, String> {
        let mut functions = Functions::default();
        let mut types = String::new();
        let mut typed = None;
        for Form { arithmetic, source, node, target, pipeline, linked } in self.forms(cipher) {
            let name = &arithmetic.name;
            let prefix = format!("usuba_{name}_");
            let on = (Slicing::V, target);
            let c = COptions { prefix, linked: linked.to_vec(), ..COptions::default() };
            let source = (source, node);
            let compiled =
                usuba_run::functions::arithmetic(&cipher.folder, source, c, on, &pipeline)?;
            let kernel = &compiled.kernel;
            // The first kernel of a field has the type of its numbers.
            if typed.replace(name) != Some(name) {
                let words = kernel.results.first().expect("a node has results").registers;
                let limbs = format!("USUBA_{}_WORDS", name.to_uppercase());
                types += &format!(
                    "#define {limbs} {words}\ntypedef usuba_word usuba_{name}[{limbs}];\n"
                );
            }
            let text = match target.bits {
                64 => apart(&kernel.text, &kernel.name),
                _ => kernel.text.clone(),
            };
            functions.add(&text, compiled);
        }
        if self.target == "gp64" {
            let apart = |arithmetic: &Arithmetic| {
                let symbol = |node: &String| format!("usuba_{}_{node}", arithmetic.name);
                arithmetic.apart.iter().map(symbol).collect::<Vec<_>>()
            };
            functions.apart = cipher.arithmetic.iter().flat_map(apart).collect();
        }
        Ok(functions.all(&format!("{types}\n")))
    }
}

/// The length in lines above which the cost of a call is negligible.
const LONG: usize = 300;

/// Marks a long kernel as a separate function. Compilers inline a kernel with a single caller, such
/// as a step of Montgomery's ladder, into the loop around it, where it adds to the register
/// pressure: gcc then keeps pairs of limbs in vector registers and takes 1.5 times as long.
fn apart(kernel: &str, name: &str) -> String {
    let head = format!("static void {name}(");
    let apart = format!("#ifdef __GNUC__\n__attribute__((noinline))\n#endif\n{head}");
    match kernel.lines().count() < LONG {
        true => kernel.to_string(),
        false => kernel.replace(&head, &apart),
    }
}

/// The same pipeline, except that a rarely executed node calls others instead of inlining them, and
/// keeps its loops. It shares the functions of frequent callers, or saves code size.
fn with_calls(mut pipeline: PipelineOptions, node: &str, seldom: &[String]) -> PipelineOptions {
    if seldom.iter().any(|name| name == node) {
        pipeline.pass.inline = inline::Mode::Light;
        if pipeline.pass.unroll == unroll::Mode::All {
            pipeline.pass.unroll = unroll::Mode::Auto;
        }
    }
    pipeline
}

/// The minimal register width for at least four lanes of words.
const WIDE: u32 = 256;

/// The targets of `backends` with at least four lanes: one for each base instruction set, and the
/// targets with their own program.
pub fn wide(backends: &[&'static Target], lanes: &Lanes) -> Vec<&'static Target> {
    let mut all: Vec<&'static Target> = Vec::new();
    for target in backends.iter().filter(|target| target.simd && target.bits >= WIDE) {
        let known = all.iter().any(|known| plain(known).name == plain(target).name);
        if !known || lanes.is_special(target) {
            all.push(target);
        }
    }
    all
}

/// The base of a target, or the target itself.
pub fn plain(target: &'static Target) -> &'static Target {
    target.base.unwrap_or(target)
}

/// The target of `backends` whose registers hold all numbers of one operation.
pub fn across(backends: &[&'static Target]) -> Option<&'static Target> {
    backends.iter().copied().find(|target| target.simd && target.bits == WIDE)
}

/// Compiles the kernels of `[lanes]`, in V, or `[across]`, in W, on one target, whose name is the
/// suffix of their names.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn lanes(
    cipher: &Cipher,
    lanes: &Lanes,
    (slicing, target): (Slicing, &'static Target),
) -> Result<Kernels, String> {
    let mut pipeline = PipelineOptions::default();
    pipeline.pass.unroll = unroll::Mode::All;
    pipeline.pass.interleave = Choice::SINGLE;
    let mut functions = Functions::default();
    let words = isa::find("gp64").expect("it exists");
    let nodes = lanes.nodes.iter().map(|node| (node, (slicing, target)));
    // A number at the end of a name is the lane count.
    let count = (target.bits / 64).to_string();
    let fits = |node: &&String| {
        let number = node.trim_start_matches(|c: char| !c.is_ascii_digit());
        number.is_empty() || *number == count
    };
    let once = lanes.once.iter().filter(fits).map(|node| (node, (Slicing::V, words)));
    let mut types = String::new();
    for (node, on) in nodes.chain(once) {
        let (prefix, name) = (format!("usuba_{}_", lanes.name), format!("{node}_{}", target.name));
        let source = (&**lanes.program(target), &**node);
        let pipeline = with_calls(pipeline.clone(), node, &lanes.seldom);
        let c = COptions { prefix, name, ..COptions::default() };
        let compiled = usuba_run::functions::arithmetic(&cipher.folder, source, c, on, &pipeline)?;
        let kernel = &compiled.kernel;
        if types.is_empty() {
            let result = kernel.results.first().expect("a node has results");
            let name = lanes.name.to_uppercase();
            types = format!("#define USUBA_{name}_LIMBS {}\n", result.registers);
        }
        functions.add(&kernel.text.clone(), compiled);
    }
    Ok(functions.all(&types))
}

/// The pragmas around code that gcc must not reorder, as the compiler emits them.
const PUSH: &str =
    "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC push_options\n#pragma GCC optimize(";
const POP: &str = "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC pop_options\n#endif\n";

/// C functions, merged if they are equal except for their names.
#[derive(Default)]
struct Functions {
    text: String,
    /// Text before all functions if one of them needs it; [`POP`] then follows them.
    push: String,
    /// The name of the first function by its text, with `@` for its name.
    known: HashMap<String, String>,
    tasks: Vec<Kernel>,
    /// Functions with proofs of their own, besides linked kernels and their callers.
    apart: Vec<String>,
}

impl Functions {
    /// Adds a kernel with its C.
    fn add(&mut self, text: &str, compiled: Compiled) {
        let Compiled { task, program, kernel } = compiled;
        self.merge(text, &kernel.name);
        let linked = program.nodes.iter().filter_map(Node::kernel);
        let calls = linked.map(|name| task.options.c.symbol(name)).collect();
        self.tasks.push(Kernel { task, calls, is_apart: false });
    }

    /// Adds the functions of the kernel `entry`, in the compiler's order: callees before callers.
    fn merge(&mut self, kernel: &str, entry: &str) {
        let mut names: Vec<(String, String)> = Vec::new();
        let mut piece = String::new();
        let code = kernel.split_once("*/").map_or(kernel, |(_, code)| code);
        let mut code = code.replace(POP, "");
        if let Some(start) = code.find(PUSH) {
            let end = code[start..].find("#endif\n").map_or(code.len(), |at| start + at + 7);
            self.push = code[start..end].to_string();
            code.replace_range(start..end, "");
        }
        // Linked nodes come first, so nothing has to be declared.
        let is_declared = |line: &str| {
            line.starts_with("#include") || line.starts_with("static ") && line.ends_with(");")
        };
        for line in code.lines().filter(|line| !is_declared(line)) {
            if piece.is_empty() && line.is_empty() {
                continue;
            }
            piece += line;
            piece.push('\n');
            if line != "}" {
                continue;
            }
            let own = name(&piece).to_string();
            for (old, new) in &names {
                piece = renamed(&piece, old, new);
            }
            // The same body is `inline` as a callee and not `inline` as an entry.
            let plain =
                piece.replace("#ifdef __GNUC__\n__attribute__((always_inline))\n#endif\n", "");
            let plain = renamed(&plain.replacen("static inline ", "static ", 1), &own, "@");
            match self.known.get(&plain).cloned() {
                // Hand-written C refers to entries by name.
                Some(first) if own == entry => {
                    self.text = renamed(&self.text, &first, entry);
                    let known = self.known.drain();
                    let rename = |text: String| renamed(&text, &first, entry);
                    self.known = known.map(|(key, value)| (rename(key), rename(value))).collect();
                }
                Some(first) => names.push((own, first)),
                None => {
                    self.text += &piece;
                    self.text.push('\n');
                    self.known.insert(plain, own);
                }
            }
            piece.clear();
        }
    }
}

impl Functions {
    /// The text of all functions behind `types`, and the kernels whose names survived.
    fn all(mut self, types: &str) -> Kernels {
        let names: HashSet<String> = self.known.into_values().collect();
        self.tasks.retain(|kernel| names.contains(&kernel.task.symbol()));
        let callers = self.tasks.iter().filter(|kernel| !kernel.calls.is_empty());
        let symbols = |of: &Kernel| of.calls.iter().cloned().chain([of.task.symbol()]).collect();
        let linked: BTreeSet<String> = callers.flat_map::<Vec<_>, _>(symbols).collect();
        for kernel in &mut self.tasks {
            kernel.is_apart = self.apart.contains(&kernel.task.symbol());
        }
        for name in linked.into_iter().chain(self.apart) {
            let head = format!("static void {name}(");
            self.text = self.text.replace(&head, &format!("USUBA_LINKED {head}"));
        }
        let pop = if self.push.is_empty() { "" } else { POP };
        let text = format!("{types}{}{}{pop}", self.push, self.text);
        Kernels { text, tasks: self.tasks }
    }
}

/// The name of the function that `text` defines.
fn name(text: &str) -> &str {
    let before = text.lines().find(|line| line.starts_with("static ")).unwrap_or_default();
    let before = before.split('(').next().unwrap_or_default();
    before.rsplit(' ').next().unwrap_or_default()
}

/// `text` with the name of a function replaced where it is a whole word.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(old) {
        let end = at + old.len();
        let whole = !text[..at].ends_with(word) && !text[end..].starts_with(word);
        out += &text[done..at];
        out += if whole { new } else { old };
        done = end;
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_are_there_once() {
        let mut functions = Functions::default();
        let function = |head: &str| format!("{head}(int *a)\n{{\n    *a = 1;\n}}\n\n");
        let top = "/* f */\n#include <stdint.h>\n\n";
        functions.merge(&(top.to_string() + &function("static void f")), "f");
        let caller = "static void g(int *a)\n{\n    g_f(a);\n    g_f2(a);\n}\n";
        functions.merge(&(function("static inline void g_f") + caller), "g");
        let of_f = |name: &str| function(&format!("static void {name}"));
        let expected = of_f("f") + &renamed(caller, "g_f", "f") + "\n";
        assert_eq!(functions.text, expected);
        functions.merge(&of_f("h"), "h");
        let expected = of_f("h") + &renamed(caller, "g_f", "h") + "\n";
        assert_eq!(functions.text, expected);
    }

    #[test]
    fn what_gcc_must_not_do_is_around_all() {
        let mut functions = Functions::default();
        let body = "(int *a)\n{\n    *a = 1;\n}\n";
        functions
            .merge(&format!("/* f */\n\n{PUSH}\"x\")\n#endif\n\nstatic void f{body}\n{POP}"), "f");
        functions.merge(
            &format!("/* g */\n\n{PUSH}\"x\")\n#endif\n\nstatic void g_f{body}\n{POP}"),
            "g",
        );
        let expected = format!("{PUSH}\"x\")\n#endif\nstatic void f{body}\n{POP}");
        assert_eq!(functions.all("").text, expected);
    }

    #[test]
    fn names_are_whole_words() {
        assert_eq!(renamed("f(f2(x_f, f))", "f", "g"), "g(f2(x_f, g))");
        assert_eq!(renamed("ff f", "f", "ff"), "ff ff");
    }
}
