import Codecs
import Media
import Synchronization
import Testing

@testable import Mixer

@Suite("Mix-minus feed") struct MixMinusStreamTests {
    /// Stores the packets of feeds.
    private final class PacketsByHost: Sendable {
        private let all = Mutex<[(host: String, packet: MediaPacket)]>([])

        func append(_ host: String, _ packet: MediaPacket) { all.withLock { $0.append((host, packet)) } }

        func packets(of host: String) -> [MediaPacket] {
            all.withLock { $0.filter { $0.host == host }.map(\.packet) }
        }
    }

    private static func block(of frequency: Double, at sample: Int) -> AudioBlock {
        AudioBlock(frameCount: 960, timestamp: Double(sample) / 48) { (left, right) in
            for index in 0..<960 {
                left[index] = Float(0.3 * TestTone.sine(of: frequency, at: sample + index))
                right[index] = left[index]
            }
        }
    }

    /// Runs a feed with the video of a clip, like the program's two threads.
    private func run(_ clip: HostClip, _ body: (MediaPacket) -> Void) throws -> [MediaPacket] {
        let received = PacketsByHost()
        let stream = try MixMinusStream(bitrate: 128_000, configuration: nil) { received.append("a", $0) }
        for packet in clip.configuration { stream.writeProgramPacket(packet) }
        var sample = 0
        for packet in clip.media.prefix(150) {
            while sample * 1000 / 48_000 < Int(packet.timestamp) + 60 {
                stream.writeAudio(Self.block(of: 880, at: sample), firstSample: Int64(sample))
                sample += 960
            }
            body(packet)
            stream.writeProgramPacket(packet)
        }
        return received.packets(of: "a")
    }

    @Test("the feed begins with both configurations and a keyframe, and has the program's video in order")
    func order() throws {
        let clip = try HostClip.plain(.red, tone: nil).video
        let packets = try run(clip) { _ in }
        #expect(packets[0].content == .videoConfiguration(.h264))
        #expect(packets[1].content == .audioConfiguration(.aac))
        let isInOrder = zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp }
        #expect(isInOrder)
        let frames = packets.filter { if case .video = $0.content { true } else { false } }
        #expect(frames.first?.isKeyframe == true)
        #expect(frames.map(\.payload) == clip.media.prefix(frames.count).map(\.payload))
        #expect(frames.count > 140)
        let audioPackets = packets.filter { $0.content == .audio(.aac) }
        #expect(audioPackets.count > 5 * 44)
    }

    @Test("the decoded audio is what was mixed")
    func audio() throws {
        let packets = try run(try HostClip.plain(.red, tone: nil).video) { _ in }
        let configuration = try #require(packets.first { $0.content == .audioConfiguration(.aac) })
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var samples: [Float] = []
        for packet in packets where packet.content == .audio(.aac) {
            try decoder.decode(packet) { $0.withChannels { (left, _) in samples += Array(left) } }
        }
        #expect(abs(TestTone.level(of: 880, in: samples[9600..<192_000]) - 0.3) < 0.01)
    }

    @Test("after lost packets video continues at the next keyframe")
    func lost() throws {
        let clip = try HostClip.plain(.red, tone: nil).video
        let received = PacketsByHost()
        let stream = try MixMinusStream(bitrate: 128_000, configuration: clip.configuration[0]) {
            received.append("a", $0)
        }
        stream.skipToKeyframe()
        for (index, packet) in clip.media.prefix(130).enumerated() {
            if index == 30 { stream.skipToKeyframe() }
            stream.writeAudio(Self.block(of: 880, at: index * 1600), firstSample: Int64(index * 1600))
            stream.writeProgramPacket(packet)
        }
        let times = received.packets(of: "a").filter { if case .video = $0.content { true } else { false } }
            .map(\.timestamp)
        #expect(times.allSatisfy { $0 < 1000 || $0 >= 2000 })
        #expect(times.contains { $0 >= 2000 })
    }

    @Test("encoders follow the requested hosts, each with its own audio, and the queue is bounded")
    func encoders() throws {
        let received = PacketsByHost()
        let encoders = MixMinusEncoder(bitrate: 96_000) { received.append($0, $1) }
        let clip = try HostClip.plain(.red, tone: nil).video
        for packet in clip.configuration { encoders.writeProgramPacket(packet) }
        encoders.follow(["a", "b"])
        for (index, packet) in clip.media.prefix(120).enumerated() {
            for (host, tone) in [("a", 440.0), ("b", 880), ("nobody", 220)] {
                let sample = index * 1600
                Self.block(of: tone, at: sample).withChannels { (left, right) in
                    guard let left = left.baseAddress, let right = right.baseAddress else { return }
                    encoders.writeMix(host, left: left, right: right, count: 960, firstSample: Int64(sample))
                }
            }
            encoders.writeProgramPacket(packet)
        }
        let thread = WorkerThread(name: "returns") { encoders.run { _ in } }
        while encoders.queued > 0 { MonotonicSleep.until(.now().advanced(milliseconds: 5)) }
        encoders.close()
        thread.join()
        #expect(received.packets(of: "nobody").isEmpty)
        for host in ["a", "b"] {
            let packets = received.packets(of: host)
            #expect(packets.first?.content == .videoConfiguration(.h264))
            #expect(packets.filter(\.isVideo).count > 100)
            #expect(packets.filter { $0.content == .audio(.aac) }.count > 80)
        }
        #expect(encoders.dropped == 0)
        // Without a running thread, the queue is bounded.
        encoders.follow(["c"])
        for index in 0..<3000 { encoders.writeProgramPacket(clip.media[index % 100]) }
        #expect(encoders.dropped > 900)
        #expect(encoders.queued <= 2048)
    }
}
