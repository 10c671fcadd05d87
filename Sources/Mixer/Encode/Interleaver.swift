import Media

/// Puts the two encoders' packets into one order of non-decreasing timestamps.
///
/// A packet leaves as soon as nothing earlier can come any more: each encoder says from which time on its next packets
/// will be.
struct Interleaver {
    private var pictures = Fifo<MediaPacket>()
    private var sounds = Fifo<MediaPacket>()
    private var nextPicture = Int64.min
    private var nextSound = Int64.min
    private var lastOut = Int64.min

    mutating func append(_ packet: MediaPacket) {
        if packet.isVideo { pictures.append(packet) } else { sounds.append(packet) }
    }

    /// No picture earlier than `timestamp` (milliseconds) will come.
    mutating func promisePictures(from timestamp: Int64) {
        nextPicture = max(nextPicture, timestamp)
    }

    /// No sound earlier than `timestamp` (milliseconds) will come.
    mutating func promiseSounds(from timestamp: Int64) {
        nextSound = max(nextSound, timestamp)
    }

    /// The next packet in order; nil while an earlier one may still come.
    ///
    /// A picture goes before sound of the same time.
    mutating func next() -> MediaPacket? {
        let picture = pictures.first?.timestamp
        let sound = sounds.first?.timestamp
        if let picture, picture <= (sound ?? nextSound) {
            return out(pictures.popFirst())
        }
        if let sound, sound <= (picture ?? nextPicture) {
            return out(sounds.popFirst())
        }
        return nil
    }

    private mutating func out(_ packet: MediaPacket?) -> MediaPacket? {
        guard var packet else { return nil }
        packet.timestamp = max(packet.timestamp, lastOut)
        lastOut = packet.timestamp
        return packet
    }
}
