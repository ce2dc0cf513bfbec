//! Function merging: functions that differ in names of variables and in a few numbers are written
//! once.
//!
//! ```text
//! static void f(const T *k, T *y)         static void f_merged(const T *k, T *y, size_t by0, …by1)
//! {                                       {
//!     for (i = 0; i < 9; i++)                 for (i = 0; i < (9 + by0); i++)
//!         … k[144]                                … k[(144 + by1)]
//! }                                   →   }
//! static void g(const T *k, T *y)         static void f(const T *k, T *y) { f_merged(k, y, 0, 0); }
//! {                                       static void g(const T *k, T *y) { f_merged(k, y, 2, 32); }
//!     for (i = 0; i < 11; i++)
//!         … k[176]
//! }
//! ```
//!
//! Variants of a cipher with keys of several lengths differ in this way. A number becomes a
//! parameter only as the bound of a loop or in the index of a parameter: all other numbers may have
//! to be constants in C. Equal functions become one without a parameter.
//! Requires functions in the format of the emitter: conditional attributes on lines of their own,
//! then a line that begins with `static` and ends with the parameters, and a body that ends with a
//! line `}`. A function comes before its uses, and names of variables, a letter with a number, are
//! no names of functions.
//!
//! Reference: LLVM's MergeFunctions, and Rocha et al., Function Merging by Sequence Alignment
//! (CGO 2019).

use std::collections::{BTreeSet, HashMap};

/// Most parameters that a merged function adds to the parameters of its variants.
const MOST: usize = 4;

/// The smallest function that is merged with others, in bytes of its text.
const LEAST: usize = 2000;

/// A section of C with its equal functions merged. The functions `kept` are used elsewhere and stay.
pub fn merged(text: &str, kept: &BTreeSet<&str>) -> String {
    let pieces = pieces(text);
    // The function that stands for an equal one.
    let mut same: HashMap<&str, &str> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // For each piece its group and its place there, if it is a function that stays.
    let mut places = Vec::new();
    for piece in &pieces {
        let Piece::Function(function) = piece else {
            places.push(None);
            continue;
        };
        let shape = Shape::of(function, &same);
        let group = *known.entry(shape.text).or_insert_with(|| {
            groups.push(Group { places: shape.places, members: Vec::new() });
            groups.len() - 1
        });
        let members = &mut groups[group].members;
        let equal = members.iter().find(|member| member.numbers == shape.numbers);
        match equal {
            Some(member) if !kept.contains(function.name) => {
                same.insert(function.name, member.function.name);
                places.push(None);
            }
            _ => {
                members.push(Member { function: *function, numbers: shape.numbers });
                places.push(Some((group, members.len() - 1)));
            }
        }
    }
    let plans: Vec<Option<Plan>> = groups.iter().map(Group::plan).collect();
    let mut result = String::with_capacity(text.len());
    for (piece, place) in pieces.iter().zip(&places) {
        match (piece, place) {
            (Piece::Other(other), _) => result += other,
            (Piece::Function(function), None) => dropped(&mut result, function, &same),
            (Piece::Function(function), Some((group, member))) => match &plans[*group] {
                Some(plan) => plan.write(&mut result, &groups[*group], *member, &same),
                None => renamed(&mut result, function.text, &same),
            },
        }
    }
    result
}

/// A part of a section.
enum Piece<'a> {
    Function(Function<'a>),
    Other(&'a str),
}

#[derive(Clone, Copy)]
struct Function<'a> {
    name: &'a str,
    /// From its attributes to the line `}`.
    text: &'a str,
    /// Where `static`, its parameters and its body begin in `text`.
    head: usize,
    params: usize,
    body: usize,
}

