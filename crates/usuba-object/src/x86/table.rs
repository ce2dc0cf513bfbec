//! The table of instructions: form, lanes, flags, timing class and semantics of each.
//!
//! ```text
//! Vector(|r| r.pair(None, add)) => 8 Paddb Vpaddb, 16 Paddw Vpaddw, 32 Paddd Vpaddd;
//! ```
//!
//! A row is one semantics and its instructions, by the width of a lane. The executor looks up an
//! instruction here, [`is_modelled`] asks whether there is a row, and the tests that compare the
//! model with the processor generate the operands of every row. Operands, flags and features in the
//! decoder's own tables are not repeated.

use std::sync::LazyLock;

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind};

use super::masks::Relation::*;
use super::shuffles::{of_halves, to_signed, to_unsigned};
use super::{Cells, Done, Run};
use crate::flags::Flags;
use crate::word::Binary;
use crate::{Fault, Step};
use usuba_bits::lane_arithmetic::*;

/// A row of the table.
pub struct Row {
    /// Instructions with one semantics: before AVX, of AVX and of AVX-512.
    pub names: &'static [Mnemonic],
    /// The form of these instructions.
    pub form: Form,
    /// The lane width in bits of the instruction and of its mask; zero if it is not modelled with a
    /// mask.
    pub lane: usize,
    /// The flags that it defines: some of `c`, `z`, `s`, `o`.
    pub flags: &'static str,
    pub timing: Timing,
    pub(super) meaning: Meaning,
}

/// The operands that tell instructions of one name apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Any,
    /// The result is a vector.
    ToVector,
    /// The result is a mask.
    ToMask,
    /// The last operand is an immediate.
    ByNumber,
    /// The last operand is no immediate.
    ByVector,
    /// An operand is a register.
    OfRegisters,
    /// An instruction on strings, with the prefix that repeats it.
    Repeated,
    /// It may have a mask.
    Evex,
}

/// The inputs on which the time of an instruction may depend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Only addresses and counts, which must be known.
    Fixed,
    /// Its operands, which must not depend on inputs.
    Operands,
}

/// The effect of an instruction.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// The first operand is a vector and becomes this, where the mask says so.
    Vector(fn(&mut Run) -> Cells),
    Plain(fn(&mut Run) -> Done),
    /// Its mask has another role than to keep lanes of the result.
    ByMask(fn(&mut Run) -> Done),
    /// It determines the next instruction.
    Control(fn(&mut Run) -> Result<Step, Fault>),
}

use Meaning::{ByMask, Control, Plain, Vector};

impl Row {
    /// The row of an instruction.
    pub fn of(i: &Instruction) -> Option<&'static Row> {
        rows(i.mnemonic()).find(|row| row.form.is(i))
    }

    /// Whether the mask chooses addresses or places of lanes, and so must be known.
    pub fn is_by_mask(&self) -> bool {
        matches!(self.meaning, ByMask(_))
    }

    /// Whether it determines the next instruction.
    pub fn is_control(&self) -> bool {
        matches!(self.meaning, Control(_))
    }
}

impl Form {
    /// Whether an instruction has it.
    pub fn is(self, i: &Instruction) -> bool {
        match self {
            Form::Any => true,
            Form::ToVector => i.op0_register().is_vector_register(),
            Form::ToMask => i.op0_register().is_k(),
            Form::ByNumber => i.op_kind(i.op_count() - 1) == OpKind::Immediate8,
            Form::ByVector => !Form::ByNumber.is(i),
            Form::OfRegisters => i.op_kinds().any(|kind| kind == OpKind::Register),
            Form::Repeated => i.has_rep_prefix(),
            Form::Evex => i.encoding() == EncodingKind::EVEX,
        }
    }
}

