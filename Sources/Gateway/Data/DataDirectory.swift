import Dispatch
public import Foundation
import Glibc
import Viewership

/// The folder of a gateway's persistent files, readable by its owner only.
public struct DataDirectory: Sendable {
    private static let secretLength = 32
    /// The sticky bit of shared folders such as `/tmp`.
    private static let sticky = 0o1000

    /// The folder's path.
    public let path: String
    /// The folder's permissions before they were narrowed to 0700; nil if they were not wider.
    public let widerMode: Int?

    /// Opens the folder; creates it with mode 0700, or narrows the permissions of an existing one to that.
    ///
    /// A shared folder such as `/tmp` keeps its permissions.
    ///
    /// - Throws: `DataDirectoryError.unwritable` if the folder cannot be created.
    public init(_ path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw DataDirectoryError.unwritable(path)
        }
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        if let mode, mode & 0o077 != 0, mode & Self.sticky == 0, chmod(path, 0o700) == 0 {
            widerMode = mode
        } else {
            widerMode = nil
        }
    }

    // MARK: Time

    private static let queue = DispatchQueue(label: "footlight.files", qos: .utility)

    /// Runs file operations on a queue of its own, because a disk may hang and the concurrency pool has few threads.
    func onQueue<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            Self.queue.async { done.resume(with: Swift.Result(catching: work)) }
        }
    }

    // MARK: Secrets

    /// Returns a secret of 32 random bytes, created on first use.
    ///
    /// A file that a power failure or a full disk left empty or short is replaced as long as no dependent file exists.
    ///
    /// - Parameters:
    ///   - name: The secret's purpose, which is also the file's name.
    ///   - dependents: Files that are useless without the secret.
    /// - Throws: `DataDirectoryError` for a damaged, unreadable or unwritable file.
    public func secret(_ name: String, for dependents: [String] = []) throws -> [UInt8] {
        let file = name + ".key"
        guard let data = try read(file) else { return try makeSecret(name) }
        if let secret = Data(base64Encoded: data.trimmed), secret.count == Self.secretLength { return [UInt8](secret) }
        guard data.count < Self.secretLength else { throw DataDirectoryError.unreadable(filePath(file)) }
        if let dependent = dependents.first(where: { size($0) > 0 }) {
            throw DataDirectoryError.truncated(filePath(file), filePath(dependent))
        }
        return try makeSecret(name)
    }

    /// Replaces a secret with 32 new random bytes.
    @discardableResult
    func makeSecret(_ name: String) throws -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try write(Data(Data(secret).base64EncodedString().utf8), to: name + ".key", mode: 0o600)
        return secret
    }

    // MARK: Files

    /// Writes a file atomically: readers see the old or the new content, also after a power failure.
    ///
    /// Returns after the file and its directory entry are on disk. The file gets the owner of the folder even if root
    /// writes it, so that the gateway can read keys that root has rotated.
    ///
    /// - Parameter mode: The file's permissions, regardless of the umask.
    /// - Throws: `DataDirectoryError.unwritable`; the old content is then unchanged.
    public func write(_ data: Data, to name: String, mode: Int) throws {
        let target = filePath(name)
        let temporary = target + ".new"
        // A leftover of an interrupted write.
        unlink(temporary)
        guard create(temporary, data, mode: mode_t(mode)), rename(temporary, target) == 0 else {
            unlink(temporary)
            throw DataDirectoryError.unwritable(target)
        }
        Self.synchronise(folder: path)
    }

    /// Returns the content of a file; nil if it does not exist.
    ///
    /// - Throws: `DataDirectoryError.unopened` if the file may exist but cannot be opened, such as without free
    ///   descriptors.
    public func read(_ name: String) throws -> Data? {
        let path = filePath(name)
        if let data = FileManager.default.contents(atPath: path) { return data }
        // Only a missing file may be created: an unreadable one is an error.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            defer { close(descriptor) }
            // The file was created meanwhile, or can be opened again.
            guard let data = FileManager.default.contents(atPath: path) else {
                throw DataDirectoryError.unopened(path, EIO)
            }
            return data
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw DataDirectoryError.unopened(path, errno) }
        return nil
    }

    /// Removes a file if it exists.
    public func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: filePath(name))
    }

    /// Returns the path of a file in the folder.
    public func filePath(_ name: String) -> String {
        path + "/" + name
    }

    private func size(_ name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: filePath(name))
        return attributes?[.size] as? Int ?? 0
    }

    /// Creates a file that must not exist, and waits until its content is on disk.
    private func create(_ file: String, _ data: Data, mode: mode_t) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return false }
        if geteuid() == 0 { changeOwner(file) }
        var isWhole = fchmod(descriptor, mode) == 0
        var rest = data[...]
        while isWhole, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { isWhole = false }
        }
        isWhole = isWhole && fsync(descriptor) == 0
        // Some file systems report a full disk only here.
        return close(descriptor) == 0 && isWhole
    }

    /// Gives a file the owner of the folder, if permitted.
    private func changeOwner(_ file: String) {
        let folder = try? FileManager.default.attributesOfItem(atPath: path)
        guard let user = folder?[.ownerAccountID], let group = folder?[.groupOwnerAccountID] else { return }
        try? FileManager.default.setAttributes(
            [.ownerAccountID: user, .groupOwnerAccountID: group],
            ofItemAtPath: file
        )
    }

    /// Waits until the directory entries are on disk, where the file system supports it.
    private static func synchronise(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// An error of the data folder.
public enum DataDirectoryError: Error, CustomStringConvertible {
    case unreadable(String)
    /// A secret is incomplete, and a file depends on it.
    case truncated(String, String)
    case unwritable(String)
    /// Another gateway process uses the folder; its pid and start time are nil if unknown.
    case inUse(String, pid: Int32?, since: Date?)
    /// A file cannot be opened: its path and errno.
    case unopened(String, Int32)
    /// A later version of Footlight used the folder.
    case later(String, version: String)

    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .unreadable(let file): "\(file) is damaged; restore it, or remove it to create a new one"
        case .truncated(let file, let dependent):
            """
            \(file) is empty or truncated, and \(dependent) depends on it; restore it from a backup, or remove it to \
            create a new one, which invalidates \(dependent)
            """
        case .unopened(let file, let number): "\(file) cannot be read: \(String(cString: strerror(number)))"
        case .later(let folder, let version):
            """
            \(folder) was last used by Footlight \(version), whose data this version cannot read. Install that version \
            again, or restore a backup of before the upgrade, such as \(DataFormat.copyName) in it, into another folder.
            """
        case .unwritable(let file): "\(file) cannot be written; check the folder's owner and free space"
        case .inUse(let folder, let pid, let since):
            "\(folder) is in use by another gateway"
                + (pid.map { " (pid \($0)\(since.map { ", since " + $0.formatted(.iso8601) } ?? ""))" } ?? "")
                + "; stop it first, or choose another folder with --data-dir"
        }
    }
}

