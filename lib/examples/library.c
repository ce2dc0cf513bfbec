/* The library: the same answer on every backend of this processor.

       usubac dist --kind library -o usuba && cmake -S usuba -B build && cmake --build build
       cmake --install build && cc library.c $(pkg-config --cflags --libs usuba) && ./a.out */

#include <stdio.h>
#include <string.h>

#include <usuba.h>

int main(void)
{
    uint8_t states[100 * USUBA_GIMLI_BYTES], first[sizeof states];
    const char *name;
    size_t i;

    for (i = 0; (name = usuba_backends(i)); i++) {
        if (usuba_force_backend(name) != USUBA_OK) return 1;
        memset(states, 7, sizeof states);
        /* A hundred states at once: each backend takes as many as fit in its registers. */
        if (usuba_gimli_permute(states, 100) != USUBA_OK) return 1;
        if (i == 0) memcpy(first, states, sizeof states);
        if (memcmp(first, states, sizeof states)) return 1;
        printf("%s agrees\n", usuba_backend());
    }
    /* The best one again. */
    return usuba_force_backend(NULL);
}
