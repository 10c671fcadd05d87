// What holds a process to what it needs: a filter of system calls (seccomp), of files (Landlock), and the messages by which
// a confined process has the one that started it connect its sockets.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <ucontext.h>
#include <unistd.h>

// MARK: Privileges and limits

/// Neither this process nor a program it starts gains privileges from now on.
static inline int footlight_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

/// No core is written of this process, and no other of its user looks into its memory or environment.
static inline int footlight_not_dumpable(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno;
}

enum {
    FOOTLIGHT_LIMIT_ADDRESS_SPACE = RLIMIT_AS,
    FOOTLIGHT_LIMIT_DATA = RLIMIT_DATA,
    FOOTLIGHT_LIMIT_CORE = RLIMIT_CORE,
    FOOTLIGHT_LIMIT_FILES = RLIMIT_NOFILE,
    FOOTLIGHT_LIMIT_PROCESSES = RLIMIT_NPROC,
};

/// Lowers a limit to at most `value`, for good; never raises one.
static inline int footlight_limit(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -errno;
    if (limit.rlim_max > value) limit.rlim_max = value;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0 ? 0 : -errno;
}

// MARK: Files

struct footlight_landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

enum { FOOTLIGHT_READ = 0, FOOTLIGHT_WRITE = 1 };

// O_PATH, which headers name for GNU programs only.
enum { FOOTLIGHT_PATH = 010000000 };

/// Whether the kernel says that something keeps its clock right, as adjtimex(2) tells.
static inline bool footlight_clock_is_synchronised(void) {
    struct timex state = {0};
    return adjtimex(&state) != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// The version of Landlock that the kernel has; 0 for none.
static inline int footlight_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
    return version > 0 ? (int)version : 0;
}

/// Begins rules under which nothing is allowed yet: no file, no connection, no signal to others.
static inline int footlight_landlock_begin(void) {
    int version = footlight_landlock_version();
    if (version == 0) return -ENOSYS;
    struct footlight_landlock_rules rules = {.files = (1ULL << 13) - 1};
    if (version >= 2) rules.files |= 1ULL << 13;  // REFER
    if (version >= 3) rules.files |= 1ULL << 14;  // TRUNCATE
    if (version >= 4) rules.network = 3;          // BIND_TCP, CONNECT_TCP
    if (version >= 5) rules.files |= 1ULL << 15;  // IOCTL_DEV
    if (version >= 6) rules.scopes = 3;           // ABSTRACT_UNIX_SOCKET, SIGNAL
    // An older kernel takes no more of the structure than it knows.
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    long set = syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    return set >= 0 ? (int)set : -errno;
}

/// Allows what lies at or below `path` to be read, or written as well; -ENOENT when there is nothing.
static inline int footlight_landlock_allow(int set, const char *path, int access) {
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, FOOTLIGHT_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return -errno;
    struct stat status;
    int result = 0;
    if (fstat(rule.parent_fd, &status) != 0) {
        result = -errno;
    } else {
        rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
        if (access == FOOTLIGHT_WRITE) {
            rule.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE;
            if (footlight_landlock_version() >= 3) rule.allowed_access |= 1ULL << 14;
        }
        if (S_ISDIR(status.st_mode)) {
            rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
            if (access == FOOTLIGHT_WRITE) rule.allowed_access |= LANDLOCK_ACCESS_FS_MAKE_REG;
        }
        if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) result = -errno;
    }
    close(rule.parent_fd);
    return result;
}

/// Holds the calling thread, and all that it starts, to the rules; closes them.
static inline int footlight_landlock_enforce(int set) {
    int result = syscall(SYS_landlock_restrict_self, set, 0) == 0 ? 0 : -errno;
    close(set);
    return result;
}

// MARK: Messages to the process that started this one, over the socket on standard input

enum {
    /// Asks to connect the socket that comes along, and to write the outcome into the pipe that does, too.
    FOOTLIGHT_CONNECT = 1,
    /// Tells of a system call that was refused.
    FOOTLIGHT_REFUSED = 2,
    /// The same; the process ends.
    FOOTLIGHT_ENDED = 3,
};

