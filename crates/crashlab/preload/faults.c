/* Lets chosen calls of a program fail, by LD_PRELOAD: the program itself is as it is shipped.
 *
 * System calls are caught by a seccomp filter, whoever makes them: the C library, SQLite, or code that calls the kernel by itself.
 * The filter sends SIGSYS to the thread. The handler makes the call again from `pass`, the one place that the filter lets
 * through, or returns an error in its place. Allocations and threads are no system calls of their own: their functions are
 * interposed.
 *
 * LITEPRESS_FAULT         "KIND ERROR FIRST COUNT PERIOD": calls FIRST, FIRST + PERIOD ... below FIRST + COUNT of the kind fail,
 *                         counted from 0. ERROR is a number of errno, or 0: a read or write moves half of its bytes.
 * LITEPRESS_FAULT_COUNTS  a file of KINDS + 2 words of 64 bits, which is mapped, so that it has the counts of a program that was
 *                         killed too: 1 if the filter is installed, the number of failed calls, the number of calls of each kind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* In the order of `CallKind` in preload.rs. */
enum kind { READ, PREAD, WRITE, PWRITE, FSYNC, FDATASYNC, FTRUNCATE, RENAME, UNLINK, OPEN, MMAP, LOCK, THREAD, LARGE, SMALL, KINDS };

/* Allocations of as many bytes are large. */
#define LARGE_BYTES (128 << 10)

static struct shared { uint64_t installed; _Atomic uint64_t failed; _Atomic uint64_t calls[KINDS]; } unmapped, *shared = &unmapped;
static int chosen = -1, error;
static uint64_t first, count, period = 1;

/* Counts a call. Returns whether it is to fail. */
static int fails(int kind) {
    uint64_t number = atomic_fetch_add(&shared->calls[kind], 1);
    if (kind != chosen || number < first || number - first >= count || (number - first) % period) return 0;
    atomic_fetch_add(&shared->failed, 1);
    return 1;
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define RESULT(c) ((c)->uc_mcontext.gregs[REG_RAX])
#define ARGUMENTS(c) { (c)->uc_mcontext.gregs[REG_RDI], (c)->uc_mcontext.gregs[REG_RSI], (c)->uc_mcontext.gregs[REG_RDX], \
                       (c)->uc_mcontext.gregs[REG_R10], (c)->uc_mcontext.gregs[REG_R8], (c)->uc_mcontext.gregs[REG_R9] }
__asm__(".text\n.globl pass\n.hidden pass\npass:\n mov %rdi, %rax\n mov 0(%rsi), %rdi\n mov 16(%rsi), %rdx\n mov 24(%rsi), %r10\n"
        " mov 32(%rsi), %r8\n mov 40(%rsi), %r9\n mov 8(%rsi), %rsi\n syscall\n.globl passed\n.hidden passed\npassed:\n ret\n");
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define RESULT(c) ((c)->uc_mcontext.regs[0])
#define ARGUMENTS(c) { (c)->uc_mcontext.regs[0], (c)->uc_mcontext.regs[1], (c)->uc_mcontext.regs[2], \
                       (c)->uc_mcontext.regs[3], (c)->uc_mcontext.regs[4], (c)->uc_mcontext.regs[5] }
__asm__(".text\n.globl pass\n.hidden pass\npass:\n mov x8, x0\n mov x9, x1\n ldp x0, x1, [x9]\n ldp x2, x3, [x9, 16]\n"
        " ldp x4, x5, [x9, 32]\n svc 0\n.globl passed\n.hidden passed\npassed:\n ret\n");
#else
#error "no registers are known of this processor"
#endif

/* Makes a system call. The filter lets the instruction before `passed` through. */
long pass(long number, const long arguments[6]);
extern char passed[];

