/* The S-box of RECTANGLE on registers, each call on the output of its predecessor.

   Besides the macros of `stages.h`, compiled with
     REGISTER   the type of its registers
     ARGUMENTS  its arguments: from, to
     COPIES     S-boxes of a call
     UNROLLED   if the loop has ten calls in its body
     ADDITIONS  if a call is a chain of a thousand additions instead */

#include "stages.h"

#ifndef MAIN

/* Each kernel has a name of its own in the program, and is part of its caller. */
#define kernel __attribute__((always_inline)) inline static NUMBERED(kernel_, STAGE)
#include KERNEL
#undef kernel

static const unsigned SBOX[16] = {6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2};

#define ROWS (4 * COPIES)

static inline __attribute__((always_inline)) void call(const REGISTER *from, REGISTER *to)
{
    NUMBERED(kernel_, STAGE)(ARGUMENTS);
}

/* Whether the columns of `to` are those of `from` through the table. Copies lie behind each other. */
static int is_right(const REGISTER *from, const REGISTER *to)
{
    for (int copy = 0; copy < COPIES; copy++)
        for (int column = 0; column < 64; column++) {
            unsigned x = 0, y = 0;
            for (int row = 0; row < 4; row++) {
                x |= (unsigned)(from[4 * copy + row] >> column & 1) << row;
                y |= (unsigned)(to[4 * copy + row] >> column & 1) << row;
            }
            if (SBOX[x] != y) return 0;
        }
    return 1;
}

#define FIVE(text) text text text text text

int NUMBERED(stage_, STAGE)(uint64_t calls)
{
    REGISTER a[ROWS], b[ROWS];
    for (int row = 0; row < ROWS; row++) a[row] = 0x9e3779b97f4a7c15u * (unsigned)(row + 1);
    call(a, b);
    const int wrong = !is_right(a, b);
#ifdef ADDITIONS
    uint64_t sum = calls;
    for (uint64_t i = 0; i < calls; i++)
        __asm__ volatile(".rept 1000\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(i));
    a[0] = sum;
#elif defined(UNROLLED)
    for (uint64_t i = 0; i < calls; i += 10) { FIVE(call(a, b); call(b, a);) }
#else
    for (uint64_t i = 0; i < calls; i++) {
        call(a, a);
        /* Keeps the compiler from unrolling the loop by itself. */
        __asm__ volatile("");
    }
#endif
    for (int row = 0; row < ROWS; row++) __asm__ volatile("" ::"r"(a[row]));
    return wrong;
}

#endif
