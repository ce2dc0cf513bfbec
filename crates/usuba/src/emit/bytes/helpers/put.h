#ifndef USUBA_PUT
#define USUBA_PUT(p_, at_, bits_, order_, word_) usuba_put(p_, at_, bits_, order_, word_)
static void usuba_put(uint8_t *p, size_t at, unsigned bits, unsigned order, uint64_t word) {
    while (bits) {
        unsigned start = (unsigned)(at % 8), count = 8 - start < bits ? 8 - start : bits;
        unsigned mask = (0xffU >> (8 - count)) << (8 - start - count);
        unsigned byte = (unsigned)(word >> (bits - count)) << (8 - start - count) & mask;
        if (order) {
            byte = (byte & 0x55) << 1 | (byte >> 1 & 0x55);
            byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
            byte = (byte & 0x0f) << 4 | byte >> 4;
            mask = (mask & 0x55) << 1 | (mask >> 1 & 0x55);
            mask = (mask & 0x33) << 2 | (mask >> 2 & 0x33);
            mask = (mask & 0x0f) << 4 | mask >> 4;
        }
        p[at / 8] = (uint8_t)((p[at / 8] & ~mask) | byte);
        at += count;
        bits -= count;
    }
}
#endif
