import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("Host visibility") struct HostVisibilityTests {
    private func tile(
        _ host: String,
        _ width: Int,
        _ height: Int,
        x: Int = 0,
        source: Tile.Source = .camera
    ) -> Tile {
        Tile(
            position: 0,
            participantSID: host,
            source: source,
            rectangle: TileRectangle(x: x, y: 0, width: width, height: height),
            scaleMode: .fill,
            label: host,
            isMicOn: true
        )
    }

    @Test("frames that shrink by a quarter or more are decoded without deblocking, others with it")
    func polish() {
        let size = (width: 1280, height: 720)
        let cases: [(width: Int, height: Int, economy: VideoDecoder.Economy)] = [
            (1280, 720, .none), (980, 536, .none), (960, 560, .none), (956, 536, .skipDeblockingDisposable),
            (636, 356, .skipDeblockingDisposable), (428, 240, .skipDeblockingDisposable), (314, 720, .none),
        ]
        for group in [nil, 60, 1000] {
            for (width, height, economy) in cases {
                let visibility = HostVisibility.tile(width: width, height: height)
                #expect(visibility.economy(of: size, gopLength: group) == economy, "\(width)x\(height)")
            }
            #expect(HostVisibility.tile(width: 314, height: 234).economy(of: nil, gopLength: group) == .none)
            #expect(HostVisibility.whole.economy(of: size, gopLength: group) == .none)
            #expect(HostVisibility.hidden.economy(of: size, gopLength: group) == .none)
        }
    }

    @Test("frames that shrink to a third are decoded without deblocking except keyframes, if those are frequent")
    func far() {
        let groups: [(Int?, VideoDecoder.Economy)] = [
            (nil, .skipDeblockingDisposable), (1, .skipDeblockingNonKey), (180, .skipDeblockingNonKey),
            (181, .skipDeblockingDisposable),
        ]
        for (group, economy) in groups {
            for (width, height) in [(420, 234), (424, 240), (314, 234)] {
                let visibility = HostVisibility.tile(width: width, height: height)
                #expect(visibility.economy(of: (1280, 720), gopLength: group) == economy, "\(width)x\(height)")
            }
        }
    }

    @Test("a decoder gets the size of the largest tile, and the fit")
    func reduction() {
        let cut = HostVisibility.tile(width: 637, height: 356)
        #expect(cut.reduction == DownscaleTarget(width: 636, height: 356, fit: .fill))
        let bars = HostVisibility.tile(width: 636, height: 356, fit: .fit)
        #expect(bars.reduction == DownscaleTarget(width: 636, height: 356, fit: .fit))
        #expect(HostVisibility.whole.reduction == nil && HostVisibility.hidden.reduction == nil)
    }

    @Test("the largest tile counts, a concealed host is not hidden, and all hosts are hidden behind a slate")
    func scenes() {
        var scene = Scene(tiles: [tile("a", 200, 100), tile("b", 300, 200, x: 200), tile("a", 160, 120, x: 500)])
        scene.tiles.append(tile("c", 300, 200, x: 700, source: .screen))
        scene.tiles.append(tile("d", 300, 200, x: 1000, source: .placeholder))
        scene.concealed = ["e"]
        #expect(scene.visibility(of: "a") == .tile(width: 200, height: 120))
        #expect(scene.visibility(of: "b") == .tile(width: 300, height: 200))
        #expect(["c", "d", "e"].allSatisfy { scene.visibility(of: $0) == .whole })
        #expect(scene.visibility(of: "f") == .hidden)
        scene.slate = Slate(kind: .beRightBack)
        #expect(["a", "b", "c"].allSatisfy { scene.visibility(of: $0) == .hidden })
    }

    @Test("a host under another tile is hidden, unless an edge or another tile of it is visible")
    func covered() {
        let (small, large) = (tile("a", 200, 100, x: 40), tile("b", 300, 200))
        #expect(Scene(tiles: [small, large]).visibility(of: "a") == .hidden)
        #expect(Scene(tiles: [small, large]).visibility(of: "b") == .tile(width: 300, height: 200))
        #expect(Scene(tiles: [large, small]).visibility(of: "a") == .tile(width: 200, height: 100))
        #expect(Scene(tiles: [tile("a", 300, 200), large]).visibility(of: "a") == .hidden)
        let beyond = [tile("a", 302, 200), tile("a", 300, 201), tile("a", 200, 100, x: -2), tile("a", 260, 100, x: 41)]
        for other in beyond {
            #expect(Scene(tiles: [other, large]).visibility(of: "a") != .hidden, "\(other.rectangle)")
        }
        // A tile with odd edges covers less than its rectangle.
        #expect(Scene(tiles: [small, tile("b", 301, 200)]).visibility(of: "a") != .hidden)
        #expect(Scene(tiles: [small, tile("b", .max, .max)]).visibility(of: "a") != .hidden)
        let other = tile("a", 60, 40, x: 400)
        #expect(Scene(tiles: [small, other, large]).visibility(of: "a") == .tile(width: 60, height: 40))
    }

    @Test("a host without a tile is decoded by keyframes alone, and is at its present frame at once when visible again")
    func becomesVisibleAgain() throws {
        // The luma of a frame encodes its time.
        let clip = try HostClip.make(
            paint: { canvas, index in
                canvas.fill(canvas.bounds, YUVColour(y: UInt8(30 + index % 60 * 3), u: 128, v: 128))
            },
            sample: nil
        )
        let program = try TestProgram()
        program.show(["a", "b"])
        program.feed("a", clip.packets(from: 0, to: 12_000)) { Double($0) + 30 }
        program.run(to: 2500)
        program.show(["b"])
        program.run(to: 3000)
        let before = program.host("a").frames
        program.run(to: 9400)
        #expect(program.host("a").frames - before <= 4)
        program.show(["a", "b"])
        program.run(to: 11_000)
        let seen = program.output.frames.filter { program.time(of: $0.index) > 9800 }
        #expect(seen.count > 30)
        for shown in seen {
            let host = program.time(of: shown.index) - 330
            let expected = 30 + Int(host * 30 / 1000) % 60 * 3
            let distance = abs(Int(shown.colours[0].y) - expected)
            #expect(min(distance, 180 - distance) <= 6, "picture \(shown.index)")
        }
        #expect(program.host("a").decodeErrors == 0)
    }

    @Test("an endless GOP is not stored, and the buffer waits for the next keyframe")
    func endless() {
        var buffer = UndecodedFrameBuffer()
        func frame(_ isKey: Bool) -> MediaPacket {
            .h264Frame(isKey: isKey, isDisposable: false, timestamp: 0, compositionOffset: 0, capacity: 8) {
                $0.writeInteger(UInt32(1))
            }
        }
        var isAccepted = buffer.append(frame(true))
        for _ in 1..<300 { isAccepted = buffer.append(frame(false)) && isAccepted }
        #expect(isAccepted)
        isAccepted = buffer.append(frame(false))
        #expect(!isAccepted)
        var first = buffer.popFirst()
        #expect(first == nil)
        for _ in 0..<5 { isAccepted = buffer.append(frame(true)) }
        first = buffer.popFirst()
        let second = buffer.popFirst()
        #expect(isAccepted && first != nil && second == nil)
    }
}

