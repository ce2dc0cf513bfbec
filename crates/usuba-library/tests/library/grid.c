/* Launches of one function on a host: NAME and UPPER are replaced. Threads run in descending order, as
   no caller may count on any. */
#if KEYED
#define TAKEN registers,
#else
#define TAKEN
#endif

size_t NAME_sizes(size_t which)
{
    return which == 0 ? UPPER_IN_BYTES : UPPER_OUT_BYTES;
}

void NAME_run(const uint8_t *key, const void *in, void *out, size_t nblocks, size_t threads)
{
#if KEYED
    NAME_key registers;
    NAME_init(&registers, key);
#else
    (void)key;
#endif
    for (grid_threads = threads, grid_thread = threads; grid_thread--;)
        NAME_blocks(TAKEN in, out, nblocks);
}

#if COUNTS
void NAME_run_ctr(const uint8_t *key, const void *start, const void *in, void *out, size_t length, size_t threads)
{
    NAME_key registers;
    NAME_counter counter;
    NAME_init(&registers, key);
    memcpy(counter.bytes, start, sizeof counter.bytes);
    for (grid_threads = threads, grid_thread = threads; grid_thread--;)
        NAME_ctr(registers, counter, in, out, length);
}
#endif

#if SEARCHES
uint32_t NAME_run_search(const uint8_t *key, const uint8_t *in, const uint8_t *out, uint64_t from, uint64_t count,
                         uint64_t *numbers, uint64_t threads)
{
    NAME_task task;
    uint32_t hits = 0;
    NAME_task_init(&task, key, in, out);
    for (grid_threads = threads, grid_thread = threads; grid_thread--;)
        NAME_search(task, from, count, &hits, numbers, 1);
    return hits;
}

void NAME_set_key(uint8_t *key, uint64_t number)
{
    NAME_key_of(key, number);
}
#endif
#undef TAKEN
#undef KEYED
#undef COUNTS
#undef SEARCHES
