
@LOCAL@void usuba_xor_@TARGET@(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length)
{
    size_t i = 0;
    for (; length - i >= 2 * @BYTES@; i += 2 * @BYTES@) {
        const @REGISTER@ a = USUBA_XOR(USUBA_LOAD(in + i), USUBA_LOAD(stream + i));
        const @REGISTER@ b = USUBA_XOR(USUBA_LOAD(in + i + @BYTES@), USUBA_LOAD(stream + i + @BYTES@));
        USUBA_STORE(out + i, a);
        USUBA_STORE(out + i + @BYTES@, b);
    }
    for (; i < length; i++) out[i] = (uint8_t)(in[i] ^ stream[i]);
}
