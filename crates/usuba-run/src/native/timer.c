/* Times every kernel of table.h by turns; see clock.rs for the records that it writes. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#ifdef __linux__
#include <sched.h>
#if defined __has_include
#if __has_include(<linux/perf_event.h>)
#define COUNTERS
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif
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

/* Wherever the process is now, it stays: another core may have another speed. One more than the
   number of the core, or 0 if the system refuses. */
static uint64_t pin(void) {
#ifdef __linux__
    cpu_set_t cpus;
    int core = sched_getcpu();
    if (core < 0) return 0;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)core, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) == 0) return (uint64_t)core + 1;
#endif
    return 0;
}

/* The processor's own counters of cycles and instructions, where the system lets us have them;
   many virtual machines have none. They count this process outside of the system only. */
static int leader = -1;

static void open_counters(void) {
#ifdef COUNTERS
    static const uint64_t events[2] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
    int n;
    for (n = 0; n < 2; n++) {
        struct perf_event_attr event;
        long made;
        memset(&event, 0, sizeof event);
        event.size = sizeof event;
        event.type = PERF_TYPE_HARDWARE;
        event.config = events[n];
        event.exclude_kernel = 1;
        event.exclude_hv = 1;
        event.read_format = PERF_FORMAT_GROUP;
        made = syscall(SYS_perf_event_open, &event, 0, -1, n ? leader : -1, 0);
        if (made < 0) {
            if (leader >= 0) close(leader);
            leader = -1;
            return;
        }
        if (n == 0) leader = (int)made;
    }
#endif
}

static void count(uint64_t counters[2]) {
    counters[0] = counters[1] = 0;
#ifdef COUNTERS
    if (leader >= 0) {
        uint64_t group[3];
        if (read(leader, group, sizeof group) == (ssize_t)sizeof group) {
            counters[0] = group[1];
            counters[1] = group[2];
        }
    }
#endif
}

int main(void) {
    size_t n, i, at = (64 - (size_t)arena % 64) % 64;
    uint64_t round, rounds, pinned = pin();
    lab_read(&rounds, sizeof rounds);
    lab_write(&pinned, sizeof pinned);
    open_counters();
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
    for (round = 0; round < rounds; round++) {
        for (n = 0; n < KERNELS; n++) {
            uint64_t record[5], before[2], after[2];
            kernels[n].call(ports + kernels[n].first_size);
            record[0] = chain();
            count(before);
            record[1] = batch(n);
            record[2] = calls[n];
            count(after);
            record[3] = after[0] - before[0];
            record[4] = after[1] - before[1];
            lab_write(record, sizeof record);
        }
    }
    return 0;
}
