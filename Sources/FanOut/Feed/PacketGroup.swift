import Media
import NIOCore

/// The part of a feed that a newcomer needs: its configuration, and the media since the last point to start from.
struct PacketGroup {
    private(set) var metadata: MediaPacket?
    private(set) var videoConfiguration: MediaPacket?
    private(set) var audioConfiguration: MediaPacket?
    /// From the last starting point on; empty while there is none, or when the group outgrew its limits.
    private(set) var packets: [MediaPacket] = []

    private let limit: (milliseconds: Int64, bytes: Int)
    /// Bytes of `packets`.
    private(set) var bytes = 0
    /// What was announced or shown last of the picture; sound alone is no starting point close to it.
    private var lastVideo: Int64?
    /// The configuration at the point where the group begins.
    private var openingOfGroup: [MediaPacket] = []

    /// Sound alone is a starting point once pictures have been missing for this long, in milliseconds.
    private static let pictureSilence: Int64 = 2_000

    /// Whether somebody can start at any sound, however late the first keyframe comes.
    private let startsAtSound: Bool

    /// - Parameter startsAtSound: Who reads it needs no picture: sound is a starting point while there is no other.
    init(limit: (milliseconds: Int64, bytes: Int), startsAtSound: Bool = false) {
        self.limit = limit
        self.startsAtSound = startsAtSound
    }

    /// Metadata and decoder configurations that a player needs before `packets`, in the order it wants them.
    ///
    /// What changed since the group began is among the packets, in its place.
    var opening: [MediaPacket] {
        packets.isEmpty ? configuration : openingOfGroup
    }

    private var configuration: [MediaPacket] {
        [metadata, videoConfiguration, audioConfiguration].compactMap { $0 }
    }

    /// The index of the last packet of `batch` at which a player can start; nil when there is none.
    func startingPoint(in batch: [MediaPacket]) -> Int? {
        if let key = batch.lastIndex(where: \.isKeyPicture) { return key }
        if startsAtSound, packets.isEmpty {
            return batch.firstIndex { if case .sound = $0.content { true } else { false } }
        }
        var lastVideo = lastVideo
        return batch.firstIndex { packet in
            if packet.isVideo { lastVideo = packet.timestamp }
            guard case .sound = packet.content else { return false }
            guard let lastVideo else { return true }
            return packet.timestamp - lastVideo > Self.pictureSilence
        }
    }

    /// Takes the next packets of the feed; `start` is what `startingPoint(in:)` said of them.
    ///
    /// - Parameter most: Bytes that the group may have now; its own limit holds besides.
    mutating func append(_ batch: [MediaPacket], start: Int?, most: Int = .max) {
        if let start {
            packets.removeAll(keepingCapacity: true)
            bytes = 0
            note(batch[..<start])
            openingOfGroup = configuration
            keep(batch[start...])
        } else if packets.isEmpty {
            note(batch[...])
        } else {
            keep(batch[...])
        }
        if isTooLarge(most) {
            packets.removeAll(keepingCapacity: false)
            bytes = 0
        }
    }

    private func isTooLarge(_ most: Int) -> Bool {
        guard let first = packets.first, let last = packets.last else { return false }
        return bytes > min(limit.bytes, most) || last.timestamp - first.timestamp > limit.milliseconds
    }

    private mutating func keep(_ batch: ArraySlice<MediaPacket>) {
        note(batch)
        packets.append(contentsOf: batch)
        for packet in batch { bytes += packet.body.readableBytes }
    }

    private mutating func note(_ batch: ArraySlice<MediaPacket>) {
        for packet in batch {
            if packet.isVideo { lastVideo = packet.timestamp }
            switch packet.content {
            case .metadata: metadata = packet
            case .videoConfiguration: videoConfiguration = packet
            case .audioConfiguration: audioConfiguration = packet
            case .picture, .videoEnd, .sound: break
            }
        }
    }
}
