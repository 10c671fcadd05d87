import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Renditions of a program", .enabled(if: TestRun.isFull)) struct LadderEncoderTests {
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
        preset: .ultrafast,
        ladder: RenditionLadder(
            renditions: [
                Rendition(name: "tiny", width: 160, height: 90, frameRate: FrameRate(15), videoBitrate: 100),
                Rendition(name: "small", width: 320, height: 180, videoBitrate: 300),
            ],
            hasAudioOnly: true
        )
    )

    /// Renders seven seconds of a red host, with a keyframe request at second five.
    private func render() throws -> Received {
        let received = Received()
        let renderer = try ProgramRenderer(configuration: Self.program) { received.append($0, to: "program") }
        try renderer.encodeRenditions { received.append($1, to: $0) }
        let clip = try HostClip.make(
            paint: { canvas, _ in canvas.fill(canvas.bounds, .red) },
            sample: { Float(0.3 * TestTone.sine(of: 440, at: $0)) }
        )
        let input = renderer.addHost("host")
        renderer.apply(TestProgram.grid(["host"], width: 640, height: 360))
        let packets = clip.packets(from: 0, to: 7000)
        var next = 0
        for millisecond in stride(from: Int64(0), through: 7000, by: 20) {
            let moment = MonotonicTime(nanoseconds: 0).advanced(milliseconds: millisecond)
            while next < packets.count, packets[next].timestamp <= millisecond {
                input.receive(packets[next], arrival: moment)
                next += 1
            }
            if millisecond == 5000 { renderer.requestKeyframe() }
            renderer.advance(to: moment)
        }
        return received
    }

    @Test("keyframes are aligned in all renditions, the audio is the program's, and timestamps never decrease")
    func alignment() throws {
        let received = try render()
        let keyframes = received["program"].filter(\.isKeyframe).map(\.timestamp)
        #expect(keyframes.count == 5)
        #expect(keyframes.prefix(3) == [0, 2000, 4000])
        #expect(received["small"].filter(\.isKeyframe).map(\.timestamp) == keyframes)
        // For a request between two of its frames, the keyframe is the next one.
        let tiny = received["tiny"].filter(\.isKeyframe).map(\.timestamp)
        #expect(tiny.count == keyframes.count && zip(tiny, keyframes).allSatisfy { (0...34).contains($0 - $1) })
        #expect(tiny.filter { $0 % 2000 == 0 } == keyframes.filter { $0 % 2000 == 0 })

        func audioPayloads(_ name: String) -> [ByteBuffer] {
            received[name].filter { $0.content == .audio(.aac) }.map(\.payload)
        }
        let program = audioPayloads("program")
        #expect(program.count > 300)
        for name in ["small", "tiny", "audio"] {
            let payloads = audioPayloads(name)
            #expect(payloads.count >= program.count - 3)
            #expect(payloads.elementsEqual(program.prefix(payloads.count)))
            let times = received[name].map(\.timestamp)
            #expect(times == times.sorted())
        }
        #expect(received["audio"].filter(\.isVideo).isEmpty)
    }

    @Test("where the frame that begins a GOP is dropped, the next one begins it in all renditions")
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
        try encoder.encodeRenditions(hasThreads: false) { received.append($1, to: $0) }
        for index in Int64(0)..<190 where index != 60 && !(178...181).contains(index) {
            if index == 70 { encoder.degrade(to: .lightestCoding) }
            ring.retain(0)
            encoder.writeFrame(canvas: 0, index: index)
        }
        #expect(encoder.snapshot().takeovers == 1)
        #expect(encoder.renditions.map(\.takeovers) == [1, 1, 0], "the sound by itself has no pictures to search")
        let silence = [Float](repeating: 0, count: ProgramTime.quantum)
        silence.withUnsafeBufferPointer { zeros in
            guard let start = zeros.baseAddress else { return }
            for quantum in 0..<Int64(7 * 48_000 / ProgramTime.quantum) {
                let first = quantum * Int64(ProgramTime.quantum)
                encoder.writeAudio(left: start, right: start, count: ProgramTime.quantum, firstSample: first)
            }
        }
        for name in ["program", "small", "tiny"] {
            let packets = received[name]
            #expect(packets.filter(\.isKeyframe).map(\.timestamp) == [0, 2033, 4000, 6066], "\(name)")
            let times = packets.map(\.timestamp)
            #expect(times == times.sorted(), "\(name)")
        }
        #expect(encoder.renditions.allSatisfy { $0.errors == 0 && $0.droppedFrames == 0 })
    }

    @Test("each rendition has its own size, rate and content")
    func frames() throws {
        let received = try render()
        for (name, width, count) in [("small", 320, 210), ("tiny", 160, 105)] {
            let packets = received[name]
            #expect(packets.first?.content == .videoConfiguration(.h264))
            #expect(packets.dropFirst().first?.content == .audioConfiguration(.aac))
            let configuration = try AVCConfiguration(try #require(packets.first).payload)
            #expect(configuration.sps.width == width)
            let frames = packets.filter { if case .video = $0.content { true } else { false } }
            #expect((count - 1...count + 1).contains(frames.count))
            var decoder = try VideoDecoder(configuration: try #require(packets.first))
            var colours: [YUVColour] = []
            for packet in frames {
                try decoder.decode(packet) { colours.append(Self.middle(of: $0)) }
            }
            let last = try #require(colours.last)
            #expect(abs(Int(last.y) - Int(YUVColour.red.y)) < 6 && abs(Int(last.v) - Int(YUVColour.red.v)) < 6)
        }
    }

    private static func middle(of frame: VideoFrame) -> YUVColour {
        guard let canvas = try? Canvas(width: 16, height: 16), (try? canvas.draw(frame, in: canvas.bounds)) != nil
        else { return .black }
        return canvas.colour(x: 8, y: 8)
    }

    @Test("a frame of the program can be encoded as an image file, in its size or smaller", .timeLimit(.minutes(1)))
    func snapshotFiles() async throws {
        let renderer = try ProgramRenderer(configuration: Self.program) { _ in }
        let (files, found) = AsyncStream.makeStream(of: (Snapshot, ByteBuffer?).self)
        let snapshots = [Snapshot(.jpeg), Snapshot(.png), Snapshot(.jpeg, width: 320)]
        for snapshot in snapshots { renderer.requestSnapshot(snapshot) { found.yield((snapshot, $0)) } }
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: 200))
        var count = 0
        for await (snapshot, file) in files {
            let bytes = Array(try #require(file).readableBytesView)
            #expect(bytes.starts(with: snapshot.format == .png ? [0x89, 0x50, 0x4E, 0x47] : [0xFF, 0xD8, 0xFF]))
            count += 1
            if count == snapshots.count { break }
        }
    }
}

