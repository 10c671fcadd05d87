import Codecs
import Media
import Synchronization
import TestSupport

/// The packets of a program as a player received them, decoded after the measurement.
final class ReceivedProgram: Sendable {
    private let packets = Mutex<[(packet: MediaPacket, arrival: MonotonicTime)]>([])

    /// Appends a packet; `arrival` is when its last byte was received.
    func receive(_ packet: MediaPacket, arrival: MonotonicTime) {
        guard packet.isVideo else { return }
        packets.withLock { $0.append((packet, arrival)) }
    }

    var frameCount: Int { packets.withLock { $0.count } }

    /// Returns, for each tile, the age of each host frame when the program frame that first showed it arrived.
    ///
    /// - Parameters:
    ///   - tiles: The rectangles of the hosts.
    ///   - sent: For each host, by time code, when it had sent the frame and the audio up to it.
    ///   - start: Packets that arrived earlier are ignored.
    func ages(
        in tiles: [PixelRectangle],
        sent: [[UInt32: MonotonicTime]],
        from start: MonotonicTime
    ) throws -> [FrameAges] {
        let packets = packets.withLock { $0 }
        guard let configuration = packets.first(where: { $0.packet.isConfiguration }) else {
            throw ToolFailure("no program was received")
        }
        var arrivals: [Int64: MonotonicTime] = [:]
        for (packet, arrival) in packets { arrivals[packet.presentationTimestamp] = arrival }
        var decoder = try VideoDecoder(configuration: configuration.packet)
        let canvas = try Canvas(width: 1280, height: 720)
        var ages = tiles.map { _ in FrameAges() }
        var last = tiles.map { _ in UInt32(0) }
        for (packet, _) in packets where !packet.isConfiguration {
            var frames: [VideoFrame] = []
            try decoder.decode(packet) { frames.append($0) }
            for frame in frames {
                guard let arrival = arrivals[frame.presentationTimestamp], arrival >= start else { continue }
                try canvas.draw(frame, in: canvas.bounds)
                for (index, tile) in tiles.enumerated() {
                    let code = TimeCode.read(canvas, tile: tile)
                    ages[index].add(code, after: &last[index], arrival: arrival, sent: sent[index])
                }
            }
        }
        return ages
    }
}

/// The ages of host frames when the program first showed them, in milliseconds.
struct FrameAges {
    /// Since capture.
    private(set) var ages = Samples()
    /// Since the host had sent the frame, and the audio of the same moment.
    private(set) var added = Samples()
    /// Program frames that repeated a host's frame.
    private(set) var repeated = 0
    /// Tiles without a readable time code.
    private(set) var unread = 0

    /// Counts one tile of one program frame.
    ///
    /// - Parameters:
    ///   - last: The time code that the tile showed before.
    ///   - sent: By time code, when the host had sent the frame and the audio up to it.
    mutating func add(
        _ code: UInt32?,
        after last: inout UInt32,
        arrival: MonotonicTime,
        sent: [UInt32: MonotonicTime]
    ) {
        guard let code else {
            unread += 1
            return
        }
        guard code != last else {
            repeated += 1
            return
        }
        last = code
        // The code is rounded down to milliseconds: half a millisecond on average.
        let micros = arrival.nanoseconds / 1000 - Int64(code) * 1000
        let wrapped = micros % (Int64(UInt32.max) * 1000 + 1000)
        ages.add(Double(wrapped) / 1000 - 0.5)
        if let sent = sent[code] { added.add(arrival.seconds(since: sent) * 1000) }
    }
}
