/*
 * keccak_f: made by usubac 0.1.0
 * Command: usubac keccak.ua -V --target avx512_128 --entry keccak_f
 * Source: keccak.ua sha256 fd67b28dcdffc970efd3f5de696535abebc7a314ee98f9f2d22f49e8796cda6c
 * Target: avx512_128, vertical slicing (V); compile with -mavx512f -mavx512bw -mavx512dq -mavx512vl
 * Operations: 2280 (lut3 840, rotl 696, xor 744); at most 35 values alive
 * Interleaving: 1, by a model: an instance has 352 cycles of latency and 570 of issue, and
 *     34 values for 32 registers
 *
 * Each register holds one word of 2 instances: instance j is lane j of 64 bits in memory
 * order, zero-extended.
 * Inputs and outputs must not overlap.
 * in a[25]: 25 words [5][5] of 64 bits, outer dimension first; one register each.
 * out b[25]: 25 words [5][5] of 64 bits, outer dimension first; one register each.
 */

#include <stdint.h>
#include <immintrin.h>

#ifdef __cplusplus
extern "C" {
#endif
void keccak_f(const __m128i *a, __m128i *b);
#ifdef __cplusplus
}
#endif

static inline __m128i keccak_f_lut64_96(__m128i a, __m128i b, __m128i c)
{
    return _mm_ternarylogic_epi64(a, b, c, 150);
}

static inline __m128i keccak_f_lut64_d2(__m128i a, __m128i b, __m128i c)
{
    return _mm_ternarylogic_epi64(a, b, c, 210);
}

static inline __m128i keccak_f_lut64_9c(__m128i a, __m128i b, __m128i c)
{
    return _mm_ternarylogic_epi64(a, b, c, 156);
}

