import Codecs
import Media
import Synchronization

/// Looks at the program's key pictures: a host whose every picture is another one is always on air, so no two of them are
/// alike, and none is dark.
final class SoakEye: Sendable {
    private struct Sight: ~Copyable {
        var decoder: VideoDecoder?
        var canvas: Canvas?
        var last: UInt64?
        var pictures = 0
        var still = 0
        var dark = 0
        var errors = 0

        mutating func take(_ packet: MediaPacket) throws(CodecError) {
            if packet.isConfiguration {
                decoder = try VideoDecoder(configuration: packet)
                return
            }
            var shown: [Picture] = []
            try decoder?.decode(packet) { shown.append($0) }
            for picture in shown { try look(at: picture) }
        }

        private mutating func look(at picture: Picture) throws(CodecError) {
            if canvas == nil { canvas = try Canvas(width: 320, height: 180) }
            guard let canvas else { return }
            try canvas.draw(picture, in: canvas.bounds)
            pictures += 1
            if canvas.averageColour(of: canvas.bounds).y < SoakEye.darkness { dark += 1 }
            let sight = canvas.fingerprint
            if sight == last { still += 1 }
            last = sight
        }
    }

    /// A little above black.
    private static let darkness: UInt8 = 20
    /// Seconds from one key picture to the next.
    private static let spacing = 2.0

    private let sight = Mutex(Sight())

    /// Takes the next packet of the program.
    func take(_ packet: MediaPacket) {
        guard packet.isVideo, packet.isConfiguration || packet.isKeyPicture else { return }
        sight.withLock { sight in
            do throws(CodecError) {
                try sight.take(packet)
            } catch {
                sight.errors += 1
            }
        }
    }

    /// What was seen, in one line.
    var summary: String {
        sight.withLock { sight in
            "the picture: \(sight.pictures) key pictures, \(sight.still) as the one before, \(sight.dark) dark, "
                + "\(sight.errors) that no decoder took"
        }
    }

    /// What speaks against a show of so many seconds.
    func faults(seconds: Double) -> [String] {
        sight.withLock { sight in
            var faults: [String] = []
            if sight.still > 0 { faults.append("the picture stood still \(sight.still) times") }
            if sight.dark > 0 { faults.append("the picture was dark \(sight.dark) times") }
            if sight.errors > 0 { faults.append("\(sight.errors) pictures could not be decoded") }
            let least = Int(seconds / Self.spacing * 0.9) - 3
            if sight.pictures < least { faults.append("only \(sight.pictures) key pictures came, of \(least)") }
            return faults
        }
    }
}
