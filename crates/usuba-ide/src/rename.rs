//! New names: the edits that rename a definition everywhere.

use usuba::diag::Edit;
use usuba::standard;
use usuba::syntax::{is_name, may_name_type};
use usuba::typed::walk::Builtin;

use crate::Outline;
use crate::names::{Definition, DefinitionId, Kind};

/// The edits, or the reason why the new name is impossible.
///
/// # Errors
/// The text is no name, a standard include has the definition, or another definition of the same scope has it, so that uses would change
/// their meaning.
pub fn rename(outline: &Outline, id: DefinitionId, new: &str) -> Result<Vec<Edit>, String> {
    if !is_name(new) {
        let rule = "names begin with a letter or `_`, have letters, digits, `_` and `'`, and are \
                    no keyword";
        return Err(format!("`{new}` is no name: {rule}"));
    }
    let definition = &outline.names.definitions[id];
    let home = &outline.sources.file(definition.span.file).name;
    if home.starts_with(standard::PREFIX) {
        return Err(format!("`{}` is a name of `{home}`, which the compiler has", definition.name));
    }
    if definition.kind == Kind::Type && !may_name_type(new) {
        return Err(format!("`{new}` reads as a type of its own"));
    }
    if definition.kind.is_global() && Builtin::of(new).is_some() {
        return Err(format!("`{new}` is a function of the language"));
    }
    let others = &outline.names.definitions;
    let clash = |other: &&Definition| other.name == new && shares_scope(definition, other);
    if let Some(other) = others.iter().find(clash) {
        let (line, _) = outline.sources.line_col(other.span.file, other.span.start);
        let file = &outline.sources.file(other.span.file).name;
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let noun = other.kind.noun();
        return Err(format!("`{new}` is a {noun} already, in line {line} of {file}"));
    }
    Ok(outline.names.places(id).map(|span| Edit::new(span, new)).collect())
}

/// Whether one of two names would hide the other somewhere. Calls and variables have different
/// places, so a declaration and a variable of one name are both found.
fn shares_scope(one: &Definition, other: &Definition) -> bool {
    match (one.kind.is_global(), other.kind.is_global()) {
        (true, true) => true,
        (false, false) => {
            let (a, b) = (one.scope, other.scope);
            a.file == b.file && a.start < b.end && b.start < a.end
        }
        _ => false,
    }
}
