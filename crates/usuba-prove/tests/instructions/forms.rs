//! The forms of instructions that are compared with the processor; `masks` has more of them.

use super::Form;

/// All of them.
pub fn all() -> Vec<Form> {
    let mut forms = Forms(Vec::new());
    forms.logic();
    forms.lanes();
    forms.field();
    forms.moves();
    forms.shuffles();
    forms.packs();
    forms.scalar();
    forms.long();
    forms.control();
    forms.masks();
    forms.scatter();
    forms.expand();
    forms.blocks();
    forms.0
}

pub struct Forms(Vec<Form>);

impl Forms {
    pub fn plain(&mut self, text: impl Into<String>) {
        self.0.push(Form { text: text.into(), flags: "" });
    }

    pub fn flags(&mut self, text: impl Into<String>, flags: &'static str) {
        let text = text.into();
        self.plain(text.clone());
        self.0.push(Form { text, flags });
    }

    /// The old form of an instruction with two operands, from a register, memory and itself.
    fn old(&mut self, name: &str, rest: &str) {
        for source in ["xmm1", "xmmword ptr mem", "xmm0"] {
            self.plain(format!("{name} xmm0, {source}{rest}"));
        }
    }

    /// The newer form with three, in the given widths.
    fn three(&mut self, name: &str, rest: &str, widths: &[&str]) {
        for width in widths {
            for source in ["mm2", "mmword ptr mem"] {
                self.plain(format!("{name} {width}mm0, {width}mm1, {width}{source}{rest}"));
            }
            self.plain(format!("{name} {width}mm3, {width}mm1, {width}mm1{rest}"));
        }
    }

    /// Two operands of which the second is a register or memory, in the given widths.
    fn two(&mut self, name: &str, rest: &str, widths: &[&str]) {
        for width in widths {
            for source in ["mm2", "mmword ptr mem"] {
                self.plain(format!("{name} {width}mm0, {width}{source}{rest}"));
            }
        }
    }

    fn logic(&mut self) {
        for name in ["pand", "por", "pxor", "pandn"] {
            self.old(name, "");
            self.three(&format!("v{name}"), "", &["x", "y"]);
            for (lane, part, count) in [("d", "dword", 16), ("q", "qword", 8)] {
                self.three(&format!("v{name}{lane}"), "", &["x", "y", "z"]);
                self.plain(format!("v{name}{lane} zmm0, zmm1, {part} ptr mem{{1to{count}}}"));
            }
        }
        for name in ["andps", "andpd", "orps", "orpd", "xorps", "xorpd", "andnps", "andnpd"] {
            self.old(name, "");
            self.three(&format!("v{name}"), "", &["x", "y", "z"]);
        }
        for table in [0x00, 0xff, 0x96, 0xca, 0xe8, 0x17, 0x55, 0xf0, 0x1e, 0x6a] {
            self.three("vpternlogd", &format!(", {table}"), &["x", "y", "z"]);
            self.three("vpternlogq", &format!(", {table}"), &["z"]);
            self.plain(format!("vpternlogd ymm0, ymm1, dword ptr mem{{1to8}}, {table}"));
            self.plain(format!("vpternlogq zmm0, zmm0, zmm0, {table}"));
        }
        self.plain("pblendvb xmm1, xmm2, xmm0");
        self.plain("vpblendvb ymm0, ymm1, ymm2, ymm3");
        self.plain("vpblendvb xmm0, xmm1, xmmword ptr mem, xmm3");
    }

