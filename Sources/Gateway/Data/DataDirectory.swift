import Dispatch
public import Foundation
import Glibc

/// The one folder in which a gateway keeps what must survive a restart, for its owner alone.
public struct DataDirectory: Sendable {
    private static let secretLength = 32
    /// Bits of a folder that many own, such as `/tmp`.
    private static let sticky = 0o1000

    /// Where the folder is.
    public let path: String
    /// The permissions that the folder had before they were narrowed to 0700; nil where they were not wider.
    public let widerMode: Int?

    /// Opens the folder, making it (mode 0700) when it is not there, and narrowing its permissions to that when it is.
    ///
    /// A folder for everybody, such as `/tmp`, stays as it is.
    ///
    /// - Throws: `DataDirectoryError.unwritable` when it cannot be made.
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

    /// Does what reads or writes files on a queue of its own: a disk may hang, and the threads of tasks are few.
    func onQueue<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            Self.queue.async { done.resume(with: Swift.Result(catching: work)) }
        }
    }

    // MARK: Secrets

    /// A secret of 32 random bytes, made at the first start.
    ///
    /// A file that a power cut or a full disk left empty or too short is made anew as long as nothing was made with it.
    ///
    /// - Parameters:
    ///   - name: What it is for; also the file's name.
    ///   - dependents: Files that are worthless without the secret.
    /// - Throws: `DataDirectoryError` for a file that is no secret, or cannot be read or written.
    public func secret(_ name: String, for dependents: [String] = []) throws -> [UInt8] {
        let file = name + ".key"
        guard let data = try read(file) else { return try makeSecret(name) }
        if let secret = Data(base64Encoded: data.trimmed), secret.count == Self.secretLength { return [UInt8](secret) }
        guard data.count < Self.secretLength else { throw DataDirectoryError.unreadable(filePath(file)) }
        if let dependent = dependents.first(where: { size($0) > 0 }) {
            throw DataDirectoryError.cutShort(filePath(file), filePath(dependent))
        }
        return try makeSecret(name)
    }

    /// Puts a new secret of 32 random bytes in place of the one there is.
    @discardableResult
    func makeSecret(_ name: String) throws -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<Self.secretLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try write(Data(Data(secret).base64EncodedString().utf8), to: name + ".key", mode: 0o600)
        return secret
    }

    // MARK: Files

    /// Writes a file whole or not at all: readers see the old content or the new, never a part, also after a power cut.
    ///
    /// Returns when the file and its name are on disk. The file belongs to the owner of the folder, also where root writes
    /// it: a rotation by root leaves keys that the gateway can read.
    ///
    /// - Parameter mode: The file's permissions, whatever the process masks out.
    /// - Throws: `DataDirectoryError.unwritable`; the old content is still there then.
    public func write(_ data: Data, to name: String, mode: Int) throws {
        let target = filePath(name)
        let temporary = target + ".new"
        // One of an earlier try.
        unlink(temporary)
        guard create(temporary, data, mode: mode_t(mode)), rename(temporary, target) == 0 else {
            unlink(temporary)
            throw DataDirectoryError.unwritable(target)
        }
        Self.synchronise(folder: path)
    }

    /// The content of a file; nil when there is none.
    ///
    /// - Throws: `DataDirectoryError.unopened` when it may be there but cannot be opened, as without descriptors left.
    public func read(_ name: String) throws -> Data? {
        let path = filePath(name)
        if let data = FileManager.default.contents(atPath: path) { return data }
        // Nothing is made anew in place of a file that could not be read.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            defer { close(descriptor) }
            // It came meanwhile, or can be opened again.
            guard let data = FileManager.default.contents(atPath: path) else {
                throw DataDirectoryError.unopened(path, EIO)
            }
            return data
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw DataDirectoryError.unopened(path, errno) }
        return nil
    }

    /// Removes a file, if it is there.
    public func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: filePath(name))
    }

    /// The path of a file in the folder.
    public func filePath(_ name: String) -> String {
        path + "/" + name
    }

    private func size(_ name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: filePath(name))
        return attributes?[.size] as? Int ?? 0
    }

    /// Makes a file that was not there, and waits until its content is on disk.
    private func create(_ file: String, _ data: Data, mode: mode_t) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return false }
        if geteuid() == 0 { giveToOwner(file) }
        var isWhole = fchmod(descriptor, mode) == 0
        var rest = data[...]
        while isWhole, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { isWhole = false }
        }
        isWhole = isWhole && fsync(descriptor) == 0
        // On some file systems only this says that there was no room.
        return close(descriptor) == 0 && isWhole
    }

    /// Gives a file to whom the folder belongs; where that is not possible it stays root's.
    private func giveToOwner(_ file: String) {
        let folder = try? FileManager.default.attributesOfItem(atPath: path)
        guard let user = folder?[.ownerAccountID], let group = folder?[.groupOwnerAccountID] else { return }
        try? FileManager.default.setAttributes(
            [.ownerAccountID: user, .groupOwnerAccountID: group],
            ofItemAtPath: file
        )
    }

    /// Waits until the names in a folder are on disk, on file systems that can.
    private static func synchronise(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// What is wrong with the data folder.
public enum DataDirectoryError: Error, CustomStringConvertible {
    case unreadable(String)
    /// A secret of which a part is missing, and a file that is worthless without it.
    case cutShort(String, String)
    case unwritable(String)
    /// Another gateway process uses the folder; its pid and the moment it began are nil where they are not known.
    case inUse(String, pid: Int32?, since: Date?)
    /// The file, and the system's number of the error.
    case unopened(String, Int32)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unreadable(let file): "\(file) is damaged; restore it, or remove it to have a new one made"
        case .cutShort(let file, let dependent):
            """
            \(file) is empty or cut short, and \(dependent) was made with it; restore it from a backup, or remove it to have \
            a new one made: what was made with the old one is good no more
            """
        case .unopened(let file, let number): "\(file) cannot be read: \(String(cString: strerror(number)))"
        case .unwritable(let file): "\(file) cannot be written; check the folder's owner and free space"
        case .inUse(let folder, let pid, let since):
            "\(folder) is in use by another gateway"
                + (pid.map { " (pid \($0)\(since.map { ", since " + $0.formatted(.iso8601) } ?? ""))" } ?? "")
                + "; stop that one first, or give this one a folder of its own with --data-dir"
        }
    }
}

extension Data {
    fileprivate var trimmed: Data {
        Data(String(decoding: self, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }
}
