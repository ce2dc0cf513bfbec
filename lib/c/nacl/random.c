
/* The random numbers of the system, for programs without another `randombytes`. If the system gives
   none, the program ends. */
#if defined(_WIN32)
#include <windows.h>
#include <bcrypt.h>
#elif defined(__APPLE__) || defined(__OpenBSD__) || defined(__FreeBSD__) || defined(__NetBSD__)
#include <stdlib.h>
#else
/* Declarations of POSIX that plain C99 leaves out. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#endif
#include <stdlib.h>

void randombytes(unsigned char *bytes, unsigned long long length);

void randombytes(unsigned char *bytes, unsigned long long length)
{
#if defined(_WIN32)
    while (length) {
        const unsigned long part = length < 65536 ? (unsigned long)length : 65536;
        if (BCryptGenRandom(NULL, bytes, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG)) abort();
        bytes += part;
        length -= part;
    }
#elif defined(__APPLE__) || defined(__OpenBSD__) || defined(__FreeBSD__) || defined(__NetBSD__)
    arc4random_buf(bytes, (size_t)length);
#else
    int file;
    do file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    if (file < 0) abort();
    while (length) {
        const ssize_t got = read(file, bytes, length < 65536 ? (size_t)length : 65536);
        if (got <= 0) {
            if (got < 0 && errno == EINTR) continue;
            abort();
        }
        bytes += got;
        length -= (unsigned long long)got;
    }
    close(file);
#endif
}
