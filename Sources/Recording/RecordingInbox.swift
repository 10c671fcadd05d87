import Media
import NIOCore

/// What waits for the disk: packets in feed order, never more than a limit of bytes.
///
/// When the disk is too slow, the group of pictures that finds no room goes as a whole, with the sound beside it, and
/// what follows up to the next key picture; half a group could not be decoded to its end. Configurations always stay.
struct RecordingInbox: Sendable {
    enum Item: Sendable {
        case packet(MediaPacket)
        /// What comes next does not follow on what came before: packets are missing, or another mixer has taken over.
        case gap
        /// Nothing comes any more.
        case end
    }

    private var items: [Item] = []
    private var bytes = 0
    private var isSkipping = false
    private var hasEnded = false
    private let limit: Int
    /// Packets that were not taken, or were taken back.
    private(set) var dropped = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ packet: MediaPacket) {
        guard !hasEnded else { return }
        if packet.isConfiguration {
            items.append(.packet(packet))
            return
        }
        if isSkipping {
            guard packet.isKeyPicture, fits(packet) else {
                dropped += 1
                return
            }
            isSkipping = false
            items.append(.gap)
        } else if !fits(packet) {
            isSkipping = true
            dropped += 1
            if !packet.isKeyPicture { takeBackGroup() }
            return
        }
        bytes += packet.body.readableBytes
        items.append(.packet(packet))
    }

    mutating func publisherChanged() {
        if !hasEnded { items.append(.gap) }
    }

    mutating func end() {
        guard !hasEnded else { return }
        hasEnded = true
        items.append(.end)
    }

    /// Takes everything that waits.
    mutating func takeAll() -> [Item] {
        defer {
            items = []
            bytes = 0
        }
        return items
    }

    private func fits(_ packet: MediaPacket) -> Bool {
        bytes + packet.body.readableBytes <= limit
    }

    /// Takes the last group of pictures back, as far as it still waits.
    private mutating func takeBackGroup() {
        var kept: [Item] = []
        while let item = items.popLast() {
            guard case .packet(let packet) = item, !packet.isConfiguration else {
                kept.append(item)
                continue
            }
            bytes -= packet.body.readableBytes
            dropped += 1
            if packet.isKeyPicture { break }
        }
        items += kept.reversed()
    }
}
