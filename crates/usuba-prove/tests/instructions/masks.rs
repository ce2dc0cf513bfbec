//! Forms with mask registers, on bytes as elements of a field or as numbers of a table, and on blocks
//! of memory.

use crate::forms::Forms;

impl Forms {
    pub fn field(&mut self) {
        for name in ["gf2p8affineqb", "gf2p8affineinvqb"] {
            for constant in [0, 0x63, 0xff] {
                self.plain(format!("{name} xmm0, xmmword ptr con, {constant}"));
                self.plain(format!("v{name} xmm0, xmm1, xmmword ptr con, {constant}"));
                self.plain(format!("v{name} ymm0, ymm1, ymmword ptr con, {constant}"));
                self.plain(format!("v{name} zmm0, zmm1, zmmword ptr con, {constant}"));
                self.plain(format!("v{name} zmm0, zmm1, qword ptr con{{1to8}}, {constant}"));
            }
        }
        // The matrix may be data, too.
        self.plain("vgf2p8affineqb zmm0, zmm1, zmm2, 5");
        // A table of constants in a register, looked up by data.
        self.plain("movdqu xmm0, xmmword ptr con; pshufb xmm0, xmm1");
        self.plain("vmovdqu ymm1, ymmword ptr con; vpshufb ymm0, ymm1, ymm2");
        self.plain("vmovdqu xmm1, xmmword ptr con; vpshufb xmm1, xmm1, xmmword ptr mem");
        self.plain("vmovdqu64 zmm1, zmmword ptr con; vpshufb zmm0, zmm1, zmm2");
    }

    /// Indices are constants: 3, 2, 1, 0, 7, and so on.
    pub fn scatter(&mut self) {
        let masks = ["kxnorw k1, k1, k1", "mov r10d, 0x6a5c; kmovw k1, r10d"];
        for (kind, index, scale) in [("dd", "d", 4), ("dq", "d", 8), ("qd", "q", 4), ("qq", "q", 8)]
        {
            for size in ["x", "y", "z"] {
                // Registers of data and of indices: as many of each.
                let half = if size == "z" { "y" } else { "x" };
                let (data, indices) = match kind {
                    "dq" => (size, half),
                    "qd" => (half, size),
                    _ => (size, size),
                };
                let place = format!("[rsi + {scale} * {indices}mm1 + 256]");
                let from = if index == "d" { "xmmword" } else { "qword" };
                for mask in masks {
                    let set = format!("{mask}; vpmovzxb{index} zmm1, {from} ptr con");
                    let read = format!("vpgather{kind} {data}mm0{{k1}}, {place}");
                    self.plain(format!("{set}; {read}; kmovq rdx, k1"));
                    let write = format!("vpscatter{kind} {place}{{k1}}, {data}mm0");
                    self.plain(format!("{set}; {write}; kmovq rdx, k1"));
                }
            }
        }
        let set = "kxnorw k1, k1, k1; vpmovzxbd zmm1, xmmword ptr con";
        let negative = "vpternlogd zmm2, zmm2, zmm2, 0xff; vpxord zmm1, zmm1, zmm2";
        self.plain(format!("{set}; {negative}; vpgatherdd zmm0{{k1}}, [rsi + 4 * zmm1 + 320]"));
        // The last of those that go to one place stays.
        self.plain(format!(
            "{set}; vpsrld zmm1, zmm1, 1; vpscatterdd [rsi + 8 * zmm1 + 256]{{k1}}, zmm0"
        ));
        for (kind, index) in [("dps", "d"), ("dpd", "d"), ("qps", "q"), ("qpd", "q")] {
            let from = if index == "d" { "xmmword" } else { "qword" };
            let (data, indices) = match kind {
                "dpd" => ("zmm0", "ymm1"),
                "qps" => ("ymm0", "zmm1"),
                _ => ("zmm0", "zmm1"),
            };
            let scale = if kind == "dps" || kind == "qps" { 4 } else { 8 };
            let set = format!("kxnorw k1, k1, k1; vpmovzxb{index} zmm1, {from} ptr con");
            let place = format!("[rsi + {scale} * {indices} + 256]");
            self.plain(format!("{set}; vgather{kind} {data}{{k1}}, {place}"));
            self.plain(format!("{set}; vscatter{kind} {place}{{k1}}, {data}"));
        }
    }