struct footlight_message {
    uint32_t kind;
    int32_t call;
    uint32_t address_length;
    uint8_t address[128];
};

/// With what a process ends that tried what no mixer has a use for.
enum { FOOTLIGHT_EXIT_STATUS = 97 };

/// Sends a message with some descriptors; waits for room unless told not to.
static inline int footlight_message_send(const struct footlight_message *message, const int *files, int count, int flags) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof *message};
    struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        memset(&control, 0, sizeof control);
        whole.msg_control = &control;
        whole.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&whole);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), files, count * sizeof(int));
    }
    while (sendmsg(STDIN_FILENO, &whole, flags | MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return -errno;
    }
    return 0;
}

/// Waits for a message; 1 when there is one, 0 at the end of the other side. Descriptors that did not come are -1.
static inline int footlight_message_receive(int socket, struct footlight_message *message, int *first, int *second) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr whole = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    *first = *second = -1;
    memset(message, 0, sizeof *message);
    ssize_t size;
    do {
        size = recvmsg(socket, &whole, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&whole);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        if (header->cmsg_len >= CMSG_LEN(sizeof(int))) memcpy(first, CMSG_DATA(header), sizeof(int));
        if (header->cmsg_len >= CMSG_LEN(2 * sizeof(int))) memcpy(second, CMSG_DATA(header) + sizeof(int), sizeof(int));
    }
    if (size == 0) {
        // The end, or a message without content, which is none of ours.
        if (*first >= 0) close(*first);
        if (*second >= 0) close(*second);
        return 0;
    }
    if (size != sizeof *message || message->address_length > sizeof message->address) message->kind = 0;
    return 1;
}

/// Connects a socket that came with a message to the address in it; 0 or a negative error.
static inline int footlight_message_connect(const struct footlight_message *message, int socket) {
    return connect(socket, (const struct sockaddr *)message->address, message->address_length) == 0 ? 0 : -errno;
}

/// Writes the outcome of a connect into the pipe that came with it; one that is full does not get it.
static inline void footlight_message_answer(int pipe, int32_t outcome) {
    int flags = fcntl(pipe, F_GETFL);
    if (flags < 0 || fcntl(pipe, F_SETFL, flags | O_NONBLOCK) != 0) return;
    ssize_t ignored = write(pipe, &outcome, sizeof outcome);
    (void)ignored;
}

// MARK: System calls

static inline int32_t footlight_ask_connect(int socket, const void *address, uint64_t length) {
    struct footlight_message message = {.kind = FOOTLIGHT_CONNECT, .call = SYS_connect};
    if (length > sizeof message.address) return -EINVAL;
    memcpy(message.address, address, length);
    message.address_length = (uint32_t)length;
    int ends[2];
    if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return -errno;
    int files[2] = {socket, ends[1]};
    int32_t outcome = footlight_message_send(&message, files, 2, 0);
    close(ends[1]);
    if (outcome == 0) {
        ssize_t size;
        do {
            size = read(ends[0], &outcome, sizeof outcome);
        } while (size < 0 && errno == EINTR);
        if (size != sizeof outcome) outcome = -ECONNREFUSED;
    }
    close(ends[0]);
    return outcome;
}

/// Whether nothing that a mixer is made of ever makes this call.
static inline int footlight_is_hostile(int call) {
    switch (call) {
    case SYS_execve:
    case SYS_execveat:
    case SYS_clone:
#ifdef SYS_fork
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_kill:
    case SYS_tgkill:
    case SYS_ptrace:
    case SYS_process_vm_readv:
    case SYS_process_vm_writev:
    case SYS_bind:
    case SYS_listen:
    case SYS_bpf:
    case SYS_mount:
    case SYS_unshare:
    case SYS_setns:
    case SYS_chroot:
    case SYS_pivot_root:
    case SYS_open_by_handle_at:
    case SYS_io_uring_setup:
    case SYS_userfaultfd:
    case SYS_pidfd_getfd: return 1;
    default: return 0;
    }
}