extension Data {
    fileprivate var trimmed: Data {
        Data(String(decoding: self, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }
}

/// An exclusive lock on a data folder, held until this object is deallocated.
///
/// The lock is flock(2) on a file in the folder, which the kernel releases when the process ends. Child processes do
/// not inherit it.
final class DataDirectoryLock: Sendable {
    /// The name of the lock file, which remains after the lock is released.
    static let fileName = "gateway.lock"

    /// The holder of the lock, as written in the file.
    struct Holder: Codable, Equatable {
        var pid: Int32
        /// The time at which the holder locked the folder.
        var since: Date
    }

    private let file: Int32
    private let path: String

    /// Locks a folder for this process; reads and changes nothing else in the folder.
    ///
    /// - Throws: `DataDirectoryError.inUse` if another process holds the lock; `unwritable` if the file cannot be
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

    /// Whether the locked file is still at its path; false if the folder was deleted or replaced.
    var isInPlace: Bool {
        // The kernel resolves the link to the file's present path, and appends "(deleted)" for a removed file.
        let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")
        return place == URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    deinit {
        close(file)
    }

    /// Returns the holder of a folder's lock; nil if the folder is not locked.
    ///
    /// Makes no file.
    ///
    /// - Parameter directory: The path of the folder.
    static func holder(of directory: String) -> Holder? {
        let file = open(directory + "/" + fileName, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
        return holder(file)
    }

    private static func holder(_ file: Int32) -> Holder? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        // With unreadable text the error message lacks the holder only.
        return try? decoder.decode(Holder.self, from: Data(bytes.prefix(count)))
    }
}

/// The gateway's random secrets, created at the first start and stored in the data folder.
struct GatewaySecrets: Sendable {
    /// The key that signs access tokens.
    let signingKey: [UInt8]
    /// The key id (`kid`) of the signing key, which changes with each rotation.
    let signingKeyName: String
    /// The pepper of the stream key hashes.
    let pepper: [UInt8]
    /// The keys that sign viewers' session ids.
    let sessionKeys: SessionKeys

    init(_ directory: DataDirectory) throws {
        signingKeyName = try KeyRotation.currentName(in: directory)
        signingKey = try directory.secret("signing", for: [OperatorToken.fileName])
        pepper = try directory.secret("pepper", for: ["rooms.sqlite"])
        sessionKeys = try SessionKeyRing(directory).keys(at: Date())
    }
}
