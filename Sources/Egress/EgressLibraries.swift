internal import CRTMP
import Glibc

/// What the C libraries under this target need once per process, before any thread uses them.
public enum EgressLibraries {
    private static let initialised: Void = {
        // librtmp sends without MSG_NOSIGNAL; a target that hangs up must not end the process.
        signal(SIGPIPE, SIG_IGN)
        c_rtmp_quiet()
        gnutls_global_init()
        // The first allocation sets up librtmp's global TLS state, which is not safe to do on two threads at once.
        if let first = RTMP_Alloc() { RTMP_Free(first) }
    }()

    /// Ignores SIGPIPE, silences librtmp's log (it would print stream keys) and sets up TLS; later calls do nothing.
    ///
    /// Every push calls it; call it early in `main` where SIGPIPE matters to others.
    public static func initialise() {
        _ = initialised
    }
}
