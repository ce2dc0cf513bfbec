//! Functions that are applied to their own results, block after block of a message: the chaining
//! values stay in registers until all blocks are done.
//!
//! ```text
//! name(chains, in, nblocks, count)
//!     chains ──pack──→ registers ←──────────────┐
//!     in[j] + size * n  ──pack──→ registers ──kernel, nblocks times
//!     chains ←──unpack── registers ←────────────┘
//! ```
//!
//! Each lane has its own message, so that as many messages as there are lanes cost as much as one.
//! What is left of `count` in the end is filled up with copies of the first message.
//!
//! Behind each block the compiler is told that somebody may have looked at the chaining values. If
//! one of their words counts blocks, it would otherwise take the kernel apart around that number;
//! clang then writes three times as many additions.

use std::fmt::Write;

use super::function::movers;
use super::transpose::Way;
use super::{Function, Kernel, Ports, Shape};
use crate::diag::{Code, Diagnostic};
use crate::emit::port_type;
use crate::ir::Port;
use crate::isa::Target;

/// See [`super::library::chained`].
pub fn chained(function: &Function, target: &Target, linkage: &str) -> Result<String, Diagnostic> {
    let ports = function.ports()?;
    let name = function.name;
    let ([chain, data], None) = (&ports.inputs[..], ports.key) else {
        let message = format!(
            "`{name}` cannot be chained: it wants a chaining value and a block of a message, and \
             no key"
        );
        return Err(Diagnostic::global(Code::NotSupported, message));
    };
    let same = Shape::of(chain) == Shape::of(ports.output)
        && function.inputs[0].bytes == function.output.bytes;
    if !same {
        let message = format!(
            "`{name}` cannot be chained: `{}` cannot take the place of `{}`",
            ports.output.name, chain.name
        );
        return Err(Diagnostic::global(Code::NotSupported, message)
            .help("both must have the same words and the same byte layout"));
    }
    let layout = crate::emit::layout(function.kernel.program, target);
    let sizes = [Shape::of(chain).bytes(), Shape::of(data).bytes()];
    let pitch = |port: &Port| Shape::of(port).bytes();
    let (from, to) = movers(function, &ports, target, layout, (&pitch, sizes[0]))?;
    let mut text = String::new();
    for (mover, part) in from.iter().zip(["load", "pack"]) {
        mover.function(&mut text, &format!("{name}_{part}"), Way::Pack)?;
    }
    to.function(&mut text, &format!("{name}_unpack"), Way::Unpack)?;
    let lanes = target.lanes(layout) as usize;
    let batch = |what: &str, kernel: Kernel| {
        let copies = kernel.program.copies as usize;
        let batch = Batch { name: format!("{name}_{what}"), lanes, copies };
        let types = [*chain, *data].map(|port| port_type(target, layout, function.slicing(), port));
        (batch.function(function, kernel, &ports, types, sizes), batch)
    };
    let (body, large) = batch("batch", function.kernel);
    text += &body;
    let single = function.single.filter(|_| function.kernel.program.copies > 1);
    let small = single.map(|kernel| batch("set", kernel));
    if let Some((body, _)) = &small {
        text += body;
    }
    let small = small.map(|(_, batch)| batch);
    entry(&mut text, name, linkage, (&large, small.as_ref()), sizes[0]);
    Ok(text)
}

/// One kernel with the C function around it.
struct Batch {
    name: String,
    lanes: usize,
    /// Register sets of one call.
    copies: usize,
}

impl Batch {
    /// Messages.
    fn size(&self) -> usize {
        self.lanes * self.copies
    }

