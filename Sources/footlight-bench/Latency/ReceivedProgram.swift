import Codecs
import FootlightTesting
import Media
import Synchronization

/// The packets of a program as a player got them, to be looked into when there is time.
final class ReceivedProgram: Sendable {
    private let packets = Mutex<[(packet: MediaPacket, arrival: MonotonicTime)]>([])

    /// Takes a packet; `arrival` is when its last byte was read.
    func receive(_ packet: MediaPacket, arrival: MonotonicTime) {
        guard packet.isVideo else { return }
        packets.withLock { $0.append((packet, arrival)) }
    }

    var pictureCount: Int { packets.withLock { $0.count } }

    /// How old each host picture was when the program that showed it first arrived, tile by tile.
    ///
    /// - Parameters:
    ///   - tiles: Where hosts are shown.
    ///   - sent: For each of them, by code, when the host had sent the picture and the sound beside it.
    ///   - start: What came before is left out.
    func ages(
        in tiles: [PixelRectangle],
        sent: [[UInt32: MonotonicTime]],
        from start: MonotonicTime
    ) throws -> [PictureAges] {
        let packets = packets.withLock { $0 }
        guard let configuration = packets.first(where: { $0.packet.isConfiguration }) else {
            throw ToolFailure("no program came")
        }
        var arrivals: [Int64: MonotonicTime] = [:]
        for (packet, arrival) in packets { arrivals[packet.presentationTimestamp] = arrival }
        var decoder = try VideoDecoder(configuration: configuration.packet)
        let canvas = try Canvas(width: 1280, height: 720)
        var ages = tiles.map { _ in PictureAges() }
        var last = tiles.map { _ in UInt32(0) }
        for (packet, _) in packets where !packet.isConfiguration {
            var pictures: [Picture] = []
            try decoder.decode(packet) { pictures.append($0) }
            for picture in pictures {
                guard let arrival = arrivals[picture.presentationTimestamp], arrival >= start else { continue }
                try canvas.draw(picture, in: canvas.bounds)
                for (index, tile) in tiles.enumerated() {
                    let code = TimeCode.read(canvas, tile: tile)
                    ages[index].add(code, after: &last[index], arrival: arrival, sent: sent[index])
                }
            }
        }
        return ages
    }
}
