
static const uint8_t usuba_@NAME@_start[@BLOCK@] = {
@START@};

int usuba_@NAME@_begin(usuba_@NAME@_state *state, const usuba_skein_parameters *parameters,
    size_t out_length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_skein_begin(&@CHAINING@, usuba_@NAME@_start, &state->progress, state->bytes,
                             parameters, out_length);
}

int usuba_@NAME@_update(usuba_@NAME@_state *state, const uint8_t *in, size_t length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_skein_update(&@CHAINING@, &state->progress, state->bytes, in, length, 0);
}

int usuba_@NAME@_update_bits(usuba_@NAME@_state *state, const uint8_t *in, uint64_t bits)
{
    size_t length;
    if (!state) return USUBA_ERROR_NULL;
    if (usuba_skein_bytes(bits, &length)) return USUBA_ERROR_LENGTH;
    return usuba_skein_update(&@CHAINING@, &state->progress, state->bytes, in, length,
        (unsigned)(bits % 8));
}

int usuba_@NAME@_squeeze(usuba_@NAME@_state *state, uint8_t *out, size_t length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_skein_squeeze(&@CHAINING@, &state->progress, state->bytes, out, length);
}

int usuba_@NAME@_final(usuba_@NAME@_state *state, uint8_t *out, size_t length)
{
    int status;
    if (!state) return USUBA_ERROR_NULL;
    status = usuba_skein_final(&@CHAINING@, &state->progress, state->bytes, out, length);
    if (status == USUBA_OK) @COMMON@wipe(state, sizeof *state);
    return status;
}

int usuba_@NAME@_verify(usuba_@NAME@_state *state, const uint8_t *tag, size_t tag_length)
{
    int status;
    if (!state) return USUBA_ERROR_NULL;
    status = usuba_skein_verify(&@CHAINING@, &state->progress, state->bytes, tag, tag_length);
    if (status == USUBA_OK || status == USUBA_ERROR_FORGED) @COMMON@wipe(state, sizeof *state);
    return status;
}

int usuba_@NAME@_tree_begin(usuba_@NAME@_tree *tree, const usuba_skein_parameters *parameters,
    size_t out_length)
{
    if (!tree) return USUBA_ERROR_NULL;
    return usuba_skein_tree_begin(&@CHAINING@, &tree->growth, tree->bytes, parameters, out_length);
}

int usuba_@NAME@_tree_update(usuba_@NAME@_tree *tree, const uint8_t *in, size_t length)
{
    if (!tree) return USUBA_ERROR_NULL;
    return usuba_skein_tree_update(&@CHAINING@, &tree->growth, tree->bytes, in, length, 0);
}

int usuba_@NAME@_tree_update_bits(usuba_@NAME@_tree *tree, const uint8_t *in, uint64_t bits)
{
    size_t length;
    if (!tree) return USUBA_ERROR_NULL;
    if (usuba_skein_bytes(bits, &length)) return USUBA_ERROR_LENGTH;
    return usuba_skein_tree_update(&@CHAINING@, &tree->growth, tree->bytes, in, length,
        (unsigned)(bits % 8));
}

int usuba_@NAME@_tree_final(usuba_@NAME@_tree *tree, uint8_t *out, size_t length)
{
    int status;
    if (!tree) return USUBA_ERROR_NULL;
    status = usuba_skein_tree_final(&@CHAINING@, &tree->growth, tree->bytes, out, length);
    if (status == USUBA_OK) @COMMON@wipe(tree, sizeof *tree);
    return status;
}

int usuba_@NAME@_tree_verify(usuba_@NAME@_tree *tree, const uint8_t *tag, size_t tag_length)
{
    int status;
    if (!tree) return USUBA_ERROR_NULL;
    status = usuba_skein_tree_verify(&@CHAINING@, &tree->growth, tree->bytes, tag, tag_length);
    if (status == USUBA_OK || status == USUBA_ERROR_FORGED) @COMMON@wipe(tree, sizeof *tree);
    return status;
}

/* All at once: into `out`, or whether it is `tag`, the one of the two that is there. */
static int usuba_@NAME@_one(const usuba_skein_parameters *parameters, const uint8_t *in,
    size_t length, unsigned bits, uint8_t *out, const uint8_t *tag, size_t out_length)
{
    usuba_@NAME@_state state;
    int status;
    if ((!out && !tag) || (length && !in)) return USUBA_ERROR_NULL;
    if (out_length == USUBA_SKEIN_ENDLESS) return USUBA_ERROR_LENGTH;
    if (usuba_skein_grows(parameters)) {
        usuba_@NAME@_tree tree;
        status = usuba_@NAME@_tree_begin(&tree, parameters, out_length);
        if (status != USUBA_OK) return status;
        status = usuba_skein_tree_update(&@CHAINING@, &tree.growth, tree.bytes, in, length, bits);
        if (status == USUBA_OK)
            status = tag ? usuba_@NAME@_tree_verify(&tree, tag, out_length)
                         : usuba_@NAME@_tree_final(&tree, out, out_length);
        if (status != USUBA_OK) @COMMON@wipe(&tree, sizeof tree);
        return status;
    }
    status = usuba_@NAME@_begin(&state, parameters, out_length);
    if (status != USUBA_OK) return status;
    status = usuba_skein_update(&@CHAINING@, &state.progress, state.bytes, in, length, bits);
    if (status == USUBA_OK)
        status = tag ? usuba_@NAME@_verify(&state, tag, out_length)
                     : usuba_@NAME@_final(&state, out, out_length);
    if (status != USUBA_OK) @COMMON@wipe(&state, sizeof state);
    return status;
}

int usuba_@NAME@_hash(const usuba_skein_parameters *parameters, const uint8_t *in, size_t length,
    uint8_t *out, size_t out_length)
{
    return usuba_@NAME@_one(parameters, in, length, 0, out, NULL, out_length);
}

int usuba_@NAME@_hash_bits(const usuba_skein_parameters *parameters, const uint8_t *in,
    uint64_t bits, uint8_t *out, size_t out_length)
{
    size_t length;
    if (usuba_skein_bytes(bits, &length)) return USUBA_ERROR_LENGTH;
    return usuba_@NAME@_one(parameters, in, length, (unsigned)(bits % 8), out, NULL, out_length);
}

int usuba_@NAME@_check(const usuba_skein_parameters *parameters, const uint8_t *in, size_t length,
    const uint8_t *tag, size_t tag_length)
{
    return usuba_@NAME@_one(parameters, in, length, 0, NULL, tag, tag_length);
}

int usuba_@NAME@_hash_many(const usuba_skein_parameters *parameters, const uint8_t *const *in,
    const size_t *lengths, size_t count, uint8_t *out, size_t out_length)
{
    return usuba_skein_many(&@CHAINING@, usuba_@NAME@_start, parameters, in, lengths, count, out,
                            out_length);
}
