/* What calls leave below the frame of their caller: the bytes that differ after two calls which
   differ in their secret alone. It writes their number for each function. */
#include <stdio.h>
#include <string.h>

#include "it.h"

#define DEPTH 65536

static uint8_t secret[64], public_key[32], message[100], signature[64], out[32], point[32];
static uint8_t left[2][DEPTH];

static void keys(void)
{
    usuba_ed25519_keypair_from_seed(secret, public_key, signature);
}

static void sign(void)
{
    usuba_ed25519_sign(secret, message, sizeof message, signature);
}

static void agree(void)
{
    usuba_x25519(secret, point, out);
}

static void base(void)
{
    usuba_x25519_base(secret, out);
}

/* The frame of this function lies where that of the function lay which was called before it: writes
   a pattern there, or reads what is there. */
static __attribute__((noinline)) void below(uint8_t *to)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    __asm__ volatile("" : : "r"(room) : "memory");
    for (at = 0; at < DEPTH; at++) {
        if (to) to[at] = room[at];
        else room[at] = 0xa5;
    }
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void once(void (*function)(void), int which)
{
    memset(secret, which ? 0x5c : 0x36, sizeof secret);
    below(NULL);
    function();
    below(left[which]);
}

static void both(void (*function)(void))
{
    unsigned at, count = 0, deepest = 0;
    once(function, 0);
    once(function, 1);
    for (at = 0; at < DEPTH; at++) {
        if (left[0][at] == left[1][at]) continue;
        count++;
        if (!deepest) deepest = DEPTH - at;
    }
    printf("%u\n", count);
    if (count) fprintf(stderr, "down to %u bytes\n", deepest);
}

int main(void)
{
    memset(point, 9, sizeof point);
    /* Addresses of library functions are looked up once. */
    keys();
    sign();
    both(keys);
    both(sign);
    both(agree);
    both(base);
    return 0;
}