/// Takes the place of a system call that the filter caught; only what a signal handler may call is called here.
static inline void footlight_caught(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int saved = errno;
    ucontext_t *state = (ucontext_t *)context;
#if defined(__x86_64__)
    // RDI, RSI, RDX and RAX.
    uint64_t first = state->uc_mcontext.gregs[8], second = state->uc_mcontext.gregs[9];
    uint64_t third = state->uc_mcontext.gregs[12];
#elif defined(__aarch64__)
    uint64_t first = state->uc_mcontext.regs[0], second = state->uc_mcontext.regs[1];
    uint64_t third = state->uc_mcontext.regs[2];
#else
#error "the registers of this machine are not known"
#endif
    int64_t result = -EPERM;
    int isHostile = footlight_is_hostile(info->si_syscall);
    if (info->si_syscall == SYS_connect) {
        result = footlight_ask_connect((int)first, (const void *)second, third);
        // The other side has told of it.
        if (result == -EACCES) _exit(FOOTLIGHT_EXIT_STATUS);
    } else {
        struct footlight_message message = {
            .kind = isHostile ? FOOTLIGHT_ENDED : FOOTLIGHT_REFUSED, .call = info->si_syscall};
        footlight_message_send(&message, NULL, 0, isHostile ? 0 : MSG_DONTWAIT);
        if (isHostile) _exit(FOOTLIGHT_EXIT_STATUS);
    }
#if defined(__x86_64__)
    state->uc_mcontext.gregs[13] = result;
#elif defined(__aarch64__)
    state->uc_mcontext.regs[0] = result;
#endif
    errno = saved;
}

