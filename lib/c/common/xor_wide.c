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