    fn lanes(&mut self) {
        for name in [
            "paddb", "paddw", "paddd", "paddq", "psubb", "psubw", "psubd", "psubq", "pmullw",
            "pmulld", "pmuludq", "pmuldq", "pmaddwd", "pmulhuw", "pmulhw",
        ] {
            self.old(name, "");
            self.three(&format!("v{name}"), "", &["x", "y", "z"]);
        }
        self.plain("vpaddd zmm0, zmm1, dword ptr mem{1to16}");
        self.plain("vpaddq ymm0, ymm1, qword ptr mem{1to4}");
        self.plain("vpmullq ymm0, ymm1, ymm2");
        // Factors are looked at bit by bit, so their forms are few.
        for name in ["vpmadd52luq", "vpmadd52huq"] {
            self.plain(format!("{name} xmm0, xmm1, xmm2"));
            self.plain(format!("{name} ymm0, ymm1, ymmword ptr mem"));
            self.plain(format!("{name} xmm0, xmm0, xmm0"));
            self.plain(format!("{name} zmm0, zmm1, zmm2"));
            self.plain(format!("{name} zmm0, zmm1, qword ptr con{{1to8}}"));
            self.plain(format!("kmovq k1, rax; {name} xmm0{{k1}}, xmm1, xmm2"));
            self.plain(format!("kmovq k1, rax; {name} ymm0{{k1}}{{z}}, ymm1, ymmword ptr con"));
        }
        for lane in ["b", "w", "d", "q"] {
            for name in ["pcmpeq", "pcmpgt"] {
                self.old(&format!("{name}{lane}"), "");
                self.three(&format!("v{name}{lane}"), "", &["x", "y"]);
            }
        }
        for (lane, bits) in [("w", 16), ("d", 32), ("q", 64)] {
            for name in ["psll", "psrl", "psra"] {
                if name == "psra" && lane == "q" {
                    continue;
                }
                for count in [0, 1, 7, bits - 1, bits, 200] {
                    self.plain(format!("{name}{lane} xmm0, {count}"));
                    self.plain(format!("v{name}{lane} ymm0, ymm1, {count}"));
                    self.plain(format!("v{name}{lane} zmm0, zmm1, {count}"));
                    let set = format!("mov eax, {count}; vmovd xmm2, eax");
                    self.plain(format!("{set}; {name}{lane} xmm0, xmm2"));
                    self.plain(format!("{set}; v{name}{lane} zmm0, zmm1, xmm2"));
                }
            }
        }
        for count in [0, 1, 7, 63, 64, 200] {
            self.plain(format!("vpsraq zmm0, zmm1, {count}"));
            for lane in ["d", "q"] {
                for name in ["vprol", "vpror"] {
                    self.plain(format!("{name}{lane} zmm0, zmm1, {count}"));
                    self.plain(format!("{name}{lane} xmm0, xmm1, {count}"));
                }
            }
        }
        for name in [
            "vpsllvd", "vpsllvq", "vpsrlvd", "vpsrlvq", "vpsravd", "vpsravq", "vpsllvw", "vpsrlvw",
            "vpsravw", "vprolvd", "vprolvq", "vprorvd", "vprorvq",
        ] {
            self.plain(format!("{name} zmm0, zmm1, zmmword ptr con"));
            self.plain(format!("{name} ymm0, ymm1, ymmword ptr con"));
            self.plain(format!("{name} ymm0, ymm1, ymm2"));
        }
        for (lane, counts) in [("w", [1, 4, 20]), ("d", [1, 9, 40]), ("q", [1, 33, 70])] {
            for count in counts {
                for name in ["vpshld", "vpshrd"] {
                    self.plain(format!("{name}{lane} zmm0, zmm1, zmm2, {count}"));
                    self.plain(format!("{name}{lane} xmm0, xmm1, xmm1, {count}"));
                }
            }
        }
    }

