import Glibc
import NIOCore

/// A file of the store, open; closed with the last reference to it.
///
/// Its calls wait for the disk, and belong on a thread that may.
final class OpenFile: Sendable {
    private let descriptor: Int32

    /// - Parameter flags: As for `open(2)`; links are not followed in any case.
    init(_ path: String, flags: Int32) throws(AssetFault) {
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw AssetFault("open") }
    }

    deinit {
        close(descriptor)
    }

    func append(_ buffer: ByteBuffer) throws(AssetFault) {
        var rest = buffer
        while rest.readableBytes > 0 {
            let count = rest.withUnsafeReadableBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw AssetFault("write") }
            rest.moveReaderIndex(forwardBy: count)
        }
    }

    func synchronise() throws(AssetFault) {
        guard fsync(descriptor) == 0 else { throw AssetFault("fsync") }
    }

    /// Up to so many bytes from `offset` on; none at the end of the file.
    func read(from offset: Int, upTo length: Int) throws(AssetFault) -> ByteBuffer {
        var bytes = [UInt8](repeating: 0, count: length)
        var count = -1
        repeat { count = pread(descriptor, &bytes, length, offset) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw AssetFault("read") }
        return ByteBuffer(bytes: bytes[..<count])
    }

    /// Bytes, and when they were last written in nanoseconds since 1970.
    func status() throws(AssetFault) -> (size: Int, writtenAt: Int) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw AssetFault("stat") }
        // It tells versions apart and nothing else: one that lies beyond what 64 bits hold, in 2262, may wrap.
        let seconds = Int(status.st_mtim.tv_sec)
        return (Int(status.st_size), seconds &* 1_000_000_000 &+ Int(status.st_mtim.tv_nsec))
    }
}

/// What the disk refused.
struct AssetFault: Error, CustomStringConvertible {
    let call: String
    let number: Int32

    /// - Parameter call: The one that failed just now.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