static inline __m128i keccak_f_lut64_a6(__m128i a, __m128i b, __m128i c)
{
    return _mm_ternarylogic_epi64(a, b, c, 166);
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-tree-ter")))
#endif
void keccak_f(const __m128i *__restrict a, __m128i *__restrict b)
{
    static const uint64_t p1[24] = { 0x1ULL, 0x8082ULL, 0x800000000000808aULL, 0x8000000080008000ULL, 0x808bULL, 0x80000001ULL, 0x8000000080008081ULL, 0x8000000000008009ULL, 0x8aULL, 0x88ULL, 0x80008009ULL, 0x8000000aULL, 0x8000808bULL, 0x800000000000008bULL, 0x8000000000008089ULL, 0x8000000000008003ULL, 0x8000000000008002ULL, 0x8000000000000080ULL, 0x800aULL, 0x800000008000000aULL, 0x8000000080008081ULL, 0x8000000000008080ULL, 0x80000001ULL, 0x8000000080008008ULL };
    __m128i s47 = a[0];
    __m128i s48 = a[1];
    __m128i s49 = a[2];
    __m128i s50 = a[3];
    __m128i s51 = a[4];
    __m128i s52 = a[5];
    __m128i s53 = a[6];
    __m128i s54 = a[7];
    __m128i s55 = a[8];
    __m128i s56 = a[9];
    __m128i s57 = a[10];
    __m128i s58 = a[11];
    __m128i s59 = a[12];
    __m128i s60 = a[13];
    __m128i s61 = a[14];
    __m128i s62 = a[15];
    __m128i s63 = a[16];
    __m128i s64 = a[17];
    __m128i s65 = a[18];
    __m128i s66 = a[19];
    __m128i s67 = a[20];
    __m128i s68 = a[21];
    __m128i s69 = a[22];
    __m128i s70 = a[23];
    __m128i s71 = a[24];
    for (unsigned k0 = 0; k0 < 24; k0++) {
        const __m128i v78 = keccak_f_lut64_96(s47, s52, s57);
        const __m128i v79 = keccak_f_lut64_96(s48, s53, s58);
        const __m128i v80 = keccak_f_lut64_96(s49, s54, s59);
        const __m128i v81 = keccak_f_lut64_96(s50, s55, s60);
        const __m128i v82 = keccak_f_lut64_96(s51, s56, s61);
        const __m128i v88 = keccak_f_lut64_96(s62, s67, v78);
        const __m128i v89 = keccak_f_lut64_96(s63, s68, v79);
        const __m128i v90 = keccak_f_lut64_96(s64, s69, v80);
        const __m128i v91 = keccak_f_lut64_96(s65, s70, v81);
        const __m128i v92 = keccak_f_lut64_96(s66, s71, v82);
        const __m128i v93 = _mm_rol_epi64(v88, 1);
        const __m128i v94 = _mm_rol_epi64(v89, 1);
        const __m128i v95 = _mm_rol_epi64(v90, 1);
        const __m128i v96 = _mm_rol_epi64(v91, 1);
        const __m128i v98 = _mm_xor_si128(v92, v94);
        const __m128i v97 = _mm_rol_epi64(v92, 1);
        const __m128i v99 = _mm_xor_si128(v88, v95);
        const __m128i v100 = _mm_xor_si128(v89, v96);
        const __m128i v101 = _mm_xor_si128(v90, v97);
        const __m128i v102 = _mm_xor_si128(v91, v93);
        const __m128i v103 = _mm_xor_si128(s47, v98);
        const __m128i v104 = _mm_xor_si128(s48, v99);
        const __m128i v105 = _mm_xor_si128(s49, v100);
        const __m128i v106 = _mm_xor_si128(s50, v101);
        const __m128i v107 = _mm_xor_si128(s51, v102);
        const __m128i v108 = _mm_xor_si128(s52, v98);
        const __m128i v109 = _mm_xor_si128(s53, v99);
        const __m128i v110 = _mm_xor_si128(s54, v100);
        const __m128i v111 = _mm_xor_si128(s55, v101);
        const __m128i v112 = _mm_xor_si128(s56, v102);
        const __m128i v113 = _mm_xor_si128(s57, v98);
        const __m128i v114 = _mm_xor_si128(s58, v99);
        const __m128i v115 = _mm_xor_si128(s59, v100);
        const __m128i v116 = _mm_xor_si128(s60, v101);
        const __m128i v117 = _mm_xor_si128(s61, v102);
        const __m128i v118 = _mm_xor_si128(s62, v98);
        const __m128i v119 = _mm_xor_si128(s63, v99);
        const __m128i v120 = _mm_xor_si128(s64, v100);
        const __m128i v121 = _mm_xor_si128(s65, v101);
        const __m128i v122 = _mm_xor_si128(s66, v102);
        const __m128i v123 = _mm_xor_si128(s67, v98);
        const __m128i v124 = _mm_xor_si128(s68, v99);
        const __m128i v125 = _mm_xor_si128(s69, v100);
        const __m128i v126 = _mm_xor_si128(s70, v101);
        const __m128i v127 = _mm_xor_si128(s71, v102);
        const __m128i v128 = _mm_rol_epi64(v104, 1);
        const __m128i v129 = _mm_rol_epi64(v105, 62);
        const __m128i v130 = _mm_rol_epi64(v106, 28);
        const __m128i v131 = _mm_rol_epi64(v107, 27);
        const __m128i v132 = _mm_rol_epi64(v108, 36);
        const __m128i v133 = _mm_rol_epi64(v109, 44);
        const __m128i v134 = _mm_rol_epi64(v110, 6);
        const __m128i v135 = _mm_rol_epi64(v111, 55);
        const __m128i v136 = _mm_rol_epi64(v112, 20);
        const __m128i v137 = _mm_rol_epi64(v113, 3);
        const __m128i v138 = _mm_rol_epi64(v114, 10);
        const __m128i v139 = _mm_rol_epi64(v115, 43);
        const __m128i v177 = keccak_f_lut64_d2(v130, v136, v137);
        const __m128i v140 = _mm_rol_epi64(v116, 25);
        const __m128i v141 = _mm_rol_epi64(v117, 39);
        const __m128i v162 = keccak_f_lut64_d2(v103, v133, v139);
        const __m128i v142 = _mm_rol_epi64(v118, 41);
        const __m128i v143 = _mm_rol_epi64(v119, 45);
        const __m128i v192 = keccak_f_lut64_d2(v128, v134, v140);
        const __m128i v144 = _mm_rol_epi64(v120, 15);
        const __m128i v145 = _mm_rol_epi64(v121, 21);
        const __m128i v178 = keccak_f_lut64_d2(v136, v137, v143);
        const __m128i v146 = _mm_rol_epi64(v122, 8);
        const __m128i v147 = _mm_rol_epi64(v123, 18);
        const __m128i v163 = keccak_f_lut64_d2(v133, v139, v145);
        const __m128i v148 = _mm_rol_epi64(v124, 2);
        const __m128i v149 = _mm_rol_epi64(v125, 61);
        const __m128i v193 = keccak_f_lut64_d2(v134, v140, v146);
        const __m128i v150 = _mm_rol_epi64(v126, 56);
        const __m128i v151 = _mm_rol_epi64(v127, 14);
        const __m128i v179 = keccak_f_lut64_d2(v137, v143, v149);
        const __m128i v180 = keccak_f_lut64_9c(v130, v143, v149);
        const __m128i v164 = keccak_f_lut64_d2(v139, v145, v151);
        const __m128i v165 = keccak_f_lut64_9c(v103, v145, v151);
        const __m128i v166 = keccak_f_lut64_a6(v103, v133, v151);
        const __m128i v181 = keccak_f_lut64_a6(v130, v136, v149);
        const __m128i v194 = keccak_f_lut64_d2(v140, v146, v147);
        const __m128i v195 = keccak_f_lut64_9c(v128, v146, v147);
        const __m128i v196 = keccak_f_lut64_a6(v128, v134, v147);
        const __m128i v207 = keccak_f_lut64_d2(v131, v132, v138);
        const __m128i v208 = keccak_f_lut64_d2(v132, v138, v144);
        const __m128i v209 = keccak_f_lut64_d2(v138, v144, v150);
        const __m128i v210 = keccak_f_lut64_9c(v131, v144, v150);
        const __m128i v211 = keccak_f_lut64_a6(v131, v132, v150);
        const __m128i v222 = keccak_f_lut64_d2(v129, v135, v141);
        const __m128i v223 = keccak_f_lut64_d2(v135, v141, v142);
        const __m128i v224 = keccak_f_lut64_d2(v141, v142, v148);
        const __m128i v225 = keccak_f_lut64_9c(v129, v142, v148);
        const __m128i v226 = keccak_f_lut64_a6(v129, v135, v148);
        const __m128i v227 = _mm_xor_si128(_mm_set1_epi64x((long long)p1[k0]), v162);
        s47 = v227;
        s48 = v163;
        s49 = v164;
        s50 = v165;
        s51 = v166;
        s52 = v177;
        s53 = v178;
        s54 = v179;
        s55 = v180;
        s56 = v181;
        s57 = v192;
        s58 = v193;
        s59 = v194;
        s60 = v195;
        s61 = v196;
        s62 = v207;
        s63 = v208;
        s64 = v209;
        s65 = v210;
        s66 = v211;
        s67 = v222;
        s68 = v223;
        s69 = v224;
        s70 = v225;
        s71 = v226;
    }
    b[0] = s47;
    b[1] = s48;
    b[2] = s49;
    b[3] = s50;
    b[4] = s51;
    b[5] = s52;
    b[6] = s53;
    b[7] = s54;
    b[8] = s55;
    b[9] = s56;
    b[10] = s57;
    b[11] = s58;
    b[12] = s59;
    b[13] = s60;
    b[14] = s61;
    b[15] = s62;
    b[16] = s63;
    b[17] = s64;
    b[18] = s65;
    b[19] = s66;
    b[20] = s67;
    b[21] = s68;
    b[22] = s69;
    b[23] = s70;
    b[24] = s71;
}
