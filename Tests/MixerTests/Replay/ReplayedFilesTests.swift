import Codecs
import Foundation
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("A program with images, music and a still screen made again", .serialized) struct ReplayedFilesTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"
    private static let size = (width: 160, height: 90)

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func image(_ colour: YUVColour, width: Int = 64, height: Int = 36) throws -> ByteBuffer {
        let canvas = try Canvas(width: width, height: height)
        canvas.fill(canvas.bounds, .black)
        canvas.fill(PixelRectangle(x: 0, y: 0, width: width / 2, height: height), colour)
        return try canvas.png()
    }

    /// A camera, a screen, and somebody whose avatar is shown, before the room's own wall.
    private static func stage(_ hosts: [String] = ["a", "s", "c"]) -> Scene {
        var scene = Rehearsal.grid(hosts, width: size.width, height: size.height)
        for index in scene.tiles.indices {
            if hosts[index] == "s" { scene.tiles[index].source = .screen }
            if hosts[index] == "c" { scene.tiles[index].avatar = "asset:face" }
        }
        scene.decoration.background = "asset:wall"
        scene.decoration.logo = Logo(asset: "asset:logo", opacity: 0.5, height: 0.3)
        return scene
    }

    private static func slate(_ music: String?, image: String? = nil) -> Scene {
        Scene(slate: Slate(kind: .startingSoon, text: "…", image: image, music: music))
    }

    /// A picture, a change soon after it, and then nothing any more.
    private static func screen() throws -> [MediaPacket] {
        let clip = try HostClip.make(
            width: 160,
            height: 90,
            frameRate: 10,
            paint: { canvas, index in canvas.fill(canvas.bounds, index < 4 ? .white : .green) },
            sample: nil
        )
        return clip.packets(from: 0, to: 600)
    }

    @Test("With files that come late, are replaced and are none, every pixel and every sample is the same again")
    func identical() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let ring = try CanvasRing(width: Self.size.width, height: Self.size.height)
        let output = FingerprintOutput(ring: ring)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: Self.size.width, height: Self.size.height),
            ring: ring,
            output: output,
            recorder: recorder
        )
        let camera = try HostClip.plain(.red, tone: 500, width: 160, height: 90)
        let (first, second) = (try SoundFile.tone(440), try SoundFile.tone(330, rate: 44_100))
        let (face, other) = (try Self.image(.blue), try Self.image(.white))
        let (wall, logo) = (try Self.image(.green), try Self.image(.red))
        let screen = try Self.screen()
        var inputs: [String: HostInput] = [:]
        var events: [(time: Double, event: () -> Void)] = [
            (0, { renderer.apply(Self.slate("asset:music", image: "asset:wall")) }),
            (203, { inputs["a"] = renderer.addHost("a") }),
            (205, { inputs["s"] = renderer.addHost("s", mayStandStill: true) }),
            (402, { renderer.provide(first, for: "asset:music") }),
            (431, { renderer.provide(wall, for: "asset:wall") }),
            (1999, { renderer.apply(Self.stage()) }),
            (2003, { renderer.provide(face, for: "asset:face") }),
            (2407, { renderer.provide(logo, for: "asset:logo") }),
            (3001, { renderer.provide(other, for: "asset:face") }),
            (3301, { renderer.provide(ByteBuffer(string: "no image"), for: "asset:logo") }),
            (5002, { renderer.apply(Self.slate("asset:music")) }),
            (6009, { renderer.provide(second, for: "asset:music") }),
            (7503, { renderer.apply(Self.slate("asset:other")) }),
            (7801, { renderer.provide(first, for: "asset:other") }),
            (9000, {}),
        ]
        for packet in camera.packets(from: 0, to: 4000) {
            let time = Double(packet.timestamp) + 230
            events.append((time, { inputs["a"]?.receive(packet, arrival: Rehearsal.moment(time)) }))
        }
        for packet in screen {
            let time = Double(packet.timestamp) + 230
            events.append((time, { inputs["s"]?.receive(packet, arrival: Rehearsal.moment(time)) }))
        }
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            renderer.advance(to: Rehearsal.moment(time))
            event()
        }
        recorder.close()
        #expect(recorder.end == .closed)

        let replay = try ArrivalReplay(path: path)
        let (again, _) = try replay.fingerprint()
        // To the very end, where nothing has arrived for five seconds.
        #expect(again.pictures == 271 && again.samples > 9 * 48_000 - 1024)
        #expect(again.pictures == output.fingerprint.pictures && again.samples == output.fingerprint.samples)
        #expect(again.picture == output.fingerprint.picture)
        #expect(again.sound == output.fingerprint.sound)
    }

    @Test("What the live mixer showed of files, music and a still screen is what the replay shows")
    func live() throws {
        defer { remove() }
        let camera = try HostClip.plain(.red, tone: 500, width: 160, height: 90)
        let music = try SoundFile.tone(
            440,
            seconds: 3,
            rate: 44_100,
            ["-c:a", "libmp3lame", "-b:a", "128k"],
            suffix: "mp3"
        )
        let (face, wall) = (try Self.image(.blue), try Self.image(.green))
        let screen = try Self.screen()
        let recorder = try ArrivalRecorder(path: path)
        let log = PacketLog()
        let mixer = try ProgramMixer(
            configuration: ProgramConfiguration(
                width: Self.size.width,
                height: Self.size.height,
                videoBitrate: 200,
                preset: "ultrafast"
            ),
            encoderOptions: "",
            recorder: recorder
        ) { log.append($0) }
        mixer.start()
        let begun = MonotonicTime.now()
        let (a, s) = (mixer.addHost("a"), mixer.addHost("s", mayStandStill: true))
        var events: [(time: Int64, event: () -> Void)] = [
            (0, { mixer.apply(Self.slate("asset:music", image: "asset:wall")) }),
            (300, { mixer.provide(music, for: "asset:music") }),
            (310, { mixer.provide(wall, for: "asset:wall") }),
            (2000, { mixer.apply(Self.stage()) }),
            (2100, { mixer.provide(face, for: "asset:face") }),
            (3000, { mixer.apply(Self.slate("asset:music")) }),
            (3900, { mixer.apply(Self.stage(["s", "c", "a"])) }),
            (5200, {}),
        ]
        for packet in camera.packets(from: 0, to: 4500) {
            events.append((packet.timestamp, { a.receive(packet, arrival: .now()) }))
        }
        for packet in screen { events.append((packet.timestamp, { s.receive(packet, arrival: .now()) })) }
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            MonotonicSleep.until(begun.advanced(milliseconds: time))
            event()
        }
        mixer.stop()
        recorder.close()
        #expect(recorder.end == .closed)
        let statistics = mixer.statistics

        let again = PacketLog()
        try ArrivalReplay(path: path).render(encoderOptions: "") { again.append($0) }
        let (then, now) = (log.all, again.all)
        let sounds = zip(then.filter(\.isAudio), now.filter(\.isAudio)).map { ($0, $1) }
        #expect(sounds.count > 200)
        let unlike = sounds.filter { $0.timestamp != $1.timestamp || $0.body != $1.body }.map(\.0.timestamp)
        #expect(unlike.isEmpty, "other sound at \(unlike) ms")
        // A machine that was late with a picture is no part of what arrived.
        guard statistics.lateTicks == 0, statistics.skippedPictures == 0, statistics.jumps == 0 else { return }
        let pictures = zip(then.filter(\.isVideo), now.filter(\.isVideo)).map { ($0, $1) }
        #expect(pictures.count > 140)
        let others = pictures.filter { $0.timestamp != $1.timestamp || $0.body != $1.body }.map(\.0.timestamp)
        #expect(others.isEmpty, "another picture at \(others) ms")
    }
}
