//! Words of one bit are bitsliced in V and H, too, and attributes configure C compilers for long
//! bitsliced code.

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::isa::{self, cpu};
use usuba::passes::pipeline::PipelineOptions;
use usuba::syntax::splice::NoIncludes;
use usuba::{Options, compile};

/// The C text of the last node of a program, without its comments.
fn text(program: &str, slicing: Slicing, target: &str) -> String {
    let mut sources = Sources::default();
    let root = sources.add("test.ua", program);
    let options = Options {
        slicing,
        target: isa::find(target).expect("a target"),
        cpu: cpu::find("generic").expect("a CPU"),
        word: None,
        entry: None,
        flags: Default::default(),
        pipeline: PipelineOptions::default(),
        c: COptions::default(),
    };
    let made = compile(&mut sources, root, &mut NoIncludes, &options, &mut |_, _| {});
    let text = made.expect("the program is right").kernel.text;
    text.split_once("#include").expect("a header").1.to_string()
}

const BOX: &str = "table sbox (x:u1x4) returns (y:u1x4) {
        6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2
    }
    node f (x:u1x4[8], k:u1x4[8]) returns (y:u1x4[8])
    let
        forall i in [0,7] { y[i] = sbox(x[i]) ^ k[(i + 1) % 8] }
    tel";

#[test]
fn kernels_on_single_bits_are_those_of_bitslicing() {
    for target in ["gp64", "sse", "avx2", "avx512"] {
        let bits = text(BOX, Slicing::B, target);
        for slicing in [Slicing::V, Slicing::H] {
            assert_eq!(text(BOX, slicing, target), bits, "{slicing:?} on {target}");
        }
    }
    let words = BOX.replace("u1x4", "u8x4");
    assert_ne!(text(&words, Slicing::V, "gp64"), text(&words, Slicing::B, "gp64"));
}

#[test]
fn many_results_are_no_vectors() {
    let many = |count: u32| {
        format!(
            "node f (x:u1[{count}]) returns (y:u1[{count}])
             let forall i in [0,{}] {{ y[i] = x[i] & x[(i * 7 + 3) % {count}] }} tel",
            count - 1
        )
    };
    let told = |count, target| text(&many(count), Slicing::B, target).contains("general-regs-only");
    assert!(told(1000, "gp64") && told(1000, "gp32"));
    assert!(!told(999, "gp64"), "few results may be vectors");
    assert!(!told(1000, "avx2"), "there are vectors");
}

#[test]
fn loops_over_long_rows_hide_their_counters() {
    let rows = |width: u32| {
        let last = width - 1;
        format!(
            "node f (x:u1[4][{width}], k:u1[{width}]) returns (y:u1[4][{width}])
             let
                 forall i in [0,3] {{ forall j in [0,{last}] {{ y[i][j] = x[i][j] & k[j] }} }}
             tel"
        )
    };
    let hidden = |width, slicing, target| {
        text(&rows(width), slicing, target).contains("__asm__(\"\" : \"+r\"(k")
    };
    for target in ["gp64", "avx2"] {
        assert!(hidden(512, Slicing::B, target), "512 are read and 512 written on {target}");
        assert!(!hidden(511, Slicing::B, target), "fewer on {target}");
    }
}
