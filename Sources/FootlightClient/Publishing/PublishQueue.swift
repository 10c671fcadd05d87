import Media

/// What a publisher has yet to send, over the life of several connections.
///
/// Configuration is kept, for a new connection begins with it; media is not, for by then it is the past. Pictures begin
/// with a key picture.
struct PublishQueue {
    private(set) var missed: UInt64 = 0
    private var queue: CongestionQueue
    private var metadata: MediaPacket?
    private var videoConfiguration: MediaPacket?
    private var audioConfiguration: MediaPacket?
    private var isOpen = false
    private var needsKeyPicture = true
    private var latest: Int64 = 0

    init(limits: CongestionQueue.Limits) {
        queue = CongestionQueue(limits: limits)
    }

    var dropped: CongestionQueue.Drops { queue.dropped }

    /// Milliseconds of media that wait.
    var span: Int64 { queue.span }

    /// Nothing but a key picture would be of use.
    var isWaitingForKeyPicture: Bool { needsKeyPicture || queue.isWaitingForKeyPicture }

    /// Begins with what a connection needs first.
    mutating func open() {
        close()
        isOpen = true
        for var packet in [metadata, videoConfiguration, audioConfiguration].compactMap({ $0 }) {
            packet.timestamp = latest
            queue.append(packet)
        }
    }

    /// Forgets the media of a connection that is over.
    mutating func close() {
        while let packet = queue.popFirst() {
            if !packet.isConfiguration { missed += 1 }
        }
        queue.removeAll()
        isOpen = false
        needsKeyPicture = true
    }

    mutating func append(_ packet: MediaPacket) {
        latest = packet.timestamp
        switch packet.content {
        case .metadata: metadata = packet
        case .videoConfiguration: videoConfiguration = packet
        case .audioConfiguration: audioConfiguration = packet
        case .sound, .picture, .videoEnd: break
        }
        guard isOpen else {
            if !packet.isConfiguration { missed += 1 }
            return
        }
        if packet.isKeyPicture { needsKeyPicture = false }
        if needsKeyPicture, case .picture = packet.content {
            missed += 1
            return
        }
        queue.append(packet)
    }

    mutating func popFirst() -> MediaPacket? {
        queue.popFirst()
    }
}
