//! Output files: one C file with its header for a cipher folder, or a library of all folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use usuba::isa::Target;

use super::cores::Core;
use super::extent::{self, Extent, extents};
use super::hash;
use super::interface::{Description, is_fused};
use super::lengths::lengths;
use super::manifest::{Form, Manifest};
use super::merge::merged;
use super::needs::Needs;
use super::section::{guarded, includes, processors, section};
use super::template::{self as t, Template, Value, context};
use super::units::{self, Unit};
use super::{Folder, Request, registers, seal};
use usuba_ciphers::Cipher;

/// A file with its path below the output folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// The output for some cipher folders, with its contents.
#[derive(Clone, Debug)]
pub struct Written {
    pub files: Vec<File>,
    /// For each folder the primitives, followed by composed keystreams and hash functions; of a
    /// single folder without its dependencies.
    pub primitives: Vec<Description>,
    /// The same of all folders, dependencies included, and the folders.
    pub with_dependencies: (Vec<Description>, Vec<PathBuf>),
    /// The functions that programs specify.
    pub units: Vec<Unit>,
    /// The contents of the last file.
    pub manifest: Manifest,
    /// The bytes of the C file, if there is one.
    pub extents: Vec<Extent>,
}

/// A request with its compiled folders.
pub struct Compiled<'a> {
    pub request: &'a Request,
    pub form: Form,
    /// The name of the files before `.c`, or of the library.
    pub package: &'a str,
    /// The ciphers of the request, without their dependencies.
    pub asked: &'a [Cipher],
    pub backends: &'a [&'static Target],
    pub folders: &'a [Folder<'a>],
}

impl Compiled<'_> {
    /// The output with these files.
    ///
    /// # Errors
    /// A header has a declaration without a size.
    pub fn written(self, mut files: Vec<File>, extents: Vec<Extent>) -> Result<Written, String> {
        let primitives = match (self.form, self.folders) {
            (Form::Single, [.., folder]) => folder.public(),
            (_, folders) => folders.iter().flat_map(Folder::public).collect(),
        };
        let all = self.folders.iter().flat_map(Folder::public).collect();
        let folders = self.folders.iter().map(|folder| folder.cipher.folder.clone()).collect();
        let units = units::units(self.request, self.backends, self.folders, &files);
        let manifest = Manifest::of(&self, &files, &units)?;
        files.push(File { path: manifest.path(), text: manifest.text() });
        let with_dependencies = (all, folders);
        Ok(Written { files, primitives, with_dependencies, units, manifest, extents })
    }
}

/// Checks that all paths are distinct, even on case-insensitive file systems, and that no name is
/// declared twice.
///
/// # Errors
/// Two parts of the output clash; the message names them.
pub fn apart(files: Vec<File>) -> Result<Vec<File>, String> {
    let mut paths = BTreeSet::new();
    for File { path, text } in &files {
        if !paths.insert(path.to_lowercase()) {
            return Err(format!(
                "two files of the output are called `{path}`; help: rename a cipher folder"
            ));
        }
        let mut declared = BTreeSet::new();
        let names = text.lines().filter(|_| path.ends_with(".h")).filter_map(declared_name);
        for name in names {
            if !declared.insert(name) {
                return Err(format!(
                    "`{name}` is declared twice in `{path}`; help: rename a function in \
                     `cipher.toml`"
                ));
            }
        }
    }
    Ok(files)
}

/// The function or type name that a line of a header declares.
fn declared_name(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("} ") {
        return name.strip_suffix(';');
    }
    let (_, declaration) = line.split_once("_API ")?;
    let (before, _) = declaration.split_once('(')?;
    before.rsplit([' ', '*']).next()
}

/// The name of a library of several folders.
const LIBRARY: &str = "usuba";

/// The prefix in templates and kernels.
pub const PREFIX: &str = "usuba_";

