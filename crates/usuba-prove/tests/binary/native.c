/* Calls functions of a shared object, by their offsets, on buffers between pages without access.

       driver FILE < calls > results

   A call: its offset, the numbers of parameters and of runs, whether to trace, and the parameters.
   A parameter: its kind, and its number; or size, alignment, access and the bytes of each run.
   A result: for each run the bytes of all buffers that may be written, and the hash of the trace.
   The status is 0 only if every call returns, keeps the registers of its caller, and touches
   nothing outside of its buffers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 18, RUNS = 8, TRACED = 2, ON_STACK = 12, PATTERN = 0xa5, NOT_LOADED = 77 };
enum kind { NUMBER, BUFFER, SAME };
enum access { READ, WRITE, BOTH };

struct parameter {
    uint64_t kind, value, size, align, access;
    unsigned char *pages, *start, *runs[RUNS];
    size_t whole;
};

/* Six parameters, the registers of the caller (rbx, rbp, r12 to r15), and parameters on the stack;
   the status, the same registers, the change of the stack pointer, flags and control registers. */
struct registers { uint64_t in[12 + ON_STACK], out[10]; };

void enter(void *function, struct registers *registers, uint64_t flags);
__asm__(".intel_syntax noprefix\n.text\n.globl enter\n.type enter, @function\nenter:\n"
        "push rbx; push rbp; push r12; push r13; push r14; push r15; push rsi\n"
        "mov rax, rdi; mov r10, rsi; mov r11, rdx; mov [rip + stack_of_caller], rsp\n"
        "mov rdi, [r10]; mov rsi, [r10 + 8]; mov rdx, [r10 + 16]; mov rcx, [r10 + 24]\n"
        "mov r8, [r10 + 32]; mov r9, [r10 + 40]; mov rbx, [r10 + 48]; mov rbp, [r10 + 56]\n"
        "mov r12, [r10 + 64]; mov r13, [r10 + 72]; mov r14, [r10 + 80]; mov r15, [r10 + 88]\n"
        "sub rsp, 96; cld; mov rsi, r10; add rsi, 96; mov r12, rdi; mov rdi, rsp; mov r13, rcx\n"
        "mov ecx, 12; rep movsq; mov rcx, r13; mov rdi, r12; mov rsi, [r10 + 8]\n"
        "mov r12, [r10 + 64]; mov r13, [r10 + 72]\n"
        "push r11; popfq; call rax\n"
        "mov r11, rsp; mov rsp, [rip + stack_of_caller]; mov r10, [rsp]; sub r11, rsp; add r10, 96\n"
        "mov [r10 + 96], rax; mov [r10 + 104], rbx; mov [r10 + 112], rbp; mov [r10 + 120], r12\n"
        "mov [r10 + 128], r13; mov [r10 + 136], r14; mov [r10 + 144], r15; mov [r10 + 152], r11\n"
        "pushfq; pop [r10 + 160]; stmxcsr [r10 + 168]; fnstcw [r10 + 172]\n"
        "mov eax, 2; push rax; popfq; emms\n"
        "pop rsi; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx; ret\n"
        ".size enter, . - enter\n.bss\n.balign 8\nstack_of_caller: .zero 8\n.text\n.att_syntax\n");

static uint64_t trace;

static void stepped(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    trace = (trace ^ (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP])
        * UINT64_C(0x100000001b3);
}

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static uint64_t number(void)
{
    uint64_t value;
    if (fread(&value, sizeof value, 1, stdin) != 1) fail("the calls end early");
    return value;
}

static void read_parameter(struct parameter *p, uint64_t runs)
{
    p->kind = number();
    if (p->kind != BUFFER) {
        p->value = number();
        return;
    }
    p->size = number();
    p->align = number();
    p->access = number();
    p->whole = (p->size + PAGE - 1) / PAGE * PAGE + PAGE;
    p->pages = mmap(0, p->whole + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->pages == MAP_FAILED) fail("no memory");
    for (uint64_t run = 0; run < runs; run++) {
        p->runs[run] = malloc(p->size + 1);
        if (!p->runs[run] || fread(p->runs[run], 1, p->size, stdin) != p->size) fail("no bytes");
    }
}

