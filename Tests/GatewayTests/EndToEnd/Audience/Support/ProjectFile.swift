import Foundation

/// Files of the project beside its sources.
enum ProjectFile {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The absolute path of one, such as `deploy/prometheus/footlight-rules.yml`.
    static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

    static func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
