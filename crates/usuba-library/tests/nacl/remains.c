/* What calls leave below the frame of their caller: the bytes that differ after two calls which
   differ in their secret alone. It writes their number for each function. */
#include <stdio.h>
#include <string.h>

#include "it.h"

#define DEPTH 65536

/* Of so many X25519 at once some are in lanes, where there are any, and some are not. */
#define MANY 10

static uint8_t secret[32 * MANY], points[32 * MANY], outs[32 * MANY];
static uint8_t public_key[32], message[100], signature[64];

/* What was left after each of two calls, and which of them it is: that is in memory alone, so that
   no register that is saved on the stack has it. */
static uint8_t left[2][DEPTH];
static unsigned which;

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
    usuba_x25519(secret, points, outs);
}

static void base(void)
{
    usuba_x25519_base(secret, outs);
}

static void many(void)
{
    usuba_x25519_many(secret, points, outs, MANY);
}

static void base_many(void)
{
    usuba_x25519_base_many(secret, outs, MANY);
}

/* The frame of this function lies where that of the function lay which was called before it: writes
   a pattern there, or reads what is there. */
static __attribute__((noinline)) void below(int look)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    __asm__ volatile("" : : "r"(room) : "memory");
    for (at = 0; at < DEPTH; at++) {
        if (look) left[which][at] = room[at];
        else room[at] = 0xa5;
    }
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void once(void (*function)(void))
{
    unsigned at;
    for (at = 0; at < sizeof secret; at++) secret[at] = which ? 0x5c : 0x36;
    /* The register that held such a byte holds one of these: functions may save it. */
    for (at = 0; at < sizeof points; at++) outs[at] = points[at];
    below(0);
    function();
    below(1);
}

static void both(void (*function)(void))
{
    unsigned at, count = 0, deepest = 0;
    /* Once more, so that registers have what is left by this program both times. */
    which = 0;
    once(function);
    once(function);
    which = 1;
    once(function);
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
    memset(points, 9, sizeof points);
    /* Addresses of library functions are looked up once. */
    keys();
    sign();
    both(keys);
    both(sign);
    both(agree);
    both(base);
    both(many);
    both(base_many);
    return 0;
}
