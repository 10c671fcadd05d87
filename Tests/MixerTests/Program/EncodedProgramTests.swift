import Codecs
import Media
import Stage
import Synchronization
import Testing

@testable import Mixer

/// Keeps what a sink gets.
final class PacketLog: Sendable {
    private let packets = Mutex<[MediaPacket]>([])

    var all: [MediaPacket] { packets.withLock { $0 } }

    func append(_ packet: MediaPacket) {
        packets.withLock { $0.append(packet) }
    }
}

@Suite("The program as it leaves") struct EncodedProgramTests {
    private func render(_ rate: FrameRate, firstSample: Int64 = 0, seconds: Double) throws -> [MediaPacket] {
        let log = PacketLog()
        let renderer = try ProgramRenderer(
            configuration: ProgramConfiguration(
                width: 320,
                height: 180,
                frameRate: rate,
                videoBitrate: 300,
                preset: "ultrafast"
            ),
            firstSample: firstSample,
            encoderOptions: "",
            sink: { log.append($0) }
        )
        renderer.apply(Rehearsal.grid(["a"], width: 320, height: 180))
        let input = renderer.addHost("a")
        for packet in try HostClip.flashAndBeep().packets(from: 0, to: Int64(seconds * 1000)) {
            let time = Rehearsal.moment(Double(packet.timestamp) + 25)
            renderer.advance(to: time)
            input.receive(packet, arrival: time)
        }
        renderer.advance(to: MonotonicTime(nanoseconds: Int64(seconds * 1e9)))
        return log.all
    }

    @Test(
        "Configurations come first, times never fall, and groups of pictures are exactly two seconds",
        arguments: [FrameRate(30), FrameRate(25), FrameRate(30000, per: 1001), FrameRate(60)]
    )
    func order(rate: FrameRate) throws {
        let packets = try render(rate, seconds: 7)
        #expect(packets[0].content == .videoConfiguration(.h264))
        #expect(packets[1].content == .audioConfiguration(.aac))
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        let pictures = packets.filter { $0.isVideo && !$0.isConfiguration }
        for (index, picture) in pictures.enumerated() {
            let exact = Int64(index) * 1000 * Int64(rate.denominator) / Int64(rate.numerator)
            #expect(picture.timestamp == exact)
            #expect(picture.isKeyPicture == (index % Int((rate.perSecond * 2).rounded()) == 0))
        }
        #expect(pictures.count > Int(6.8 * rate.perSecond))
        let sound = packets.filter { $0.isAudio && !$0.isConfiguration }
        let steps = zip(sound, sound.dropFirst()).map { $1.timestamp - $0.timestamp }
        #expect(Set(steps) == [21, 22])
    }

    @Test("A program taken over in the middle goes on from its sample")
    func takenOver() throws {
        let packets = try render(FrameRate(30), firstSample: 48_000 * 7200, seconds: 3)
        #expect(packets[0].timestamp == 7_200_000)
        #expect(packets.first { $0.isKeyPicture }?.timestamp == 7_200_000)
        #expect(packets.allSatisfy { $0.timestamp >= 7_200_000 && $0.timestamp < 7_203_050 })
    }

    @Test("Flash and beep stay together through both encoders")
    func sync() throws {
        let packets = try render(FrameRate(30), seconds: 7.5)
        var video = try VideoDecoder(configuration: packets[0])
        var audio = try AudioDecoder(codec: .aac, configuration: packets[1])
        let canvas = try Canvas(width: 320, height: 180)
        var flashes: [Double] = []
        var wasOn = false
        var samples: [Float] = []
        var start: Double?
        for packet in packets where !packet.isConfiguration {
            if packet.isVideo {
                try video.decode(packet) { picture in
                    try? canvas.draw(picture, in: canvas.bounds)
                    let isOn = canvas.luma(x: 160, y: 90) > 150
                    if isOn, !wasOn { flashes.append(Double(picture.presentationTimestamp)) }
                    wasOn = isOn
                }
            } else {
                try audio.decode(packet) { block in
                    start = start ?? block.timestamp
                    block.withChannels { left, _ in samples.append(contentsOf: left) }
                }
            }
        }
        let begin = try #require(start)
        var beeps: [Double] = []
        var quietSince = 0
        for (index, sample) in samples.enumerated() where abs(sample) > 0.1 {
            if index - quietSince > 24_000 { beeps.append(begin + Double(index) / 48) }
            quietSince = index
        }
        #expect(flashes.count >= 6)
        for flash in flashes.dropFirst() {
            let nearest = beeps.map { abs($0 - flash) }.min() ?? 1e9
            #expect(nearest < 20, "flash at \(flash), beeps \(beeps)")
        }
    }

    @Test("A key picture can be asked for")
    func keyPicture() throws {
        let log = PacketLog()
        let renderer = try ProgramRenderer(
            configuration: ProgramConfiguration(width: 320, height: 180, videoBitrate: 300, preset: "ultrafast"),
            encoderOptions: "",
            sink: { log.append($0) }
        )
        renderer.advance(to: Rehearsal.moment(1000))
        renderer.requestKeyPicture()
        renderer.advance(to: Rehearsal.moment(3000))
        let keys = log.all.filter(\.isKeyPicture).map(\.timestamp)
        #expect(keys == [0, 1033, 2000])
    }
}
