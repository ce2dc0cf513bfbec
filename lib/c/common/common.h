/* The instruction set that is in use. The first call of any function asks the processor and
   takes the best that there is. */
USUBA_API const char *@COMMON@backend(void);

/* The instruction sets that this build has and this processor can run, best last: number `index`,
   or NULL behind the last one. */
USUBA_API const char *@COMMON@backends(size_t index);

/* From now on `name` is in use, in all threads; NULL: the best again. Contexts stay valid. */
USUBA_API int @COMMON@force_backend(const char *name);
