import Glibc

/// A crowd needs a descriptor a viewer, here and in the servers, which inherit the limit.
enum DescriptorLimit {
    /// As many as the system lets this process have.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
