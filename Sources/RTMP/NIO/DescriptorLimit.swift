#if canImport(Glibc)
import Glibc

/// The limit on this process's open files and sockets (`RLIMIT_NOFILE`), inherited by child processes.
///
/// Each end of a connection is a descriptor, so a server needs about as many as it has viewers.
public enum DescriptorLimit {
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// The soft limit; 0 if it cannot be read.
    public static var current: Int {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 0
    }

    /// Raises the soft limit to the highest value available without privileges.
    ///
    /// - Returns: The resulting limit; 0 if it cannot be read.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, maximum))
        setrlimit(resource, &limit)
        return current
    }

    /// Returns whether at most `spare` descriptors are left.
    ///
    /// A new descriptor has the lowest free number, so its number tells how many are in use.
    public static func isReached(within spare: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return false }
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(descriptor)
        return rlim_t(descriptor) + rlim_t(spare) >= limit.rlim_cur
    }

    /// A higher limit would slow down child processes that close every inherited descriptor.
    private static let maximum: rlim_t = 1 << 20
}
#endif
