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

    /// More would make every child process that closes what it inherits walk a long way.
    private static let most: rlim_t = 1 << 20
}
#endif