/// Generates one C file and one header for a cipher folder and its dependencies, named `stem`, or
/// after prefix and cipher.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn single(request: &Request, cipher: &Cipher, stem: Option<&str>) -> Result<Written, String> {
    let part = match request.functions.is_empty() {
        true => None,
        false => Some(cipher.only(&request.functions)?),
    };
    let cipher = part.as_ref().unwrap_or(cipher);
    let ciphers = usuba_ciphers::with_needs(std::slice::from_ref(cipher))?;
    let backends = super::backends(&request.targets, &ciphers);
    // Arithmetic fixes the word width, and short words go with little memory.
    let words = ciphers.iter().any(|cipher| !cipher.arithmetic.is_empty());
    let new = |cipher| Folder::new(cipher, &backends, "static ", words);
    let folders = ciphers.iter().map(new).collect::<Result<Vec<_>, _>>()?;
    seal::check_ciphers(&folders)?;
    let folder = folders.last().expect("a folder is asked for");
    let base = format!("{PREFIX}{}", folder.name);
    let package = stem.map_or_else(|| renamed(&base, request), String::from);
    let about = format!("{} in one file; compile it with any C or C++ compiler", cipher.title);
    let (header, code) = lengths(&declared(&folders));
    let file = OneFile { name: &folder.name, about: &about, header: &header, code: &code };
    let (files, extents) = file.write(request, &backends, &folders, &package);
    let files = apart(files)?;
    let (asked, form) = (std::slice::from_ref(cipher), Form::Single);
    let (backends, folders) = (&backends, &folders);
    let compiled = Compiled { request, form, package: &package, asked, backends, folders };
    compiled.written(files, extents)
}

/// The contents of one file besides its folders.
pub struct OneFile<'a> {
    /// A C identifier, after the prefix.
    pub name: &'a str,
    pub about: &'a str,
    /// C after the contents of the folders.
    pub header: &'a str,
    pub code: &'a str,
}

impl OneFile<'_> {
    /// A C file and its header, and the bytes of the C file.
    pub fn write(
        &self,
        request: &Request,
        backends: &[&'static Target],
        folders: &[Folder],
        stem: &str,
    ) -> (Vec<File>, Vec<Extent>) {
        let needs = folders.iter().map(Folder::needs).fold(Needs::default(), Needs::and);
        let counters = folders.iter().map(|folder| folder.counters(needs.chunk)).max();
        let base = format!("{PREFIX}{}", self.name);
        let ciphers: Vec<_> = folders.iter().map(|folder| folder.cipher).collect();
        let registers = registers(backends, &ciphers);
        let parts = Parts {
            backends,
            registers: &registers,
            common: &format!("{base}_"),
            local: "static ",
            needs,
            counters: counters.unwrap_or(0),
        };
        let top = format!("{}\n#include \"{stem}.h\"\n\n", banner(self.about, request));
        let rows = extent::rows(folders).into_iter();
        let rows = rows.map(|(start, row)| (renamed(&start, request), row)).collect();
        let mut code = Code::new(request, rows, top);
        code.add("", extent::MODES, &(parts.internal() + "\n"));
        if needs.ladders {
            code.add("", extent::MODES, &includes(&registers));
        }
        for &target in &registers {
            let whole = needs.xor && target.machine.is_none();
            let xor = if whole { parts.xor(target) + &parts.number(target) } else { String::new() };
            let all: String = folders.iter().map(|folder| parts.cores(folder, target)).collect();
            if !(xor.is_empty() && all.is_empty()) {
                code.add(target.name, "", &section(target, target.name, &(xor + &all)));
            }
        }
        code.add("", extent::MODES, &parts.common_functions());
        folders.iter().for_each(|folder| code.add("", extent::KEYS, &key_section(folder)));
        for folder in folders {
            code.add("", extent::MODES, &folder.definitions(backends, parts.common));
        }
        code.add("", extent::MODES, self.code);
        let mut declarations = declared(folders);
        declarations += self.header;
        let header = parts.header(self.about, self.name, &declarations, request);
        let mut files = vec![
            File { path: format!("{stem}.h"), text: renamed(&header, request) },
            File { path: format!("{stem}.c"), text: code.text },
        ];
        let targets = || registers.iter().copied();
        let kernels = folders.iter().flat_map(|f| targets().map(|target| assembly(f, target)));
        let kernels: String = kernels.collect();
        if !kernels.is_empty() {
            let about = format!("kernels of {stem}.c; compile both with -DUSUBA_ASSEMBLY");
            files.push(assembly_file(format!("{stem}.S"), &about, &kernels, request));
        }
        (files, code.extents)
    }
}

/// A C file, part by part.
struct Code<'a> {
    request: &'a Request,
    /// The rows of functions, with the prefix of the request.
    rows: Vec<(String, String)>,
    text: String,
    extents: Vec<Extent>,
}