    fn moves(&mut self) {
        for name in ["movdqa", "movdqu", "movaps", "movups", "movapd", "movupd"] {
            self.plain(format!("{name} xmm0, xmm1"));
            self.plain(format!("{name} xmm0, xmmword ptr mem"));
            self.plain(format!("{name} xmmword ptr mem, xmm1"));
            self.two(&format!("v{name}"), "", &["x", "y"]);
            self.plain(format!("v{name} ymmword ptr mem, ymm1"));
        }
        for name in [
            "vmovdqa32",
            "vmovdqa64",
            "vmovdqu8",
            "vmovdqu16",
            "vmovdqu32",
            "vmovdqu64",
            "vmovaps",
            "vmovups",
        ] {
            self.two(name, "", &["x", "y", "z"]);
            self.plain(format!("{name} zmmword ptr mem, zmm1"));
        }
        self.plain("lddqu xmm0, mem");
        self.plain("vlddqu ymm0, mem");
        for name in ["movntdq", "movntps", "movntpd"] {
            self.plain(format!("{name} xmmword ptr mem, xmm1"));
            self.plain(format!("v{name} ymmword ptr mem, ymm1"));
        }
        for (name, general, size) in [("movd", "eax", "dword"), ("movq", "rax", "qword")] {
            for prefix in ["", "v"] {
                self.plain(format!("{prefix}{name} xmm0, {general}"));
                self.plain(format!("{prefix}{name} {general}, xmm0"));
                self.plain(format!("{prefix}{name} xmm0, {size} ptr mem"));
                self.plain(format!("{prefix}{name} {size} ptr mem, xmm1"));
            }
        }
        self.plain("movq xmm0, xmm1");
        self.plain("vmovq xmm0, xmm1");
        for name in ["movhps", "movhpd", "movlps", "movlpd"] {
            self.plain(format!("{name} xmm0, qword ptr mem"));
            self.plain(format!("{name} qword ptr mem, xmm1"));
            self.plain(format!("v{name} xmm0, xmm1, qword ptr mem"));
            self.plain(format!("v{name} qword ptr mem, xmm1"));
        }
        for (name, part) in [("movss", "dword"), ("movsd", "qword")] {
            self.plain(format!("{name} xmm0, xmm1"));
            self.plain(format!("{name} xmm0, {part} ptr mem"));
            self.plain(format!("{name} {part} ptr mem, xmm1"));
            self.plain(format!("v{name} xmm0, xmm1, xmm2"));
            self.plain(format!("v{name} xmm0, {part} ptr mem"));
            self.plain(format!("v{name} {part} ptr mem, xmm1"));
        }
        self.plain("vzeroupper");
        for (name, part, general) in [
            ("b", "byte", "eax"),
            ("w", "word", "eax"),
            ("d", "dword", "ecx"),
            ("q", "qword", "rcx"),
        ] {
            for width in ["x", "y", "z"] {
                self.plain(format!("vpbroadcast{name} {width}mm0, xmm1"));
                self.plain(format!("vpbroadcast{name} {width}mm0, {part} ptr mem"));
                self.plain(format!("vpbroadcast{name} {width}mm0, {general}"));
            }
        }
        for (name, part) in [("vbroadcastss", "dword"), ("vbroadcastsd", "qword")] {
            self.plain(format!("{name} ymm0, xmm1"));
            self.plain(format!("{name} zmm0, {part} ptr mem"));
        }
        self.plain("vbroadcasti32x2 zmm0, xmm1");
        self.plain("vbroadcastf32x2 ymm0, qword ptr mem");
        for name in ["vbroadcasti128", "vbroadcastf128"] {
            self.plain(format!("{name} ymm0, xmmword ptr mem"));
        }
        for name in ["vbroadcasti32x4", "vbroadcastf32x4", "vbroadcasti64x2", "vbroadcastf64x2"] {
            self.plain(format!("{name} zmm0, xmmword ptr mem"));
        }
        for name in ["vbroadcasti32x8", "vbroadcastf32x8", "vbroadcasti64x4", "vbroadcastf64x4"] {
            self.plain(format!("{name} zmm0, ymmword ptr mem"));
        }
    }

