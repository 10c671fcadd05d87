import FanOut
import FootlightTesting
@testable import Gateway
import Media
import NIOCore

/// A room's program out of a short clip, as fast as it is asked for.
struct EndlessProgram {
    private let packets: [MediaPacket]
    private let feed: Feed
    private let publisher: FeedPublisher
    private var rounds: Int64 = 0

    /// Milliseconds of the clip.
    private static let length: Int64 = 4000

    /// Encodes the clip and takes the room's feed over.
    init(room: String, on gateway: WiredGateway) async throws {
        let path = gateway.folder.file("program.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: Double(Self.length) / 1000, to: path)
        packets = try FLVFile(path: path).packets
        guard let feed = gateway.pipeline.feeds.feed(room) else { throw ToolFailure("there is no room \(room)") }
        self.feed = feed
        publisher = feed.makePublisher()
        publisher.publisherChanged()
    }

    /// Puts four more seconds on air, and waits until they are there.
    mutating func goOn() async throws {
        for var packet in packets {
            if rounds > 0, packet.isConfiguration { continue }
            packet.timestamp += rounds * Self.length
            publisher.receive(packet)
        }
        rounds += 1
        try await feed.home.submit {}.get()
    }
}
