import Foundation
import Glibc
import Synchronization

/// The ports of a running gateway, as written to `endpoints.json`.
public struct Endpoints: Codable, Sendable, Equatable {
    /// RTMP for hosts and viewers.
    public var rtmpPort: Int
    /// API, HTTP-FLV and HLS.
    public var httpPort: Int
    /// Metrics and health, on 127.0.0.1.
    public var adminPort: Int
    /// RTMP over TLS; nil if it is off.
    public var rtmpsPort: Int?
    /// HTTPS; nil if it is off.
    public var httpsPort: Int?
    /// The gateway's process id.
    public var pid: Int32

    static let fileName = "endpoints.json"

    enum CodingKeys: String, CodingKey {
        case rtmpPort = "rtmp_port"
        case httpPort = "http_port"
        case adminPort = "admin_port"
        case rtmpsPort = "rtmps_port"
        case httpsPort = "https_port"
        case pid
    }

    func write(to directory: DataDirectory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try directory.write(try encoder.encode(self), to: Self.fileName, mode: 0o644)
    }

    /// Removes the file if this process wrote it; another gateway may use the same path by now.
    static func removeIfOwned(from directory: DataDirectory) {
        guard let data = try? directory.read(fileName),
            // An unreadable file is kept.
            (try? JSONDecoder().decode(Self.self, from: data))?.pid == ProcessInfo.processInfo.processIdentifier
        else { return }
        directory.remove(fileName)
    }
}

extension Endpoints {
    /// Reads the ports of the gateway that runs on a data folder; nil if none does.
    public init?(of directory: DataDirectory) {
        guard let data = try? directory.read(Self.fileName),
            let found = try? JSONDecoder().decode(Self.self, from: data), kill(found.pid, 0) == 0 || errno == EPERM
        else { return nil }
        self = found
    }
}

/// The bound ports of the listeners, which become known one by one during startup.
final class ListeningPorts: Sendable {
    struct Ports: Sendable, Equatable {
        var rtmp: Int?
        var http: Int?
        var admin: Int?
        var rtmps: Int?
        var https: Int?
        /// RTMP for mixers, on 127.0.0.1.
        var mixerRTMP: Int?
        /// HTTP for mixers, on 127.0.0.1.
        var mixerHTTP: Int?

        /// All known ports.
        var all: [Int] { [rtmp, http, admin, rtmps, https, mixerRTMP, mixerHTTP].compactMap(\.self) }
    }

    private let ports = Mutex(Ports())
    private let hasHTTPS: Bool
    private let whenComplete: @Sendable (Ports) -> Void

    /// - Parameters:
    ///   - hasHTTPS: Whether there is an HTTPS listener.
    ///   - whenComplete: Called when all ports are known; that of RTMPS is known before that of RTMP.
    init(hasHTTPS: Bool = false, whenComplete: @escaping @Sendable (Ports) -> Void) {
        self.hasHTTPS = hasHTTPS
        self.whenComplete = whenComplete
    }

    var current: Ports { ports.withLock { $0 } }

    func set(_ key: any WritableKeyPath<Ports, Int?> & Sendable, _ port: Int) {
        let complete = ports.withLock { ports -> Ports? in
            ports[keyPath: key] = port
            let needed = [ports.rtmp, ports.http, ports.admin, ports.mixerRTMP, ports.mixerHTTP]
            if hasHTTPS, ports.https == nil { return nil }
            return needed.contains(nil) ? nil : ports
        }
        if let complete { whenComplete(complete) }
    }
}