    fn shuffles(&mut self) {
        for name in [
            "punpcklbw",
            "punpcklwd",
            "punpckldq",
            "punpcklqdq",
            "punpckhbw",
            "punpckhwd",
            "punpckhdq",
            "punpckhqdq",
            "unpcklps",
            "unpcklpd",
            "unpckhps",
            "unpckhpd",
        ] {
            self.old(name, "");
            self.three(&format!("v{name}"), "", &["x", "y", "z"]);
        }
        for (from, part) in [("bw", 8), ("bd", 4), ("bq", 2), ("wd", 8), ("wq", 4), ("dq", 8)] {
            let memory = match part {
                8 => "qword",
                4 => "dword",
                _ => "word",
            };
            for name in ["pmovzx", "pmovsx"] {
                self.plain(format!("{name}{from} xmm0, xmm1"));
                self.plain(format!("{name}{from} xmm0, {memory} ptr mem"));
                self.plain(format!("v{name}{from} ymm0, xmm1"));
                self.plain(format!("v{name}{from} xmm3, xmm3"));
            }
            self.plain(format!("vpmovzx{from} zmm0, {}", if part == 8 { "ymm1" } else { "xmm1" }));
        }
        for (lane, general, memory) in [
            ("b", "eax", "byte"),
            ("w", "eax", "word"),
            ("d", "ecx", "dword"),
            ("q", "rcx", "qword"),
        ] {
            for at in [0, 1, 5] {
                self.plain(format!("pinsr{lane} xmm0, {general}, {at}"));
                self.plain(format!("pinsr{lane} xmm0, {memory} ptr mem, {at}"));
                self.plain(format!("vpinsr{lane} xmm0, xmm1, {general}, {at}"));
                self.plain(format!("pextr{lane} {general}, xmm1, {at}"));
                self.plain(format!("vpextr{lane} {memory} ptr mem, xmm1, {at}"));
                self.plain(format!("vpextr{lane} {general}, xmm2, {at}"));
            }
        }
        for at in 0..4 {
            for prefix in ["", "v"] {
                self.plain(format!("{prefix}extractps ecx, xmm1, {at}"));
                self.plain(format!("{prefix}extractps dword ptr mem, xmm2, {at}"));
            }
        }
        for (name, part, at) in [
            ("i128", "x", 1),
            ("f128", "x", 0),
            ("i32x4", "x", 3),
            ("f32x4", "x", 2),
            ("i64x2", "x", 1),
            ("f64x2", "x", 0),
            ("i32x8", "y", 1),
            ("f32x8", "y", 0),
            ("i64x4", "y", 1),
            ("f64x4", "y", 0),
        ] {
            let into = if name.ends_with("128") { "y" } else { "z" };
            self.plain(format!("vinsert{name} {into}mm0, {into}mm1, {part}mm2, {at}"));
            self.plain(format!("vinsert{name} {into}mm0, {into}mm1, mem, {at}"));
            self.plain(format!("vextract{name} {part}mm0, {into}mm1, {at}"));
            self.plain(format!("vextract{name} mem, {into}mm1, {at}"));
        }
        self.plain("pshufb xmm0, xmmword ptr con");
        self.plain("pshufb xmm0, xmm1");
        self.plain("vpshufb xmm0, xmm1, xmmword ptr con");
        self.plain("vpshufb ymm0, ymm1, ymmword ptr con");
        self.plain("vpshufb zmm0, zmm1, zmmword ptr con");
        self.plain("vpshufb zmm0, zmm1, zmm2");
        self.plain("vmovdqu64 zmm2, con; vpermb zmm0, zmm2, zmm1");
        self.plain("vmovdqu64 zmm2, con; vpermw zmm0, zmm2, zmm1");
        self.plain("vmovdqu64 zmm2, con; vpermd zmm0, zmm2, zmmword ptr mem");
        self.plain("vmovdqu ymm2, con; vpermd ymm0, ymm2, ymm1");
        self.plain("vmovdqu ymm2, con; vpermps ymm0, ymm2, ymm1");
        self.plain("vpermd zmm0, zmm1, zmm2");
        self.plain("vmovdqu64 zmm2, con; vpermq zmm0, zmm2, zmm1");
        self.plain("vmovdqu64 zmm2, con; vpermpd zmm0, zmm2, zmmword ptr mem");
        self.plain("vmovdqu ymm2, con; vpermq ymm0, ymm2, ymm1");
        self.plain("vpermq zmm0, zmm1, zmm2");
        for count in [0, 1, 7, 15, 16, 20, 31, 32, 200] {
            self.old("palignr", &format!(", {count}"));
            self.three("vpalignr", &format!(", {count}"), &["x", "y", "z"]);
            for name in ["pslldq", "psrldq"] {
                self.plain(format!("{name} xmm0, {count}"));
                self.plain(format!("v{name} ymm0, ymm1, {count}"));
                self.plain(format!("v{name} zmm0, zmm1, {count}"));
            }
        }
        for control in [0x00, 0x1b, 0x4e, 0x93, 0xb1, 0xd8, 0xff] {
            let rest = format!(", {control}");
            for name in ["pshufd", "pshuflw", "pshufhw"] {
                self.old(name, &rest);
                self.two(&format!("v{name}"), &rest, &["x", "y", "z"]);
            }
            for name in ["vpermilps", "vpermilpd"] {
                self.two(name, &rest, &["x", "y", "z"]);
            }
            for name in ["shufps", "shufpd"] {
                self.old(name, &rest);
                self.three(&format!("v{name}"), &rest, &["x", "y", "z"]);
            }
            for name in ["pblendw", "blendps", "blendpd"] {
                let control = if name == "blendpd" { control & 15 } else { control };
                let control = if name == "blendps" { control & 15 } else { control };
                self.old(name, &format!(", {control}"));
                self.three(&format!("v{name}"), &format!(", {control}"), &["x", "y"]);
            }
            self.three("vpblendd", &rest, &["y"]);
            self.three("vblendps", &rest, &["y"]);
            for name in ["vpermq", "vpermpd"] {
                self.two(name, &rest, &["y", "z"]);
            }
            for name in ["vperm2i128", "vperm2f128"] {
                self.three(name, &rest, &["y"]);
            }
            for name in ["vshufi32x4", "vshuff32x4", "vshufi64x2", "vshuff64x2"] {
                self.three(name, &rest, &["y", "z"]);
            }
        }
        for count in [0, 1, 3, 7, 9, 15] {
            for name in ["valignd", "valignq"] {
                self.three(name, &format!(", {count}"), &["x", "y", "z"]);
            }
        }
        for name in ["movddup", "movshdup", "movsldup"] {
            self.plain(format!("{name} xmm0, xmm1"));
            self.two(&format!("v{name}"), "", &["y", "z"]);
        }
        self.plain("movddup xmm0, qword ptr mem");
        self.plain("vmovddup xmm0, qword ptr mem");
        self.plain("movshdup xmm0, xmmword ptr mem");
        for name in ["movhlps", "movlhps"] {
            self.plain(format!("{name} xmm0, xmm1"));
            self.plain(format!("v{name} xmm0, xmm1, xmm2"));
        }
    }

