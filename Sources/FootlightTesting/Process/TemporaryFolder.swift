import Foundation

/// A folder of its own for one test, removed with everything in it when the value goes away.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without a slash at the end.
    public let path: String

    /// Makes a new empty folder below the system's temporary folder.
    ///
    /// - Parameter name: A word in the folder's name, so that a folder left by a crash can be told.
    public init(_ name: String = "test") throws {
        path = NSTemporaryDirectory().trimmingSuffix("/") + "/footlight-\(name)-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // Nobody is left to tell, and the system empties its temporary folder by itself.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of a file in the folder; the file need not exist.
    public func file(_ name: String) -> String { path + "/" + name }

    /// The absolute paths of the files whose names end so, oldest first.
    public func files(endingWith suffix: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
        return try names.map { path + "/" + $0 }
            .map { ($0, try FileManager.default.attributesOfItem(atPath: $0)[.modificationDate] as? Date) }
            .sorted { ($0.1 ?? .distantPast, $0.0) < ($1.1 ?? .distantPast, $1.0) }
            .map(\.0)
    }

    /// Writes a text file into the folder and returns its absolute path.
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
