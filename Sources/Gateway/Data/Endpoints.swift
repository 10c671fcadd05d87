import Foundation

/// Where a running gateway listens, as written to `endpoints.json` for whoever started it.
public struct Endpoints: Codable, Sendable, Equatable {
    public var rtmpPort: Int
    public var httpPort: Int
    public var adminPort: Int
    public var rtmpsPort: Int?
    public var pid: Int32

    static let fileName = "endpoints.json"

    enum CodingKeys: String, CodingKey {
        case rtmpPort = "rtmp_port"
        case httpPort = "http_port"
        case adminPort = "admin_port"
        case rtmpsPort = "rtmps_port"
        case pid
    }

    func write(to directory: DataDirectory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try directory.write(try encoder.encode(self), to: Self.fileName, mode: 0o644)
    }
}
