import Foundation
import NIOCore

/// One file of a recording, written fragment by fragment.
///
/// Each fragment is handed to the system whole and brought to the disk (`fdatasync`) before the next is written, so that
/// the death of the process costs nothing that was written, and a loss of power a fragment at most. A fragment that cannot
/// be written whole is taken off again: what is there always ends with a whole one.
final class RecordingFile {
    private let descriptor: CInt
    private let reservedBytes: Int
    /// Bytes of whole fragments.
    private(set) var bytes = 0

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - path: Where; there must be none yet.
    ///   - reservedBytes: Bytes that must stay free on the disk.
    convenience init(path: String, reservedBytes: Int) throws(RecordingFault) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("make a file") }
        self.init(descriptor: descriptor, reservedBytes: reservedBytes)
    }

    /// Takes over an open file.
    init(descriptor: CInt, reservedBytes: Int) {
        self.descriptor = descriptor
        self.reservedBytes = reservedBytes
    }

    deinit {
        close(descriptor)
    }

    /// Appends a fragment, all of it or nothing.
    func append(_ fragment: ByteBuffer) throws(RecordingFault) {
        try requireSpace(fragment.readableBytes)
        do throws(RecordingFault) {
            try write(fragment)
            guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw .system("bring a file to the disk") }
        } catch {
            // What is left of the fragment would only be noise at the end.
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