/// The rows of an instruction of any form.
pub fn rows(mnemonic: Mnemonic) -> impl Iterator<Item = &'static Row> {
    static INDEX: LazyLock<Vec<Vec<&Row>>> = LazyLock::new(|| {
        let mut index = vec![Vec::new(); Mnemonic::values().len()];
        for row in TABLE.iter().copied().flatten() {
            row.names.iter().for_each(|&name| index[name as usize].push(row));
        }
        index
    });
    INDEX[mnemonic as usize].iter().copied()
}

/// Whether an instruction is modelled in any form.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    rows(mnemonic).next().is_some()
}

macro_rules! rows {
    ($($meaning:expr =>
        $(form $form:ident)? $(flags $flags:literal)? $(timing $timing:ident)?
        $($lane:literal $($name:ident)+),+;)+) => {
        &[$(
            const {
                const ROW: Row = Row {
                    names: &[],
                    form: [$(Form::$form,)? Form::Any][0],
                    lane: 0,
                    flags: [$($flags,)? ""][0],
                    timing: [$(Timing::$timing,)? Timing::Fixed][0],
                    meaning: $meaning,
                };
                &[$(Row { names: &[$(Mnemonic::$name),+], lane: $lane, ..ROW }),+] as &[Row]
            }
        ),+]
    };
}

