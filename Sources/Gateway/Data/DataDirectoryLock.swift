import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The right of one gateway process to use a data folder, held for as long as this value lives.
///
/// The kernel keeps it (flock(2) on a file in the folder) and gives it back when the process ends, however it ends.
/// Child processes do not inherit it.
final class DataDirectoryLock: Sendable {
    /// The file that is locked; it stays when nobody holds the lock.
    static let fileName = "gateway.lock"

    /// Who holds the lock, as the file says.
    struct Holder: Codable, Equatable {
        var pid: Int32
        /// When the holder locked the folder.
        var since: Date
    }

    private let file: Int32
    private let path: String

    /// Locks a folder for this process; nothing else in the folder is read or changed.
    ///
    /// - Throws: `DataDirectoryError.inUse` when another process holds the lock; `unwritable` when the file cannot be
    ///   opened or written.
    init(_ directory: DataDirectory) throws(DataDirectoryError) {
        let path = directory.filePath(Self.fileName)
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .unwritable(path) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            defer { close(file) }
            guard reason == EWOULDBLOCK else { throw .unwritable(path) }
            let holder = Self.holder(file)
            throw .inUse(directory.path, pid: holder?.pid, since: holder?.since)
        }
        do {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            let holder = Holder(pid: ProcessInfo.processInfo.processIdentifier, since: Date())
            let text = try encoder.encode(holder) + Data("\n".utf8)
            let written = text.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
            guard written == text.count, ftruncate(file, off_t(text.count)) == 0 else {
                throw DataDirectoryError.unwritable(path)
            }
        } catch {
            close(file)
            throw .unwritable(path)
        }
        self.file = file
        self.path = path
    }

    /// Whether the file that is locked is still the one at its place; false when the folder was deleted or replaced.
    var isInPlace: Bool {
        // The kernel names the file by where it is now, with "(deleted)" behind the name of one that is gone.
        let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")
        return place == URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    deinit {
        close(file)
    }

    private static func holder(_ file: Int32) -> Holder? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        // Text that cannot be read only leaves the message without the holder's name.
        return try? decoder.decode(Holder.self, from: Data(bytes.prefix(count)))
    }
}
