//! The output of a compilation, with the places in the source that its lines come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use usuba::emit::c::COptions;
use usuba::emit::header::header;
use usuba::emit::places::Places;

use crate::compilation::Compilation;
use crate::question::Form;

/// A text with places.
#[derive(Serialize)]
pub struct Output {
    text: String,
    /// For each line that computes something of the program: its number, from 0, and file and line
    /// of the source, from 0.
    places: Vec<(usize, usize, usize)>,
}

/// The output of a compilation in a form.
///
/// # Errors
/// The target has no assembly language for the program; the text says why.
pub fn output(compilation: &Compilation, form: Form) -> Result<Output, String> {
    match form {
        Form::C => Ok(c(compilation)),
        Form::Header => {
            let Compilation { options, c, emitted, .. } = compilation;
            let text = header(compilation.last(), options.target, c, emitted);
            Ok(Output { text, places: Vec::new() })
        }
        Form::Assembly => assembly(compilation),
    }
}

fn c(compilation: &Compilation) -> Output {
    let places = Places::new(&compilation.sources);
    let mut found = BTreeMap::new();
    for printed in &compilation.emitted.lines {
        let origins = &compilation.last().node(printed.node).origins;
        let Some(place) = origins.of(printed.value).and_then(|span| places.of(span)) else {
            continue;
        };
        for line in printed.lines.0..=printed.lines.1 {
            found.insert(line as usize - 1, (place.file, place.line - 1));
        }
    }
    let places = found.into_iter().map(|(line, (file, at))| (line, file, at)).collect();
    Output { text: compilation.emitted.text.clone(), places }
}

/// The assembly language without its directives about places, which become places.
fn assembly(compilation: &Compilation) -> Result<Output, String> {
    let origins = Some(Arc::new(Places::new(&compilation.sources)));
    let options = COptions { origins, ..compilation.c.clone() };
    let (target, cpu) = (compilation.options.target, compilation.options.cpu);
    let emitted = usuba_asm::assemble(compilation.last(), target, cpu, &options)?;
    let (mut text, mut places, mut here) = (String::new(), Vec::new(), None);
    let mut lines = 0;
    for line in emitted.text.lines() {
        if let Some(place) = line.strip_prefix("\t.loc\t") {
            let mut numbers = place.split(' ').filter_map(|number| number.parse::<usize>().ok());
            here = numbers.next().zip(numbers.next());
            continue;
        }
        if line.starts_with("\t.file\t") {
            continue;
        }
        let computes = line.starts_with('\t') && !line.starts_with("\t.");
        if let Some((file, at)) = here.filter(|_| computes) {
            places.push((lines, file - 1, at - 1));
        }
        text.push_str(line);
        text.push('\n');
        lines += 1;
    }
    Ok(Output { text, places })
}
