
@LOCAL@void usuba_xor_@TARGET@(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length)
{
    size_t i = 0;
    for (; length - i >= 2 * @BYTES@; i += 2 * @BYTES@) {
        const @REGISTER@ a = USUBA_XOR(USUBA_LOAD(in + i), USUBA_LOAD(stream + i));
        const @REGISTER@ b = USUBA_XOR(USUBA_LOAD(in + i + @BYTES@), USUBA_LOAD(stream + i + @BYTES@));
        USUBA_STORE(out + i, a);
        USUBA_STORE(out + i + @BYTES@, b);
    }
    if (length - i >= @BYTES@) {
        USUBA_STORE(out + i, USUBA_XOR(USUBA_LOAD(in + i), USUBA_LOAD(stream + i)));
        i += @BYTES@;
    }
    for (; length - i >= 8; i += 8) {
        uint64_t a, b;
        memcpy(&a, in + i, 8);
        memcpy(&b, stream + i, 8);
        a ^= b;
        memcpy(out + i, &a, 8);
    }
    for (; i < length; i++) out[i] = (uint8_t)(in[i] ^ stream[i]);
}
