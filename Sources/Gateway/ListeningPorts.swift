import Synchronization

/// The ports the listeners really got, known one after the other while the gateway starts.
final class ListeningPorts: Sendable {
    struct Ports: Sendable, Equatable {
        var rtmp: Int?
        var http: Int?
        var admin: Int?
        var rtmps: Int?
        /// RTMP for mixers, on loopback.
        var mixerRTMP: Int?
        /// HTTP for mixers, on loopback.
        var mixerHTTP: Int?

        /// All that are open.
        var all: [Int] { [rtmp, http, admin, rtmps, mixerRTMP, mixerHTTP].compactMap(\.self) }
    }

    private let ports = Mutex(Ports())
    private let whenComplete: @Sendable (Ports) -> Void

    /// - Parameter whenComplete: Called once all ports but that of RTMPS are known.
    init(whenComplete: @escaping @Sendable (Ports) -> Void) {
        self.whenComplete = whenComplete
    }

    var current: Ports { ports.withLock { $0 } }

    func set(_ key: any WritableKeyPath<Ports, Int?> & Sendable, _ port: Int) {
        let complete = ports.withLock { ports -> Ports? in
            ports[keyPath: key] = port
            let needed = [ports.rtmp, ports.http, ports.admin, ports.mixerRTMP, ports.mixerHTTP]
            return needed.contains(nil) ? nil : ports
        }
        if let complete { whenComplete(complete) }
    }
}
