/* Calls the function of one row, or follows pointers through a buffer; see text.rs for the macros. */

static const size_t sizes[] = {SIZES};
static unsigned char cells[LARGEST] __attribute__((aligned(2 * 1024 * 1024)));
static size_t current;
static void **at = (void **)(void *)cells;

#define LINE 64

static uint32_t random_below(uint32_t bound) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % bound;
}

static void shuffle(uint32_t *list, uint32_t length) {
    uint32_t i;
    for (i = 0; i < length; i++) list[i] = i;
    for (i = length; i > 1; i--) {
        uint32_t j = random_below(i), kept = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept;
    }
}

static void **line(uint32_t number) {
    return (void **)(void *)(cells + (size_t)number * LINE);
}

/* A ring of pointers through every line of the buffer in random order, so that no prefetcher sees a
   stride. */
static void ring(size_t size) {
    static uint32_t lines[LARGEST / LINE];
    uint32_t i, count = (uint32_t)(size / LINE);
    shuffle(lines, count);
    for (i = 0; i < count; i++) *line(lines[i]) = line(lines[(i + 1) % count]);
    at = line(lines[0]);
}

static void **follow(void **from, size_t steps) {
    for (; steps > 0; steps--) from = *from;
    return from;
}

void calibrate(const uint8_t *which, uint8_t *memory);
void calibrate(const uint8_t *which, uint8_t *memory) {
    unsigned number = which[0] | (unsigned)which[1] << 8;
    if (number < ROWS) {
        /* For loads that wait for each other. */
        *(void **)(void *)memory = memory;
        switch (number) { CASES }
        return;
    }
#ifdef MADV_HUGEPAGE
    /* Small pages would add misses of the translation cache, and collisions of their addresses. */
    if (current == 0) madvise(cells, sizeof cells, MADV_HUGEPAGE);
#endif
    if (current != sizes[number - ROWS]) {
        current = sizes[number - ROWS];
        ring(current);
        at = follow(at, 2 * current / LINE);
    }
    at = follow(at, STEPS);
}