impl<'a> Function<'a> {
    /// The function whose text begins with `text`.
    fn at(text: &'a str) -> Option<Function<'a>> {
        let head = attributes(text);
        let line = text[head..].lines().next()?;
        let declaration = line.strip_suffix(" {").unwrap_or(line);
        let params = head + line.find('(')?;
        let body = head + declaration.len();
        let opens = text[body..].trim_start().starts_with('{');
        if !(line.starts_with("static ") && declaration.ends_with(')') && opens) {
            return None;
        }
        let end = body + text[body..].find("\n}\n")? + 3;
        let name = text[head..params].rsplit([' ', '*']).next()?;
        Some(Function { name, text: &text[..end], head, params, body })
    }

    /// The names of its parameters.
    fn arguments(&self) -> Vec<&'a str> {
        let inside = &self.text[self.params + 1..self.body - 1];
        let names = inside.split(',').filter_map(|param| param.rsplit([' ', '*']).next());
        names.filter(|name| *name != "void").collect()
    }
}

/// The length of the attributes that `text` begins with, each between `#if` and `#endif`.
fn attributes(text: &str) -> usize {
    let mut at = 0;
    loop {
        let mut lines = text[at..].split_inclusive('\n');
        let [Some(first), Some(second), Some(third)] = [(); 3].map(|()| lines.next()) else {
            return at;
        };
        if !(first.starts_with("#if")
            && second.starts_with("__attribute__((")
            && third == "#endif\n")
        {
            return at;
        }
        at += first.len() + second.len() + third.len();
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        if let Some(function) = Function::at(&text[at..]) {
            pieces.push(Piece::Other(&text[from..at]));
            at += function.text.len();
            from = at;
            pieces.push(Piece::Function(function));
        } else {
            at = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        }
    }
    pieces.push(Piece::Other(&text[from..]));
    pieces
}

/// The words, numbers and other characters of C, each with its place.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let long = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if long(first) {
            rest.find(|c| !long(c)).unwrap_or(rest.len())
        } else if first.is_whitespace() || first == '<' {
            let other = |c: char| if first == '<' { c != '<' } else { !c.is_whitespace() };
            rest.find(other).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        at += length;
        Some((at - length, &rest[..length]))
    })
}

/// The value of a decimal number without a suffix.
fn decimal(token: &str) -> Option<u64> {
    token.parse().ok().filter(|number: &u64| number.to_string() == token)
}

/// Whether a word is the name of a variable: a letter with a number.
fn is_variable(word: &str) -> bool {
    let digits = word.strip_prefix(|c: char| c.is_ascii_alphabetic());
    digits.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// A function up to its own name, the names of its variables, and its numbers.
struct Shape {
    text: String,
    numbers: Vec<u64>,
    /// For each number its place in the text of the function, and whether it may be a parameter.
    places: Vec<(usize, bool)>,
}

impl Shape {
    fn of(function: &Function, same: &HashMap<&str, &str>) -> Shape {
        let arguments = function.arguments();
        let mut shape = Shape { text: String::new(), numbers: Vec::new(), places: Vec::new() };
        let mut variables: HashMap<&str, usize> = HashMap::new();
        // The array before each open bracket, and the last two tokens.
        let (mut open, mut last, mut before) = (Vec::new(), "", "");
        for (at, token) in tokens(function.text) {
            let known = variables.len();
            if let Some(number) = decimal(token) {
                let index = open.last().is_some_and(|array| arguments.contains(array));
                let bound = (before, last) == ("<", "");
                shape.places.push((at, index || (bound && open.is_empty())));
                shape.numbers.push(number);
                shape.text.push('#');
            } else if token == function.name {
                shape.text.push('@');
            } else if is_variable(token) {
                let number = *variables.entry(token).or_insert(known);
                // No identifier of C has this character.
                shape.text += &format!("{}${number}", &token[..1]);
            } else {
                shape.text += same.get(token).unwrap_or(&token);
            }
            match token {
                "[" => open.push(last),
                "]" => drop(open.pop()),
                _ => {}
            }
            if token.trim().is_empty() {
                (before, last) = (last, "");
            } else {
                (before, last) = (last, token);
            }
        }
        shape
    }
}

struct Member<'a> {
    function: Function<'a>,
    numbers: Vec<u64>,
}

/// Functions of one shape, whose numbers differ.
struct Group<'a> {
    /// As in [`Shape`], of the first member.
    places: Vec<(usize, bool)>,
    members: Vec<Member<'a>>,
}

