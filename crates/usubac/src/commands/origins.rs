//! `--emit origins`: the place in the source of every equation of the final program, as JSON.
//!
//! ```text
//! {"kernel":"round","files":["round.ua"],"equations":[
//! {"node":"round","equation":"v9 = xor(v0, v4)","file":0,"line":9,"column":11,"c":[41,41]}]}
//! ```
//!
//! Every operator and call has an entry, in the order of the program. `c` has the first and the
//! last line of C that compute it; constants and copies have none of their own. An equation that a
//! pass made for itself has neither file, line nor column.

use std::collections::BTreeMap;

use serde::Serialize;
use usuba::emit::c::Emitted;
use usuba::emit::places::Places;
use usuba::ir::{Eqn, NodeId, Program, Val};

#[derive(Serialize)]
struct Entry<'a> {
    node: &'a str,
    equation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<(u32, u32)>,
}

/// The table of a program whose C is `emitted`, one equation a line.
pub fn table(program: &Program, emitted: &Emitted, places: &Places) -> String {
    let lines: BTreeMap<(NodeId, Val), (u32, u32)> =
        emitted.lines.iter().map(|p| ((p.node, p.value), p.lines)).collect();
    let mut entries = Vec::new();
    for (at, node) in program.nodes.iter().enumerate() {
        node.equations(&mut |eqn, v| {
            let place = node.origins.of(v).and_then(|span| places.of(span));
            let entry = Entry {
                node: &node.name,
                equation: equation(program, eqn),
                file: place.map(|place| place.file),
                line: place.map(|place| place.line),
                column: place.map(|place| place.column),
                c: lines.get(&(NodeId(at as u32), v)).copied(),
            };
            entries.push(json(&entry));
        });
    }
    let files: Vec<&str> = places.names().collect();
    let (name, files) = (json(&emitted.name), json(&files));
    let entries = entries.join(",\n");
    format!("{{\"kernel\":{name},\"files\":{files},\"equations\":[\n{entries}]}}\n")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers have a JSON form")
}

/// An equation with the names that values have in C.
fn equation(program: &Program, eqn: &Eqn) -> String {
    let list = |values: &[Val]| {
        let names: Vec<String> = values.iter().map(|v| format!("v{}", v.0)).collect();
        names.join(", ")
    };
    match eqn {
        Eqn::Op(e) => format!("v{} = {}({})", e.dst.0, e.op.name(), list(&e.args)),
        Eqn::Call(call) => {
            let name = &program.node(call.node).name;
            format!("{} = {name}({})", list(&call.dsts), list(&call.args))
        }
        Eqn::Loop(_) => unreachable!("the table has operators and calls"),
    }
}
