
/* Overwrites a context, or anything else, with zeros, also where the compiler believes that
   nobody looks. */
USUBA_API void @COMMON@wipe(void *memory, size_t length);

/* Whether `length` bytes are equal: USUBA_OK or USUBA_ERROR_FORGED, in a time that depends on the
   length only. */
USUBA_API int @COMMON@compare(const void *one, const void *other, size_t length);