impl Group<'_> {
    /// How the members become one; `None` where they stay.
    fn plan(&self) -> Option<Plan> {
        let first = self.members.first()?;
        let text = first.function.text;
        let params = text[first.function.head..].starts_with("static void ") && text.len() >= LEAST;
        if self.members.len() < 2 || !params || first.function.arguments().is_empty() {
            return None;
        }
        let mut plan = Plan { numbers: Vec::new(), params: Vec::new() };
        for (number, &(_, may)) in self.places.iter().enumerate() {
            let values = || self.members.iter().map(|member| member.numbers[number]);
            let least = values().min()?;
            let over: Vec<u64> = values().map(|value| value - least).collect();
            if over.iter().all(|&over| over == 0) {
                continue;
            }
            if !may {
                return None;
            }
            let known = plan.params.iter().position(|known| *known == over);
            let param = known.unwrap_or_else(|| {
                plan.params.push(over);
                plan.params.len() - 1
            });
            plan.numbers.push((number, least, param));
        }
        let free = !tokens(text).any(|(_, word)| word.starts_with("by"));
        (plan.params.len() <= MOST && free).then_some(plan)
    }
}

/// The merged function of a group.
struct Plan {
    /// The numbers that are not the same in all members: which, the least value, and the parameter
    /// that is added.
    numbers: Vec<(usize, u64, usize)>,
    /// For each parameter its values in the members.
    params: Vec<Vec<u64>>,
}

impl Plan {
    /// Member `number` of the group as a call; the first one behind the merged function.
    fn write(&self, result: &mut String, group: &Group, number: usize, same: &HashMap<&str, &str>) {
        let first = &group.members[0].function;
        let function = &group.members[number].function;
        let merged = format!("{}_merged", first.name);
        if number == 0 {
            let params = (0..self.params.len()).map(|param| format!(", size_t by{param}"));
            let (start, old) = first.text[..first.body - 1].split_at(first.params);
            *result += start.strip_suffix(first.name).expect("parameters follow the name");
            *result += &merged;
            *result += old;
            result.extend(params);
            *result += ")";
            let mut from = first.body;
            for &(number, least, param) in &self.numbers {
                let (at, _) = group.places[number];
                renamed(result, &first.text[from..at], same);
                *result += &format!("({least} + by{param})");
                let digits = first.text[at..].find(|c: char| !c.is_ascii_digit());
                from = at + digits.expect("a body ends with a bracket");
            }
            renamed(result, &first.text[from..], same);
            *result += "\n";
        }
        let mut arguments: Vec<String> = function.arguments().iter().map(|a| (*a).into()).collect();
        arguments.extend(self.params.iter().map(|values| values[number].to_string()));
        *result += &function.text[function.head..function.body];
        *result += &format!("\n{{\n    {merged}({});\n}}\n", arguments.join(", "));
    }
}

/// Appends C with the names of functions that were dropped replaced.
fn renamed(result: &mut String, text: &str, same: &HashMap<&str, &str>) {
    result.extend(tokens(text).map(|(_, token)| *same.get(token).unwrap_or(&token)));
}

