//! The settings of the user: `initializationOptions`, and the section `usuba` of the editor's
//! settings.
//!
//! ```text
//! { "hints": { "enabled": true, "target": "avx2", "slicing": "V", "wordSize": 16 },
//!   "include": ["lib"], "lints": { "U1105": "warn" }, "keepTables": false }
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use usuba::ir::Slicing;
use usuba::isa;
use usuba::lint::Level;
use usuba::typed::Flags;
use usuba_ide::Settings;
use usuba_ide::costs::Machine;

/// The settings as they are written.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    hints: WrittenHints,
    include: Vec<PathBuf>,
    lints: BTreeMap<String, String>,
    keep_tables: bool,
    legacy_tables: bool,
    explain: bool,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct WrittenHints {
    enabled: bool,
    target: String,
    slicing: String,
    word_size: Option<u8>,
}

impl Default for WrittenHints {
    fn default() -> WrittenHints {
        let (target, slicing) = ("avx2".to_string(), "V".to_string());
        WrittenHints { enabled: false, target, slicing, word_size: None }
    }
}

/// The settings of a session.
#[derive(Clone, Default)]
pub struct Options {
    pub settings: Settings,
    pub folders: Vec<PathBuf>,
    /// The machine of inlay hints, if the user wants any.
    pub hints: Option<Machine>,
    /// Whether the client shows the pages that the server sends.
    pub explain: bool,
}

impl Options {
    /// Reads settings; `null` stands for none.
    ///
    /// # Errors
    /// A setting that there is not, or a value that it cannot have.
    pub fn read(value: Value) -> Result<Options, String> {
        if value.is_null() {
            return Ok(Options::default());
        }
        let written: Written = serde_json::from_value(value).map_err(|e| e.to_string())?;
        let flags =
            Flags { keep_tables: written.keep_tables, legacy_tables: written.legacy_tables };
        let mut settings = Settings { flags, ..Settings::default() };
        for (code, level) in &written.lints {
            let group = code.parse().map_err(|why| format!("lints, `{code}`: {why}"))?;
            settings.levels.set(group, self::level(level)?);
        }
        let machine = machine(&written.hints)?;
        let hints = written.hints.enabled.then_some(machine);
        Ok(Options { settings, folders: written.include, hints, explain: written.explain })
    }
}

fn level(word: &str) -> Result<Level, String> {
    match word {
        "allow" => Ok(Level::Allow),
        "warn" => Ok(Level::Warn),
        "deny" => Ok(Level::Deny),
        _ => Err(format!("found the level `{word}`, expected `allow`, `warn` or `deny`")),
    }
}

fn machine(hints: &WrittenHints) -> Result<Machine, String> {
    let target = isa::find(&hints.target).ok_or_else(|| isa::unknown(&hints.target))?;
    let slicing = match &*hints.slicing {
        "V" => Slicing::V,
        "H" => Slicing::H,
        "B" => Slicing::B,
        "W" => Slicing::W,
        other => return Err(format!("found the slicing `{other}`, expected V, H, B or W")),
    };
    let word = hints.word_size;
    if let Some(bits) = word.filter(|bits| !(1..=64).contains(bits)) {
        return Err(format!("found a word size of {bits} bits, expected 1 to 64"));
    }
    Ok(Machine { target, slicing, word })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_checked() {
        let read = |value| Options::read(value).map(|options| options.hints.is_some());
        assert_eq!(read(Value::Null), Ok(false));
        assert_eq!(read(json!({ "hints": { "enabled": true } })), Ok(true));
        for (value, part) in [
            (json!({ "hint": {} }), "unknown field `hint`"),
            (json!({ "hints": { "target": "avx3" } }), "did you mean `avx2`?"),
            (json!({ "hints": { "slicing": "X" } }), "found the slicing `X`"),
            (json!({ "hints": { "wordSize": 65 } }), "65 bits"),
            (json!({ "lints": { "U0201": "warn" } }), "no warning"),
            (json!({ "lints": { "U1101": "error" } }), "the level `error`"),
        ] {
            let error = read(value).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }

    /// The extension for VS Code declares the settings of the server with the same defaults.
    #[test]
    fn the_extension_has_the_same_settings() {
        let package = include_str!("../../../../editors/vscode/package.json");
        let package: Value = serde_json::from_str(package).expect("JSON");
        let properties = &package["contributes"]["configuration"]["properties"];
        let mut declared = json!({});
        for (name, property) in properties.as_object().expect("properties") {
            let parts = name.split('.').skip(1);
            let place = parts.fold(&mut declared, |place, part| &mut place[part]);
            *place = property["default"].clone();
        }
        let declared = declared.as_object_mut().expect("settings");
        // The extension reads its own setting, and the client of VS Code shows pages by itself.
        assert_eq!(declared.remove("path"), Some(json!("usubac")));
        declared.insert("explain".to_string(), json!(false));
        let settings = serde_json::to_value(Written::default()).expect("settings");
        assert_eq!(Value::Object(declared.clone()), settings);
    }
}
