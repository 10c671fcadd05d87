import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("Renditions of a program") struct LadderTests {
    private final class Received: Sendable {
        let packets = Mutex<[String: [MediaPacket]]>([:])

        func append(_ packet: MediaPacket, to name: String) {
            packets.withLock { $0[name, default: []].append(packet) }
        }

        subscript(name: String) -> [MediaPacket] { packets.withLock { $0[name] ?? [] } }
    }

    private static let program = ProgramConfiguration(
        width: 640,
        height: 360,
        preset: "ultrafast",
        ladder: RenditionLadder(
            renditions: [
                Rendition(name: "tiny", width: 160, height: 90, frameRate: FrameRate(15), videoBitrate: 100),
                Rendition(name: "small", width: 320, height: 180, videoBitrate: 300),
            ],
            hasAudioOnly: true
        )
    )

    /// Seven seconds of a red host, with a key picture asked for at second five.
    private func perform() throws -> Received {
        let received = Received()
        let renderer = try ProgramRenderer(configuration: Self.program) { received.append($0, to: "program") }
        try renderer.offerRenditions { received.append($1, to: $0) }
        let clip = try HostClip.make(
            paint: { canvas, _ in canvas.fill(canvas.bounds, .red) },
            sample: { Float(0.3 * TestTone.sine(of: 440, at: $0)) }
        )
        let input = renderer.addHost("host")
        renderer.apply(Rehearsal.grid(["host"], width: 640, height: 360))
        let packets = clip.packets(from: 0, to: 7000)
        var next = 0
        for millisecond in stride(from: Int64(0), through: 7000, by: 20) {
            let moment = MonotonicTime(nanoseconds: 0).advanced(milliseconds: millisecond)
            while next < packets.count, packets[next].timestamp <= millisecond {
                input.receive(packets[next], arrival: moment)
                next += 1
            }
            if millisecond == 5000 { renderer.requestKeyPicture() }
            renderer.advance(to: moment)
        }
        return received
    }

    @Test("key pictures fall on the same moments in all of them, the sound is the program's, and times never go back")
    func alignment() throws {
        let received = try perform()
        let keys = received["program"].filter(\.isKeyPicture).map(\.timestamp)
        #expect(keys.count == 5)
        #expect(keys.prefix(3) == [0, 2000, 4000])
        #expect(received["small"].filter(\.isKeyPicture).map(\.timestamp) == keys)
        // Asked for between two of its pictures, its key picture comes with the next one.
        let tiny = received["tiny"].filter(\.isKeyPicture).map(\.timestamp)
        #expect(tiny.count == keys.count && zip(tiny, keys).allSatisfy { (0...34).contains($0 - $1) })
        #expect(tiny.filter { $0 % 2000 == 0 } == keys.filter { $0 % 2000 == 0 })

        func sounds(_ name: String) -> [ByteBuffer] {
            received[name].filter { $0.content == .sound(.aac) }.map(\.payload)
        }
        let program = sounds("program")
        #expect(program.count > 300)
        for name in ["small", "tiny", "audio"] {
            let sounds = sounds(name)
            #expect(sounds.count >= program.count - 3)
            #expect(sounds.elementsEqual(program.prefix(sounds.count)))
            let times = received[name].map(\.timestamp)
            #expect(times == times.sorted())
        }
        #expect(received["audio"].filter(\.isVideo).isEmpty)
    }

    @Test("where the picture that begins a group is left out, the next one begins it in all of them")
    func leftOut() throws {
        let received = Received()
        let ring = try CanvasRing(width: 640, height: 360)
        let encoder = try ProgramEncoder(
            Self.program,
            encoderOptions: VideoEncoderConfiguration.usualOptions,
            firstSample: 0,
            ring: ring,
            sink: { received.append($0, to: "program") }
        )
        try encoder.offerRenditions(hasThreads: false) { received.append($1, to: $0) }
        for index in Int64(0)..<190 where index != 60 && !(178...181).contains(index) {
            if index == 70 { encoder.degrade(to: .lightestCoding) }
            ring.lend(0)
            encoder.takePicture(canvas: 0, index: index)
        }
        #expect(encoder.snapshot().takeovers == 1)
        #expect(encoder.renditions.map(\.takeovers) == [1, 1, 0], "the sound by itself has no pictures to search")
        let silence = [Float](repeating: 0, count: ProgramTime.quantum)
        silence.withUnsafeBufferPointer { zeros in
            guard let start = zeros.baseAddress else { return }
            for quantum in 0..<Int64(7 * 48_000 / ProgramTime.quantum) {
                let first = quantum * Int64(ProgramTime.quantum)
                encoder.takeSound(left: start, right: start, count: ProgramTime.quantum, firstSample: first)
            }
        }
        for name in ["program", "small", "tiny"] {
            let packets = received[name]
            #expect(packets.filter(\.isKeyPicture).map(\.timestamp) == [0, 2033, 4000, 6066], "\(name)")
            let times = packets.map(\.timestamp)
            #expect(times == times.sorted(), "\(name)")
        }
        #expect(encoder.renditions.allSatisfy { $0.errors == 0 && $0.droppedPictures == 0 })
    }

    @Test("each has its own size, rate and picture")
    func pictures() throws {
        let received = try perform()
        for (name, width, count) in [("small", 320, 210), ("tiny", 160, 105)] {
            let packets = received[name]
            #expect(packets.first?.content == .videoConfiguration(.h264))
            #expect(packets.dropFirst().first?.content == .audioConfiguration(.aac))
            let configuration = try AVCConfiguration(try #require(packets.first).payload)
            #expect(configuration.sps.width == width)
            let pictures = packets.filter { if case .picture = $0.content { true } else { false } }
            #expect((count - 1...count + 1).contains(pictures.count))
            var decoder = try VideoDecoder(configuration: try #require(packets.first))
            var colours: [YUVColour] = []
            for packet in pictures {
                try decoder.decode(packet) { colours.append(Self.middle(of: $0)) }
            }
            let last = try #require(colours.last)
            #expect(abs(Int(last.y) - Int(YUVColour.red.y)) < 6 && abs(Int(last.v) - Int(YUVColour.red.v)) < 6)
        }
    }

    private static func middle(of picture: Picture) -> YUVColour {
        guard let canvas = try? Canvas(width: 16, height: 16), (try? canvas.draw(picture, in: canvas.bounds)) != nil
        else { return .black }
        return canvas.colour(x: 8, y: 8)
    }

    @Test("a picture of the program can be had as a file, in its size or a smaller one", .timeLimit(.minutes(1)))
    func snapshots() async throws {
        let renderer = try ProgramRenderer(configuration: Self.program) { _ in }
        let (files, found) = AsyncStream.makeStream(of: (Snapshot, ByteBuffer?).self)
        let orders = [Snapshot(.jpeg), Snapshot(.png), Snapshot(.jpeg, width: 320)]
        for order in orders { renderer.order(order) { found.yield((order, $0)) } }
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: 200))
        var count = 0
        for await (order, file) in files {
            let bytes = Array(try #require(file).readableBytesView)
            #expect(bytes.starts(with: order.format == .png ? [0x89, 0x50, 0x4E, 0x47] : [0xFF, 0xD8, 0xFF]))
            count += 1
            if count == orders.count { break }
        }
    }
}
