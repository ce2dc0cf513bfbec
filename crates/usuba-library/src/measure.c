
/* Times every core with every number of blocks by turns, and prints the least ticks of a call. Of
   hash functions a number of messages stands for the number of blocks, and the ticks are those of
   one block of each, in messages of LINKS blocks. */

#include <stdio.h>
#if !defined(__x86_64__)
#include <time.h>
#endif

typedef struct {
    usuba_kernel *run;
    usuba_link *link;
    size_t in, out, unit, batch;
} core;

static const core cores[] = {
@TABLE@};

#define CORES (sizeof cores / sizeof cores[0])
#define POINTS @POINTS@

#define LINKS 16

static uint8_t in[LINKS * @IN@], out[@OUT@];
static const uint8_t *messages[@MESSAGES@];
static uint64_t key[@KEY@];
static double least[CORES][POINTS];

static uint64_t now(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

static void call(const core *c, size_t blocks)
{
    if (c->run) c->run(key, in, out, blocks);
    else c->link(out, messages, LINKS, blocks);
}

int main(void)
{
    size_t round, i, point;
    for (i = 0; i < @MESSAGES@; i++) messages[i] = in + i * (LINKS * @IN@ / @MESSAGES@ / 8 * 8);
    for (round = 0; round < @ROUNDS@; round++) {
        for (i = 0; i < CORES; i++) {
            const core *c = &cores[i];
            const size_t points = c->batch / c->unit + 1;
            for (point = 0; point < points; point++) {
                const size_t blocks = point + 1 < points ? (point + 1) * c->unit : 2 * c->batch;
                size_t times = 1, n;
                double ticks;
                uint64_t start;
                /* About as long as a few microseconds, which hides the counter. */
                if (round) times = (size_t)(8000 / least[i][point]) + 1;
                call(c, blocks);
                start = now();
                for (n = 0; n < times; n++) call(c, blocks);
                ticks = (double)(now() - start) / (double)times;
                if (!c->run) ticks /= LINKS;
                if (!round || ticks < least[i][point]) least[i][point] = ticks < 1 ? 1 : ticks;
            }
        }
    }
    for (i = 0; i < CORES; i++)
        for (point = 0; point < cores[i].batch / cores[i].unit + 1; point++)
            printf("%u %.0f\n", (unsigned)i, least[i][point]);
    return 0;
}
