#ifndef USUBA_GET_APART
#define USUBA_GET_APART(p_, at_, step_, bits_) usuba_get_apart(p_, at_, step_, bits_)
static uint64_t usuba_get_apart(const uint8_t *p, size_t at, size_t step, unsigned bits) {
    uint64_t word = 0;
    for (; bits; bits--, at += step) word = word << 1 | (p[at / 8] >> (7 - at % 8) & 1);
    return word;
}
#endif
