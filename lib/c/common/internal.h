#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define USUBA_X86_64
#endif
#if defined(__GNUC__) && defined(__aarch64__)
#define USUBA_AARCH64
#endif
