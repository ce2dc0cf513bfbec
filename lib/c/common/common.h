/* The instruction set that is in use. The first call of any function asks the processor and
   takes the best that there is. */
USUBA_API const char *@COMMON@backend(void);

/* The instruction sets that this build has and this processor can run, best last: number `index`,
   or NULL behind the last one. */
USUBA_API const char *@COMMON@backends(size_t index);

/* From now on `name` is in use, in all threads; NULL: the best again. Contexts stay valid. */
USUBA_API int @COMMON@force_backend(const char *name);

/* Overwrites a context, or anything else, with zeros, also where the compiler believes that
   nobody looks. */
USUBA_API void @COMMON@wipe(void *memory, size_t length);

/* Whether `length` bytes are equal: USUBA_OK or USUBA_ERROR_FORGED, in a time that depends on the
   length only. */
USUBA_API int @COMMON@verify(const void *one, const void *other, size_t length);