/// Leaves a function out: a comment about its interface names the function in its place, and any
/// other comment directly before it goes, too.
fn dropped(result: &mut String, function: &Function, same: &HashMap<&str, &str>) {
    let about = format!(" * {}: ", function.name);
    if let Some(at) = result.rfind(&about) {
        let by = format!(" * {} is {}: ", function.name, same[function.name]);
        result.replace_range(at..at + about.len(), &by);
        return;
    }
    let mut kept = result.trim_end_matches('\n');
    if kept.ends_with("*/")
        && let Some(at) = kept.rfind("/*")
    {
        kept = kept[..at].trim_end_matches('\n');
    }
    result.truncate(kept.len());
    if !result.is_empty() {
        result.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with a long body, `rounds` turns of a loop and a key of `rounds` words.
    fn kernel(name: &str, rounds: u64, first: u64) -> String {
        let lines: String = (0..80)
            .map(|n| {
                format!("        const T v{} = step(v{}, rk[{}]);\n", first + n + 1, first + n, n)
            })
            .collect();
        format!(
            "/* {name} */\nstatic void {name}(const T *__restrict x, const T *__restrict rk, T *y)\n\
             {{\n    T s[8];\n    T v{first} = x[0];\n    for (unsigned k0 = 0; k0 < {rounds}; k0++) \
             {{\n{lines}    }}\n    y[0] = rk[{}];\n}}\n",
            16 * rounds
        )
    }

    fn calls(name: &str) -> String {
        format!("\nstatic void {name}(T *x) {{\n    {name}_kernel(x, x, x);\n}}\n")
    }

    #[test]
    fn variants_become_calls_of_one_function() {
        let text = kernel("f", 9, 100) + &kernel("g", 11, 300) + &kernel("h", 13, 7);
        let text = merged(&text, &BTreeSet::new());
        assert_eq!(text.matches("v181").count(), 0, "{text}");
        assert_eq!(text.matches("for (unsigned k0 = 0; k0 < (9 + by0); k0++)").count(), 1);
        assert!(text.contains("y[0] = rk[(144 + by1)];"));
        for call in ["x, rk, y, 0, 0", "x, rk, y, 2, 32", "x, rk, y, 4, 64"] {
            assert!(text.contains(&format!("\n{{\n    f_merged({call});\n}}\n")), "{text}");
        }
    }

    #[test]
    fn equal_functions_are_one_and_so_are_their_callers() {
        let one = |name: &str| kernel(&format!("{name}_kernel"), 9, 100) + &calls(name);
        let text = merged(&(one("f") + &one("g")), &BTreeSet::new());
        assert_eq!(text, one("f"));
        let text = merged(&(one("f") + &one("g")), &BTreeSet::from(["g"]));
        assert_eq!(text, one("f") + &calls("g").replace("g_kernel", "f_kernel"));
    }

    #[test]
    fn attributes_go_where_their_function_goes() {
        let block = "#if defined(__GNUC__) && !defined(__clang__)\n\
                     __attribute__((optimize(\"no-tree-ter\")))\n#endif\n";
        let with = |text: String, block: &str| text.replace("static ", &format!("{block}static "));
        let one = |name: &str| with(kernel(name, 9, 100), block);
        for twice in
            [one("f") + &one("g"), one("f") + &one("g").replacen("/* g ", "/*\n * g: x\n ", 1)]
        {
            let text = merged(&twice, &BTreeSet::new());
            assert_eq!(text.matches("#endif").count(), 1, "{text}");
            assert_eq!(text.matches(block).count(), 1, "{text}");
        }
        // The merged function has the attribute, and its callers have none.
        let text = merged(&(one("f") + &with(kernel("g", 11, 300), block)), &BTreeSet::new());
        assert_eq!(text.matches("#endif").count(), 1, "{text}");
        assert!(text.contains(&format!("{block}static void f_merged(")), "{text}");
        // Functions whose attributes differ stay.
        let text = one("f") + &kernel("g", 11, 300);
        assert_eq!(merged(&text, &BTreeSet::new()), text);
        let blocks = block.to_owned() + &block.replace("!defined", "defined");
        let text = with(kernel("f", 9, 100), &blocks) + &one("g");
        assert_eq!(merged(&text, &BTreeSet::new()), text);
    }

    #[test]
    fn names_that_look_like_numbered_variables_are_names() {
        let result = |value| {
            format!(
                "static void {value}_first(T v_0, T *y) {{\n    T v5 = step(v_0);\n    y[0] = {value};\n}}\n"
            )
        };
        let text = result("v_0") + &result("v5");
        assert_eq!(merged(&text, &BTreeSet::new()), text);
    }

    #[test]
    fn sizes_of_arrays_and_other_constants_stay() {
        let (small, large) = (kernel("f", 9, 1), kernel("g", 9, 1));
        let (small, large) =
            (small.replace("= x[0]", "= 1 << 3"), large.replace("= x[0]", "= 1 << 3"));
        for (from, to) in [("s[8]", "s[9]"), ("1 << 3", "1 << 2"), ("y[0]", "s[0]")] {
            let text = small.clone() + &large.replace(from, to);
            assert_eq!(merged(&text, &BTreeSet::new()), text, "{to}");
        }
    }
}