    fn packs(&mut self) {
        for name in ["b", "w", "d", "q", "ps", "pd"] {
            let numbers = "vmovdqu64 zmm1, con";
            for r in ["x", "y", "z"] {
                self.plain(format!("{numbers}; vpermi2{name} {r}mm1, {r}mm0, {r}mm2"));
                self.plain(format!("{numbers}; vpermt2{name} {r}mm0, {r}mm1, {r}mm2"));
            }
        }
        for name in ["packuswb", "packusdw", "packsswb", "packssdw"] {
            self.old(name, "");
            self.three(&format!("v{name}"), "", &["x", "y", "z"]);
        }
        for name in ["vpmovwb", "vpmovdw", "vpmovqd"] {
            self.plain(format!("{name} ymm0, zmm1"));
            self.plain(format!("{name} xmm0, ymm1"));
            self.plain(format!("{name} xmm0, xmm1"));
        }
        for name in ["vpmovdb", "vpmovqw", "vpmovqb"] {
            self.plain(format!("{name} xmm0, zmm1"));
            self.plain(format!("{name} xmm0, ymm1"));
        }
        self.plain("vpmovwb ymmword ptr mem, zmm1");
        for control in [0x00, 0x1c, 0x68, 0xd1, 0xff] {
            self.plain(format!("insertps xmm0, xmm1, {control}"));
            self.plain(format!("vinsertps xmm0, xmm1, xmm2, {control}"));
            self.plain(format!("vinsertps xmm0, xmm1, dword ptr mem, {control}"));
        }
        for (a, b) in [("rax", "rcx"), ("eax", "ecx"), ("ax", "cx")] {
            for bit in [0, 7, 15] {
                self.plain(format!("bt {a}, {bit}; sbb {b}, {b}"));
                self.flags(format!("bt {a}, {bit}"), "c");
            }
            self.plain(format!("cmp r8, r9; sbb {b}, {b}"));
        }
    }

    /// Arithmetic on several words.
    fn long(&mut self) {
        for (a, b, memory) in
            [("rax", "rcx", "qword"), ("eax", "ecx", "dword"), ("r8", "r9", "qword")]
        {
            for name in ["adc", "sbb"] {
                for other in [b.to_string(), format!("{memory} ptr mem"), "0x6b".to_string()] {
                    self.flags(format!("add r10, rdx; {name} {a}, {other}"), "czs");
                    self.flags(format!("cmp r10, rdx; {name} {a}, {other}"), "czs");
                }
                self.flags(format!("add r10, rdx; {name} {memory} ptr mem, {b}"), "czs");
            }
            self.plain(format!("sub r10, rdx; sbb {b}, {b}"));
            for name in ["adcx", "adox"] {
                self.flags(format!("xor r10, r10; {name} {a}, {b}"), "zs");
                self.flags(format!("xor r10, r10; {name} {a}, {memory} ptr mem"), "c");
            }
            self.flags(format!("xor r10, r10; adcx {a}, {b}; adcx {b}, {a}"), "c");
            self.plain(format!("xor r10, r10; adox {a}, {b}; adox {b}, {a}"));
            for condition in ["b", "ae", "e", "ne", "s", "ns", "be", "a"] {
                self.plain(format!("cmp r10, rdx; cmov{condition} {a}, {b}"));
                self.plain(format!("cmp r10, rdx; set{condition} al"));
            }
            self.flags(format!("shr {b}, 1; adc {a}, 0"), "c");
            self.flags(format!("shl {b}, 3; adc {a}, 0"), "c");
            self.flags(format!("neg {b}; sbb {a}, 0"), "c");
        }
        for operand in ["rcx", "rax", "r10", "qword ptr mem"] {
            self.plain(format!("mul {operand}"));
            self.plain(format!("mulx r8, r9, {operand}"));
            self.plain(format!("mulx r9, r9, {operand}"));
        }
        for operand in ["ecx", "r10d", "dword ptr mem"] {
            self.plain(format!("mul {operand}"));
            self.plain(format!("mulx r8d, r9d, {operand}"));
        }
    }