static void set(struct parameter *p, uint64_t run, int at_end)
{
    unsigned char *first = p->pages + PAGE;
    mprotect(first, p->whole, PROT_READ | PROT_WRITE);
    memset(first, PATTERN, p->whole);
    p->start = at_end ? first + (p->whole - p->size) / p->align * p->align : first;
    memcpy(p->start, p->runs[run], p->size);
    if (p->access == READ) mprotect(first, p->whole, PROT_READ);
}

static void check(struct parameter *p)
{
    unsigned char *first = p->pages + PAGE;
    for (unsigned char *at = first; at < first + p->whole; at++) {
        if ((at < p->start || at >= p->start + p->size) && *at != PATTERN)
            fail("a byte beside a buffer has changed");
    }
}

static void call(unsigned char *base)
{
    void *function = base + number();
    uint64_t count = number(), runs = number(), is_traced = number();
    struct parameter parameters[MOST] = { { 0 } };
    if (count > MOST || runs > RUNS) fail("too many parameters");
    for (uint64_t at = 0; at < count; at++) read_parameter(&parameters[at], runs);
    for (uint64_t round = 0; round < 2 * runs; round++) {
        struct registers r = { { 0 }, { 0 } };
        uint32_t mxcsr;
        uint16_t control;
        /* Buffers begin at a page, and then end at one. */
        for (uint64_t at = 0; at < count; at++) {
            struct parameter *p = &parameters[at];
            if (p->kind == BUFFER) set(p, round / 2, (int)(round & 1));
            if (p->kind == SAME) p->start = parameters[p->value].start;
            r.in[at < 6 ? at : at + 6] = p->kind == NUMBER ? p->value : (uint64_t)(uintptr_t)p->start;
        }
        for (int at = 6; at < 12; at++) r.in[at] = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)at;
        trace = 0;
        alarm(20);
        enter(function, &r, is_traced && round < 2 * TRACED ? 0x102 : 2);
        alarm(0);
        memcpy(&mxcsr, &r.out[9], 4);
        memcpy(&control, (char *)&r.out[9] + 4, 2);
        if (memcmp(&r.in[6], &r.out[1], 48) || r.out[7] != (uint64_t)-8 * ON_STACK)
            fail("a register of the caller has changed");
        if ((r.out[8] & 0x400) || (mxcsr & 0xffc0) != 0x1f80 || control != 0x37f)
            fail("a control register has changed");
        for (uint64_t at = 0; at < count; at++) {
            struct parameter *p = &parameters[at];
            if (p->kind != BUFFER) continue;
            check(p);
            if (p->access != READ) fwrite(p->start, 1, p->size, stdout);
        }
        fwrite(&trace, sizeof trace, 1, stdout);
    }
    for (uint64_t at = 0; at < count; at++) {
        struct parameter *p = &parameters[at];
        if (p->kind != BUFFER) continue;
        munmap(p->pages, p->whole + 2 * PAGE);
        for (uint64_t run = 0; run < runs; run++) free(p->runs[run]);
    }
}

/* The loader runs the resolvers of indirect functions: a file with a wrong one is not loaded. */
static void not_loaded(int number)
{
    (void)number;
    _exit(NOT_LOADED);
}

int main(int count, char **arguments)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGALRM };
    const size_t most = sizeof signals / sizeof *signals;
    static unsigned char alternate[1 << 16];
    stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct link_map *map;
    void *library;
    uint64_t calls;
    for (size_t at = 0; at < most; at++) signal(signals[at], not_loaded);
    alarm(20);
    library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : 0;
    alarm(0);
    for (size_t at = 0; at < most; at++) signal(signals[at], SIG_DFL);
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map)) {
        fprintf(stderr, "cannot be loaded: %s\n", dlerror());
        return NOT_LOADED;
    }
    if (sigaltstack(&stack, 0) || sigaction(SIGTRAP, &action, 0)) fail("no signals");
    for (calls = number(); calls; calls--) call((unsigned char *)map->l_addr);
    return fflush(stdout) != 0;
}