    /// Masks are constants: none, some, and all of the lanes.
    pub fn expand(&mut self) {
        for mask in ["xor r10d, r10d", "mov r10, 0x6a5c19f3e07d84b5", "mov r10, -1"] {
            let set = format!("{mask}; kmovq k1, r10");
            for (before, after) in
                [("p", "b"), ("p", "w"), ("p", "d"), ("p", "q"), ("", "ps"), ("", "pd")]
            {
                let [expand, compress] =
                    ["expand", "compress"].map(|verb| format!("v{before}{verb}{after}"));
                for size in ["x", "y", "z"] {
                    for end in ["{k1}", "{k1}{z}"] {
                        self.plain(format!("{set}; {expand} {size}mm0{end}, {size}mm1"));
                        self.plain(format!("{set}; {expand} {size}mm0{end}, {size}mmword ptr mem"));
                        self.plain(format!("{set}; {compress} {size}mm0{end}, {size}mm1"));
                    }
                    self.plain(format!("{set}; {compress} {size}mmword ptr mem{{k1}}, {size}mm1"));
                }
            }
        }
        for name in ["vpexpandd", "vpcompressq"] {
            self.plain(format!("{name} zmm0, zmm1"));
            self.plain(format!("{name} ymm2, ymm2"));
        }
        self.plain("vpexpandq zmm0, zmmword ptr mem");
        self.plain("vpcompressd zmmword ptr mem, zmm1");
    }

