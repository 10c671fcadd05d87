import Codecs
import Media
import Synchronization
import Testing

@testable import Mixer

@Suite("A return feed") struct ReturnStreamTests {
    /// What a feed gave out.
    private final class Taken: Sendable {
        private let all = Mutex<[(host: String, packet: MediaPacket)]>([])

        func take(_ host: String, _ packet: MediaPacket) { all.withLock { $0.append((host, packet)) } }

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

    /// Runs a feed beside the pictures of a clip, as the program's two threads would.
    private func run(_ clip: HostClip, _ body: (MediaPacket) -> Void) throws -> [MediaPacket] {
        let taken = Taken()
        let stream = try ReturnStream(bitrate: 128_000, configuration: nil) { taken.take("a", $0) }
        for packet in clip.configuration { stream.takeProgram(packet) }
        var sample = 0
        for packet in clip.media.prefix(150) {
            while sample * 1000 / 48_000 < Int(packet.timestamp) + 60 {
                stream.takeSound(Self.block(of: 880, at: sample), firstSample: Int64(sample))
                sample += 960
            }
            body(packet)
            stream.takeProgram(packet)
        }
        return taken.packets(of: "a")
    }

    @Test("It begins with both configurations and a key picture; pictures are the program's, times never go back")
    func order() throws {
        let clip = try HostClip.plain(.red, tone: nil).pictures
        let packets = try run(clip) { _ in }
        #expect(packets[0].content == .videoConfiguration(.h264))
        #expect(packets[1].content == .audioConfiguration(.aac))
        let isInOrder = zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp }
        #expect(isInOrder)
        let pictures = packets.filter { if case .picture = $0.content { true } else { false } }
        #expect(pictures.first?.isKeyPicture == true)
        #expect(pictures.map(\.payload) == clip.media.prefix(pictures.count).map(\.payload))
        #expect(pictures.count > 140)
        let sounds = packets.filter { $0.content == .sound(.aac) }
        #expect(sounds.count > 5 * 44)
    }

    @Test("Its sound, decoded, is what was mixed for it")
    func sound() throws {
        let packets = try run(try HostClip.plain(.red, tone: nil).pictures) { _ in }
        let configuration = try #require(packets.first { $0.content == .audioConfiguration(.aac) })
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var samples: [Float] = []
        for packet in packets where packet.content == .sound(.aac) {
            try decoder.decode(packet) { $0.withChannels { (left, _) in samples += Array(left) } }
        }
        #expect(abs(TestTone.level(of: 880, in: samples[9600..<192_000]) - 0.3) < 0.01)
    }

    @Test("Until the next key picture nothing is shown after pictures were lost")
    func lost() throws {
        let clip = try HostClip.plain(.red, tone: nil).pictures
        let taken = Taken()
        let stream = try ReturnStream(bitrate: 128_000, configuration: clip.configuration[0]) { taken.take("a", $0) }
        stream.skipToKey()
        for (index, packet) in clip.media.prefix(130).enumerated() {
            if index == 30 { stream.skipToKey() }
            stream.takeSound(Self.block(of: 880, at: index * 1600), firstSample: Int64(index * 1600))
            stream.takeProgram(packet)
        }
        let times = taken.packets(of: "a").filter { if case .picture = $0.content { true } else { false } }
            .map(\.timestamp)
        #expect(times.allSatisfy { $0 < 1000 || $0 >= 2000 })
        #expect(times.contains { $0 >= 2000 })
    }

    @Test("Encoders follow who wants a feed, each host has its own sound, and nothing waits without end")
    func encoders() throws {
        let taken = Taken()
        let encoders = ReturnEncoders(bitrate: 96_000) { taken.take($0, $1) }
        let clip = try HostClip.plain(.red, tone: nil).pictures
        for packet in clip.configuration { encoders.takeProgram(packet) }
        encoders.follow(["a", "b"])
        for (index, packet) in clip.media.prefix(120).enumerated() {
            for (host, tone) in [("a", 440.0), ("b", 880), ("nobody", 220)] {
                let sample = index * 1600
                Self.block(of: tone, at: sample).withChannels { (left, right) in
                    guard let left = left.baseAddress, let right = right.baseAddress else { return }
                    encoders.takeReturn(host, left: left, right: right, count: 960, firstSample: Int64(sample))
                }
            }
            encoders.takeProgram(packet)
        }
        let thread = WorkerThread(name: "returns") { encoders.run { _ in } }
        while encoders.waiting > 0 { MonotonicSleep.until(.now().advanced(milliseconds: 5)) }
        encoders.close()
        thread.join()
        #expect(taken.packets(of: "nobody").isEmpty)
        for host in ["a", "b"] {
            let packets = taken.packets(of: host)
            #expect(packets.first?.content == .videoConfiguration(.h264))
            #expect(packets.filter(\.isVideo).count > 100)
            #expect(packets.filter { $0.content == .sound(.aac) }.count > 80)
        }
        #expect(encoders.dropped == 0)
        // With nobody to encode, the way in is bounded.
        encoders.follow(["c"])
        for index in 0..<3000 { encoders.takeProgram(clip.media[index % 100]) }
        #expect(encoders.dropped > 900)
        #expect(encoders.waiting <= 2048)
    }
}