impl Code<'_> {
    /// A file that begins with `top`, which has no names.
    fn new(request: &Request, rows: Vec<(String, String)>, top: String) -> Code<'_> {
        let (target, row, bytes) = (String::new(), extent::MODES.to_string(), top.len());
        Code { request, rows, text: top, extents: vec![Extent { target, row, bytes }] }
    }

    /// Adds C, for one target or for all; functions without a row of their own are in `rest`.
    fn add(&mut self, target: &str, rest: &str, text: &str) {
        let text = renamed(text, self.request);
        self.extents.extend(extents(target, &text, rest, &self.rows));
        self.text += &text;
    }
}

/// Generates the library of several cipher folders: `include`, `src`, and the CMake files.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn library(
    request: &Request,
    asked: &[Cipher],
    done: &mut dyn FnMut(&str),
) -> Result<Written, String> {
    let ciphers = usuba_ciphers::with_needs(asked)?;
    let backends = super::backends(&request.targets, &ciphers);
    let folders = super::folders(&ciphers, &backends, done)?;
    let files = apart(library_of(request, &backends, &folders))?;
    let (form, package) = (Form::Library, LIBRARY);
    let (backends, folders) = (&backends, &folders);
    Compiled { request, form, package, asked, backends, folders }.written(files, Vec::new())
}

/// The declarations of folders, in which shared ones come once.
fn declared(folders: &[Folder]) -> String {
    hash::shared_once(folders.iter().map(Folder::declarations).collect())
}

/// Generates the library of compiled folders.
pub fn library_of(
    request: &Request,
    backends: &[&'static Target],
    folders: &[Folder],
) -> Vec<File> {
    let mut files = Vec::new();
    let mut declarations = declared(folders);
    let (header, sizes) = lengths(&declarations);
    declarations += &header;
    let needs = folders.iter().map(Folder::needs).fold(Needs::default(), Needs::and);
    // The library contains every part, used or not.
    let needs = Needs {
        ladders: true,
        words: true,
        word_bytes: true,
        xor: true,
        stream: true,
        cbc: true,
        xts: true,
        blocks: true,
        chain: true,
        block: needs.block.max(16),
        ..needs
    };
    let chunk = needs.chunk.max(4096);
    let needs = Needs { chunk, ..needs };
    let counters = folders.iter().map(|folder| folder.counters(chunk)).max().unwrap_or(0);
    let ciphers: Vec<_> = folders.iter().map(|folder| folder.cipher).collect();
    let all = registers(backends, &ciphers);
    let (common, local) = (PREFIX, "USUBA_HIDDEN ");
    let parts = Parts { backends, registers: &all, common, local, needs, counters };
    let mut source = |path: String, about: &str, text: &str| {
        let text = format!("{}\n#include \"internal.h\"\n{text}", banner(about, request));
        files.push(File { path: format!("src/{path}"), text });
    };
    source("common.c".into(), "backends and modes", &parts.common_functions());
    source("sizes.c".into(), "sizes for callers that do not read macros", &sizes);
    for target in backends {
        let bytes = parts.xor(target) + &parts.number(target);
        let body = section(target, target.name, &bytes);
        let text = format!("{}{body}", includes(&[target]));
        source(format!("common_{}.c", target.name), &format!("bytes on {}", target.name), &text);
    }
    let mut kernels = Vec::new();
    for folder in folders {
        let (name, title) = (&folder.name, &folder.cipher.title);
        for target in registers(backends, &[folder.cipher]) {
            let own = assembly(folder, target);
            if !own.is_empty() {
                let path = format!("src/{name}_{}_kernels.S", target.name);
                let about = format!("kernels of {title} on {}", target.name);
                kernels.push(assembly_file(path, &about, &own, request));
            }
            let cores = parts.cores(folder, target);
            if cores.is_empty() {
                continue;
            }
            let body = section(target, target.name, &cores);
            let text = format!("{}{body}", includes(&[target]));
            source(
                format!("{name}_{}.c", target.name),
                &format!("{title} on {}", target.name),
                &text,
            );
        }
        let mut text = String::from("\n");
        for (symbol, kind, target) in folder.symbols() {
            let line = format!("extern USUBA_HIDDEN {kind} {symbol};\n");
            text += &guarded(processors(target), &line);
        }
        text += &folder.blocks_declared();
        text += &folder.lanes_declared();
        text += &key_section(folder);
        text += &folder.definitions(backends, parts.common);
        source(format!("{name}.c"), title, &text);
    }
    let internal = format!(
        "{}\n#ifndef USUBA_INTERNAL\n#define USUBA_INTERNAL\n#include \"usuba.h\"\n\n{}{}#endif\n",
        banner("what the files of the library share", request),
        parts.internal(),
        t::HIDDEN_H.render(context! { backends => backends.len() })
    );
    let sources: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    files.push(File { path: "src/internal.h".into(), text: internal });
    let header = parts.header("sliced, constant-time ciphers", "", &declarations, request);
    files.push(File { path: "include/usuba.h".into(), text: header });
    let assembly: Vec<String> = kernels.iter().map(|file| file.path.clone()).collect();
    let files = files.into_iter().map(|f| File { text: renamed(&f.text, request), ..f });
    let version = version(&request.version);
    let package = LIBRARY;
    let description = "Sliced, constant-time symmetric cryptography";
    let values = context! { version, sources, assembly, package, description };
    let plain = [
        ("CMakeLists.txt", t::CMAKE),
        ("usuba-config.cmake.in", t::CMAKE_CONFIG),
        ("usuba.pc.in", t::PKG_CONFIG),
    ];
    let plain = plain.map(|(path, template)| File {
        path: path.to_string(),
        text: template.render(values.clone()),
    });
    files.chain(kernels).chain(plain).collect()
}

/// The numbers of a version.
pub fn version(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect()
}

/// The cores of one target in dispatch tables, with equal functions merged. A portable core may be
/// used on some processors only, and compilers warn of unused functions.
fn cores(folder: &Folder, target: &Target, backends: &[&'static Target]) -> String {
    let symbols = folder.symbols();
    let kept = symbols.iter().map(|(symbol, ..)| &**symbol).collect();
    let portable = processors(target).is_none();
    let mut groups: BTreeMap<_, (String, String)> = BTreeMap::new();
    let (mut declarations, mut inner) = (String::new(), String::new());
    for (at, core) in folder.cores.iter().enumerate() {
        if core.target.name != target.name || !folder.is_used(at) {
            continue;
        }
        let users = folder.users(at, backends).filter(|_| portable);
        let whole = core.text();
        let small = core.small.as_ref().filter(|small| **small != whole);
        let (text, other) = groups.entry((users, small.is_some())).or_default();
        match &core.assembly {
            Some(assembly) => {
                declarations += &assembly.declarations;
                inner += &core.inner;
                *text += &core.outer();
            }
            None => *text += &whole,
        }
        other.extend(small.map(String::as_str));
    }
    let mut result = match declarations.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<String> = folder.cores.iter().flat_map(Core::kernels).collect();
            let kernels = merged(&inner, &names.iter().map(String::as_str).collect());
            t::ASSEMBLY.render(context! { declarations, kernels })
        }
    };
    for ((users, has_small), (text, small)) in groups {
        let mut text = merged(&text, &kept);
        if has_small {
            let small = merged(&small, &kept);
            text = format!(
                "#if USUBA_WORD_BITS == 64 && !defined(USUBA_SMALL)\n{text}#else\n{small}#endif\n"
            );
        }
        result += &users.map_or(text.clone(), |users| format!("#if {users}\n{text}#endif\n"));
    }
    result
}

