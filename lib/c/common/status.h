#ifndef USUBA_STATUS
#define USUBA_STATUS
/* The results of functions. With any but USUBA_OK, no output was written. */
enum usuba_status {
    USUBA_OK = 0,
    /* A pointer is NULL that must not be. */
    USUBA_ERROR_NULL = 1,
    /* A length or a number of blocks that the function does not take. */
    USUBA_ERROR_LENGTH = 2,
    /* The counter of a keystream would overflow. */
    USUBA_ERROR_COUNTER = 3,
    /* Input and output overlap and are not the same buffer. */
    USUBA_ERROR_OVERLAP = 4,
    /* There is no such backend, or this processor or this build does not have it. */
    USUBA_ERROR_BACKEND = 5,
    /* The state was not begun, or has ended, or does not allow this call. */
    USUBA_ERROR_STATE = 6,
    /* Parameters that do not go together. */
    USUBA_ERROR_PARAMETER = 7,
    /* A tag or a signature does not belong to the message. */
    USUBA_ERROR_FORGED = 8,
    /* A point of small order, with which no secret can be agreed on. */
    USUBA_ERROR_POINT = 9
};
#if defined(USUBA_STATIC) || !defined(__GNUC__)
#define USUBA_API
#else
#define USUBA_API __attribute__((visibility("default")))
#endif
#endif
