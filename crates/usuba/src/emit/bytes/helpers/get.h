#ifndef USUBA_GET
#define USUBA_GET(p_, at_, bits_, order_) usuba_get(p_, at_, bits_, order_)
static uint64_t usuba_get(const uint8_t *p, size_t at, unsigned bits, unsigned order) {
    uint64_t word = 0;
    while (bits) {
        unsigned start = (unsigned)(at % 8), count = 8 - start < bits ? 8 - start : bits;
        unsigned byte = p[at / 8];
        if (order) {
            byte = (byte & 0x55) << 1 | (byte >> 1 & 0x55);
            byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
            byte = (byte & 0x0f) << 4 | byte >> 4;
        }
        word = word << count | (byte >> (8 - start - count) & (0xffU >> (8 - count)));
        at += count;
        bits -= count;
    }
    return word;
}
#endif