/// The kernels of a folder for one target in assembly language, as parts of a file; empty without
/// any.
fn assembly(folder: &Folder, target: &Target) -> String {
    let used = folder.cores.iter().enumerate().filter(|(at, _)| folder.is_used(*at));
    let here = used.map(|(_, core)| core).filter(|core| core.target.name == target.name);
    here.filter_map(|core| Some(&*core.assembly.as_ref()?.functions)).collect()
}

/// A file in assembly language.
fn assembly_file(path: String, about: &str, functions: &str, request: &Request) -> File {
    let text = usuba_asm::print::joined(&banner(about, request), &renamed(functions, request));
    File { path, text }
}

/// The key setups, which are portable.
fn key_section(folder: &Folder) -> String {
    let setups = folder.key_setups();
    match setups.is_empty() {
        true => String::new(),
        false => section(super::cores::portable(), "key", &setups),
    }
}

/// The comment at the top of a file.
pub fn banner(about: &str, request: &Request) -> String {
    let about = about.replace("*/", "* /");
    format!("/* Usuba: {about}.\n   Written by usubac {}; do not edit. */\n", request.version)
}

/// Renames identifiers to the prefix of a request.
pub fn renamed(text: &str, request: &Request) -> String {
    if request.prefix == PREFIX {
        return text.to_string();
    }
    text.replace(PREFIX, &request.prefix)
        .replace(&PREFIX.to_uppercase(), &request.prefix.to_uppercase())
}