/// Holds all threads of this process to the system calls that a mixer needs; 0 or a negative error.
static inline int footlight_filter_calls(void) {
    // Each with whatever arguments.
    static const char *const allowed[] = {
        "access", "arch_prctl", "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "close_range", "dup",
        "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait",
        "eventfd2", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64", "fallocate", "fdatasync",
        "fstat", "fstatfs", "fsync", "ftruncate", "futex", "futex_waitv", "get_mempolicy", "get_robust_list", "getcpu",
        "getcwd", "getdents64", "getegid", "geteuid", "getgid", "getgroups", "getpeername", "getpid", "getppid",
        "getpriority", "getrandom", "getresgid", "getresuid", "getrlimit", "getrusage", "getsockname", "getsockopt",
        "gettid", "gettimeofday", "getuid", "lseek", "lstat", "madvise", "mbind", "membarrier", "mincore", "mlock",
        "mmap", "mprotect", "mremap", "msync", "munlock", "munmap", "nanosleep", "newfstatat", "open", "openat", "pause",
        "pipe2", "poll", "ppoll", "pread64", "preadv", "pselect6", "pwrite64", "pwritev", "read", "readlink",
        "readlinkat", "readv", "recvfrom", "recvmsg", "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending",
        "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "sched_get_priority_max",
        "sched_get_priority_min", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_yield", "select",
        "set_mempolicy", "set_robust_list", "set_tid_address", "setsockopt", "shutdown", "sigaltstack",
        "stat", "statfs", "statx", "sysinfo", "time", "timerfd_create", "timerfd_gettime", "timerfd_settime", "times",
        "umask", "uname", "write", "writev",
    };
    // Libraries try these, and do without: caches of fonts, priorities of threads.
    static const char *const refused[] = {
        "chmod", "chown", "fchmod", "fchmodat", "fchown", "fchownat", "flock", "link", "linkat", "mkdir", "mkdirat",
        "rename", "renameat", "renameat2", "rmdir", "sched_setaffinity", "sched_setparam", "sched_setscheduler",
        "symlink", "symlinkat", "truncate", "unlink", "unlinkat", "utimensat",
    };
    static const unsigned int requests[] = {FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TIOCOUTQ, TCGETS, TIOCGWINSZ};
    // PR_SET_VMA names memory.
    static const int properties[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, 0x53564d41};
    // F_SETOWN and F_SETSIG, which are not here, have the kernel send signals to another process.
    static const int commands[] = {
        F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC, 1031, 1032, 1034,
    };
    static const int families[] = {AF_INET, AF_INET6}, protocols[] = {0, IPPROTO_TCP};

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = footlight_caught;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    if (sigaction(SIGSYS, &action, NULL) != 0) return -errno;

    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (!filter) return -ENOMEM;
    int result = 0;
#define FOOTLIGHT_RULE(action, name, ...)                                                                              \
    do {                                                                                                               \
        int number = seccomp_syscall_resolve_name(name);                                                               \
        if (result == 0 && number != __NR_SCMP_ERROR) {                                                                \
            int added = seccomp_rule_add(filter, action, number, __VA_ARGS__);                                         \
            /* Calls that this machine has not, or that are refused anyhow. */                                         \
            if (added != 0 && added != -EDOM && added != -EACCES) result = added;                                      \
        }                                                                                                              \
    } while (0)
    for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++)
        FOOTLIGHT_RULE(SCMP_ACT_ALLOW, allowed[index], 0);
    for (size_t index = 0; index < sizeof refused / sizeof *refused; index++)
        FOOTLIGHT_RULE(SCMP_ACT_ERRNO(EACCES), refused[index], 0);
    for (size_t index = 0; index < sizeof requests / sizeof *requests; index++)
        FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "ioctl", 1, SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, requests[index]));
    for (size_t index = 0; index < sizeof properties / sizeof *properties; index++)
        FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "prctl", 1, SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)properties[index]));
    for (size_t index = 0; index < sizeof commands / sizeof *commands; index++)
        FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "fcntl", 1, SCMP_A1_64(SCMP_CMP_EQ, (uint64_t)commands[index]));
    // Limits and priorities of its own, not of another process of the same user, which the gateway is.
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "prlimit64", 1, SCMP_A0_64(SCMP_CMP_EQ, 0));
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "prlimit64", 1, SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)getpid()));
    FOOTLIGHT_RULE(
        SCMP_ACT_ALLOW, "setpriority", 2, SCMP_A0_64(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1_64(SCMP_CMP_EQ, 0));
    for (int family = 0; family < 2; family++)
        for (int protocol = 0; protocol < 2; protocol++)
            FOOTLIGHT_RULE(
                SCMP_ACT_ALLOW, "socket", 3, SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)families[family]),
                SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xF, SOCK_STREAM), SCMP_A2_64(SCMP_CMP_EQ, (uint64_t)protocols[protocol]));
    // Threads, and no processes; what says so in memory cannot be looked at, so that the C library takes the older call.
    FOOTLIGHT_RULE(SCMP_ACT_ERRNO(ENOSYS), "clone3", 0);
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "clone", 1, SCMP_A0_64(SCMP_CMP_MASKED_EQ, 0x10000, 0x10000));
    // Sending is no way around connect.
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "sendto", 1, SCMP_A4_64(SCMP_CMP_EQ, 0));
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "sendmsg", 1, SCMP_A2_64(SCMP_CMP_MASKED_EQ, 0x20000000, 0));
    // To end itself, after a fault.
    FOOTLIGHT_RULE(SCMP_ACT_ALLOW, "tgkill", 1, SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)getpid()));
#undef FOOTLIGHT_RULE
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) {
        // Speed only: without the processor's slow mode, and by a search in place of a walk. Older libraries know neither.
        seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
        seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        result = seccomp_load(filter);
    }
    seccomp_release(filter);
    return result;
}

/// Writes a system call's name into `name`, or its number where it has none.
static inline void footlight_call_name(int call, char *name, size_t size) {
    char *known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
    if (size == 0) return;
    strncpy(name, known ? known : "unknown", size - 1);
    name[size - 1] = 0;
    free(known);
}