static TABLE: &[&[Row]] = rows! {
    // Logic, bit by bit. Names without a lane have no mask.
    Vector(|r| r.gate(|bits, a, b| bits.and(a, b), false)) =>
        0 Pand Andps Andpd Vpand, 32 Vandps Vpandd, 64 Vandpd Vpandq;
    Vector(|r| r.gate(|bits, a, b| bits.or(a, b), false)) =>
        0 Por Orps Orpd Vpor, 32 Vorps Vpord, 64 Vorpd Vporq;
    Vector(|r| r.gate(|bits, a, b| bits.xor(a, b), true)) =>
        0 Pxor Xorps Xorpd Vpxor, 32 Vxorps Vpxord, 64 Vxorpd Vpxorq;
    Vector(|r| r.gate(andn, true)) =>
        0 Pandn Andnps Andnpd Vpandn, 32 Vandnps Vpandnd, 64 Vandnpd Vpandnq;
    Vector(|r| r.ternary()) => 32 Vpternlogd, 64 Vpternlogq;
    Vector(|r| r.blend_by_sign(8)) => 0 Pblendvb Vpblendvb;
    Vector(|r| r.blend_by_sign(32)) => 0 Blendvps Vblendvps;
    Vector(|r| r.blend_by_sign(64)) => 0 Blendvpd Vblendvpd;

    // Arithmetic of lanes.
    Vector(|r| r.pair(None, add)) =>
        8 Paddb Vpaddb, 16 Paddw Vpaddw, 32 Paddd Vpaddd, 64 Paddq Vpaddq;
    Vector(|r| r.pair(Some(false), subtract)) =>
        8 Psubb Vpsubb, 16 Psubw Vpsubw, 32 Psubd Vpsubd, 64 Psubq Vpsubq;
    Vector(|r| r.pair(None, |bits, a, b| bits.product(a, b))) =>
        16 Pmullw Vpmullw, 32 Pmulld Vpmulld, 64 Vpmullq;
    Vector(|r| r.pair(None, |bits, a, b| multiply_high(bits, a, b, false))) => 16 Pmulhuw Vpmulhuw;
    Vector(|r| r.pair(None, |bits, a, b| multiply_high(bits, a, b, true))) => 16 Pmulhw Vpmulhw;
    Vector(|r| r.pair(None, |bits, a, b| multiply_halves(bits, a, b, false))) =>
        64 Pmuludq Vpmuludq;
    Vector(|r| r.pair(None, |bits, a, b| multiply_halves(bits, a, b, true))) => 64 Pmuldq Vpmuldq;
    Vector(|r| r.pair(None, multiply_add)) => 32 Pmaddwd Vpmaddwd;
    Vector(|r| r.pair(Some(true), equal)) => form ToVector
        8 Pcmpeqb Vpcmpeqb, 16 Pcmpeqw Vpcmpeqw, 32 Pcmpeqd Vpcmpeqd, 64 Pcmpeqq Vpcmpeqq;
    Vector(|r| r.pair(Some(false), greater)) => form ToVector
        8 Pcmpgtb Vpcmpgtb, 16 Pcmpgtw Vpcmpgtw, 32 Pcmpgtd Vpcmpgtd, 64 Pcmpgtq Vpcmpgtq;
    Vector(|r| r.absolute()) => 8 Pabsb Vpabsb, 16 Pabsw Vpabsw, 32 Pabsd Vpabsd, 64 Vpabsq;
    Vector(|r| r.sum_of_product(false)) => form Evex 64 Vpmadd52luq;
    Vector(|r| r.sum_of_product(true)) => form Evex 64 Vpmadd52huq;
    Vector(|r| r.carryless()) => 0 Pclmulqdq Vpclmulqdq;
    Vector(|r| r.affine(false)) => 8 Gf2p8affineqb Vgf2p8affineqb;
    Vector(|r| r.affine(true)) => 8 Gf2p8affineinvqb Vgf2p8affineinvqb;

    // AES and SHA-256.
    Vector(|r| r.aes_round(false, false)) => 0 Aesenc Vaesenc;
    Vector(|r| r.aes_round(false, true)) => 0 Aesenclast Vaesenclast;
    Vector(|r| r.aes_round(true, false)) => 0 Aesdec Vaesdec;
    Vector(|r| r.aes_round(true, true)) => 0 Aesdeclast Vaesdeclast;
    Vector(|r| r.aes_unmixed()) => 0 Aesimc Vaesimc;
    Vector(|r| r.sha256_steps()) => 0 Sha256rnds2;
    Vector(|r| r.sha256_message1()) => 0 Sha256msg1;
    Vector(|r| r.sha256_message2()) => 0 Sha256msg2;

    // Shifts of lanes, by one count, by a count for each, and of two lanes.
    Vector(|r| r.shift(Shift::Left)) => 16 Psllw Vpsllw, 32 Pslld Vpslld, 64 Psllq Vpsllq;
    Vector(|r| r.shift(Shift::Right)) => 16 Psrlw Vpsrlw, 32 Psrld Vpsrld, 64 Psrlq Vpsrlq;
    Vector(|r| r.shift(Shift::Arithmetic)) => 16 Psraw Vpsraw, 32 Psrad Vpsrad, 64 Vpsraq;
    Vector(|r| r.shift(Shift::RotateLeft)) => 32 Vprold, 64 Vprolq;
    Vector(|r| r.shift(Shift::RotateRight)) => 32 Vprord, 64 Vprorq;
    Vector(|r| r.variable_shift(Shift::Left)) => 16 Vpsllvw, 32 Vpsllvd, 64 Vpsllvq;
    Vector(|r| r.variable_shift(Shift::Right)) => 16 Vpsrlvw, 32 Vpsrlvd, 64 Vpsrlvq;
    Vector(|r| r.variable_shift(Shift::Arithmetic)) => 16 Vpsravw, 32 Vpsravd, 64 Vpsravq;
    Vector(|r| r.variable_shift(Shift::RotateLeft)) => 32 Vprolvd, 64 Vprolvq;
    Vector(|r| r.variable_shift(Shift::RotateRight)) => 32 Vprorvd, 64 Vprorvq;
    Vector(|r| r.double_shift(true)) => 16 Vpshldw, 32 Vpshldd, 64 Vpshldq;
    Vector(|r| r.double_shift(false)) => 16 Vpshrdw, 32 Vpshrdd, 64 Vpshrdq;

    // Moves.
    Plain(|r| r.plain_move(true)) =>
        0 Movdqa Movaps Movapd Vmovdqa,
        32 Vmovaps Vmovdqa32, 64 Vmovapd Vmovdqa64;
    Plain(|r| r.plain_move(false)) =>
        0 Movdqu Movups Movupd Lddqu Vmovdqu Vlddqu, 8 Vmovdqu8, 16 Vmovdqu16,
        32 Vmovups Vmovdqu32, 64 Vmovupd Vmovdqu64;
    Plain(|r| r.move_word(4)) => 0 Movd Vmovd;
    Plain(|r| r.move_word(8)) => 0 Movq Vmovq;
    Plain(|r| r.move_half(0)) => 0 Movlps Movlpd Vmovlps Vmovlpd;
    Plain(|r| r.move_half(64)) => 0 Movhps Movhpd Vmovhps Vmovhpd;
    Plain(|r| r.move_lowest(32)) => 0 Movss Vmovss;
    Plain(|r| r.move_lowest(64)) => form OfRegisters 0 Movsd Vmovsd;
    Plain(|r| r.zero_upper()) => 0 Vzeroupper;
    Plain(|r| r.extract(8)) => 0 Pextrb Vpextrb;
    Plain(|r| r.extract(16)) => 0 Pextrw Vpextrw;
    Plain(|r| r.extract(32)) => 0 Pextrd Vpextrd Extractps Vextractps;
    Plain(|r| r.extract(64)) => 0 Pextrq Vpextrq;
    Plain(|r| r.extract(128)) =>
        0 Vextracti128 Vextractf128, 32 Vextracti32x4 Vextractf32x4, 64 Vextracti64x2 Vextractf64x2;
    Plain(|r| r.extract(256)) => 32 Vextracti32x8 Vextractf32x8, 64 Vextracti64x4 Vextractf64x4;
    Plain(|r| r.signs()) =>
        8 Pmovmskb Vpmovmskb, 32 Movmskps Vmovmskps, 64 Movmskpd Vmovmskpd;
    Vector(|r| r.insert(8)) => 0 Pinsrb Vpinsrb;
    Vector(|r| r.insert(16)) => 0 Pinsrw Vpinsrw;
    Vector(|r| r.insert(32)) => 0 Pinsrd Vpinsrd;
    Vector(|r| r.insert(64)) => 0 Pinsrq Vpinsrq;
    Vector(|r| r.insert(128)) =>
        0 Vinserti128 Vinsertf128, 32 Vinserti32x4 Vinsertf32x4, 64 Vinserti64x2 Vinsertf64x2;
    Vector(|r| r.insert(256)) => 32 Vinserti32x8 Vinsertf32x8, 64 Vinserti64x4 Vinsertf64x4;
    Vector(|r| r.insert_word()) => 0 Insertps Vinsertps;

    // Units from elsewhere.
    Vector(|r| r.broadcast(8)) => 8 Vpbroadcastb;
    Vector(|r| r.broadcast(16)) => 16 Vpbroadcastw;
    Vector(|r| r.broadcast(32)) => 32 Vpbroadcastd Vbroadcastss;
    Vector(|r| r.broadcast(64)) =>
        32 Vbroadcasti32x2 Vbroadcastf32x2, 64 Vpbroadcastq Vbroadcastsd;
    Vector(|r| r.broadcast(128)) => 0 Vbroadcasti128 Vbroadcastf128,
        32 Vbroadcasti32x4 Vbroadcastf32x4, 64 Vbroadcasti64x2 Vbroadcastf64x2;
    Vector(|r| r.broadcast(256)) =>
        32 Vbroadcasti32x8 Vbroadcastf32x8, 64 Vbroadcasti64x4 Vbroadcastf64x4;
    Vector(|r| r.in_groups(2, |p| Some((p.at % 2, p.at / 2)))) =>
        8 Punpcklbw Vpunpcklbw, 16 Punpcklwd Vpunpcklwd,
        32 Punpckldq Vpunpckldq Unpcklps Vunpcklps, 64 Punpcklqdq Vpunpcklqdq Unpcklpd Vunpcklpd;
    Vector(|r| r.in_groups(2, |p| Some((p.at % 2, (p.at + p.units) / 2)))) =>
        8 Punpckhbw Vpunpckhbw, 16 Punpckhwd Vpunpckhwd,
        32 Punpckhdq Vpunpckhdq Unpckhps Vunpckhps, 64 Punpckhqdq Vpunpckhqdq Unpckhpd Vunpckhpd;
    Vector(|r| r.extend(8, false)) =>
        16 Pmovzxbw Vpmovzxbw, 32 Pmovzxbd Vpmovzxbd, 64 Pmovzxbq Vpmovzxbq;
    Vector(|r| r.extend(16, false)) => 32 Pmovzxwd Vpmovzxwd, 64 Pmovzxwq Vpmovzxwq;
    Vector(|r| r.extend(32, false)) => 64 Pmovzxdq Vpmovzxdq;
    Vector(|r| r.extend(8, true)) =>
        16 Pmovsxbw Vpmovsxbw, 32 Pmovsxbd Vpmovsxbd, 64 Pmovsxbq Vpmovsxbq;
    Vector(|r| r.extend(16, true)) => 32 Pmovsxwd Vpmovsxwd, 64 Pmovsxwq Vpmovsxwq;
    Vector(|r| r.extend(32, true)) => 64 Pmovsxdq Vpmovsxdq;
    Plain(|r| r.truncate(16)) => 8 Vpmovwb;
    Plain(|r| r.truncate(32)) => 8 Vpmovdb, 16 Vpmovdw;
    Plain(|r| r.truncate(64)) => 8 Vpmovqb, 16 Vpmovqw, 32 Vpmovqd;
    Vector(|r| r.pack(to_unsigned)) => 8 Packuswb Vpackuswb, 16 Packusdw Vpackusdw;
    Vector(|r| r.pack(to_signed)) => 8 Packsswb Vpacksswb, 16 Packssdw Vpackssdw;

    // Shuffles by vectors of numbers, whose other forms are below.
    Vector(|r| r.shuffle_bytes()) => 8 Pshufb Vpshufb;
    Vector(|r| r.permute()) => form ByVector
        8 Vpermb, 16 Vpermw, 32 Vpermd Vpermps, 64 Vpermq Vpermpd;
    Vector(|r| r.permute_two(false)) =>
        8 Vpermt2b, 16 Vpermt2w, 32 Vpermt2d Vpermt2ps, 64 Vpermt2q Vpermt2pd;
    Vector(|r| r.permute_two(true)) =>
        8 Vpermi2b, 16 Vpermi2w, 32 Vpermi2d Vpermi2ps, 64 Vpermi2q Vpermi2pd;

    // Shuffles by an immediate, or by none.
    Vector(|r| r.in_groups(1, |p| Some((0, p.field(p.at, 2))))) => form ByNumber
        32 Pshufd Vpshufd Vpermilps;
    Vector(|r| r.in_groups(1, |p| Some((0, if p.at < 4 { p.field(p.at, 2) } else { p.at })))) =>
        16 Pshuflw Vpshuflw;
    Vector(|r| r.in_groups(1, |p| match p.at {
        0..4 => Some((0, p.at)),
        _ => Some((0, 4 + p.field(p.at - 4, 2))),
    })) => 16 Pshufhw Vpshufhw;
    Vector(|r| r.in_groups(2, of_halves)) => 32 Shufps Vshufps;
    // One bit for each result, in all groups.
    Vector(|r| r.in_groups(2, |p| Some((p.at, p.field(2 * p.group + p.at, 1))))) =>
        64 Shufpd Vshufpd;
    Vector(|r| r.in_groups(1, |p| Some((0, p.field(2 * p.group + p.at, 1))))) => form ByNumber
        64 Vpermilpd;
    Vector(|r| r.in_groups(1, |_| Some((0, 0)))) => 64 Movddup Vmovddup;
    Vector(|r| r.in_groups(1, |p| Some((0, p.at | 1)))) => 32 Movshdup Vmovshdup;
    Vector(|r| r.in_groups(1, |p| Some((0, p.at & !1)))) => 32 Movsldup Vmovsldup;
    // The eight bits are used again for each group.
    Vector(|r| r.in_groups(2, |p| Some((p.field(p.at, 1), p.at)))) => 16 Pblendw Vpblendw;
    Vector(|r| r.whole(2, r.row.lane, |p| Some((p.field(p.at, 1), p.at)))) =>
        32 Vpblendd Blendps Vblendps, 64 Blendpd Vblendpd;
    Vector(|r| r.whole(1, 64, |p| Some((0, p.at / 4 * 4 + p.field(p.at % 4, 2))))) => form ByNumber
        64 Vpermq Vpermpd;
    Vector(|r| r.whole(2, 128, |p| {
        let control = p.field(p.at, 4);
        (control & 8 == 0).then_some((control >> 1 & 1, control & 1))
    })) => 128 Vperm2i128 Vperm2f128;
    Vector(|r| r.whole(2, 128, |p| {
        Some((2 * p.at / p.units, p.field(p.at, p.units.trailing_zeros() as usize)))
    })) => 32 Vshufi32x4 Vshuff32x4, 64 Vshufi64x2 Vshuff64x2;
    // The second operand is below the first.
    Vector(|r| r.whole(2, r.row.lane, |p| {
        let from = p.at + p.control % p.units;
        Some((1 - from / p.units, from % p.units))
    })) => 32 Valignd, 64 Valignq;
    Vector(|r| r.in_groups(2, |p| match p.at + p.control {
        from @ 0..16 => Some((1, from)),
        from @ 16..32 => Some((0, from - 16)),
        _ => None,
    })) => 8 Palignr Vpalignr;
    Vector(|r| r.in_groups(1, |p| Some((0, p.at.checked_sub(p.control)?)))) => 8 Pslldq Vpslldq;
    Vector(|r| r.in_groups(1, |p| Some((0, p.at + p.control)).filter(|(_, from)| *from < 16))) =>
        8 Psrldq Vpsrldq;
    Vector(|r| r.whole(2, 64, |p| Some((1 - p.at, 1)))) => 0 Movhlps Vmovhlps;
    Vector(|r| r.whole(2, 64, |p| Some((p.at, 0)))) => 0 Movlhps Vmovlhps;

    // Masks; their lane is the mask itself where the operands are masks.
    Plain(|r| r.mask_gate(|bits, a, b| bits.and(a, b))) => 8 Kandb, 16 Kandw, 32 Kandd, 64 Kandq;
    Plain(|r| r.mask_gate(|bits, a, b| bits.or(a, b))) => 8 Korb, 16 Korw, 32 Kord, 64 Korq;
    Plain(|r| r.mask_gate(|bits, a, b| bits.xor(a, b))) => 8 Kxorb, 16 Kxorw, 32 Kxord, 64 Kxorq;
    Plain(|r| r.mask_gate(andn)) => 8 Kandnb, 16 Kandnw, 32 Kandnd, 64 Kandnq;
    Plain(|r| r.mask_xnor()) => 8 Kxnorb, 16 Kxnorw, 32 Kxnord, 64 Kxnorq;
    Plain(|r| r.mask_not()) => 8 Knotb, 16 Knotw, 32 Knotd, 64 Knotq;
    Plain(|r| r.move_mask()) => 8 Kmovb, 16 Kmovw, 32 Kmovd, 64 Kmovq;
    Plain(|r| r.mask_shift(Shift::Left)) => 8 Kshiftlb, 16 Kshiftlw, 32 Kshiftld, 64 Kshiftlq;
    Plain(|r| r.mask_shift(Shift::Right)) => 8 Kshiftrb, 16 Kshiftrw, 32 Kshiftrd, 64 Kshiftrq;
    Plain(|r| r.mask_unpack()) => 16 Kunpckbw, 32 Kunpckwd, 64 Kunpckdq;
    Plain(|r| r.mask_test()) => flags "cz" 8 Kortestb, 16 Kortestw, 32 Kortestd, 64 Kortestq;
    Plain(|r| r.mask_of_signs()) => 8 Vpmovb2m, 16 Vpmovw2m, 32 Vpmovd2m, 64 Vpmovq2m;
    Vector(|r| r.lanes_of_mask()) => 8 Vpmovm2b, 16 Vpmovm2w, 32 Vpmovm2d, 64 Vpmovm2q;
    Plain(|r| r.test(Compare(true))) => 8 Vpcmpb, 16 Vpcmpw, 32 Vpcmpd, 64 Vpcmpq;
    Plain(|r| r.test(Compare(false))) => 8 Vpcmpub, 16 Vpcmpuw, 32 Vpcmpud, 64 Vpcmpuq;
    Plain(|r| r.test(Equal)) => form ToMask 8 Vpcmpeqb, 16 Vpcmpeqw, 32 Vpcmpeqd, 64 Vpcmpeqq;
    Plain(|r| r.test(Greater)) => form ToMask 8 Vpcmpgtb, 16 Vpcmpgtw, 32 Vpcmpgtd, 64 Vpcmpgtq;
    Plain(|r| r.test(Common)) => 8 Vptestmb, 16 Vptestmw, 32 Vptestmd, 64 Vptestmq;
    Plain(|r| r.test(Disjoint)) => 8 Vptestnmb, 16 Vptestnmw, 32 Vptestnmd, 64 Vptestnmq;
    Plain(|r| r.choose()) =>
        8 Vpblendmb, 16 Vpblendmw, 32 Vpblendmd Vblendmps, 64 Vpblendmq Vblendmpd;
    ByMask(|r| r.expand(false)) =>
        8 Vpexpandb, 16 Vpexpandw, 32 Vpexpandd Vexpandps, 64 Vpexpandq Vexpandpd;
    ByMask(|r| r.expand(true)) =>
        8 Vpcompressb, 16 Vpcompressw, 32 Vpcompressd Vcompressps, 64 Vpcompressq Vcompresspd;
    ByMask(|r| r.scatter(false, 32)) => 32 Vpgatherdd Vgatherdps, 64 Vpgatherdq Vgatherdpd;
    ByMask(|r| r.scatter(false, 64)) => 32 Vpgatherqd Vgatherqps, 64 Vpgatherqq Vgatherqpd;
    ByMask(|r| r.scatter(true, 32)) => 32 Vpscatterdd Vscatterdps, 64 Vpscatterdq Vscatterdpd;
    ByMask(|r| r.scatter(true, 64)) => 32 Vpscatterqd Vscatterqps, 64 Vpscatterqq Vscatterqpd;

    // General-purpose registers.
    Plain(|r| r.copy(false)) => 0 Mov Movzx;
    Plain(|r| r.copy(true)) => 0 Movsx Movsxd;
    Plain(|r| r.lea()) => 0 Lea;
    Plain(|r| r.binary(Binary::Add, true)) => flags "czso" 0 Add;
    Plain(|r| r.binary(Binary::Subtract, true)) => flags "czso" 0 Sub;
    Plain(|r| r.binary(Binary::Subtract, false)) => flags "czso" 0 Cmp;
    Plain(|r| r.binary(Binary::And, true)) => flags "czso" 0 And;
    Plain(|r| r.binary(Binary::And, false)) => flags "czso" 0 Test;
    Plain(|r| r.binary(Binary::Or, true)) => flags "czso" 0 Or;
    Plain(|r| r.binary(Binary::Xor, true)) => flags "czso" 0 Xor;
    Plain(|r| r.step_by_one(Binary::Add)) => flags "zso" 0 Inc;
    Plain(|r| r.step_by_one(Binary::Subtract)) => flags "zso" 0 Dec;
    Plain(|r| r.negate()) => flags "czso" 0 Neg;
    Plain(|r| r.complement()) => 0 Not;
    Plain(|r| r.and_not()) => flags "zs" 0 Andn;
    Plain(|r| r.shift_word(Shift::Left)) => flags "czs" 0 Shl;
    Plain(|r| r.shift_word(Shift::Right)) => flags "czs" 0 Shr;
    Plain(|r| r.shift_word(Shift::Arithmetic)) => flags "czs" 0 Sar;
    Plain(|r| r.shift_word(Shift::RotateLeft)) => 0 Rol;
    Plain(|r| r.shift_word(Shift::RotateRight)) => 0 Ror Rorx;
    Plain(|r| r.shift_word(Shift::Left)) => 0 Shlx;
    Plain(|r| r.shift_word(Shift::Right)) => 0 Shrx;
    Plain(|r| r.shift_word(Shift::Arithmetic)) => 0 Sarx;
    Plain(|r| r.double_shift_word(true)) => 0 Shld;
    Plain(|r| r.double_shift_word(false)) => 0 Shrd;
    Plain(|r| r.multiply()) => 0 Imul;
    Plain(|r| r.whole_product()) => 0 Mul;
    Plain(|r| r.mulx()) => 0 Mulx;
    Plain(|r| r.push_zero()) => 0 Fldz;
    Plain(|r| r.pop_zero()) => 0 Fstp;
    Plain(|r| r.with_carry(true)) => flags "czs" 0 Adc;
    Plain(|r| r.with_carry(false)) => flags "czs" 0 Sbb;
    Plain(|r| r.chained(|flags: &mut Flags| &mut flags.carry)) => flags "c" 0 Adcx;
    Plain(|r| r.chained(|flags: &mut Flags| &mut flags.overflow)) => 0 Adox;
    Plain(|r| r.swap_bytes()) => 0 Bswap;
    Plain(|r| r.one_bit()) => flags "c" 0 Bt Btr Bts Btc;
    Plain(|r| r.extend_rax(8)) => 0 Cdqe;
    Plain(|r| r.extend_rax(4)) => 0 Cwde;
    Plain(|r| r.sign_of_rax(8)) => 0 Cqo;
    Plain(|r| r.sign_of_rax(4)) => 0 Cdq;
    Plain(|r| r.exchange()) => 0 Xchg;
    Plain(|r| r.set_by_condition()) =>
        0 Seto Setno Setb Setae Sete Setne Setbe Seta Sets Setns Setl Setge Setle Setg;
    Plain(|r| r.move_by_condition()) => 0 Cmovo Cmovno Cmovb Cmovae Cmove Cmovne Cmovbe Cmova Cmovs
        Cmovns Cmovl Cmovge Cmovle Cmovg;
    Plain(|r| r.divide(false)) => timing Operands 0 Div;
    Plain(|r| r.divide(true)) => timing Operands 0 Idiv;

    // Control, the stack, and blocks of memory.
    Plain(|_| Ok(())) => 0 Nop Endbr64;
    Plain(|r| r.push_operand()) => 0 Push;
    Plain(|r| r.pop_operand()) => 0 Pop;
    Plain(|r| r.leave()) => 0 Leave;
    Control(|r| r.call()) => 0 Call;
    Control(|r| r.return_to()) => 0 Ret;
    Control(|r| r.jump()) => 0 Jmp;
    Control(|r| r.branch()) => 0 Jo Jno Jb Jae Je Jne Jbe Ja Js Jns Jl Jge Jle Jg;
    Plain(|r| r.repeat_copy(1)) => form Repeated 0 Movsb;
    Plain(|r| r.repeat_copy(2)) => form Repeated 0 Movsw;
    Plain(|r| r.repeat_copy(4)) => form Repeated 0 Movsd;
    Plain(|r| r.repeat_copy(8)) => form Repeated 0 Movsq;
    Plain(|r| r.repeat_fill(1)) => form Repeated 0 Stosb;
    Plain(|r| r.repeat_fill(2)) => form Repeated 0 Stosw;
    Plain(|r| r.repeat_fill(4)) => form Repeated 0 Stosd;
    Plain(|r| r.repeat_fill(8)) => form Repeated 0 Stosq;
};
