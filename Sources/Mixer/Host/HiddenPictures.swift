import Media
import NIOCore

/// The coded pictures of a host that is in no tile, since its last key picture.
///
/// With these a decoder gets from there to the present one whenever the host is seen again.
struct HiddenPictures: Sendable {
    /// Ten seconds at thirty pictures a second; a group as long as that is not gone through in a moment.
    private static let mostPictures = 300
    private static let largestSize = 16 << 20

    private var pictures = Fifo<MediaPacket>()
    private var size = 0

    /// Takes a picture in; a key picture takes the place of all before it.
    ///
    /// - Returns: False when there are too many, and all are let go; only a key picture can follow.
    mutating func append(_ packet: MediaPacket) -> Bool {
        if packet.isKeyPicture { removeAll() }
        size += packet.body.readableBytes
        guard pictures.count < Self.mostPictures, size <= Self.largestSize else {
            removeAll()
            return false
        }
        pictures.append(packet)
        return true
    }

    var isEmpty: Bool { pictures.isEmpty }

    mutating func popFirst() -> MediaPacket? {
        guard let packet = pictures.popFirst() else { return nil }
        size -= packet.body.readableBytes
        return packet
    }

    mutating func removeAll() {
        pictures.removeAll()
        size = 0
    }
}
