//! Inlay hints: costs at the places where their nodes and tables stand in the text.

use std::collections::BTreeMap;

use usuba::diag::{FileId, Span};

use crate::Analysis;
use crate::costs::{Costs, Machine};
use crate::names::Kind;

/// A short text behind a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// An empty span.
    pub at: Span,
    pub text: String,
    /// A sentence that explains the text.
    pub about: String,
}

/// The hints of a file, in the order of the text.
pub fn hints(analysis: &Analysis, file: FileId, costs: &Costs, machine: Machine) -> Vec<Hint> {
    let mut found = Vec::new();
    let (slicing, target) = (machine.slicing, machine.target.name);
    for decl in analysis.decls.iter().filter(|decl| decl.name.span.file == file) {
        let name = &decl.name.name;
        let end = decl.results.last().map(|group| group.ty.span.end);
        let head = Span { start: end.unwrap_or(decl.name.span.end), ..decl.name.span };
        if let Some(node) = costs.nodes.iter().find(|node| node.name == *name) {
            let plural = if node.operations == 1 { "" } else { "s" };
            let text = format!(
                "{} op{plural}, {} live of {} registers ({slicing:?}, {target})",
                node.operations, node.live, node.registers
            );
            let about = "operations and largest number of live values of one instance, after all \
                         passes, with this node as the entry";
            found.push(hint(behind_line(analysis, head), text, about));
        }
    }
    for table in &costs.tables {
        let Some(id) = analysis
            .names
            .definitions
            .iter()
            .position(|d| d.kind == Kind::Table && d.name == table.name)
        else {
            continue;
        };
        let about = format!(
            "the circuit of `{}` on {target}: {}, depth {}",
            table.name,
            table.size.gates(),
            table.size.depth
        );
        for place in analysis.names.places(id).filter(|place| place.file == file) {
            found.push(hint(behind(place), table.size.gates(), &about));
        }
    }
    // Costs of an earlier text have the places of that text.
    if analysis.is_sound {
        found.extend(pressure(analysis, file, costs));
    }
    found.sort_by_key(|hint| hint.at);
    found
}

/// For each node the line where more values are live than there are registers for the first time. A
/// node that is inlined has the line of its caller where both have one: the caller comes later.
fn pressure(analysis: &Analysis, file: FileId, costs: &Costs) -> impl Iterator<Item = Hint> {
    let mut lines = BTreeMap::new();
    for node in &costs.nodes {
        let line = |span: Span| behind_line(analysis, span);
        let Some(at) = node.above.first().map(|&(span, _)| span).filter(|s| s.file == file) else {
            continue;
        };
        let same = |&&(span, _): &&(Span, usize)| span.file == file && line(span) == line(at);
        let live = node.above.iter().filter(same).map(|&(_, live)| live).max().unwrap_or(0);
        let plural = if node.reloads == 1 { "" } else { "s" };
        let decl = analysis.decl_at(file, at.start);
        let elsewhere = decl.is_none_or(|decl| decl.name.name != node.name);
        let inside = if elsewhere { format!(" in {}", node.name) } else { String::new() };
        let text =
            format!("{live} live > {}{inside}: {} reload{plural}", node.registers, node.reloads);
        let about = format!(
            "here the live values of `{}` exceed the registers for the first time; a reload takes a \
             value that left them back",
            node.name
        );
        lines.insert(line(at), hint(line(at), text, &about));
    }
    lines.into_values()
}

fn hint(at: Span, text: String, about: &str) -> Hint {
    Hint { at, text, about: about.to_string() }
}

fn behind(span: Span) -> Span {
    Span { start: span.end, ..span }
}

/// The end of the line of a place, without trailing blanks and comments.
fn behind_line(analysis: &Analysis, span: Span) -> Span {
    let text = analysis.text(span.file);
    let rest = &text[span.start as usize..];
    let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    let line = line.split(['#']).next().unwrap_or_default().split("//").next().unwrap_or_default();
    let at = span.start + line.trim_end().len() as u32;
    Span { start: at, end: at, ..span }
}
