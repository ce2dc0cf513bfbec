/* Encrypts or decrypts the same block repeatedly, as in the programs of the series "Skein, Threefish,
   and Mono.Simd": a hundred calls in straight-line code.

   Besides the macros of `stages.h`, compiled with
     INVERSE    if it decrypts
     REGISTER   the type of its registers
     ARGUMENTS  its arguments: plain, subkeys, key, tweak, out
     UNALIGNED  if registers are read and written at any address
     OFFSET     the offset of all buffers from a cache line, in bytes */

#include "stages.h"

#ifndef MAIN

#if defined(__SSE2__) && defined(UNALIGNED)
#include <immintrin.h>
#define __m128i __m128i_u
#define __m256i __m256i_u
#endif

/* Each kernel has a name of its own in the program. */
#define kernel NUMBERED(kernel_, STAGE)
#include KERNEL

#ifndef OFFSET
#define OFFSET 0
#endif

/* The input of the series, and its published ciphertext. */
static const uint64_t PLAIN[4] = {0, 1, 2, 3};
static const uint64_t CIPHER[4] = {
    0x61773fac03a37433, 0xb1eff698bc88802b, 0x22a47d9e7d7f8005, 0x1ec6162f214fb0ec,
};
static const uint64_t KEY[4] = {9457023847234, 472570192431239, 1234728012456, 54774345235234};
static const uint64_t TWEAK[2] = {7, 15};

struct buffers {
    char before[64 + OFFSET];
    uint64_t plain[4];
    char between[64 - 32];
    uint64_t out[4];
    char more[64 - 32];
    uint64_t key[4];
    char even_more[64 - 32];
    uint64_t tweak[2];
    char most[64 - 16];
    uint64_t subkeys[19 * 4];
};

static union {
    struct buffers buffers;
    char bytes[sizeof(struct buffers)];
} all __attribute__((aligned(64)));

/* The subkeys of version 1.1, the even words of each before its odd words. */
static void schedule(uint64_t *subkeys)
{
    uint64_t k[5] = {KEY[0], KEY[1], KEY[2], KEY[3], 0x5555555555555555}, t[3];
    for (int i = 0; i < 4; i++) k[4] ^= k[i];
    t[0] = TWEAK[0];
    t[1] = TWEAK[1];
    t[2] = t[0] ^ t[1];
    for (int s = 0; s < 19; s++) {
        subkeys[4 * s + 0] = k[s % 5];
        subkeys[4 * s + 1] = k[(s + 2) % 5] + t[(s + 1) % 3];
        subkeys[4 * s + 2] = k[(s + 1) % 5] + t[s % 3];
        subkeys[4 * s + 3] = k[(s + 3) % 5] + (uint64_t)s;
    }
}

__attribute__((noinline)) static void once(void)
{
    const REGISTER *plain = (const REGISTER *)all.buffers.plain;
    const REGISTER *key = (const REGISTER *)all.buffers.key;
    const REGISTER *tweak = (const REGISTER *)all.buffers.tweak;
    const REGISTER *subkeys = (const REGISTER *)all.buffers.subkeys;
    REGISTER *out = (REGISTER *)all.buffers.out;
    (void)key, (void)tweak, (void)subkeys;
    __asm__ volatile("" ::: "memory");
    kernel(ARGUMENTS);
    __asm__ volatile("" ::: "memory");
}

#define TEN(what) what what what what what what what what what what

int NUMBERED(stage_, STAGE)(uint64_t calls)
{
#ifdef INVERSE
    const uint64_t *from = CIPHER, *to = PLAIN;
#else
    const uint64_t *from = PLAIN, *to = CIPHER;
#endif
    for (int i = 0; i < 4; i++) {
        all.buffers.plain[i] = from[i];
        all.buffers.key[i] = KEY[i];
        all.buffers.tweak[i % 2] = TWEAK[i % 2];
        all.buffers.out[i] = 0;
    }
    schedule(all.buffers.subkeys);
    for (uint64_t i = 0; i < calls; i += 100) {
        TEN(TEN(once();))
    }
    for (int i = 0; i < 4; i++)
        if (all.buffers.out[i] != to[i]) return 1;
    return 0;
}

#endif
