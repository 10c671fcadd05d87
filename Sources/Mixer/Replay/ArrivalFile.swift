import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file of a recording, open for as long as this is.
struct ArrivalFile: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Makes the file; what was there is overwritten.
    ///
    /// - Throws: `ArrivalError` when that is not possible.
    init(path: String) throws(ArrivalError) {
        // What hosts send is nobody else's business.
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ArrivalError("\(path) cannot be written: error \(errno)") }
    }

    deinit { _ = close(descriptor) }

    /// Appends all of `bytes`; returns the system's error number when that is not possible.
    func append(_ bytes: ByteBuffer) -> Int32? {
        bytes.withUnsafeReadableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                done += count
            }
            return nil
        }
    }
}
