//! CUDA C++ built for this host: every function of a folder for a grid of threads against the oracle
//! crates or `reference.rs`, with one thread and with several, at numbers of blocks around the blocks of a
//! warp, in place and apart; keystreams whose counters carry, and lengths that end inside of a block;
//! and searches that find one key in a window.

use std::path::Path;
use std::process::Command;

use usuba::isa;
use usuba_gen::{asks, level};
use usuba_library::{File, Request, grids};

use super::loaded::{Object, run, write};
use super::subject::{Noise, STRICT, compilers, model, request, root};

const DRIVER: &str = include_str!("grid.c");

/// A function for a grid, as its header shows it.
struct Grid {
    /// `usuba_des_encrypt_B`
    name: String,
    /// `des_encrypt`
    function: String,
    key: usize,
    /// The first byte of the counter, the bytes, and whether the first is the least significant.
    counter: Option<(usize, usize, bool)>,
    searches: bool,
}

/// The number behind a word in a text.
fn number_behind(text: &str, word: &str) -> Option<usize> {
    let rest = text.split_once(word)?.1.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn found(header: &str) -> Vec<Grid> {
    let mut all = Vec::new();
    let lines = header.lines().filter_map(|line| line.strip_prefix("USUBA_GLOBAL void "));
    for line in lines {
        let Some((name, _)) = line.split_once("_blocks(") else { continue };
        let upper = name.to_uppercase();
        let counter = header.find(&format!("{name}_ctr(")).map(|end| {
            let about = &header[..end];
            let about = &about[about.rfind("/*").expect("a comment")..];
            let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
            let at = number_behind(&about, "Bytes ").expect("the first byte");
            let last = number_behind(&about, &format!("Bytes {at} to ")).expect("the last byte");
            (at, last + 1 - at, about.contains("the least significant first"))
        });
        let function = &name["usuba_".len()..name.len() - 2];
        all.push(Grid {
            name: name.to_string(),
            function: function.to_string(),
            key: number_behind(header, &format!("#define {upper}_KEY_BYTES ")).unwrap_or(0),
            counter,
            searches: header.contains(&format!("{name}_search(")),
        });
    }
    all
}

/// The files of a folder with launches of all functions, as a shared object.
fn built(folder: &Path, files: &[File], grids: &[Grid], compiler: &Path, is_plus: bool) -> Object {
    write(folder, files);
    let mut text = "#include <stddef.h>\nstatic size_t grid_thread, grid_threads;\n\
                    #define USUBA_THREAD grid_thread\n#define USUBA_THREADS grid_threads\n"
        .to_string();
    text += &format!("#include \"{}\"\n", files[0].path);
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    for grid in grids {
        for (flag, is) in [
            ("KEYED", grid.key > 0),
            ("COUNTS", grid.counter.is_some()),
            ("SEARCHES", grid.searches),
        ] {
            text += &format!("#define {flag} {}\n", u8::from(is));
        }
        let driver = DRIVER.replace("NAME", &grid.name);
        text += &driver.replace("UPPER", &grid.name.to_uppercase());
    }
    text += "#ifdef __cplusplus\n}\n#endif\n";
    std::fs::write(folder.join("it.c"), text).expect("the folder can be written");
    let mut compile = Command::new(compiler);
    let language: &[&str] = if is_plus { &["-x", "c++", "-std=c++11"] } else { &["-std=c99"] };
    compile.args(language).args(STRICT).args(["-O0", "-shared", "-fPIC", "-o", "it.so", "it.c"]);
    run(folder, &mut compile);
    let path = folder.join("it.so");
    Object::open(path.to_str().expect("a plain path")).expect("it was just built")
}

/// Calls a function of the driver.
macro_rules! launch {
    ($object:expr, $name:expr $(, $argument:expr)*) => {{
        let address = $object.find(&$name);
        // SAFETY: the driver defines it with as many arguments of 64 bits.
        unsafe {
            let function: unsafe extern "C" fn($(launch!(@type $argument)),*) -> u32 =
                std::mem::transmute(address);
            function($($argument as usize),*)
        }
    }};
    (@type $argument:expr) => { usize };
}

/// Memory from a multiple of 16 bytes on.
struct Memory(Vec<u128>);

impl Memory {
    fn of(bytes: &[u8]) -> Memory {
        let mut memory = Memory(vec![0; bytes.len() / 16 + 1]);
        memory.bytes()[..bytes.len()].copy_from_slice(bytes);
        memory
    }

    fn bytes(&mut self) -> &mut [u8] {
        let length = self.0.len() * 16;
        // SAFETY: bytes have no alignment, and every value is one of a byte.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), length) }
    }
}

/// Number of threads of a launch.
const THREADS: [usize; 2] = [1, 96];

fn check(folder: &str, compiler: &Path, is_plus: bool) {
    let cipher = usuba_ciphers::read(&root().join(folder)).unwrap_or_else(|e| panic!("{e}"));
    let target = isa::find("cuda").expect("it exists");
    let request = Request { targets: vec![target], ..request("usuba_") };
    let files = grids(&request, target, &cipher, None).unwrap_or_else(|e| panic!("{e}"));
    let all = found(&files[1].text);
    assert!(!all.is_empty(), "{folder} has a function");
    let place = tempfile::tempdir().expect("a folder");
    let object = built(place.path(), &files, &all, compiler, is_plus);
    for grid in &all {
        blocks(folder, &object, grid);
        if grid.counter.is_some() {
            keystream(folder, &object, grid);
        }
        if grid.searches {
            search(folder, &object, grid);
        }
    }
}

/// Bytes of a block, before and after.
fn sizes(object: &Object, grid: &Grid) -> (usize, usize) {
    let size = |which: usize| launch!(object, format!("{}_sizes", grid.name), which) as usize;
    (size(0), size(1))
}

/// Bits of the last byte that are no bits of a block are zero.
fn blocks(folder: &str, object: &Object, grid: &Grid) {
    let (from, to) = sizes(object, grid);
    let mut noise = Noise(from as u64 + grid.name.len() as u64);
    let key = noise.bytes(grid.key);
    let most = 1_100;
    let input = noise.bytes(from * most);
    // Blocks repeat: references are slow.
    let different = if level::is_whole() { most } else { 40 };
    let input: Vec<u8> =
        (0..most).flat_map(|i| &input[i % different * from..][..from]).copied().collect();
    let one = |i: usize| model(folder, &grid.function, &key, &input[i * from..][..from]);
    let expected: Vec<Vec<u8>> = (0..different).map(one).collect();
    for nblocks in [0, 1, 33, 1_023, most] {
        let wanted: Vec<u8> =
            (0..nblocks).flat_map(|i| &expected[i % different]).copied().collect();
        for threads in THREADS {
            let mut output = Memory::of(&vec![0xa5; nblocks * to + 16]);
            let data = Memory::of(&input);
            let run = format!("{}_run", grid.name);
            let (from_at, to_at) = (data.0.as_ptr(), output.0.as_mut_ptr());
            launch!(object, run, key.as_ptr(), from_at, to_at, nblocks, threads);
            let (made, behind) = output.bytes()[..nblocks * to + 16].split_at(nblocks * to);
            assert!(made == wanted, "{}: {nblocks} blocks by {threads} threads", grid.name);
            assert_eq!(behind, [0xa5; 16], "{}", grid.name);
            if from == to {
                let mut data = Memory::of(&input[..nblocks * from]);
                let at = data.0.as_mut_ptr();
                launch!(object, run, key.as_ptr(), at, at, nblocks, threads);
                assert!(data.bytes()[..nblocks * to] == wanted, "{} in place", grid.name);
            }
        }
    }
}

fn keystream(folder: &str, object: &Object, grid: &Grid) {
    let (from, to) = sizes(object, grid);
    let (at, bytes, little) = grid.counter.expect("it counts");
    let mut noise = Noise(77 + grid.name.len() as u64);
    let key = noise.bytes(grid.key);
    let mut start = noise.bytes(from);
    // The third block carries through all bytes but the most significant.
    let place = |i: usize| at + if little { i } else { bytes - 1 - i };
    (0..bytes - 1).for_each(|i| start[place(i)] = 0xff);
    start[place(0)] = 0xfe;
    start[place(bytes - 1)] = 0x12;
    let block = |number: usize| {
        let mut block = start.clone();
        let mut carry = number;
        for i in 0..bytes {
            carry += block[place(i)] as usize;
            block[place(i)] = carry as u8;
            carry >>= 8;
        }
        model(folder, &grid.function, &key, &block)
    };
    let whole = if level::is_whole() { 1_060 } else { 70 };
    let stream: Vec<u8> = (0..=whole).flat_map(block).collect();
    let text = noise.bytes(stream.len());
    for length in [0, 1, to, 33 * to + to / 2, whole * to, whole * to + to - 1] {
        for threads in THREADS {
            let run = format!("{}_run_ctr", grid.name);
            let mut output = Memory::of(&vec![0xa5; length + 16]);
            let none = std::ptr::null::<u8>();
            let (begin, to_at) = (start.as_ptr(), output.0.as_mut_ptr());
            launch!(object, run, key.as_ptr(), begin, none, to_at, length, threads);
            assert!(output.bytes()[..length] == stream[..length], "{} of {length}", grid.name);
            assert_eq!(output.bytes()[length..length + 16], [0xa5; 16], "{}", grid.name);
            let mut data = Memory::of(&text[..length]);
            let here = data.0.as_mut_ptr();
            launch!(object, run, key.as_ptr(), begin, here, here, length, threads);
            let xored = stream.iter().zip(&text).map(|(a, b)| a ^ b).take(length);
            assert!(xored.eq(data.bytes()[..length].iter().copied()), "{} of {length}", grid.name);
        }
    }
}

fn search(folder: &str, object: &Object, grid: &Grid) {
    let (from, _) = sizes(object, grid);
    let mut noise = Noise(99 + grid.name.len() as u64);
    let (mut key, input) = (noise.bytes(grid.key), noise.bytes(from));
    let base = key.clone();
    // Every bit of a number is set in one of two that are each other's complements.
    let number = noise.next() >> 8;
    for number in [number, !number & (u64::MAX >> 8)] {
        launch!(object, format!("{}_set_key", grid.name), key.as_mut_ptr(), number);
        let output = model(folder, &grid.function, &key, &input);
        for (from, hits) in [(number & !1_023, 1), ((number & !1_023) ^ 1_024, 0)] {
            for threads in THREADS {
                let mut room = [0u64; 2];
                let run = format!("{}_run_search", grid.name);
                let at = (base.as_ptr(), input.as_ptr(), output.as_ptr(), room.as_mut_ptr());
                let count = launch!(object, run, at.0, at.1, at.2, from, 1_024, at.3, threads);
                assert_eq!(count, hits, "{} from {from:#x}", grid.name);
                assert_eq!(room, [if hits > 0 { number } else { 0 }, 0], "{}", grid.name);
            }
        }
    }
}

/// A cipher with one key bit in eight unused, and another folder with each commit.
#[test]
fn a_host_computes_what_threads_compute() {
    let compilers = compilers(level::is_whole());
    let target = isa::find("cuda").expect("it exists");
    let mut folders: Vec<String> = Vec::new();
    for cipher in usuba_ciphers::find(&root()).unwrap_or_else(|e| panic!("{e}")) {
        let name = usuba_ciphers::folder_name(&cipher.folder).expect("a name");
        let is_made = cipher.functions.iter().any(|function| function.is_for(target));
        if is_made && (name == "des" || asks!("{name}")) {
            folders.push(name);
        }
    }
    for (number, folder) in folders.iter().enumerate() {
        for compiler in &compilers {
            check(folder, compiler, number % 2 == 0);
        }
    }
}

/// A key of 300 words is a register for each word in V and for each bit in B.
#[test]
fn a_key_that_no_launch_takes_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "node f (x:u32, k:const u32[300]) returns (y:u32)\n\
                  vars s:u32[301]\nlet\n  s[0] = x;\n  forall i in [0, 299] { s[i+1] = s[i] ^ k[i] }\n  \
                  y = s[300]\ntel\n";
    let folder = folder.path().join("f");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("f.ua"), source).expect("the folder can be written");
    let described = |slicings: &str| {
        let text = format!(
            "title = \"F\"\nspec = \"none\"\nsource = \"f.ua\"\n\n[[function]]\nname = \"f\"\nnode = \"f\"\n\
             slicings = [{slicings}]\ninput = {{ param = \"x\", bytes = \"be\" }}\n\
             output = {{ param = \"y\", bytes = \"be\" }}\nkey = {{ param = \"k\", bytes = \"be\" }}\n\
             vectors = \"f.txt\"\ndirection = \"encrypt\"\n"
        );
        let cipher = usuba_ciphers::parse(&folder.join("cipher.toml"), &text);
        let cipher = cipher.unwrap_or_else(|e| panic!("{e}"));
        let target = isa::find("cuda").expect("it exists");
        let request = Request { targets: vec![target], ..request("usuba_") };
        grids(&request, target, &cipher, Some("f"))
    };
    assert_eq!(described("\"V\"").map(|files| files.len()), Ok(2));
    let wrong = described("\"V\", \"B\"").expect_err("B has 9,600 registers");
    assert!(wrong.contains("found a key of 38400 bytes in registers"), "{wrong}");
}
