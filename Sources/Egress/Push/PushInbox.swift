import Media
import NIOCore

/// What a push keeps of the program: the newest configuration always, and the packets that wait.
///
/// Away from its target a push holds only the current group of pictures, so that a connection can begin with a key
/// picture at once. While it streams, everything waits in a queue that drops by age and size.
struct PushInbox: Sendable {
    private(set) var metadata: MediaPacket?
    private(set) var videoConfiguration: MediaPacket?
    private(set) var audioConfiguration: MediaPacket?
    /// Packets go to the target, rather than being held for a later start.
    private(set) var isStreaming = false
    /// While streaming.
    private var queue: CongestionQueue
    /// While not streaming: from the last key picture on, or the last second of a program without video.
    private var held: [MediaPacket] = []
    private var heldBytes = 0
    private var droppedBefore: UInt64 = 0
    /// Pictures that came while streaming.
    private var offeredPictures: UInt64 = 0
    private var droppedPicturesBefore: UInt64 = 0
    private let limits: CongestionQueue.Limits

    init(limits: CongestionQueue.Limits) {
        self.limits = limits
        queue = CongestionQueue(limits: limits)
    }

    /// Packets given up because the target was too slow.
    var dropped: UInt64 { queue.dropped.total + droppedBefore }

    /// Pictures that were to be sent, and those of them that were given up.
    var pictures: DropWatch.Pictures {
        .init(offered: offeredPictures, dropped: queue.dropped.allPictures + droppedPicturesBefore)
    }

    /// Packets waiting or held.
    var count: Int { isStreaming ? queue.count : held.count }
    /// Bytes of their bodies.
    var bytes: Int { isStreaming ? queue.bytes : heldBytes }

    /// Takes one packet of the program.
    mutating func receive(_ packet: MediaPacket) {
        if packet.isConfiguration {
            guard remember(packet) else { return }
            if isStreaming {
                queue.append(packet)
            } else if packet.content != .metadata {
                // What is held was made with the old configuration.
                forgetHeld()
            }
        } else if isStreaming {
            if packet.isVideo { offeredPictures += 1 }
            queue.append(packet)
        } else {
            hold(packet)
        }
    }

    /// Whether a connection could begin now: at a key picture, or with sound when the program has no video.
    ///
    /// - Parameter withoutVideo: Enough time was given to video to appear.
    func canBegin(withoutVideo: Bool) -> Bool {
        held.first.map { $0.isKeyPicture || withoutVideo } ?? false
    }

    /// Everything a new connection begins with: configuration, then what was held, from a key picture on.
    mutating func begin() -> [MediaPacket] {
        let opening = [metadata, videoConfiguration, audioConfiguration].compactMap { $0 } + held
        forgetHeld()
        isStreaming = true
        return opening
    }

    /// The connection ended; what waited is of no use to the next one.
    mutating func end() {
        droppedBefore += queue.dropped.total
        droppedPicturesBefore += queue.dropped.allPictures
        queue = CongestionQueue(limits: limits)
        isStreaming = false
    }

    /// Takes the packets whose bodies fit into `room` bytes together.
    ///
    /// - Parameter room: Nil lets the first packet go whatever its size, and then has `capacity` bytes less that one.
    mutating func take(room: Int?, capacity: Int) -> [MediaPacket] {
        var taken: [MediaPacket] = []
        taken.reserveCapacity(queue.count)
        var room = room
        while let first = queue.first, room.map({ first.body.readableBytes <= $0 }) ?? true {
            taken.append(first)
            room = (room ?? capacity) - first.body.readableBytes
            _ = queue.popFirst()
        }
        return taken
    }

    /// Keeps a configuration; false when the same one is known already.
    private mutating func remember(_ packet: MediaPacket) -> Bool {
        switch packet.content {
        case .metadata: return Self.replace(&metadata, by: packet)
        case .videoConfiguration: return Self.replace(&videoConfiguration, by: packet)
        case .audioConfiguration: return Self.replace(&audioConfiguration, by: packet)
        case .picture, .videoEnd, .sound: return false
        }
    }

    private static func replace(_ known: inout MediaPacket?, by packet: MediaPacket) -> Bool {
        if let known, known.content == packet.content, known.body == packet.body { return false }
        known = packet
        return true
    }

    private mutating func hold(_ packet: MediaPacket) {
        if packet.isKeyPicture {
            forgetHeld()
        } else if held.first?.isKeyPicture != true {
            // Nothing to begin with yet, unless the program has no video.
            guard videoConfiguration == nil, packet.isAudio else { return }
            if let first = held.first, packet.timestamp - first.timestamp > 1000 { forgetHeld() }
        } else if heldSpan(with: packet) > limits.sound || heldBytes + packet.body.readableBytes > limits.bytes {
            // A group of pictures too long to start from; the next one will do.
            forgetHeld()
            return
        }
        guard packet.body.readableBytes <= limits.bytes else { return }
        held.append(packet)
        heldBytes += packet.body.readableBytes
    }

    private func heldSpan(with packet: MediaPacket) -> Int64 {
        held.first.map { packet.timestamp - $0.timestamp } ?? 0
    }

    private mutating func forgetHeld() {
        held.removeAll(keepingCapacity: true)
        heldBytes = 0
    }
}
