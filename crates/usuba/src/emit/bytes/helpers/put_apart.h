#ifndef USUBA_PUT_APART
#define USUBA_PUT_APART(p_, at_, step_, bits_, word_) usuba_put_apart(p_, at_, step_, bits_, word_)
static void usuba_put_apart(uint8_t *p, size_t at, size_t step, unsigned bits, uint64_t word) {
    for (; bits; bits--, at += step) {
        unsigned bit = (unsigned)(word >> (bits - 1) & 1), place = (unsigned)(7 - at % 8);
        p[at / 8] = (uint8_t)((p[at / 8] & ~(1U << place)) | bit << place);
    }
}
#endif
