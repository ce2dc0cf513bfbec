#ifndef USUBA_GLOBAL
/* A function that a launch starts in each thread of a grid; the number of a thread, and of threads, and
   the same inside of a block of threads. On a host the only thread does it all, unless a program defines
   the numbers.
   USUBA_TOGETHER lets the threads of a block go on at the same time: they then read the same
   instructions, which do not all fit in the cache of a multiprocessor. */
#if defined(__CUDA__) && defined(__clang__)
#define USUBA_GLOBAL __global__
#define USUBA_THREAD \
    ((size_t)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define USUBA_THREADS ((size_t)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#define USUBA_IN_BLOCK ((unsigned)__nvvm_read_ptx_sreg_tid_x())
#define USUBA_BLOCK ((unsigned)__nvvm_read_ptx_sreg_ntid_x())
#define USUBA_SHARED __attribute__((shared))
#define USUBA_TOGETHER __syncthreads()
#define USUBA_ADD(at_, count_) __atomic_fetch_add(at_, count_, __ATOMIC_RELAXED)
#elif defined(__CUDACC__)
#define USUBA_GLOBAL __global__
#define USUBA_THREAD ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define USUBA_THREADS ((size_t)gridDim.x * blockDim.x)
#define USUBA_IN_BLOCK threadIdx.x
#define USUBA_BLOCK blockDim.x
#define USUBA_SHARED __shared__
#define USUBA_TOGETHER __syncthreads()
#define USUBA_ADD(at_, count_) atomicAdd(at_, count_)
#else
#define USUBA_GLOBAL
#ifndef USUBA_THREAD
#define USUBA_THREAD ((size_t)0)
#define USUBA_THREADS ((size_t)1)
#endif
#define USUBA_IN_BLOCK ((size_t)0)
#define USUBA_TOGETHER (void)0
#define USUBA_ADD(at_, count_) (*(at_) += (count_), *(at_) - (count_))
#endif

/* What one instruction moves between the memory of the device and registers. */
typedef struct __attribute__((aligned(16), may_alias)) { uint32_t words[4]; } usuba_unit16;
typedef struct __attribute__((aligned(8), may_alias)) { uint32_t words[2]; } usuba_unit8;
typedef uint32_t __attribute__((may_alias)) usuba_unit4;
typedef uint16_t __attribute__((may_alias)) usuba_unit2;
typedef uint8_t usuba_unit1;
/* One instruction: compilers would take the bytes of a block apart, and move each of them alone. */
#if defined(__CUDA_ARCH__)
#define USUBA_LOAD16(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %4; ld.global.v4.u32 {%0, %1, %2, %3}, [a];}" \
                 : "=r"((to_).words[0]), "=r"((to_).words[1]), "=r"((to_).words[2]), "=r"((to_).words[3]) \
                 : "l"(&(from_)) : "memory")
#define USUBA_LOAD8(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %2; ld.global.v2.u32 {%0, %1}, [a];}" \
                 : "=r"((to_).words[0]), "=r"((to_).words[1]) : "l"(&(from_)) : "memory")
#define USUBA_LOAD4(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %1; ld.global.u32 %0, [a];}" \
                 : "=r"(to_) : "l"(&(from_)) : "memory")
#define USUBA_STORE16(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %0; st.global.v4.u32 [a], {%1, %2, %3, %4};}" \
                 : : "l"(&(to_)), "r"((from_).words[0]), "r"((from_).words[1]), "r"((from_).words[2]), \
                 "r"((from_).words[3]) : "memory")
#define USUBA_STORE8(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %0; st.global.v2.u32 [a], {%1, %2};}" \
                 : : "l"(&(to_)), "r"((from_).words[0]), "r"((from_).words[1]) : "memory")
#define USUBA_STORE4(to_, from_) \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %0; st.global.u32 [a], %1;}" \
                 : : "l"(&(to_)), "r"(from_) : "memory")
#else
#define USUBA_LOAD16(to_, from_) ((to_) = (from_))
#define USUBA_LOAD8 USUBA_LOAD16
#define USUBA_LOAD4 USUBA_LOAD16
#define USUBA_STORE16 USUBA_LOAD16
#define USUBA_STORE8 USUBA_LOAD16
#define USUBA_STORE4 USUBA_LOAD16
#endif
#define USUBA_LOAD2(to_, from_) ((to_) = (from_))
#define USUBA_LOAD1 USUBA_LOAD2
#define USUBA_STORE2 USUBA_LOAD2
#define USUBA_STORE1 USUBA_LOAD2
#endif