/// Whether compilers before gcc 11 and clang 19 have no name for a feature.
fn is_recent(feature: &str) -> bool {
    matches!(feature, "sha" | "vaes")
}

/// The hand-written parts of a file or a library.
struct Parts<'a> {
    backends: &'a [&'static Target],
    /// The backends, and narrower registers of their machines.
    registers: &'a [&'static Target],
    /// The prefix of functions outside every cipher.
    common: &'a str,
    /// The linkage of internal functions.
    local: &'a str,
    needs: Needs,
    /// Bytes of counters beside a keystream buffer.
    counters: usize,
}

impl Parts<'_> {
    /// The values of templates outside every cipher.
    fn values(&self) -> Value {
        let target = |target: &&'static Target| {
            let mut asked: Vec<String> = super::asked_features(target, self.registers)
                .iter()
                .map(|name| match is_recent(name) {
                    true => format!("USUBA_SUPPORTS_{}", name.to_uppercase()),
                    false => format!("__builtin_cpu_supports(\"{name}\")"),
                })
                .collect();
            if asked.is_empty() {
                asked.push("1".to_string());
            }
            context! { name => target.name, guard => processors(target), asked, simd => target.simd, bytes => target.bits / 8 }
        };
        let mut recent: Vec<&str> = Vec::new();
        for target in self.backends {
            recent.extend(super::asked_features(target, self.registers));
        }
        recent.retain(|name| is_recent(name));
        recent.sort_unstable();
        recent.dedup();
        context! {
            local => self.local, hidden => self.local != "static ", common => self.common,
            chunk => self.needs.chunk, counters => self.counters,
            block_max => self.needs.block.max(1), backends => self.backends.len(),
            targets => self.backends.iter().map(target).collect::<Vec<_>>(),
            fused => is_fused(self.backends), recent,
        }
    }

    fn internal(&self) -> String {
        let backends = if self.needs.ladders { &[t::BACKENDS_H][..] } else { &[] };
        let words = if self.needs.words { t::WORDS_H } else { "" };
        format!("{}{}{words}", t::INTERNAL_H, t::render(backends, &self.values()))
    }

    /// The cores of a folder for one target.
    fn cores(&self, folder: &Folder, target: &Target) -> String {
        let lanes = folder.in_lanes(target, self.local, self.common);
        cores(folder, target, self.backends) + &lanes
    }

    /// The header around `declarations`.
    fn header(&self, about: &str, name: &str, declarations: &str, request: &Request) -> String {
        let guard =
            format!("USUBA_{}{}H", name.to_uppercase(), if name.is_empty() { "" } else { "_" });
        let common: &[Template] =
            if self.needs.ladders { &[t::COMMON_H, t::MEMORY_H] } else { &[t::MEMORY_H] };
        t::HEADER_H.render(context! {
            guard, status => t::STATUS, declarations, banner => banner(about, request),
            common => t::render(common, &self.values()),
        })
    }

    /// XOR of a keystream on one target.
    fn xor(&self, target: &Target) -> String {
        t::XOR.render(context! {
            local => self.local, target => target.name, simd => target.simd,
            bytes => target.bits / 8, register => target.register,
        })
    }

    /// The inputs of a keystream on one target: on vector registers.
    fn number(&self, target: &Target) -> String {
        if !(self.needs.stream && target.simd) {
            return String::new();
        }
        let bytes = target.bits / 8;
        let places = [4, 2].map(|words| (0..bytes / 4).map(|at| at / words).collect::<Vec<_>>());
        t::NUMBER.render(context! {
            local => self.local, target => target.name, bytes, register => target.register,
            groups => target.has_groups(), places,
        })
    }

    /// Backend dispatch and the modes.
    fn common_functions(&self) -> String {
        let Needs { ladders, xor, blocks, word_bytes, stream, cbc, xts, chain, .. } = self.needs;
        let alone = self.backends.len() == 1;
        let parts = [
            (true, t::MEMORY),
            (ladders && alone, t::ALONE),
            (ladders && !alone, t::DISPATCH),
            (xor, t::XORS),
            (blocks, t::BLOCKS),
            (word_bytes, t::WORDS),
            (stream && is_fused(self.backends), t::NUMBERS),
            (stream, t::STREAM),
            (cbc, t::CBC),
            (xts, t::XTS),
            (chain, t::CHAIN),
        ];
        let needed: Vec<Template> =
            parts.into_iter().filter(|(needed, _)| *needed).map(|(_, part)| part).collect();
        t::render(&needed, &self.values())
    }
}
