import Foundation

/// Where a running gateway listens, as written to `endpoints.json` for whoever started it.
public struct Endpoints: Codable, Sendable, Equatable {
    /// Hosts and RTMP viewers.
    public var rtmpPort: Int
    /// API, HTTP-FLV and HLS.
    public var httpPort: Int
    /// Metrics and health, on loopback.
    public var adminPort: Int
    /// RTMP over TLS; nil when it is off.
    public var rtmpsPort: Int?
    /// The gateway's process.
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

    /// Removes the file if it is of this process: another gateway may have the folder's path by now.
    static func removeOwn(from directory: DataDirectory) {
        guard let data = try? directory.read(fileName),
            // A file that cannot be read is nobody's that could be missed.
            (try? JSONDecoder().decode(Self.self, from: data))?.pid == ProcessInfo.processInfo.processIdentifier
        else { return }
        directory.remove(fileName)
    }
}
