import Egress
import Media
import Synchronization

/// Pushes to the gateway what single hosts are to hear, one connection for each who wants it.
final class ReturnPushes: Sendable {
    /// Makes the push of a host's feed by the host's identity; nil when there can be none.
    typealias Open = @Sendable (_ identity: String) -> RTMPPush?

    private let open: Open
    private let metadata: MediaPacket
    private let pushes = Mutex<[String: RTMPPush]>([:])

    /// - Parameter metadata: What each feed begins with.
    init(metadata: MediaPacket, open: @escaping Open) {
        self.metadata = metadata
        self.open = open
    }

    /// Brings the pushes to who wants one now.
    ///
    /// - Parameter wanted: Identities by sid.
    func follow(_ wanted: [String: String]) {
        let (gone, known) = pushes.withLock { pushes in
            let gone = pushes.filter { wanted[$0.key] == nil }
            for sid in gone.keys { pushes[sid] = nil }
            return (gone, Set(pushes.keys))
        }
        for push in gone.values { push.stop() }
        for (sid, identity) in wanted where !known.contains(sid) {
            guard let push = open(identity) else { continue }
            push.receive(metadata)
            push.start()
            pushes.withLock { $0[sid] = push }
        }
    }

    /// Takes a packet of the feed for the host with that sid; never waits.
    func receive(_ packet: MediaPacket, for sid: String) {
        pushes.withLock { $0[sid] }?.receive(packet)
    }

    func stop() {
        follow([:])
    }
}
