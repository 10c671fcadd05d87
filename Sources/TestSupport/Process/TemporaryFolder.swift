import Foundation

/// A temporary folder, deleted with its content when the value is released.
public final class TemporaryFolder: Sendable {
    /// The absolute path without a trailing slash.
    public let path: String

    /// Creates an empty folder in the system's temporary folder.
    ///
    /// - Parameter name: Part of the folder name, to identify folders left by a crash.
    public init(_ name: String = "test") throws {
        path = NSTemporaryDirectory().trimmingSuffix("/") + "/footlight-\(name)-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // An error cannot be reported here, and the system cleans its temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the absolute path of a file in the folder, which need not exist.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Returns the absolute paths of the files with this suffix, oldest first.
    public func files(endingWith suffix: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
        return try names.map { path + "/" + $0 }
            .map { ($0, try FileManager.default.attributesOfItem(atPath: $0)[.modificationDate] as? Date) }
            .sorted { ($0.1 ?? .distantPast, $0.0) < ($1.1 ?? .distantPast, $1.0) }
            .map(\.0)
    }

    /// Writes a text file to the folder and returns its absolute path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