    fn scalar(&mut self) {
        let sizes = [
            ("rax", "rcx", "qword"),
            ("eax", "ecx", "dword"),
            ("ax", "cx", "word"),
            ("al", "dl", "byte"),
        ];
        for (a, b, memory) in sizes {
            for name in ["add", "sub", "and", "or", "xor", "cmp", "test"] {
                self.flags(format!("{name} {a}, {b}"), "czso");
                self.flags(format!("{name} {a}, {a}"), "czso");
                self.flags(format!("{name} {memory} ptr mem, {b}"), "czso");
                self.flags(format!("{name} {a}, 0x6b"), "czso");
                self.flags(format!("{name} {memory} ptr mem, 17"), "czso");
                if name != "test" {
                    self.flags(format!("{name} {a}, {memory} ptr mem"), "czso");
                    self.flags(format!("{name} {b}, -3"), "czso");
                }
            }
            for name in ["inc", "dec"] {
                self.flags(format!("cmp r8, r9; {name} {a}"), "czso");
                self.flags(format!("{name} {memory} ptr mem"), "zso");
            }
            self.flags(format!("neg {a}"), "czso");
            self.plain(format!("not {a}"));
            self.plain(format!("not {memory} ptr mem"));
            for count in [0, 1, 3, 7] {
                for name in ["shl", "shr", "sar"] {
                    self.flags(format!("{name} {a}, {count}"), if count == 0 { "" } else { "czs" });
                }
                for name in ["rol", "ror"] {
                    self.flags(format!("test r8, r8; {name} {a}, {count}"), "zs");
                    self.plain(format!("{name} {memory} ptr mem, {count}"));
                }
            }
            self.plain(format!("xchg {a}, {b}"));
            self.plain(format!("mov {a}, {b}"));
            self.plain(format!("mov {a}, {memory} ptr mem"));
            self.plain(format!("mov {memory} ptr mem, {b}"));
            self.plain(format!("mov {memory} ptr mem, -5"));
            self.plain(format!("mov {a}, 0x5a"));
        }
        self.plain("mov rax, 0x123456789abcdef0");
        self.plain("mov eax, 0xfedcba98");
        self.plain("mov ah, dl");
        self.plain("mov al, ch");
        self.plain("add ah, cl");
        self.plain("xor dh, dh");
        for (to, from) in [
            ("eax", "cl"),
            ("rax", "cl"),
            ("ax", "cl"),
            ("eax", "cx"),
            ("rax", "cx"),
            ("eax", "ch"),
            ("eax", "byte ptr mem"),
            ("rax", "word ptr mem"),
        ] {
            self.plain(format!("movzx {to}, {from}"));
            self.plain(format!("movsx {to}, {from}"));
        }
        self.plain("movsxd rax, ecx");
        self.plain("movsxd rax, dword ptr mem");
        self.plain("cdqe");
        self.plain("cwde");
        for name in ["bt", "btr", "bts", "btc"] {
            for place in [0, 15, 31, 62] {
                self.flags(format!("test r8, r8; {name} rax, {place}"), "cz");
                self.flags(format!("test r8, r8; {name} ecx, {place}"), "cz");
                self.flags(format!("{name} qword ptr mem, {place}"), "c");
            }
            for place in [0, 13, 37, 95] {
                self.flags(format!("mov r10d, {place}; {name} rax, r10"), "c");
                self.flags(format!("mov r10d, {place}; {name} ecx, r10d"), "c");
                self.flags(format!("mov r10d, {place}; {name} dx, r10w"), "c");
            }
        }
        self.plain("lea ax, [rcx + 4 * rdx + 77]");
        for (a, b) in [("rax", "rcx"), ("eax", "ecx")] {
            self.plain(format!("lea {a}, [rcx + 4 * rdx + 77]"));
            self.plain(format!("lea {a}, [8 * r8 - 5]"));
            self.plain(format!("lea {a}, [r9 + r9]"));
            self.plain(format!("lea {a}, [ecx + 4 * edx + 77]"));
            self.plain(format!("lea {a}, [8 * r8d - 5]"));
            self.plain(format!("bswap {a}"));
            self.flags(format!("andn {a}, {b}, {}", if a == "rax" { "rdx" } else { "edx" }), "zs");
            self.plain(format!("imul {a}, {b}"));
            self.plain(format!("imul {a}, {b}, 1001"));
            self.plain(format!("imul {a}, {b}, -7"));
            for count in [0, 1, 9, 31] {
                self.plain(format!("shld {a}, {b}, {count}"));
                self.plain(format!("shrd {a}, {b}, {count}"));
                self.plain(format!("rorx {a}, {b}, {count}"));
            }
            for count in ["r8", "5", "37", "95"] {
                for name in ["shl", "shr", "sar", "rol", "ror"] {
                    self.plain(format!("mov rcx, {count}; {name} {a}, cl"));
                }
                for name in ["shlx", "shrx", "sarx"] {
                    let register = if a == "rax" { "r10" } else { "r10d" };
                    let from = if a == "rax" { "rdx" } else { "edx" };
                    self.plain(format!("mov r10, {count}; {name} {a}, {from}, {register}"));
                }
            }
        }
        for condition in
            ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "l", "ge", "le", "g"]
        {
            for compare in ["cmp r8, r9", "cmp eax, ecx", "test r8, r8", "add r9b, r10b"] {
                self.plain(format!("{compare}; set{condition} al"));
                self.plain(format!("{compare}; cmov{condition} rax, rdx"));
                self.plain(format!("{compare}; cmov{condition} eax, edx"));
                self.plain(format!("{compare}; mov edx, 1; j{condition} 1f; mov edx, 2; 1:"));
            }
            self.plain(format!("cmp r8, r8; cmov{condition} rax, qword ptr mem"));
        }
    }

    fn control(&mut self) {
        self.plain("push rax; push 77; push -5; pop rcx; pop rdx; pop r8");
        self.plain("push qword ptr mem; pop r9");
        self.plain(
            "push rbp; mov rbp, rsp; sub rsp, 64; mov [rsp + 8], rax; mov rcx, [rbp - 56]; leave",
        );
        self.plain("call 2f; jmp 3f; 2: inc rax; ret; 3:");
        self.plain("nop; endbr64; xchg ax, ax; nop dword ptr [rax + rax + 64]");
        self.plain("mov ecx, 10; 1: add rax, rdx; dec ecx; jne 1b");
        self.plain("xor ecx, ecx; 1: add rax, [rsi + 256 + 8 * rcx]; inc rcx; cmp rcx, 8; jb 1b");
        self.plain("mov [rsp - 8], rax; mov ecx, [rsp - 6]; mov [rsp - 7], cl; mov rdx, [rsp - 8]");
        // Addresses in vector registers.
        self.plain("vmovq xmm5, rdi; xor edi, edi; vmovq rdx, xmm5; mov rax, [rdx + 8]; mov rdx, rax; vmovdqu xmm5, xmm0");
        self.plain(
            "movq xmm5, rdi; movq xmm6, xmm5; movq rdx, xmm6; mov rax, [rdx + 8]; mov rdx, rax",
        );
        self.plain(
            "mov [rsp - 8], rdi; vmovq xmm0, qword ptr [rsp - 8]; vmovq [rsp - 16], xmm0; \
                    mov rdx, [rsp - 16]; mov rcx, [rdx + 16]; xor edx, edx; vpxor xmm0, xmm0, xmm0",
        );
        self.plain(
            "vmovq xmm5, rdi; vmovdqa xmm6, xmm5; vmovdqu [rsp - 40], ymm6; vmovdqu xmm7, [rsp - 40]; \
             mov rcx, [rsp - 40]; vmovq rdx, xmm7; mov rax, [rdx + 8]; mov rcx, [rcx + 16]; \
             mov rdx, [rsp - 32]; vmovdqu xmm5, xmm0; vmovdqu xmm6, xmm0; vmovdqu xmm7, xmm0",
        );
    }
}
