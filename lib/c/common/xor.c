
/* out = in ^ stream; out may be in. */
@LOCAL@void usuba_xor_@TARGET@(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length)
{
    size_t i = 0;
@WIDE@    for (; length - i >= 8; i += 8) {
        uint64_t a, b;
        memcpy(&a, in + i, 8);
        memcpy(&b, stream + i, 8);
        a ^= b;
        memcpy(out + i, &a, 8);
    }
    for (; i < length; i++) out[i] = (uint8_t)(in[i] ^ stream[i]);
}
