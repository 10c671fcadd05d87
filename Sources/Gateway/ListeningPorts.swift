import Synchronization

/// The ports the listeners really got, known one after the other while the gateway starts.
final class ListeningPorts: Sendable {
    struct Ports: Sendable, Equatable {
        var rtmp: Int?
        var http: Int?
        var admin: Int?
        var rtmps: Int?
    }

    private let ports = Mutex(Ports())
    private let whenComplete: @Sendable (Ports) -> Void

    /// - Parameter whenComplete: Called once RTMP, HTTP and admin ports are all known.
    init(whenComplete: @escaping @Sendable (Ports) -> Void) {
        self.whenComplete = whenComplete
    }

    var current: Ports { ports.withLock { $0 } }

    func set(_ key: any WritableKeyPath<Ports, Int?> & Sendable, _ port: Int) {
        let complete = ports.withLock { ports -> Ports? in
            ports[keyPath: key] = port
            return ports.rtmp != nil && ports.http != nil && ports.admin != nil ? ports : nil
        }
        if let complete { whenComplete(complete) }
    }
}
