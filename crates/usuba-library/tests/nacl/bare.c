/* A program on a processor without anything: what it writes, and its end, are system calls of
   Linux. */
#include <stddef.h>
#include <stdint.h>

#include "it.h"

void *memcpy(void *to, const void *from, size_t length)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    while (length--) *t++ = *f++;
    return to;
}

void *memset(void *to, int byte, size_t length)
{
    uint8_t *t = to;
    while (length--) *t++ = (uint8_t)byte;
    return to;
}

static long ask(long number, long a, long b, long c)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}

static void say(unsigned number, char end)
{
    char line[16];
    int at = 16;
    line[--at] = end;
    do line[--at] = (char)('0' + number % 10);
    while (number /= 10);
    ask(64, 1, (long)&line[at], 16 - at);
}

static uint8_t seed[32], secret[64], public[32], message[256], signature[64], one[32], other[32];

static int keys(void)
{
    return usuba_ed25519_keypair_from_seed(seed, public, secret);
}

static int sign(void)
{
    return usuba_ed25519_sign(secret, message, sizeof message, signature);
}

static int verify(void)
{
    return usuba_ed25519_verify(public, message, sizeof message, signature);
}

static int agree(void)
{
    static const uint8_t base[32] = {9};
    return usuba_x25519(secret, base, one) || usuba_x25519_base(secret, other);
}

#define DEPTH 16384

/* What was left after each of two calls, and which of them it is: that is in memory alone, so that
   no register that is saved on the stack has it. */
static uint8_t left[2][DEPTH];
static volatile unsigned which;

/* The frame of a function that calls another one ends where the other begins: the pattern is left by
   one that has returned. */
static __attribute__((noinline)) void paint(void)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    for (at = 0; at < DEPTH; at++) room[at] = 0xa5;
    __asm__ volatile("" : : "r"(room) : "memory");
}

static __attribute__((noinline)) void copy(void)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    __asm__ volatile("" : : "r"(room) : "memory");
    for (at = 0; at < DEPTH; at++) left[which][at] = room[at];
}

static __attribute__((noinline)) int once(int (*function)(void))
{
    int answer;
    seed[3] = (uint8_t)which;
    answer = keys() | sign();
    paint();
    answer |= function();
    copy();
    return answer;
}

/* Says how much of the stack a function took, and how many bytes it left there that depend on the
   seed of all secrets. */
static int run(int (*function)(void))
{
    int answer;
    unsigned at, count = 0, taken = DEPTH;
    which = 0;
    answer = once(function);
    which = 1;
    answer |= once(function);
    while (taken && left[0][DEPTH - taken] == 0xa5) taken--;
    for (at = 0; at < DEPTH; at++) count += left[0][at] != left[1][at];
    say(taken, ' ');
    say(count, '\n');
    return answer;
}

void _start(void)
{
    int bad = run(keys) | run(sign) | run(verify) | run(agree);
    unsigned at;
    for (at = 0; at < 32; at++) bad |= one[at] ^ other[at];
    signature[3] ^= 1;
    bad |= !verify();
    ask(93, bad, 0, 0);
}
