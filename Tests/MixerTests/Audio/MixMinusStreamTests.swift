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
        for packet in clip.configuration { stream.writeVideo(packet) }
        var sample = 0
        for packet in clip.media.prefix(150) {
            while sample * 1000 / 48_000 < Int(packet.timestamp) + 60 {
                stream.writeAudio(Self.block(of: 880, at: sample), firstSample: Int64(sample))
                sample += 960
            }
            body(packet)
            stream.writeVideo(packet)
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
            stream.writeVideo(packet)
        }
        let times = received.packets(of: "a").filter { if case .video = $0.content { true } else { false } }
            .map(\.timestamp)
        #expect(times.allSatisfy { $0 < 1000 || $0 >= 2000 })
        #expect(times.contains { $0 >= 2000 })
    }

    @Test("the video of the preview replaces the program's at a keyframe, in order, and the audio goes on")
    func preview() throws {
        let received = PacketsByHost()
        let encoders = MixMinusEncoder(bitrate: 96_000) { received.append($0, $1) }
        let clip = try HostClip.plain(.red, tone: nil).video
        let other = try HostClip.plain(.blue, tone: nil).video
        encoders.follow(["a"])
        let thread = WorkerThread(name: "returns") { encoders.run { _ in } }
        defer {
            encoders.close()
            thread.join()
        }
        for packet in clip.configuration { encoders.writeProgramPacket(packet) }
        for packet in other.configuration { encoders.writePreviewPacket(packet) }
        for (index, (packet, preview)) in zip(clip.media, other.media).prefix(150).enumerated() {
            if index == 40 { encoders.showPreview(true) }
            // At the earliest with a keyframe after this.
            if index == 100 { encoders.showPreview(false) }
            let sample = index * 1600
            Self.block(of: 440, at: sample).withChannels { (left, right) in
                guard let left = left.baseAddress, let right = right.baseAddress else { return }
                encoders.writeMix("a", left: left, right: right, count: 960, firstSample: Int64(sample))
            }
            encoders.writeProgramPacket(packet)
            encoders.writePreviewPacket(preview)
            guard index == 39 || index == 99 else { continue }
            // As if encoded in real time: the queue is empty when the source changes.
            drain(encoders)
        }
        drain(encoders)
        let packets = received.packets(of: "a")
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        let video = packets.filter(\.isVideo)
        let changes = video.indices.filter { video[$0].isConfiguration }
        #expect(changes.count == 3)
        for index in changes { #expect(video[index + 1].isKeyframe) }
        let middle = video[changes[1]..<changes[2]].dropFirst()
        #expect(!middle.isEmpty)
        let previews = Set(other.media.map(\.payload))
        #expect(middle.allSatisfy { previews.contains($0.payload) })
        let audio = packets.filter { $0.content == .audio(.aac) }
        #expect(audio.count > 80)
    }

    /// Encodes what is queued.
    private func drain(_ encoders: MixMinusEncoder) {
        while encoders.queued > 0 { MonotonicSleep.until(.now().advanced(milliseconds: 2)) }
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
