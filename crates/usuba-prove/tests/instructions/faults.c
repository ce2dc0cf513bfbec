/* Reads inputs, then pairs of a case and an input. For each pair it writes a byte for each address:
   whether the case faults there. Before it: `cases`, INPUTS, INPUT, REACH. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static _Alignas(64) unsigned char in[INPUTS][INPUT];
static sigjmp_buf back;

static void caught(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void attempt(const unsigned *pair, unsigned char *at)
{
    volatile int faults = 1;
    if (!sigsetjmp(back, 0)) {
        cases[pair[0]](in[pair[1]], at - 256);
        faults = 0;
    }
    putchar(faults);
}

int main(void)
{
    /* The stack pointer of a case may be the address that faults. */
    static unsigned char alternate[1 << 16];
    stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction action = { .sa_handler = caught, .sa_flags = SA_NODEFER | SA_ONSTACK };
    unsigned char *pages = mmap(0, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *first = pages + PAGE, *second = pages + 3 * PAGE;
    unsigned pair[2];
    if (pages == MAP_FAILED || mprotect(first, PAGE, PROT_READ | PROT_WRITE)
        || mprotect(second, PAGE, PROT_READ) || sigaltstack(&stack, 0)
        || sigaction(SIGSEGV, &action, 0) || sigaction(SIGBUS, &action, 0)
        || fread(in, sizeof in, 1, stdin) != 1)
        return 1;
    while (fread(pair, sizeof pair, 1, stdin) == 1) {
        for (int at = -REACH; at < REACH; at++)
            attempt(pair, first + at);
        for (int at = -REACH; at < REACH; at++)
            attempt(pair, first + PAGE + at);
        attempt(pair, second + PAGE - 64);
    }
    return fflush(stdout);
}
