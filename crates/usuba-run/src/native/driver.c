/* Calls every kernel of table.h: inputs from standard input, for each call one status byte and
   the outputs to standard output. Without a C library, for the machines that have none. */

#include <stddef.h>

/* From support.c: whole buffers or the end of the process. */
void lab_read(void *to, size_t count);
void lab_write(const void *from, size_t count);

struct kernel {
    void (*call)(void **ports);
    size_t first_size, inputs, ports, align, calls;
};

#include "table.h"

#define GUARD 64
#define GUARD_BYTE 0xc3
#define UNWRITTEN_BYTE 0xa5

static unsigned char arena[ARENA];
static unsigned char before[ARENA];
static void *ports[PORTS];

/* Lays the ports of `k` into the arena, guards around them. Each address is an odd multiple of
   the alignment, so that no kernel gets more than it asked for; 64 is the most there is.
   Returns the bytes of the arena in use. */
static size_t place(const struct kernel *k) {
    size_t shift = (GUARD - (size_t)arena % GUARD) % GUARD, i;
    for (i = 0; i < k->ports; i++) {
        shift += GUARD;
        ports[i] = arena + shift + k->align % GUARD;
        shift += (k->align % GUARD + sizes[k->first_size + i] + GUARD - 1) / GUARD * GUARD;
        shift += GUARD;
    }
    return shift;
}

/* 0: well; 1: a byte outside of all ports changed; 2: an input changed. */
static unsigned char status(const struct kernel *k, size_t used) {
    size_t i, at = 0;
    unsigned char worst = 0;
    for (i = 0; i <= k->ports; i++) {
        size_t start = i < k->ports ? (size_t)((unsigned char *)ports[i] - arena) : used;
        size_t end = i < k->ports ? start + sizes[k->first_size + i] : used;
        for (; at < start; at++)
            if (arena[at] != GUARD_BYTE) return 1;
        for (; at < end; at++)
            if (i < k->inputs && arena[at] != before[at]) worst = 2;
    }
    return worst;
}

int main(void) {
    size_t n, call, i, at;
    for (n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
        const struct kernel *k = &kernels[n];
        size_t used = place(k);
        for (call = 0; call < k->calls; call++) {
            unsigned char state;
            for (at = 0; at < used; at++) arena[at] = GUARD_BYTE;
            for (i = 0; i < k->ports; i++) {
                size_t size = sizes[k->first_size + i];
                unsigned char *port = (unsigned char *)ports[i];
                if (i < k->inputs) lab_read(port, size);
                else for (at = 0; at < size; at++) port[at] = UNWRITTEN_BYTE;
            }
            for (at = 0; at < used; at++) before[at] = arena[at];
            k->call(ports);
            state = status(k, used);
            lab_write(&state, 1);
            for (i = k->inputs; i < k->ports; i++) lab_write(ports[i], sizes[k->first_size + i]);
        }
    }
    return 0;
}
