import Codecs
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Music under a slate", .enabled(if: TestRun.isFull)) struct SlateMusicTests {
    private static let amplitude = 0.5 * Double(MusicBed.level)

    @Test("music fades in, loops seamlessly, fades out, and is then silent")
    func loop() throws {
        // A second of a whole number of periods: a seam would be detected.
        let program = try TestProgram(music: AudioFile.tone(440))
        program.run(to: 6000)
        program.renderer.apply(TestProgram.slate(music: nil))
        program.run(to: 8000)
        let output = program.output
        let step = TestTone.step(of: 440, amplitude: Self.amplitude)
        #expect(TestTone.largestStep(in: output.left[...]) < step * 1.02 + 0.001)
        #expect(abs(TestTone.amplitude(of: 440, in: output.audio(from: 700, to: 5700)) - Self.amplitude) < 0.003)
        #expect(abs(TestTone.amplitude(of: 440, in: output.audio(from: 240, to: 260)) - Self.amplitude / 2) < 0.03)
        #expect(abs(TestTone.amplitude(of: 440, in: output.audio(from: 6300, to: 6320)) - Self.amplitude / 2) < 0.05)
        #expect(output.audio(from: 6700, to: 7900).allSatisfy { $0 == 0 })
    }

    @Test(
        "every file format plays at its own rate, in a loop",
        arguments: ["mp3", "aac", "ogg", "flac", "opus"]
    )
    func kinds(kind: String) throws {
        let arguments: (list: [String], suffix: String) =
            switch kind {
            case "mp3": (["-c:a", "libmp3lame", "-b:a", "192k"], "mp3")
            case "aac": (["-c:a", "aac", "-b:a", "192k", "-f", "adts"], "aac")
            case "ogg": (["-c:a", "libvorbis", "-q:a", "6"], "ogg")
            case "opus": (["-c:a", "libopus", "-b:a", "160k"], "ogg")
            default: (["-c:a", "flac"], "flac")
            }
        let rate = kind == "opus" ? 48_000 : 44_100
        let file = try AudioFile.tone(440, seconds: 2, rate: rate, arguments.list, suffix: arguments.suffix)
        let program = try TestProgram(music: file)
        program.run(to: 7000)
        let recorded = program.output.audio(from: 700, to: 6900)
        // AAC has no encoder delay metadata, so a little is missing at each loop.
        let tolerance = kind == "aac" ? 0.03 : 0.01
        #expect(abs(TestTone.level(of: 440, in: recorded) - Self.amplitude) < tolerance)
    }

    @Test("a scene may reference a file before it is provided, and music begins when it comes")
    func late() throws {
        let program = try TestProgram()
        program.renderer.apply(TestProgram.slate(music: TestProgram.music))
        program.run(to: 1000)
        #expect(program.output.left.allSatisfy { $0 == 0 })
        program.renderer.provide(try AudioFile.tone(440), for: TestProgram.music)
        program.run(to: 3000)
        #expect(abs(TestTone.level(of: 440, in: program.output.audio(from: 1800, to: 2900)) - Self.amplitude) < 0.005)
    }

    @Test("another slate's music begins when the present one has faded out")
    func change() throws {
        let program = try TestProgram()
        program.renderer.provide(try AudioFile.tone(440), for: "one")
        program.renderer.provide(try AudioFile.tone(880), for: "two")
        program.renderer.apply(TestProgram.slate(music: "one"))
        program.run(to: 2000)
        program.renderer.apply(TestProgram.slate(music: "two"))
        program.run(to: 4000)
        let output = program.output
        #expect(TestTone.level(of: 880, in: output.audio(from: 1000, to: 2000)) < 0.001)
        #expect(TestTone.level(of: 440, in: output.audio(from: 2700, to: 3900)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: output.audio(from: 3300, to: 3900)) - Self.amplitude) < 0.005)
        let limit = TestTone.step(of: 880, amplitude: Self.amplitude) * 1.05
        #expect(TestTone.largestStep(in: output.left[...]) < limit)
    }

    @Test("a replaced file begins when the present one has faded out, without a click")
    func replaced() throws {
        let program = try TestProgram(music: AudioFile.tone(440))
        program.run(to: 2000)
        program.renderer.provide(try AudioFile.tone(880), for: TestProgram.music)
        program.run(to: 4000)
        let output = program.output
        #expect(abs(TestTone.level(of: 440, in: output.audio(from: 1000, to: 2000)) - Self.amplitude) < 0.005)
        #expect(TestTone.level(of: 440, in: output.audio(from: 2700, to: 3900)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: output.audio(from: 3300, to: 3900)) - Self.amplitude) < 0.005)
        let limit = TestTone.step(of: 880, amplitude: Self.amplitude) * 1.05
        #expect(TestTone.largestStep(in: output.left[...]) < limit)
    }

    @Test("a withdrawn file fades out")
    func withdrawn() throws {
        let program = try TestProgram(music: AudioFile.tone(440))
        program.run(to: 3000)
        program.renderer.provide(ByteBuffer(), for: TestProgram.music)
        program.run(to: 5000)
        let output = program.output
        #expect(abs(TestTone.amplitude(of: 440, in: output.audio(from: 700, to: 2900)) - Self.amplitude) < 0.003)
        #expect(output.audio(from: 3700, to: 4900).allSatisfy { $0 == 0 })
        let step = TestTone.step(of: 440, amplitude: Self.amplitude)
        #expect(TestTone.largestStep(in: output.left[...]) < step * 1.02 + 0.001)
    }

    @Test("a file without audio is silence, and a very short file is not looped")
    func invalidSamples() throws {
        for bytes in [
            ByteBuffer(), ByteBuffer(string: "not music"), ByteBuffer(repeating: 0xFF, count: 100_000),
            try AudioFile.make("aevalsrc=0.5:d=0.01", ["-c:a", "pcm_s16le"], suffix: "wav"),
            try AudioFile.make("testsrc=d=1:s=64x64", ["-f", "mpegts"], suffix: "ts"),
        ] {
            let reports = Mutex<[String]>([])
            let assets = AssetCache { name, _ in reports.withLock { $0.append(name) } }
            assets.put(bytes, for: "music")
            let music = SlateMusic(assets)
            music.play("music")
            music.fill()
            music.fill()
            #expect(!music.isReady)
            // A valid but short audio file is not reported.
            #expect(reports.withLock { $0.count } <= 1)
            if bytes == ByteBuffer(string: "not music") { #expect(reports.withLock { $0 } == ["music"]) }
        }
        let none = SlateMusic(AssetCache())
        none.play("music")
        none.fill()
        #expect(!none.isReady)
    }

    @Test("at most two seconds are decoded ahead, however long the file")
    func bounded() throws {
        let assets = AssetCache()
        assets.put(try AudioFile.tone(440, seconds: 60, ["-c:a", "flac"], suffix: "flac"), for: "music")
        let music = SlateMusic(assets)
        music.play("music")
        music.fill()
        let buffer = StereoBuffer(capacity: 1 << 18)
        let count = music.read(buffer.left, buffer.right, count: 1 << 18)
        #expect(count >= 2 * 48_000 && count < 2 * 48_000 + 8192)
        music.fill()
        #expect(music.read(buffer.left, buffer.right, count: 960) == 960)
        music.play(nil)
        music.fill()
        #expect(!music.isReady)
    }
}