    /// `static void name(uint8_t *chains, const uint8_t *const *in, size_t nblocks)`
    fn function(
        &self,
        function: &Function,
        kernel: Kernel,
        ports: &Ports,
        [chain_type, data_type]: [&str; 2],
        [chain, block]: [usize; 2],
    ) -> String {
        let Batch { name, lanes, copies } = self;
        let values = |port: &Port| port.values(function.slicing());
        let (words, inputs) = (values(ports.inputs[0]), values(ports.inputs[1]));
        let at = |array: &str, registers: usize, copy: usize| match copy {
            0 => array.to_string(),
            _ => format!("{array} + {}", registers * copy),
        };
        let mut arguments = Vec::new();
        for group in kernel.program.params() {
            let is_chain = group[0].name == ports.inputs[0].name;
            let (array, registers) = if is_chain { ("from", words) } else { ("x", inputs) };
            arguments.extend((0..group.len()).map(|copy| at(array, registers, copy)));
        }
        arguments.extend((0..*copies).map(|copy| at("to", words, copy)));
        let each = |before: &str, what: &str, bytes: &str, registers: &str, pitch: [usize; 2]| {
            let place = |array: &str, pitch| match copies {
                1 => array.to_string(),
                _ => format!("{array} + {pitch} * c"),
            };
            let head = match copies {
                1 => String::new(),
                _ => format!("for (c = 0; c < {copies}; c++) "),
            };
            let [bytes, registers] = [place(bytes, pitch[0]), place(registers, pitch[1])];
            let (one, other) =
                if what == "unpack" { (registers, bytes) } else { (bytes, registers) };
            format!("{before}{head}{}_{what}({one}, {other});\n", function.name)
        };
        let mut text = format!(
            "\nstatic void {name}(uint8_t *chains, const uint8_t *const *in, size_t nblocks) {{\n    \
             {chain_type} a[{}], b[{}], *from = a, *to = b, *last;\n    {data_type} x[{}];\n",
            words * copies,
            words * copies,
            inputs * copies
        );
        // A single message needs no copy: it is read where it lies.
        let gathered = self.size() > 1;
        if gathered {
            let _ = writeln!(text, "    uint8_t data[{}];\n    size_t j;", block * self.size());
        }
        text += "    size_t n;\n";
        if *copies > 1 {
            text += "    size_t c;\n";
        }
        text += &each("    ", "load", "chains", "a", [chain * lanes, words]);
        text += "    for (n = 0; n < nblocks; n++) {\n";
        let source = match gathered {
            true => {
                let _ = writeln!(
                    text,
                    "        for (j = 0; j < {}; j++) memcpy(data + {block} * j, in[j] + {block} * n, {block});",
                    self.size()
                );
                "data".to_string()
            }
            false => format!("in[0] + {block} * n"),
        };
        text += &each("        ", "pack", &source, "x", [block * lanes, inputs]);
        let _ = write!(
            text,
            "        {}({});\n        last = from;\n        from = to;\n        to = last;\n\
             #if defined(__GNUC__)\n        \
             __asm__ __volatile__(\"\" : : \"r\"(from) : \"memory\");\n#endif\n    }}\n",
            kernel.symbol,
            arguments.join(", ")
        );
        text += &each("    ", "unpack", "chains", "from", [chain * lanes, words]);
        text + "}\n"
    }
}

/// The function over any number of messages.
fn entry(
    text: &mut String,
    name: &str,
    linkage: &str,
    (large, small): (&Batch, Option<&Batch>),
    chain: usize,
) {
    let _ = write!(
        text,
        "\n{linkage}void {name}(uint8_t *chains, const uint8_t *const *in, size_t nblocks, \
         size_t count) {{\n"
    );
    let whole = |batch: &Batch| {
        let size = batch.size();
        format!(
            "    for (; count >= {size}; count -= {size}, chains += {}, in += {size})\n        \
             {}(chains, in, nblocks);\n",
            size * chain,
            batch.name
        )
    };
    let rest = |batch: &Batch| {
        let size = batch.size();
        format!(
            "uint8_t some[{}];\n        const uint8_t *all[{size}];\n        size_t i;\n        \
             memcpy(some, chains, {chain} * count);\n        \
             memset(some + {chain} * count, 0, {chain} * ({size} - count));\n        \
             for (i = 0; i < {size}; i++) all[i] = in[i < count ? i : 0];\n        \
             {}(some, all, nblocks);\n        memcpy(chains, some, {chain} * count);\n",
            size * chain,
            batch.name
        )
    };
    *text += &whole(large);
    if let Some(small) = small {
        let half = large.size() / 2;
        let _ = write!(
            text,
            "    if (count > {half}) {{\n        {}        return;\n    }}\n",
            rest(large)
        );
        *text += &whole(small);
    }
    let last = small.unwrap_or(large);
    if last.size() > 1 {
        let _ = write!(text, "    if (count) {{\n        {}    }}\n", rest(last));
    }
    text.push_str("}\n");
}
