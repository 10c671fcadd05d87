import Foundation
public import NIOCore
public import NIOPosix
public import Stage
import Synchronization

/// The pictures and sounds of each room, as files in a folder of its own.
///
/// A file is there whole or not at all, and known by its name alone; what it is, its first bytes say. Everything that
/// waits for the disk happens on a pool of threads made for that.
public final class AssetStore: Sendable {
    /// Files a room can have.
    public static let maximumAssets = 64

    /// The largest file of a kind, in bytes.
    public static func limit(of kind: Asset.Kind) -> Int {
        switch kind {
        case .image: 5 * 1024 * 1024
        case .sound: 20 * 1024 * 1024
        }
    }

    private let path: String
    private let threads: NIOThreadPool
    /// Held while a file gets its name, so that of two neither is one too many.
    private let naming = Mutex(())

    /// - Parameters:
    ///   - path: The folder; it is made with the first file.
    ///   - threads: Where files are read and written; running, and ended by its owner.
    public init(path: String, threads: NIOThreadPool = .singleton) {
        self.path = path
        self.threads = threads
    }

    /// Takes a file in as it arrives; it takes the place of another one of its name.
    ///
    /// - Throws: 3073 for the name, or with status 409 for one file too many; 53004 with status 413 for a file or an image
    ///   that is too large, or 415 for one of an unknown format; else what the disk or `body` failed with. Nothing changes then.
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
        var check = AssetCheck()
        for try await chunk in body {
            try check.take(chunk)
            try await threads.runIfActive { try file.append(chunk) }
        }
        return try check.finish()
    }

    /// All files of a room, by name.
    public func assets(of sid: String) async throws -> [Asset] {
        let folder = folder(of: sid)
        return try await threads.runIfActive {
            Self.names(in: folder).compactMap { try? Self.opened($0, in: folder).asset }
        }
    }

    /// Opens a file of a room.
    ///
    /// - Throws: 404 when there is none of that name, else what the disk failed with.
    public func open(_ name: String, room sid: String) async throws -> AssetFile {
        guard NameRule.check(name) == nil else { throw StageError.assetNotFound }
        let (folder, threads) = (folder(of: sid), threads)
        return try await threads.runIfActive {
            let (file, format, asset) = try Self.opened(name, in: folder)
            return AssetFile(asset: asset, fileName: "\(name).\(format.rawValue)", file: file, threads: threads)
        }
    }

    /// Takes a file out of a room.
    ///
    /// - Throws: 404 when there is none of that name, else what the disk failed with.
    public func remove(_ name: String, room sid: String) async throws -> Asset {
        guard NameRule.check(name) == nil else { throw StageError.assetNotFound }
        let folder = folder(of: sid)
        return try await threads.runIfActive {
            let asset = try Self.opened(name, in: folder).asset
            guard unlink("\(folder)/\(name)") == 0 else { throw AssetFault("unlink") }
            return asset
        }
    }

    /// Takes everything out of a room that is over; returns at once.
    public func roomEnded(_ sid: String) {
        let folder = folder(of: sid)
        // What is left over after a fault goes at the next start.
        threads.submit { _ in try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Takes away what belongs to no room any more, and what was not finished; at the start, and it waits for the disk.
    ///
    /// - Parameter rooms: The sids of the rooms there are.
    public func tidy(keeping rooms: Set<String>) {
        for sid in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            guard rooms.contains(sid) else {
                try? FileManager.default.removeItem(atPath: folder(of: sid))
                continue
            }
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder(of: sid))) ?? []
            for name in files where name.hasPrefix(".") { unlink("\(folder(of: sid))/\(name)") }
        }
    }

    // MARK: - On a thread that may wait

    private func rename(_ temporary: String, to name: String, in folder: String) throws {
        let fault: (any Error)? = naming.withLock { _ in
            let others = Self.names(in: folder).filter { $0 != name }
            guard others.count < Self.maximumAssets else { return StageError.tooManyAssets(Self.maximumAssets) }
            return Glibc.rename(temporary, "\(folder)/\(name)") == 0 ? nil : AssetFault("rename")
        }
        if let fault { throw fault }
        // The name is as safe as the bytes once the folder is on disk, too.
        try OpenFile(folder, flags: O_RDONLY | O_DIRECTORY).synchronise()
    }

    private static func names(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { NameRule.check($0) == nil }.sorted()
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
        guard NameRule.check(name) == nil else {
            throw .invalidParameter("name", "must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
        }
    }
}
