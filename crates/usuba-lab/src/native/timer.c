/* Times every kernel of table.h by turns; see clock.rs for the records that it writes. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#ifdef __linux__
#include <sched.h>
#endif

void lab_read(void *to, size_t count);
void lab_write(const void *from, size_t count);

struct kernel {
    void (*call)(void **ports);
    size_t first_size, inputs, ports;
};

#include "table.h"

#define KERNELS (sizeof kernels / sizeof kernels[0])

static unsigned char arena[ARENA];
static void *ports[PORTS];
static uint64_t calls[KERNELS];

static uint64_t now(void) {
#if defined __x86_64__
    uint32_t low, high;
    /* Everything before is done, and nothing after has begun. */
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

/* CYCLES additions, each of which waits for the one before. Register operands: some processors
   add small constants without waiting. */
static uint64_t chain(void) {
    uint64_t sum = 1, step = 3, start = now();
    long left;
    for (left = CYCLES / 50; left > 0; left--) {
#define TEN(one) one one one one one one one one one one
#if defined __x86_64__
        __asm__ volatile(TEN("add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t")
                         : "+r"(sum) : "r"(step));
#elif defined __aarch64__
        __asm__ volatile(TEN("add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t")
                         : "+r"(sum) : "r"(step));
#else
        int i;
        for (i = 0; i < 50; i++) __asm__ volatile("" : "+r"(sum) : "r"(sum += step));
#endif
    }
    return now() - start;
}

static uint64_t batch(size_t n) {
    uint64_t start, left;
    void **first = ports + kernels[n].first_size;
    start = now();
    for (left = calls[n]; left > 0; left--) kernels[n].call(first);
    return now() - start;
}

int main(void) {
    size_t n, i, at = (64 - (size_t)arena % 64) % 64;
    long round;
#ifdef __linux__
    /* Wherever it is now, it stays: another core may have another speed. */
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)sched_getcpu(), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
#endif
    for (n = 0; n < KERNELS; n++) {
        for (i = 0; i < kernels[n].ports; i++) {
            size_t port = kernels[n].first_size + i;
            ports[port] = arena + at;
            if (i < kernels[n].inputs) lab_read(ports[port], sizes[port]);
            at += (sizes[port] + 63) / 64 * 64;
        }
    }
    /* As many calls as a chain lasts, found by doubling; this warms everything up as well. */
    for (n = 0; n < KERNELS; n++) {
        uint64_t length = chain();
        for (calls[n] = 1; batch(n) < length; calls[n] *= 2) {}
    }
    for (round = 0; round < ROUNDS; round++) {
        for (n = 0; n < KERNELS; n++) {
            uint64_t record[3];
            kernels[n].call(ports + kernels[n].first_size);
            record[0] = chain();
            record[1] = batch(n);
            record[2] = calls[n];
            lab_write(record, sizeof record);
        }
    }
    return 0;
}
