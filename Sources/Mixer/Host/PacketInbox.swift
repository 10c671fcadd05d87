import DequeModule
import Media
import NIOCore

/// Queues a host's packets between the network and the decoder, at most three seconds of them.
///
/// Excess packets are dropped in whole GOPs, oldest first, so that the decoder always begins with a keyframe. A single
/// longer GOP stays, up to a hard limit: a join begins with one. Timestamps are unified host time; a decoder
/// configuration is never dropped. Unlike a `CongestionQueue` it never drops single frames, because a decoder that
/// catches up needs whole GOPs, and video and audio leave it separately.
struct PacketInbox: Sendable {
    /// Milliseconds of media queued.
    static let span: Int64 = 3000
    /// Milliseconds of media queued while there is no keyframe to continue from.
    static let longestSpan: Int64 = 12_000
    static let maximumSize = 32 << 20
    /// Milliseconds after its presentation time beyond which a frame is decoded only as a reference for later ones.
    static let lateLimit = 500.0

    private var videoQueue = Deque<MediaPacket>()
    private var audioQueue = Deque<MediaPacket>()
    private var size = 0
    private var isWaitingForKeyframe = false
    private var keyframesQueued = 0
    private(set) var droppedPackets: Int64 = 0
    private(set) var droppedGOPs: Int64 = 0

    /// The unified timestamp of the next video packet; a decoder configuration is always due.
    var nextFrame: Int64? { videoQueue.first.map { $0.isConfiguration ? .min : $0.timestamp } }
    var nextAudio: Int64? { audioQueue.first.map { $0.isConfiguration ? .min : $0.timestamp } }

    mutating func append(_ packet: MediaPacket) {
        if packet.isVideo { appendVideo(packet) } else { appendAudio(packet) }
    }

    mutating func popVideo() -> MediaPacket? {
        guard let packet = videoQueue.popFirst() else { return nil }
        size -= packet.body.readableBytes
        if packet.isKeyframe { keyframesQueued -= 1 }
        return packet
    }

    mutating func popAudio() -> MediaPacket? {
        guard let packet = audioQueue.popFirst() else { return nil }
        size -= packet.body.readableBytes
        return packet
    }

    /// Drops GOPs that can no longer be shown: those before the last keyframe that is due at `hostTime` (milliseconds).
    mutating func catchUp(to hostTime: Double) {
        while keyframesQueued > 0, let front = videoQueue.first, hostTime - Double(front.timestamp) > Self.lateLimit,
            hasLaterGOP, let key = secondKeyframe, Double(key) <= hostTime
        {
            dropGOP()
        }
    }

    /// The timestamp of the second GOP's keyframe.
    private var secondKeyframe: Int64? {
        var isFirst = true
        for packet in videoQueue where !packet.isConfiguration {
            if packet.isKeyframe, !isFirst { return packet.timestamp }
            isFirst = false
        }
        return nil
    }

    private mutating func appendVideo(_ packet: MediaPacket) {
        if isWaitingForKeyframe, !packet.isConfiguration {
            guard packet.isKeyframe else {
                droppedPackets += 1
                return
            }
            isWaitingForKeyframe = false
        }
        videoQueue.append(packet)
        size += packet.body.readableBytes
        if packet.isKeyframe { keyframesQueued += 1 }
        while isOver(videoQueue, limit: Self.span) {
            if hasLaterGOP {
                dropGOP()
            } else if isOver(videoQueue, limit: Self.longestSpan) || size > Self.maximumSize {
                dropGOP()
                isWaitingForKeyframe = videoQueue.isEmpty || videoQueue.last?.isConfiguration == true
            } else {
                break
            }
        }
    }

    private mutating func appendAudio(_ packet: MediaPacket) {
        audioQueue.append(packet)
        size += packet.body.readableBytes
        while isOver(audioQueue, limit: Self.span) {
            let first = popAudio()
            if let first, first.isConfiguration, let second = popAudio() {
                // The configuration stays in front of the packets it describes, unless a newer one follows it.
                if second.isConfiguration { pushAudio(second) } else { pushAudio(first) }
            }
            droppedPackets += 1
        }
    }

    private mutating func pushAudio(_ packet: MediaPacket) {
        audioQueue.prepend(packet)
        size += packet.body.readableBytes
    }

    private func isOver(_ queue: Deque<MediaPacket>, limit: Int64) -> Bool {
        guard queue.count > 2, let front = queue.first, let last = queue.last else { return false }
        // The front may be a configuration, whose timestamp is meaningless.
        let first = front.isConfiguration ? queue[1] : front
        return last.timestamp - first.timestamp > limit || size > Self.maximumSize
    }

    private var hasLaterGOP: Bool {
        let front = videoQueue.first.flatMap { $0.isConfiguration ? videoQueue.dropFirst().first : $0 }
        return keyframesQueued > (front?.isKeyframe == true ? 1 : 0)
    }

    /// Drops everything before the second keyframe, or all when there is none; keeps the last configuration.
    private mutating func dropGOP() {
        var configuration: MediaPacket?
        var isFirst = true
        while let next = videoQueue.first {
            if next.isKeyframe, !isFirst { break }
            guard let packet = popVideo() else { break }
            if packet.isConfiguration {
                configuration = packet
            } else {
                droppedPackets += 1
                isFirst = false
            }
        }
        droppedGOPs += 1
        if let configuration {
            videoQueue.prepend(configuration)
            size += configuration.body.readableBytes
        }
    }
}