/* Returns the kind of a system call, or -1 if it must not fail. */
static int kind_of(long number, const long a[6]) {
    switch (number) {
    case SYS_read: case SYS_readv: return READ;
    case SYS_pread64: return PREAD;
    /* An error must be told: standard output and standard error work. */
    case SYS_write: case SYS_writev: return a[0] > 2 ? WRITE : -1;
    case SYS_pwrite64: return PWRITE;
    case SYS_fsync: return FSYNC;
    case SYS_fdatasync: return FDATASYNC;
    case SYS_ftruncate: return FTRUNCATE;
#ifdef SYS_rename
    case SYS_rename: return RENAME;
    case SYS_unlink: return UNLINK;
    case SYS_open: return OPEN;
#endif
#ifdef SYS_renameat
    case SYS_renameat: return RENAME;
#endif
    case SYS_renameat2: return RENAME;
    case SYS_unlinkat: return UNLINK;
    case SYS_openat: return OPEN;
    case SYS_mmap: return MMAP;
    case SYS_flock: return LOCK;
    case SYS_fcntl: return a[1] == F_SETLK || a[1] == F_SETLKW || a[1] == F_OFD_SETLK || a[1] == F_SETLEASE ? LOCK : -1;
    }
    return -1;
}

static void on_call(int signal, siginfo_t *info, void *context) {
    (void)signal;
    ucontext_t *registers = context;
    long arguments[6] = ARGUMENTS(registers);
    int kind = kind_of(info->si_syscall, arguments);
    if (kind >= 0 && fails(kind)) {
        if (error) {
            RESULT(registers) = -error;
            return;
        }
        /* Half of one byte would be the end of the file. */
        if (info->si_syscall != SYS_readv && info->si_syscall != SYS_writev && arguments[2] > 1) arguments[2] /= 2;
    }
    RESULT(registers) = pass(info->si_syscall, arguments);
}

static int catch_calls(void) {
    static const int caught[] = {
        SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_renameat2,
        SYS_unlinkat, SYS_openat, SYS_mmap, SYS_flock, SYS_fcntl,
#ifdef SYS_renameat
        SYS_renameat,
#endif
#ifdef SYS_rename
        SYS_rename, SYS_unlink, SYS_open,
#endif
    };
    enum { CAUGHT = sizeof caught / sizeof *caught };
    struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
    if (sigaction(SIGSYS, &action, NULL)) return -1;
    uint64_t let = (uintptr_t)passed;
    struct sock_filter filter[CAUGHT + 9];
    int at = 0;
#define ADD(...) filter[at++] = (struct sock_filter)__VA_ARGS__
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, CAUGHT + 5));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)let, 0, 2));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4));
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(let >> 32), CAUGHT + 1, 0));
    ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (int i = 0; i < CAUGHT; i++) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, caught[i], CAUGHT - i, 0));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
    struct sock_fprog program = { at, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -1 : 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *counts = getenv("LITEPRESS_FAULT_COUNTS"), *fault = getenv("LITEPRESS_FAULT");
    int file = counts ? open(counts, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0 || !fault) return;
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED || sscanf(fault, "%d %d %lu %lu %lu", &chosen, &error, &first, &count, &period) != 5) return;
    /* Programs that this one starts are left alone. */
    unsetenv("LD_PRELOAD");
    shared = memory;
    shared->installed = catch_calls() == 0;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static int is_refused(size_t bytes) { return shared != &unmapped && fails(bytes >= LARGE_BYTES ? LARGE : SMALL); }

#define OR_REFUSED(bytes, allocation) (is_refused(bytes) ? (errno = ENOMEM, NULL) : (allocation))

void *malloc(size_t bytes) { return OR_REFUSED(bytes, __libc_malloc(bytes)); }
void *calloc(size_t number, size_t bytes) { return OR_REFUSED(number * bytes, __libc_calloc(number, bytes)); }
void *realloc(void *old, size_t bytes) { return OR_REFUSED(bytes, __libc_realloc(old, bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { return OR_REFUSED(bytes, __libc_memalign(alignment, bytes)); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    void *allocated = aligned_alloc(alignment, bytes);
    if (!allocated) return ENOMEM;
    *memory = allocated;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!next) next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return shared != &unmapped && fails(THREAD) ? EAGAIN : next(thread, attributes, run, argument);
}
