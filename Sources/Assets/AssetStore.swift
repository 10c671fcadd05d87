import Foundation
import Glibc
public import NIOCore
public import NIOPosix
public import Stage
import Synchronization

/// The image and audio files of each room, in one folder per room.
///
/// A file is stored completely or not at all. It is identified by its name, and its format by its first bytes. Disk
/// access runs on a thread pool.
public final class AssetStore: Sendable {
    /// The maximum number of files per room.
    public static let maximumAssets = 64

    /// Returns the maximum size of a file of this kind in bytes.
    public static func limit(of kind: Asset.Kind) -> Int {
        switch kind {
        case .image: 5 * 1024 * 1024
        case .sound: 20 * 1024 * 1024
        }
    }

    private let path: String
    private let threads: NIOThreadPool
    /// Locked while a file is renamed, so that concurrent uploads cannot exceed the file limit.
    private let naming = Mutex(())

    /// - Parameters:
    ///   - path: The folder, created with the first file.
    ///   - threads: The running thread pool for disk access, owned by the caller.
    public init(path: String, threads: NIOThreadPool = .singleton) {
        self.path = path
        self.threads = threads
    }

    /// Stores a file as it is received, replacing a file with the same name.
    ///
    /// - Throws: 3073 for an invalid name, or with status 409 at the file limit; 53004 with status 413 for a file or
    ///   image that is too large, or 415 for an unknown format; otherwise the error of the disk or of `body`. The
    ///   stored files are then unchanged.
    public func store<Body: AsyncSequence>(
        _ body: Body,
        as name: String,
        room sid: String
    ) async throws -> Asset where Body.Element == ByteBuffer {
        try Self.check(name)
        let folder = folder(of: sid)
        let temporary = "\(folder)/.\(name).\(UInt64.random(in: .min ... .max))"
        let file = try await threads.runIfActive {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return try OpenFile(temporary, flags: O_WRONLY | O_CREAT | O_EXCL)
        }
        do {
            let format = try await receive(body, into: file)
            return try await threads.runIfActive {
                try file.synchronise()
                try self.rename(temporary, to: name, in: folder)
                return try Self.asset(name, format, file)
            }
        } catch {
            threads.submit { _ in unlink(temporary) }
            throw error
        }
    }

    private func receive<Body: AsyncSequence>(
        _ body: Body,
        into file: OpenFile
    ) async throws -> AssetFormat where Body.Element == ByteBuffer {
        var validator = AssetValidator()
        for try await chunk in body {
            try validator.append(chunk)
            try await threads.runIfActive { try file.append(chunk) }
        }
        return try validator.finish()
    }

    /// Returns all files of a room, by name.
    public func assets(of sid: String) async throws -> [Asset] {
        let folder = folder(of: sid)
        return try await threads.runIfActive {
            Self.names(in: folder).compactMap { try? Self.opened($0, in: folder).asset }
        }
    }

    /// Opens a file of a room.
    ///
    /// - Throws: 404 if there is no such file, otherwise the error of the disk.
    public func open(_ name: String, room sid: String) async throws -> AssetFile {
        guard NameRule.checkFile(name) == nil else { throw StageError.assetNotFound }
        let (folder, threads) = (folder(of: sid), threads)
        return try await threads.runIfActive {
            let (file, format, asset) = try Self.opened(name, in: folder)
            return AssetFile(asset: asset, fileName: "\(name).\(format.rawValue)", file: file, threads: threads)
        }
    }

    /// Removes a file of a room.
    ///
    /// - Throws: 404 if there is no such file, otherwise the error of the disk.
    public func remove(_ name: String, room sid: String) async throws -> Asset {
        guard NameRule.checkFile(name) == nil else { throw StageError.assetNotFound }
        let folder = folder(of: sid)
        return try await threads.runIfActive {
            let asset = try Self.opened(name, in: folder).asset
            guard unlink("\(folder)/\(name)") == 0 else { throw AssetFault("unlink") }
            return asset
        }
    }

    /// Gives all files of a room or show to another, which has none.
    ///
    /// Both have the same content on disk until one of them replaces or removes its file.
    ///
    /// - Throws: The error of the disk.
    public func copy(from sid: String, to other: String) async throws {
        let (from, to) = (folder(of: sid), folder(of: other))
        try await threads.runIfActive {
            let names = Self.names(in: from)
            guard !names.isEmpty else { return }
            try FileManager.default.createDirectory(
                atPath: to,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            for name in names {
                // One that was removed in the meantime is left out.
                guard link("\(from)/\(name)", "\(to)/\(name)") == 0 || errno == ENOENT else { throw AssetFault("link") }
            }
            try OpenFile(to, flags: O_RDONLY | O_DIRECTORY).synchronise()
        }
    }

    /// Deletes all files of an ended room; returns immediately.
    public func roomEnded(_ sid: String) {
        let folder = folder(of: sid)
        // Files left after an error are deleted at the next start.
        threads.submit { _ in try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Deletes the files of unknown rooms and incomplete uploads; called at startup, blocks on the disk.
    ///
    /// - Parameter isRetained: Whether a room or show of this sid exists.
    public func removeOrphans(retaining isRetained: (_ sid: String) -> Bool) {
        for sid in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            guard isRetained(sid) else {
                try? FileManager.default.removeItem(atPath: folder(of: sid))
                continue
            }
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder(of: sid))) ?? []
            for name in files where name.hasPrefix(".") { unlink("\(folder(of: sid))/\(name)") }
        }
    }

