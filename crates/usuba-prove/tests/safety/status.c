/* A function with a frame, calls, a table, a public branch and zeroization. */
#include <stdint.h>
#include <string.h>
static const uint8_t table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static __attribute__((noinline)) int mix(uint8_t *state, const uint8_t *open)
{
    uint8_t any = 0;
    for (int i = 0; i < 32; i++) {
        state[i] ^= (uint8_t)(open[i] ^ table[i & 15]);
        any |= state[i];
    }
    return any;
}
int f(const uint8_t *secret, const uint8_t *open, uint8_t *out)
{
    uint8_t state[32];
    int any, status = 1;
    if (!secret || !open || !out) return 2;
    memcpy(state, secret, 32);
    if (open[0] & 1) state[0] ^= 1;
    any = mix(state, open);
    if (any) {
        memcpy(out, state, 32);
        status = 0;
    }
    memset(state, 0, 32);
    __asm__ __volatile__("" : : "r"(state) : "memory");
    return status;
}