@Suite("Host visibility schedule") struct HostVisibilityScheduleTests {
    private let small = HostVisibility.tile(width: 320, height: 180)
    private let large = HostVisibility.tile(width: 640, height: 360)

    private func frame(_ timestamp: Int64) -> MediaPacket {
        .h264Frame(isKey: false, isDisposable: false, timestamp: timestamp, compositionOffset: 0, capacity: 8) {
            $0.writeInteger(UInt32(1))
        }
    }

    @Test("a new tile takes effect at a frame's timestamp, whatever is decoded before")
    func fromFrame() {
        var schedule = HostVisibilitySchedule()
        schedule.change(to: small, from: nil)
        #expect(schedule.follow(nil) == small)
        schedule.change(to: large, from: 1000)
        schedule.change(to: .hidden, from: 1200)
        #expect(schedule.newest == .hidden && schedule.reappearances == 0)
        let audio = MediaPacket.aacFrame(timestamp: 5000, capacity: 4) { $0.writeInteger(UInt32(0)) }
        #expect(schedule.follow(audio) == small && schedule.follow(frame(999)) == small)
        #expect(schedule.follow(frame(1000)) == large && schedule.follow(nil) == large)
        #expect(schedule.follow(frame(1300)) == .hidden)
    }

    @Test("a host that gets a tile again is visible at once, and pending changes are dropped")
    func becomesVisibleAgain() {
        var schedule = HostVisibilitySchedule()
        schedule.change(to: small, from: nil)
        schedule.change(to: .hidden, from: 1000)
        schedule.change(to: large, from: 1100)
        #expect(schedule.reappearances == 1)
        #expect(schedule.follow(frame(10)) == large && schedule.follow(frame(2000)) == large)
        schedule.change(to: large, from: 3000)
        #expect(schedule.reappearances == 1)
    }

    @Test("changes without frames do not pile up, and the last one counts")
    func many() {
        var schedule = HostVisibilitySchedule()
        for step in 0..<100 { schedule.change(to: step % 2 == 0 ? small : large, from: Double(1000 + step)) }
        #expect(schedule.newest == large)
        #expect(schedule.follow(frame(1091)) == large && schedule.follow(frame(1092)) == small)
        #expect(schedule.follow(frame(5000)) == large)
    }

    @Test("a static screen shows its last frame as soon as it is visible again", .timeLimit(.minutes(1)))
    func stillScreen() throws {
        let clip = try HostClip.plain(.white, tone: nil, frameRate: 10)
        let anchor = ProgramAnchor(start: .now(), firstSample: 0)
        let input = HostInput(id: "s", anchor: anchor, jitterTarget: 60, isScreenShare: true)
        var number = input.setVisibility(.hidden, at: nil)
        #expect(number == nil)
        let thread = DecodeThread(input)
        defer { thread.stop() }
        for packet in clip.packets(from: 0, to: 600) { input.receive(packet, arrival: .now()) }
        wait {
            _ = input.advance(to: anchor.milliseconds(at: .now()), isAudible: false)
            return input.media.withLock { $0.frameCount + $0.undecodedFrames } == 6
        }
        // No further packet could wake the thread.
        number = input.setVisibility(.whole, at: anchor.milliseconds(at: .now()))
        #expect(number == 1)
        #expect(input.media.withLock { $0.frames.last?.presentationTimestamp } == 0)
        wait { input.media.withLock { $0.reappearances } == 1 }
        input.media.withLock { $0.finishCatchUp() }
        #expect(input.media.withLock { $0.frames.last?.presentationTimestamp } == 500)
    }

    /// Waits until the condition is true, for five seconds at most.
    private func wait(_ isSo: () -> Bool) {
        let deadline = MonotonicTime.now().advanced(milliseconds: 5000)
        while !isSo(), MonotonicTime.now() < deadline { MonotonicSleep.until(.now().advanced(milliseconds: 5)) }
        #expect(isSo())
    }
}