    // MARK: - On the thread pool

    private func rename(_ temporary: String, to name: String, in folder: String) throws {
        let fault: (any Error)? = naming.withLock { _ in
            let others = Self.names(in: folder).filter { $0 != name }
            guard others.count < Self.maximumAssets else { return StageError.tooManyAssets(Self.maximumAssets) }
            return Glibc.rename(temporary, "\(folder)/\(name)") == 0 ? nil : AssetFault("rename")
        }
        if let fault { throw fault }
        // The rename is durable once the folder is synchronized, too.
        try OpenFile(folder, flags: O_RDONLY | O_DIRECTORY).synchronise()
    }

    private static func names(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { NameRule.checkFile($0) == nil }.sorted()
    }

    private static func opened(
        _ name: String,
        in folder: String
    ) throws -> (file: OpenFile, format: AssetFormat, asset: Asset) {
        let file = try existing("\(folder)/\(name)")
        let head = try file.read(from: 0, upTo: AssetFormat.headLength)
        guard let format = AssetFormat(head: Array(head.readableBytesView)) else { throw StageError.assetNotFound }
        return (file, format, try asset(name, format, file))
    }

    private static func existing(_ path: String) throws -> OpenFile {
        do {
            return try OpenFile(path, flags: O_RDONLY)
        } catch {
            if error.number == ENOENT { throw StageError.assetNotFound }
            throw error
        }
    }

    private static func asset(_ name: String, _ format: AssetFormat, _ file: OpenFile) throws -> Asset {
        let (size, writtenAt) = try file.status()
        return Asset(
            name: name,
            kind: format.kind,
            contentType: format.contentType,
            size: size,
            version: "\(size)-\(String(writtenAt, radix: 36))",
            storedAt: Double(writtenAt) / 1e9
        )
    }

    private func folder(of sid: String) -> String {
        "\(path)/\(sid)"
    }

    private static func check(_ name: String) throws(StageError) {
        guard NameRule.checkFile(name) == nil else {
            throw .invalidParameter(
                "name",
                "must have 1 to 64 characters of A-Z, a-z, 0-9, _, - and ., and not begin with a dot"
            )
        }
    }
}

/// An open file of a room, whose content is not affected by a later replacement.
public struct AssetFile: Sendable {
    /// The description of the file.
    public let asset: Asset
    /// The file name for downloads.
    public let fileName: String

    let file: OpenFile
    let threads: NIOThreadPool

    /// The bytes read at a time.
    private static let chunkLength = 64 * 1024

    /// Passes the file to `write` in chunks, each after the previous call returned.
    public func forEachChunk(_ write: (ByteBuffer) async throws -> Void) async throws {
        var offset = 0
        while offset < asset.size {
            let (file, start) = (file, offset)
            let chunk = try await threads.runIfActive { try file.read(from: start, upTo: Self.chunkLength) }
            // A file shorter than announced must fail visibly for the client.
            guard chunk.readableBytes > 0 else { throw AssetFault("read") }
            offset += chunk.readableBytes
            try await write(chunk)
        }
    }
}

/// An open file of the store, closed with the last reference.
///
/// All methods block on the disk.
final class OpenFile: Sendable {
    private let descriptor: Int32

    /// - Parameter flags: The flags of `open(2)`; symbolic links are never followed.
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

    /// Reads up to `length` bytes from `offset`; none at the end of the file.
    func read(from offset: Int, upTo length: Int) throws(AssetFault) -> ByteBuffer {
        var bytes = [UInt8](repeating: 0, count: length)
        var count = -1
        repeat { count = pread(descriptor, &bytes, length, offset) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw AssetFault("read") }
        return ByteBuffer(bytes: bytes[..<count])
    }

    /// Returns the size in bytes and the modification time in nanoseconds since 1970.
    func status() throws(AssetFault) -> (size: Int, writtenAt: Int) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw AssetFault("stat") }
        // Only distinguishes versions, so it may wrap beyond the 64-bit range in 2262.
        let seconds = Int(status.st_mtim.tv_sec)
        return (Int(status.st_size), seconds &* 1_000_000_000 &+ Int(status.st_mtim.tv_nsec))
    }
}

/// An error of a file operation.
struct AssetFault: Error, CustomStringConvertible {
    let call: String
    let number: Int32

    /// - Parameter call: The name of the failed system call.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