    /// Masks are data here, from rax and rcx.
    pub fn masks(&mut self) {
        let set = "kmovq k1, rax; kmovq k2, rcx";
        for size in ["b", "w", "d", "q"] {
            for gate in ["kand", "kor", "kxor", "kandn", "kxnor"] {
                self.plain(format!("{set}; {gate}{size} k3, k1, k2; kmovq rdx, k3"));
            }
            self.plain(format!("{set}; kxnor{size} k3, k1, k1; kmovq rdx, k3"));
            self.plain(format!("{set}; knot{size} k3, k1; kmovq rdx, k3"));
            for count in [0, 3, 9, 70] {
                self.plain(format!("{set}; kshiftl{size} k3, k1, {count}; kmovq rdx, k3"));
                self.plain(format!("{set}; kshiftr{size} k3, k1, {count}; kmovq rdx, k3"));
            }
            self.flags(format!("{set}; kortest{size} k1, k2"), "cz");
            let (memory, register) = match size {
                "b" => ("byte", "eax"),
                "w" => ("word", "eax"),
                "d" => ("dword", "eax"),
                _ => ("qword", "rax"),
            };
            self.plain(format!("kmov{size} k3, {register}; kmov{size} {register}, k3"));
            self.plain(format!("kmov{size} k3, {memory} ptr mem; kmovq rdx, k3"));
            self.plain(format!("{set}; kmov{size} k3, k1; kmov{size} {memory} ptr mem, k3"));
            self.plain(format!("vpmov{size}2m k3, zmm0; kmovq rdx, k3"));
            self.plain(format!("vpmov{size}2m k3, xmm0; kmovq rdx, k3"));
            self.plain(format!("{set}; vpmovm2{size} zmm0, k1"));
            self.plain(format!("{set}; vpmovm2{size} ymm0, k1"));
            for relation in 0..8 {
                for name in ["vpcmp", "vpcmpu"] {
                    let compare = format!("{name}{size} k3, zmm0, zmm1, {relation}");
                    self.plain(format!("{compare}; kmovq rdx, k3"));
                }
            }
            for name in ["vpcmpeq", "vpcmpgt", "vptestm", "vptestnm"] {
                self.plain(format!("{name}{size} k3, zmm0, zmm1; kmovq rdx, k3"));
                self.plain(format!("{name}{size} k3, xmm0, xmmword ptr mem; kmovq rdx, k3"));
                self.plain(format!("{set}; {name}{size} k3{{k1}}, zmm0, zmm0; kmovq rdx, k3"));
            }
            self.plain(format!("{set}; vpblendm{size} zmm0{{k1}}, zmm1, zmm2"));
            self.plain(format!("{set}; vpblendm{size} zmm0{{k1}}{{z}}, zmm1, zmm2"));
            self.plain(format!("vpblendm{size} zmm0, zmm1, zmm2"));
        }
        for name in ["vblendmps", "vblendmpd"] {
            self.plain(format!("{set}; {name} zmm0{{k1}}, zmm1, zmm2"));
        }
        for name in ["kunpckbw", "kunpckwd", "kunpckdq"] {
            self.plain(format!("{set}; {name} k3, k1, k2; kmovq rdx, k3"));
        }
        // Instructions with a mask: lanes that are not in it stay, or become zero.
        for body in [
            "vpandd zmm0#, zmm1, zmm2",
            "vpandq zmm0#, zmm1, zmm2",
            "vpord zmm0#, zmm1, dword ptr mem{1to16}",
            "vporq zmm0#, zmm1, zmm2",
            "vpxord zmm0#, zmm1, zmm2",
            "vpxorq ymm0#, ymm1, ymm2",
            "vpandnd zmm0#, zmm1, zmm2",
            "vpandnq zmm0#, zmm1, zmm2",
            "vandps zmm0#, zmm1, zmm2",
            "vandpd zmm0#, zmm1, zmm2",
            "vorps zmm0#, zmm1, zmm2",
            "vorpd zmm0#, zmm1, zmm2",
            "vxorps zmm0#, zmm1, zmm2",
            "vxorpd zmm0#, zmm1, zmm2",
            "vandnps zmm0#, zmm1, zmm2",
            "vandnpd zmm0#, zmm1, zmm2",
            "vpternlogd zmm0#, zmm1, zmm2, 0x96",
            "vpternlogq zmm0#, zmm1, zmm2, 0xca",
            "vpaddb zmm0#, zmm1, zmm2",
            "vpaddw zmm0#, zmm1, zmm2",
            "vpaddd xmm0#, xmm1, xmm2",
            "vpsubq zmm0#, zmm1, zmm2",
            "vpmuludq zmm0#, zmm1, zmm2",
            "vpmuldq zmm0#, zmm1, zmm2",
            "vpsllw zmm0#, zmm1, 3",
            "vpsrld zmm0#, zmm1, 9",
            "vpsraq zmm0#, zmm1, 33",
            "vprold zmm0#, zmm1, 7",
            "vpsllvd zmm0#, zmm1, zmmword ptr con",
            "vpshldd zmm0#, zmm1, zmm2, 5",
            "vmovdqu8 zmm0#, zmm1",
            "vmovdqu8 zmm0#, zmmword ptr mem",
            "vmovdqu16 zmm0#, zmm1",
            "vmovdqu32 zmm0#, zmm1",
            "vmovdqa32 zmm0#, zmm1",
            "vmovdqu64 ymm0#, ymm1",
            "vmovdqa64 zmm0#, zmmword ptr mem",
            "vmovaps zmm0#, zmm1",
            "vmovups zmm0#, zmm1",
            "vmovapd zmm0#, zmm1",
            "vmovupd zmm0#, zmm1",
            "vpbroadcastb zmm0#, eax",
            "vpbroadcastw zmm0#, eax",
            "vpbroadcastd zmm0#, eax",
            "vpbroadcastq zmm0#, rax",
            "vpshufb zmm0#, zmm1, zmmword ptr con",
            "vpalignr zmm0#, zmm1, zmm2, 5",
            "vpshuflw zmm0#, zmm1, 0x1b",
            "vpshufhw zmm0#, zmm1, 0x1b",
            "vpshufd zmm0#, zmm1, 0x1b",
            "valignd zmm0#, zmm1, zmm2, 3",
            "valignq zmm0#, zmm1, zmm2, 3",
            "vpermq zmm0#, zmm1, 0x1b",
            "vpshufb ymm0#, ymm1, ymmword ptr con",
            "vpunpcklbw zmm0#, zmm1, zmm2",
            "vpunpckhwd zmm0#, zmm1, zmm2",
            "vpunpckldq zmm0#, zmm1, zmm2",
            "vpunpckhqdq zmm0#, zmm1, zmm2",
            "vunpcklps zmm0#, zmm1, zmm2",
            "vunpckhpd ymm0#, ymm1, ymm2",
            "vpmovzxbw zmm0#, ymm1",
            "vpmovzxbd zmm0#, xmm1",
            "vpmovsxwq zmm0#, xmm1",
            "vpmovzxdq ymm0#, xmmword ptr mem",
            "vmovdqu64 zmm2, con; vpermb zmm0#, zmm2, zmm1",
            "vmovdqu64 zmm0, con; vpermi2d zmm0#, zmm1, zmm2",
            "vbroadcastss zmm0#, xmm1",
            "vbroadcastsd zmm0#, qword ptr mem",
            "vbroadcasti32x2 zmm0#, xmm1",
            "vbroadcasti32x4 zmm0#, xmmword ptr mem",
            "vbroadcastf64x2 zmm0#, xmmword ptr mem",
            "vbroadcasti32x8 zmm0#, ymmword ptr mem",
            "vbroadcasti64x4 zmm0#, ymmword ptr mem",
            "vinserti32x4 zmm0#, zmm1, xmm2, 3",
            "vinsertf64x2 zmm0#, zmm1, xmmword ptr mem, 1",
            "vinserti32x8 zmm0#, zmm1, ymm2, 1",
            "vinserti64x4 zmm0#, zmm1, ymm2, 0",
            "vinserti64x4 zmm0#, zmm1, ymmword ptr mem, 1",
            "vextracti32x4 xmm0#, zmm1, 2",
            "vextractf64x2 xmm0#, zmm1, 3",
            "vextracti32x8 ymm0#, zmm1, 1",
            "vextracti64x4 ymm0#, zmm1, 1",
            "vshufi32x4 zmm0#, zmm1, zmm2, 0x1b",
            "vshuff64x2 zmm0#, zmm1, zmm2, 0x93",
            "vshufps zmm0#, zmm1, zmm2, 0x93",
            "vshufpd zmm0#, zmm1, zmm2, 0x5a",
            "vpermilps zmm0#, zmm1, 0x1b",
            "vpermilpd zmm0#, zmm1, 0x5a",
            "vpermpd zmm0#, zmm1, 0x1b",
            "vmovddup zmm0#, zmm1",
            "vmovshdup zmm0#, zmm1",
            "vmovsldup zmm0#, zmm1",
            "vpackuswb zmm0#, zmm1, zmm2",
            "vpackssdw zmm0#, zmm1, zmm2",
            "vpmovwb ymm0#, zmm1",
            "vpmovqd ymm0#, zmm1",
            "vpmovdb xmm0#, zmm1",
            "vgf2p8affineqb zmm0#, zmm1, zmmword ptr con, 0x63",
            "vgf2p8affineinvqb zmm0#, zmm1, zmmword ptr con, 0x63",
        ] {
            self.plain(format!("{set}; {}", body.replace('#', "{k1}")));
            self.plain(format!("{set}; {}", body.replace('#', "{k1}{z}")));
        }
    }

