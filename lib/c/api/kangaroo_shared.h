
#ifndef USUBA_KANGAROO_SHARED
#define USUBA_KANGAROO_SHARED
/* How far the tree of a message is; internal to the functions on it. */
typedef struct {
    usuba_sponge_progress node, leaf;
    uint64_t length;
} usuba_kangaroo_progress;
#endif
