import Media
import NIOCore

/// A host's packets between the network and the decoder, at most three seconds of them.
///
/// What is too much goes in whole groups of pictures, oldest first, so that the decoder always begins with a key
/// picture. A single group that is longer stays, up to a hard limit: a join begins with one. Timestamps are unified
/// host time; a decoder configuration is never lost.
struct PacketInbox: Sendable {
    /// Milliseconds of media kept.
    static let span: Int64 = 3000
    /// Milliseconds of media kept while there is no key picture to go on from.
    static let longestSpan: Int64 = 12_000
    static let largestSize = 32 << 20
    /// A picture so many milliseconds past its turn is decoded only for the sake of later ones.
    static let hopeless = 500.0

    private var pictures = Fifo<MediaPacket>()
    private var sounds = Fifo<MediaPacket>()
    private var size = 0
    private var isWaitingForKey = false
    private var keysQueued = 0
    private(set) var droppedPackets: Int64 = 0
    private(set) var droppedGroups: Int64 = 0

    /// The unified timestamp of the next packet of either kind; a decoder configuration is always due.
    var nextPicture: Int64? { pictures.first.map { $0.isConfiguration ? .min : $0.timestamp } }
    var nextSound: Int64? { sounds.first.map { $0.isConfiguration ? .min : $0.timestamp } }

    mutating func append(_ packet: MediaPacket) {
        if packet.isVideo { appendPicture(packet) } else { appendSound(packet) }
    }

    mutating func popPicture() -> MediaPacket? {
        guard let packet = pictures.popFirst() else { return nil }
        size -= packet.body.readableBytes
        if packet.isKeyPicture { keysQueued -= 1 }
        return packet
    }

    mutating func popSound() -> MediaPacket? {
        guard let packet = sounds.popFirst() else { return nil }
        size -= packet.body.readableBytes
        return packet
    }

    /// Leaves out groups of pictures that nobody can see any more: those before the last key picture whose turn, at
    /// `hostTime` (milliseconds), has come too.
    mutating func catchUp(to hostTime: Double) {
        while keysQueued > 0, let front = pictures.first, hostTime - Double(front.timestamp) > Self.hopeless,
            hasLaterGroup, let key = secondKey, Double(key) <= hostTime
        {
            dropGroup()
        }
    }

    /// When the group after the first begins.
    private var secondKey: Int64? {
        var isFirst = true
        for place in 0..<pictures.count {
            guard let packet = pictures[place], !packet.isConfiguration else { continue }
            if packet.isKeyPicture, !isFirst { return packet.timestamp }
            isFirst = false
        }
        return nil
    }

    private mutating func appendPicture(_ packet: MediaPacket) {
        if isWaitingForKey, !packet.isConfiguration {
            guard packet.isKeyPicture else {
                droppedPackets += 1
                return
            }
            isWaitingForKey = false
        }
        pictures.append(packet)
        size += packet.body.readableBytes
        if packet.isKeyPicture { keysQueued += 1 }
        while isOver(pictures, limit: Self.span) {
            if hasLaterGroup {
                dropGroup()
            } else if isOver(pictures, limit: Self.longestSpan) || size > Self.largestSize {
                dropGroup()
                isWaitingForKey = pictures.isEmpty || pictures.last?.isConfiguration == true
            } else {
                break
            }
        }
    }

    private mutating func appendSound(_ packet: MediaPacket) {
        sounds.append(packet)
        size += packet.body.readableBytes
        while isOver(sounds, limit: Self.span) {
            let first = popSound()
            if let first, first.isConfiguration, let second = popSound() {
                // The configuration stays in front of what it describes, unless a newer one follows it.
                if second.isConfiguration { pushSound(second) } else { pushSound(first) }
            }
            droppedPackets += 1
        }
    }

    private mutating func pushSound(_ packet: MediaPacket) {
        sounds.prepend(packet)
        size += packet.body.readableBytes
    }

    private func isOver(_ queue: Fifo<MediaPacket>, limit: Int64) -> Bool {
        guard queue.count > 2, let last = queue.last else { return false }
        // The front may be a configuration, whose time says nothing.
        guard let first = queue.first.flatMap({ $0.isConfiguration ? queue[1] : $0 }) else { return false }
        return last.timestamp - first.timestamp > limit || size > Self.largestSize
    }

    private var hasLaterGroup: Bool {
        let front = pictures.first.flatMap { $0.isConfiguration ? pictures[1] : $0 }
        return keysQueued > (front?.isKeyPicture == true ? 1 : 0)
    }

    /// Drops everything before the second key picture, or all when there is none; keeps the last configuration.
    private mutating func dropGroup() {
        var configuration: MediaPacket?
        var isFirst = true
        while let next = pictures.first {
            if next.isKeyPicture, !isFirst { break }
            guard let packet = popPicture() else { break }
            if packet.isConfiguration {
                configuration = packet
            } else {
                droppedPackets += 1
                isFirst = false
            }
        }
        droppedGroups += 1
        if let configuration {
            pictures.prepend(configuration)
            size += configuration.body.readableBytes
        }
    }
}