    /// Copies and fillings; what a function leaves in registers is not compared.
    pub fn blocks(&mut self) {
        let clear = "xor eax, eax; xor ecx, ecx; xor edx, edx; xor r8d, r8d; xor r9d, r9d; \
                     xor r10d, r10d; vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; \
                     vpxor xmm2, xmm2, xmm2; vpxor xmm3, xmm3, xmm3";
        let back = "mov rsi, r11; xor edi, edi";
        for (size, count) in [("b", 33), ("w", 9), ("d", 7), ("q", 5)] {
            self.plain(format!(
                "mov r11, rsi; lea rdi, [rsi + 264]; mov ecx, {count}; rep stos{size}; {back}"
            ));
            self.plain(format!(
                "mov r11, rsi; mov r10, rdi; lea rdi, [rsi + 264]; lea rsi, [r10 + 8]; \
                 mov ecx, {count}; rep movs{size}; xor r10d, r10d; {back}"
            ));
        }
        for (name, arguments) in [
            ("memset", "mov esi, [rdi + 320]; lea rdi, [rbx + 260]; mov edx, 40"),
            ("memcpy", "lea rsi, [rdi + 3]; lea rdi, [rbx + 260]; mov edx, 40"),
            ("memmove", "lea rsi, [rbx + 256]; lea rdi, [rbx + 260]; mov edx, 40"),
        ] {
            self.plain(format!(
                "push rbx; mov rbx, rsi; {arguments}; call {name}@PLT; mov rsi, rbx; pop rbx; {clear}"
            ));
            self.plain(format!(
                "push rbx; mov rbx, rsi; {arguments}; sub rsp, 16; call 2f; add rsp, 16; jmp 3f; \
                 2: jmp {name}@PLT; 3: mov rsi, rbx; pop rbx; {clear}"
            ));
        }
    }
}
