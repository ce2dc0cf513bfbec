#ifndef USUBA_GLOBAL
/* A function that a launch starts in each thread of a grid; the number of a thread, and of threads. On a
   host the only thread does it all, unless a program defines the numbers. */
#if defined(__CUDA__) && defined(__clang__)
#define USUBA_GLOBAL __global__
#define USUBA_THREAD \
    ((size_t)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define USUBA_THREADS ((size_t)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#define USUBA_ADD(at_, count_) __atomic_fetch_add(at_, count_, __ATOMIC_RELAXED)
#elif defined(__CUDACC__)
#define USUBA_GLOBAL __global__
#define USUBA_THREAD ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define USUBA_THREADS ((size_t)gridDim.x * blockDim.x)
#define USUBA_ADD(at_, count_) atomicAdd(at_, count_)
#else
#define USUBA_GLOBAL
#ifndef USUBA_THREAD
#define USUBA_THREAD ((size_t)0)
#define USUBA_THREADS ((size_t)1)
#endif
#define USUBA_ADD(at_, count_) (*(at_) += (count_), *(at_) - (count_))
#endif

/* What one instruction moves between the memory of the device and registers. */
typedef struct __attribute__((aligned(16), may_alias)) { uint32_t words[4]; } usuba_unit16;
typedef struct __attribute__((aligned(8), may_alias)) { uint32_t words[2]; } usuba_unit8;
typedef uint32_t __attribute__((may_alias)) usuba_unit4;
typedef uint16_t __attribute__((may_alias)) usuba_unit2;
typedef uint8_t usuba_unit1;
#endif
