/* The common part of drivers of experiments with stages. Compiled once for each stage with STAGE, its
   number, and KERNEL, the file of a kernel whose function is called `kernel`; the driver defines
   `int NUMBERED(stage_, STAGE)(uint64_t calls)`, which returns whether a result was wrong. Compiled
   once with MAIN, where STAGES names all stages. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOIN(a, b) a##b
#define NUMBERED(name, n) JOIN(name, n)

#ifdef MAIN

#define DECLARE(n) int stage_##n(uint64_t calls);
STAGES(DECLARE)

#define NAME(n) stage_##n,
static int (*const stages[])(uint64_t) = {STAGES(NAME)};

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec * 1e-9;
}

/* Takes the calls of a slice and the number of slices. Stages run their slices in turn; a line is
   the number of a stage and the seconds of one slice, or `wrong`. */
int main(int argc, char **argv)
{
    const uint64_t calls = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    const int slices = argc > 2 ? atoi(argv[2]) : 0;
    const size_t count = sizeof stages / sizeof *stages;
    for (size_t n = 0; n < count; n++)
        if (stages[n](calls)) printf("%zu wrong\n", n);
    for (int slice = 0; slice < slices; slice++)
        for (size_t n = 0; n < count; n++) {
            const double before = now();
            stages[n](calls);
            printf("%zu %.9f\n", n, now() - before);
        }
    return 0;
}

#endif