@Suite("Rendition queue") struct RenditionQueueTests {
    @Test("frames without a free canvas are skipped and counted, and audio stays")
    func drops() {
        var queue = RenditionQueue(canvases: 3)
        for index in 0..<5 as Range<Int64> {
            if let canvas = queue.acquireCanvas(index: index, isKey: false) {
                queue.append(.frame(canvas: canvas, index: index, isKey: false))
            }
            queue.append(.audioWatermark(index))
        }
        #expect(queue.dropped == 2)
        var jobs: [RenditionQueue.Job] = []
        while let job = queue.next() { jobs.append(job) }
        #expect(jobs.count == 10)
        #expect(jobs.contains(.skipped(index: 3)) && jobs.contains(.skipped(index: 4)))
    }

    @Test("a keyframe replaces the newest waiting frame, so that it stays aligned")
    func keys() {
        var queue = RenditionQueue(canvases: 3)
        for index in 0..<3 as Range<Int64> {
            if let canvas = queue.acquireCanvas(index: index, isKey: false) {
                queue.append(.frame(canvas: canvas, index: index, isKey: false))
            }
        }
        let canvas = queue.acquireCanvas(index: 3, isKey: true)
        #expect(canvas != nil)
        if let canvas { queue.append(.frame(canvas: canvas, index: 3, isKey: true)) }
        var frames: [Int64] = []
        while let job = queue.next() { if case .frame(_, let index, _) = job { frames.append(index) } }
        #expect(frames == [0, 1, 3])
        #expect(queue.dropped == 1)
    }

    @Test("a released canvas is free again")
    func releaseCanvas() {
        var queue = RenditionQueue(canvases: 1)
        #expect(queue.acquireCanvas(index: 0, isKey: true) == 0)
        #expect(queue.acquireCanvas(index: 1, isKey: false) == nil)
        queue.release(0)
        #expect(queue.acquireCanvas(index: 2, isKey: false) == 0)
    }
}
