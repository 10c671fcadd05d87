import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Which file a path leads to, whatever its name.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// The file at a path; nil when there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// Reads how database files begin, by descriptors that stay open.
///
/// A process that closes any descriptor of a file loses all its locks on that file (fcntl(2)), those of SQLite too; so none
/// is closed while the file is at its place.
final class DatabaseHeaders: Sendable {
    static let shared = DatabaseHeaders()

    private let files = Mutex<[String: (identity: FileIdentity, file: Int32)]>([:])

    /// Whether a file begins with the words of a SQLite database; true for an empty one, which is a new database, and for
    /// one that cannot be opened at this moment, which says nothing of its content.
    func isDatabase(path: String, _ identity: FileIdentity) -> Bool {
        files.withLock { files in
            if files[path]?.identity != identity {
                let file = open(path, O_RDONLY | O_CLOEXEC)
                guard file >= 0 else { return true }
                for (path, known) in files where FileIdentity(path: path) != known.identity {
                    close(known.file)
                    files[path] = nil
                }
                files[path] = (identity, file)
            }
            guard let file = files[path]?.file else { return true }
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = pread(file, &bytes, bytes.count, 0)
            return count <= 0 || (count == bytes.count && bytes.elementsEqual(Array("SQLite format 3\0".utf8)))
        }
    }
}
