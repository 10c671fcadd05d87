internal import CRTMP
import Glibc

/// The process-wide initialisation of the C libraries of this target.
public enum EgressLibraries {
    private static let initialised: Void = {
        // librtmp sends without MSG_NOSIGNAL; a target that closes must not end the process.
        signal(SIGPIPE, SIG_IGN)
        c_rtmp_quiet()
        gnutls_global_init()
        // The first allocation sets up librtmp's global TLS state, which is not thread-safe.
        if let first = RTMP_Alloc() { RTMP_Free(first) }
    }()

    /// Ignores SIGPIPE, silences librtmp's log (it would print stream keys) and initialises TLS; later calls do
    /// nothing.
    ///
    /// Every push calls it; call it early in `main` where the SIGPIPE disposition matters.
    public static func initialise() {
        _ = initialised
    }
}
