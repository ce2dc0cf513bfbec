/* The start of a freestanding program on a RISC-V processor: it calls `work`, and ends with its result
   as the status. It counts instructions between marks, which `count.c` reads, and bytes of
   stack. Output and end are system calls of Linux. */
#include <stddef.h>
#include <stdint.h>

static int work(void);

/* Memory is read and written by words where it lies so, as in any C library. */
typedef uint32_t __attribute__((may_alias)) word_of_any;

void *memcpy(void *to, const void *from, size_t length)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if (!(((uintptr_t)to | (uintptr_t)from) & 3))
        for (; length >= 4; length -= 4, t += 4, f += 4) *(word_of_any *)t = *(const word_of_any *)f;
    while (length--) *t++ = *f++;
    return to;
}

void *memset(void *to, int byte, size_t length)
{
    uint8_t *t = to;
    const uint32_t all = (uint8_t)byte * 0x01010101U;
    if (!((uintptr_t)to & 3))
        for (; length >= 4; length -= 4, t += 4) *(word_of_any *)t = all;
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

/* Counts from here on, or up to here. */
static void mark(unsigned number)
{
    ask(0x5573, (long)number, 0, 0);
}

/* A line with a number. */
static void say(const char *name, unsigned number)
{
    char line[64];
    int at = sizeof line, length = 0;
    line[--at] = '\n';
    do line[--at] = (char)('0' + number % 10);
    while (number /= 10);
    line[--at] = ' ';
    while (name[length]) length++;
    while (length) line[--at] = name[--length];
    ask(64, 1, (long)&line[at], (long)sizeof line - at);
}

#define DEPTH 131072

/* The frame of a function that calls another one ends where the other begins: the pattern is left by
   one that has returned. */
static __attribute__((noinline)) void paint(void)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    for (at = 0; at < DEPTH; at++) room[at] = 0xa5;
    __asm__ volatile("" : : "r"(room) : "memory");
}

static __attribute__((noinline)) unsigned painted_over(void)
{
    volatile uint8_t room[DEPTH];
    unsigned at;
    __asm__ volatile("" : : "r"(room) : "memory");
    for (at = 0; at < DEPTH && room[at] == 0xa5; at++) {
    }
    return DEPTH - at;
}

/* Calls a function between two marks, and says how deep its stack was. */
static int measure(unsigned number, const char *name, int (*function)(void))
{
    int answer;
    paint();
    mark(0);
    answer = function();
    mark(number);
    say(name, painted_over());
    return answer;
}

void _start(void)
{
    ask(93, work(), 0, 0);
}
