/* Encrypts or decrypts chained blocks, each the output of its predecessor, so that the time of a call
   is the latency of the rounds.

   Besides the macros of `stages.h`, compiled with
     INVERSE    if it decrypts
     WORDS      64-bit words of a block: 4, 8 or 16
     REGISTER   the type of its registers
     ARGUMENTS  its arguments: from, subkeys, to
     ADDITIONS  if a call is a chain of a thousand additions instead */

#include "stages.h"

#ifndef MAIN

/* Each kernel has a name of its own in the program, and is part of its caller: a block that goes
   through memory between two calls would wait for it. */
#define kernel __attribute__((always_inline)) inline static NUMBERED(kernel_, STAGE)
#include KERNEL
#undef kernel

#define SUBKEYS (WORDS == 16 ? 21 : 19)

/* The encryption of the zero block with the zero key and tweak: even words, then odd ones. */
static const uint64_t CIPHER[WORDS] = {
#if WORDS == 4
    0x94eeea8b1f2ada84, 0x952419a1f4b16d53, 0xadf103313eae6670, 0xd83f13e63c9f6b11,
#elif WORDS == 8
    0xbc2560efc6bba2b1, 0xfb8631ee0abbd175, 0xcff0356e58f8c27b, 0xe9a380a56139abf1,
    0xe3361f162238eb40, 0x7b9479d4c5479ed1, 0xb1b7b08430f0e7f7, 0xbe7b6d4aa11eb47e,
#else
    0x04b3053d0a3d5cf0, 0x067b212f6ea78a5c, 0x0f4ec27394cbacf0, 0xcff56d1d7654b49c,
    0x540306b460472e0b, 0xc36b4068beaf32c8, 0xc4a36c28434a5b9a, 0xdf11834830b2a460,
    0x0136e0d1c7dd85f7, 0x0da9c10b4c54e1c6, 0x32437f0568ea4fd5, 0xa2d5fb14369b2e7b,
    0x71c18254bcea820d, 0xfa4329597a360095, 0xd54331444b1046cf, 0x1e39e8dfe1f7ee4f,
#endif
};

/* The subkeys of the zero key and tweak: the constant C240 moves from word to word, and the last
   word has the number of the subkey. Even words come before odd ones. */
static void schedule(uint64_t *subkeys)
{
    for (int s = 0; s < SUBKEYS; s++)
        for (int i = 0; i < WORDS; i++) {
            const int place = s * WORDS + i % 2 * (WORDS / 2) + i / 2;
            subkeys[place] = (s + i) % (WORDS + 1) == WORDS ? 0x1bd11bdaa9fc1a22 : 0;
            if (i == WORDS - 1) subkeys[place] += (uint64_t)s;
        }
}

union block {
    uint64_t words[WORDS];
    REGISTER registers[WORDS * 8 / sizeof(REGISTER)];
};

static union {
    uint64_t words[SUBKEYS * WORDS];
    REGISTER registers[SUBKEYS * WORDS * 8 / sizeof(REGISTER)];
} keys;

static inline __attribute__((always_inline)) void call(const REGISTER *from, REGISTER *to)
{
    const REGISTER *subkeys = keys.registers;
    NUMBERED(kernel_, STAGE)(ARGUMENTS);
}

int NUMBERED(stage_, STAGE)(uint64_t calls)
{
    union block a = {{0}}, b = {{0}};
    int wrong = 0;
    schedule(keys.words);
#ifdef INVERSE
    for (int i = 0; i < WORDS; i++) a.words[i] = CIPHER[i];
#endif
    call(a.registers, b.registers);
    for (int i = 0; i < WORDS; i++)
#ifdef INVERSE
        wrong |= b.words[i] != 0;
#else
        wrong |= b.words[i] != CIPHER[i];
#endif
#ifdef ADDITIONS
    uint64_t sum = calls;
    for (uint64_t i = 0; i < calls; i++)
        __asm__ volatile(".rept 1000\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(i));
    a.words[0] = sum;
#else
    for (uint64_t i = 0; i < calls; i += 2) {
        call(a.registers, b.registers);
        call(b.registers, a.registers);
    }
#endif
    __asm__ volatile("" ::"r"(&a) : "memory");
    return wrong;
}

#endif
