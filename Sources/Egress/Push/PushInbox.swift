import Media
import NIOCore

/// The packets a push has received: the latest configurations and the send queue.
///
/// While it is not streaming, a push stores only the current GOP, so that a connection can begin with a keyframe at
/// once. While it streams, packets wait in a queue that drops by age and size. Unlike a viewer's GOP cache, the stored
/// packets leave with the first connection, and audio alone is stored only while the program has no video.
struct PushInbox: Sendable {
    private(set) var metadata: MediaPacket?
    private(set) var videoConfiguration: MediaPacket?
    private(set) var audioConfiguration: MediaPacket?
    /// Whether packets are sent to the target rather than stored for the next connection.
    private(set) var isStreaming = false
    /// Used while streaming.
    private var queue: CongestionQueue
    /// Used while not streaming: from the last keyframe on, or the last second of a program without video.
    private var held: [MediaPacket] = []
    private var storedBytes = 0
    private var droppedBefore: UInt64 = 0
    /// Frames received while streaming.
    private var offeredFrames: UInt64 = 0
    private var droppedFramesBefore: UInt64 = 0
    private let limits: CongestionQueue.Limits

    init(limits: CongestionQueue.Limits) {
        self.limits = limits
        queue = CongestionQueue(limits: limits)
    }

    /// Packets dropped because the target was too slow.
    var dropped: UInt64 { queue.dropped.total + droppedBefore }

    /// Frames to be sent, and the dropped ones among them.
    var frames: DropMonitor.FrameCounts {
        .init(offered: offeredFrames, dropped: queue.dropped.allFrames + droppedFramesBefore)
    }

    /// Packets that are queued or stored.
    var count: Int { isStreaming ? queue.count : held.count }
    /// Bytes of their bodies.
    var bytes: Int { isStreaming ? queue.bytes : storedBytes }

    /// Receives one packet of the program.
    mutating func receive(_ packet: MediaPacket) {
        if packet.isConfiguration {
            guard remember(packet) else { return }
            if isStreaming {
                queue.append(packet)
            } else if packet.content != .metadata {
                // The stored packets belong to the old configuration.
                discardStored()
            }
        } else if isStreaming {
            if packet.isVideo { offeredFrames += 1 }
            queue.append(packet)
        } else {
            hold(packet)
        }
    }

    /// Whether a connection can begin now: at a keyframe, or with audio when the program has no video.
    ///
    /// - Parameter withoutVideo: Whether the wait for video has timed out.
    func canBegin(withoutVideo: Bool) -> Bool {
        held.first.map { $0.isKeyframe || withoutVideo } ?? false
    }

    /// Returns the first packets of a connection: the configurations, then the stored packets from a keyframe on.
    mutating func begin() -> [MediaPacket] {
        let opening = [metadata, videoConfiguration, audioConfiguration].compactMap { $0 } + held
        discardStored()
        isStreaming = true
        return opening
    }

    /// Ends the connection and discards its queue.
    mutating func end() {
        droppedBefore += queue.dropped.total
        droppedFramesBefore += queue.dropped.allFrames
        queue = CongestionQueue(limits: limits)
        isStreaming = false
    }

    /// Removes and returns packets whose bodies fit into `room` bytes together.
    ///
    /// - Parameter room: Nil allows a first packet of any size, followed by `capacity` bytes less its size.
    mutating func popFirst(room: Int?, capacity: Int) -> [MediaPacket] {
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

    /// Stores a configuration; returns false when it is unchanged.
    private mutating func remember(_ packet: MediaPacket) -> Bool {
        switch packet.content {
        case .metadata: return Self.replace(&metadata, by: packet)
        case .videoConfiguration: return Self.replace(&videoConfiguration, by: packet)
        case .audioConfiguration: return Self.replace(&audioConfiguration, by: packet)
        case .video, .videoEnd, .audio: return false
        }
    }

    private static func replace(_ known: inout MediaPacket?, by packet: MediaPacket) -> Bool {
        if let known, known.content == packet.content, known.body == packet.body { return false }
        known = packet
        return true
    }

    private mutating func hold(_ packet: MediaPacket) {
        if packet.isKeyframe {
            discardStored()
        } else if held.first?.isKeyframe != true {
            // Nothing can begin before a keyframe, unless the program has no video.
            guard videoConfiguration == nil, packet.isAudio else { return }
            if let first = held.first, packet.timestamp - first.timestamp > 1000 { discardStored() }
        } else if storedSpan(with: packet) > limits.audio || storedBytes + packet.body.readableBytes > limits.bytes {
            // The GOP is too long to begin with; wait for the next one.
            discardStored()
            return
        }
        guard packet.body.readableBytes <= limits.bytes else { return }
        held.append(packet)
        storedBytes += packet.body.readableBytes
    }

    private func storedSpan(with packet: MediaPacket) -> Int64 {
        held.first.map { packet.timestamp - $0.timestamp } ?? 0
    }

    private mutating func discardStored() {
        held.removeAll(keepingCapacity: true)
        storedBytes = 0
    }
}
