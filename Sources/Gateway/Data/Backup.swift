import Foundation
import Glibc
import Persistence

/// Copies a data folder into one file, and makes a data folder of such a file: `footlight backup` and
/// `footlight restore`.
///
/// The file is a tar archive compressed with gzip. Databases are copied as they are at one moment, so a gateway may run
/// on the folder meanwhile. Media of recordings is left out unless asked for, because it can be larger than a disk.
public struct Backup: Sendable {
    /// What an archive says about itself.
    struct Manifest: Codable, Equatable {
        /// The format of the data folder.
        var format: Int
        /// The version of Footlight that made the archive.
        var version: String
        var createdAt: Date
        var hasRecordings: Bool
        /// The name of the configuration file in the archive; nil without one.
        var configuration: String?

        static let fileName = "backup.json"
    }

    /// An archive or a folder that cannot be used.
    public struct Failure: Error, CustomStringConvertible {
        /// What is wrong, and what to do.
        public let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    private static let databases = "sqlite"
    private static let recordings = "recordings"
    /// What belongs to a process and its users' browsers rather than to the data.
    private static let transient: Set = [
        DataDirectoryLock.fileName, Endpoints.fileName, DataFormat.copyName, GatewayWeb.loginsFile,
    ]

    let directory: String

    /// - Parameter directory: The data folder.
    public init(directory: String) {
        self.directory = directory
    }

    // MARK: Backup

    /// Writes the archive; an existing file is replaced when the new one is complete.
    ///
    /// - Parameters:
    ///   - file: The path of the archive; only this user may read it, because it holds keys.
    ///   - includesRecordings: Whether the media of recordings is included.
    ///   - configuration: The path of a configuration file to include.
    public func write(to file: String, includesRecordings: Bool = false, configuration: String? = nil) throws {
        try write(to: file, includesRecordings: includesRecordings, configuration: configuration, as: .current)
    }

    /// - Parameter stamp: The format and version of the data.
    func write(
        to file: String,
        includesRecordings: Bool = false,
        configuration: String? = nil,
        as stamp: DataFormat.Stamp
    ) throws {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: directory, isDirectory: &isFolder), isFolder.boolValue else {
            throw Failure("There is no data folder at \(directory); name it with --data-dir.")
        }
        let staging = file + ".staging-\(ProcessInfo.processInfo.processIdentifier)"
        try manager.createDirectory(atPath: staging, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: staging) }
        guard chmod(staging, 0o700) == 0 else { throw Failure("\(staging) cannot be protected.") }
        var files: [String] = []
        for name in try manager.contentsOfDirectory(atPath: directory).sorted() {
            guard !Self.transient.contains(name), includesRecordings || name != Self.recordings else { continue }
            switch URL(fileURLWithPath: name).pathExtension {
            case Self.databases: try DatabaseCopy.make(of: directory + "/" + name, at: staging + "/" + name)
            // Parts of a database that is copied as a whole, and a mixer's scratch file.
            case "sqlite-wal", "sqlite-shm", "marks": continue
            default: files.append("./" + name)
            }
        }
        let manifest = Manifest(
            format: stamp.format,
            version: stamp.version,
            createdAt: Date(),
            hasRecordings: includesRecordings,
            configuration: configuration.map { "configuration." + URL(fileURLWithPath: $0).pathExtension }
        )
        if let configuration, let name = manifest.configuration {
            try manager.copyItem(atPath: configuration, toPath: staging + "/" + name)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        encoder.dateEncodingStrategy = .iso8601
        try encoder.encode(manifest).write(to: URL(fileURLWithPath: staging + "/" + Manifest.fileName))
        let partial = staging + ".tar.gz"
        defer { try? manager.removeItem(atPath: partial) }
        // The format that keeps fractions of a second of the times at which assets were stored.
        try Self.tar(
            ["--create", "--format", "posix", "--gzip", "--warning=no-file-changed", "--file", partial]
                + ["--directory", staging, "."] + ["--directory", URL(fileURLWithPath: directory).path] + files,
            // Files that a gateway appends to meanwhile.
            accepting: [0, 1]
        )
        guard chmod(partial, 0o600) == 0, rename(partial, file) == 0 else {
            throw Failure("\(file) cannot be written; check the folder's owner and free space.")
        }
    }

    // MARK: Restore

    /// Makes the data folder of an archive.
    ///
    /// - Parameter file: The path of the archive.
    /// - Returns: The path of the configuration file of the archive; nil if it has none.
    /// - Throws: `Failure` if the folder exists and is not empty, or if the archive is damaged or of a later format; the
    ///   folder is unchanged then.
    @discardableResult
    public func restore(from file: String) throws -> String? {
        let manager = FileManager.default
        let present = (try? manager.contentsOfDirectory(atPath: directory)) ?? []
        guard present.isEmpty else {
            throw Failure("\(directory) is not empty; move it away, or name another folder with --data-dir.")
        }
        let staging = directory + ".restoring"
        try? manager.removeItem(atPath: staging)
        try manager.createDirectory(atPath: staging, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: staging) }
        guard chmod(staging, 0o700) == 0 else { throw Failure("\(staging) cannot be protected.") }
        try Self.tar([
            "--extract", "--gzip", "--file", file, "--directory", staging, "--no-same-owner", "--no-overwrite-dir",
        ])
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let data = manager.contents(atPath: staging + "/" + Manifest.fileName),
            let manifest = try? decoder.decode(Manifest.self, from: data)
        else { throw Failure("\(file) is no backup of a data folder.") }
        guard manifest.format <= DataFormat.current else {
            throw Failure("\(file) was made by Footlight \(manifest.version); install that version or a later one.")
        }
        for name in try manager.contentsOfDirectory(atPath: staging) where name.hasSuffix("." + Self.databases) {
            guard DatabaseCopy.isIntact(staging + "/" + name) else {
                throw Failure("\(name) in \(file) is damaged; use another backup.")
            }
        }
        try manager.removeItem(atPath: staging + "/" + Manifest.fileName)
        // The folder is replaced as a whole, so that no half of it is ever taken for a data folder.
        if manager.fileExists(atPath: directory) { try manager.removeItem(atPath: directory) }
        guard rename(staging, directory) == 0 else {
            throw Failure("\(directory) cannot be written; check the owner of its parent folder and free space.")
        }
        return manifest.configuration.map { directory + "/" + $0 }
    }

    private static func tar(_ arguments: [String], accepting statuses: Set<Int32> = [0]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/tar")
        process.arguments = arguments
        let errors = Pipe()
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard statuses.contains(process.terminationStatus) else {
            throw Failure("tar failed: \(text.split(separator: "\n").first ?? "no reason given")")
        }
    }
}
