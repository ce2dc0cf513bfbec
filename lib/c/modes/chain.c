
/* `nblocks` blocks of each of `count` messages, down the ladder. */
@LOCAL@void usuba_link_all(const usuba_chaining *chaining, uint8_t *chains,
                    const uint8_t *const *in, size_t nblocks, size_t count)
{
    const usuba_link_step *step = chaining->ladders[usuba_chosen()];
    while (count) {
        size_t part;
        while (count < step->from) step++;
        part = count < step->unit ? count : count - count % step->unit;
        step->run(chains, in, nblocks, part);
        chains += part * chaining->chain;
        in += part;
        count -= part;
    }
}

/* Takes `length` bytes of a message into a chaining value. `buffer` holds the `*used` bytes of a
   block that is not whole; with `keep` it may be whole, until it is known not to be the last. */
@LOCAL@void usuba_absorb(const usuba_chaining *chaining, uint8_t *chain, uint8_t *buffer,
                  size_t *used, int keep, const uint8_t *in, size_t length)
{
    const size_t size = chaining->block, left = keep ? 1 : 0;
    const uint8_t *place = buffer;
    if (!length) return;
    if (*used) {
        const size_t room = size - *used, part = length < room ? length : room;
        memcpy(buffer + *used, in, part);
        *used += part;
        in += part;
        length -= part;
        if (*used < size || length < left) return;
        usuba_link_all(chaining, chain, &place, 1, 1);
        *used = 0;
    }
    if (length) {
        const size_t blocks = (length - left) / size;
        if (blocks) usuba_link_all(chaining, chain, &in, blocks, 1);
        in += blocks * size;
        length -= blocks * size;
    }
    if (length) memcpy(buffer, in, length);
    *used = length;
}
