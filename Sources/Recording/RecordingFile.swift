import Foundation
import NIOCore

/// A recording file, written fragment by fragment.
///
/// Each fragment is synchronized to disk (`fdatasync`) before the next is written, so a process crash loses no written
/// fragment and a power loss at most one. A partially written fragment is truncated, so the file always ends with a
/// complete one.
final class RecordingFile {
    private let descriptor: CInt
    private let reservedBytes: Int
    /// The bytes of complete fragments.
    private(set) var bytes = 0

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: The path, which must not exist yet.
    ///   - reservedBytes: The bytes that must stay free on the disk.
    convenience init(path: String, reservedBytes: Int) throws(RecordingFault) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("create a file") }
        self.init(descriptor: descriptor, reservedBytes: reservedBytes)
    }

    /// Takes ownership of an open file.
    init(descriptor: CInt, reservedBytes: Int) {
        self.descriptor = descriptor
        self.reservedBytes = reservedBytes
    }

    deinit {
        close(descriptor)
    }

    /// Appends a fragment completely or not at all.
    func append(_ fragment: ByteBuffer) throws(RecordingFault) {
        try requireSpace(fragment.readableBytes)
        do throws(RecordingFault) {
            try write(fragment)
            guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw .system("synchronize a file") }
        } catch {
            // Removes the partial fragment.
            if ftruncate(descriptor, off_t(bytes)) == 0 { _ = lseek(descriptor, off_t(bytes), SEEK_SET) }
            throw error
        }
        bytes += fragment.readableBytes
    }

    private func write(_ fragment: ByteBuffer) throws(RecordingFault) {
        let fault = fragment.withUnsafeReadableBytes { bytes -> RecordingFault? in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return .system("write")
                }
            }
            return nil
        }
        if let fault { throw fault }
    }

    private func requireSpace(_ needed: Int) throws(RecordingFault) {
        guard reservedBytes > 0 else { return }
        var disk = statvfs()
        guard fstatvfs(descriptor, &disk) == 0 else { return }
        let free = Double(disk.f_bavail) * Double(disk.f_frsize)
        guard free >= Double(reservedBytes + needed) else { throw .reserveReached }
    }
}

/// An error of writing a recording.
struct RecordingFault: Error, Equatable {
    /// The attempted action.
    let action: String
    /// The cause reported by the system.
    let reason: String

    /// Makes an error from the last failed system call.
    static func system(_ action: String, _ number: Int32 = errno) -> RecordingFault {
        let code = POSIXErrorCode(rawValue: number)
        let reason =
            switch code {
            case .ENOSPC, .EDQUOT: "no space is left on the disk"
            case .EFBIG: "the file has reached the largest size that is allowed"
            case .EROFS: "the disk can only be read"
            case .EACCES, .EPERM: "access is denied"
            default: code.map { POSIXError($0).localizedDescription } ?? "error \(number)"
            }
        return RecordingFault(action: action, reason: reason)
    }

    /// Writing on would use the reserved space.
    static let reserveReached = RecordingFault(action: "write", reason: "no space is left on the disk but the reserve")
}

extension RecordingFault: CustomStringConvertible {
    /// The action and the cause.
    var description: String { "cannot \(action): \(reason)" }
}
