#if canImport(Glibc)
import Glibc

/// How many files and connections the system lets this process have at a time; its children inherit it.
///
/// Each end of a connection is a descriptor, so that servers and crowds of players need about as many as there are viewers.
public enum DescriptorLimit {
    /// Asks for as many as may be had without special rights, which is usually far more than a process begins with.
    ///
    /// - Returns: the limit from now on; 0 where the system does not say.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        return Int(clamping: setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }

    /// Whether no more than `spare` descriptors are left.
    ///
    /// A new one has the lowest number that is free, so that a high number says that all below are taken.
    public static func isReached(within spare: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(descriptor)
        return rlim_t(descriptor) + rlim_t(spare) >= limit.rlim_cur
    }

    /// More would make every child process that closes what it inherits walk a long way.
    private static let most: rlim_t = 1 << 20
}
#endif
