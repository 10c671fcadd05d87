import Codecs
import NIOCore
import Synchronization
import Testing

@testable import Mixer

@Suite("Music under a slate") struct SlateMusicTests {
    private static let amplitude = 0.5 * Double(MusicBed.level)

    @Test("It fades in, plays over and over without a seam, fades out, and then there is silence")
    func loop() throws {
        // A second of a whole number of periods: a seam would show.
        let rehearsal = try Rehearsal(music: SoundFile.tone(440))
        rehearsal.run(to: 6000)
        rehearsal.renderer.apply(Rehearsal.slate(music: nil))
        rehearsal.run(to: 8000)
        let output = rehearsal.output
        let step = TestTone.step(of: 440, amplitude: Self.amplitude)
        #expect(TestTone.largestStep(in: output.left[...]) < step * 1.02 + 0.001)
        #expect(abs(TestTone.amplitude(of: 440, in: output.sound(from: 700, to: 5700)) - Self.amplitude) < 0.003)
        #expect(abs(TestTone.amplitude(of: 440, in: output.sound(from: 240, to: 260)) - Self.amplitude / 2) < 0.03)
        #expect(abs(TestTone.amplitude(of: 440, in: output.sound(from: 6300, to: 6320)) - Self.amplitude / 2) < 0.05)
        #expect(output.sound(from: 6700, to: 7900).allSatisfy { $0 == 0 })
    }

    @Test(
        "Every kind of file plays, at its own rate and over its own end",
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
        let file = try SoundFile.tone(440, seconds: 2, rate: rate, arguments.list, suffix: arguments.suffix)
        let rehearsal = try Rehearsal(music: file)
        rehearsal.run(to: 7000)
        let heard = rehearsal.output.sound(from: 700, to: 6900)
        // AAC alone has no way to say what its encoder put around the sound, so a little is missing at each turn.
        let tolerance = kind == "aac" ? 0.03 : 0.01
        #expect(abs(TestTone.level(of: 440, in: heard) - Self.amplitude) < tolerance)
    }

    @Test("A scene may name a file before it is there; music begins when it comes")
    func late() throws {
        let rehearsal = try Rehearsal()
        rehearsal.renderer.apply(Rehearsal.slate(music: Rehearsal.music))
        rehearsal.run(to: 1000)
        #expect(rehearsal.output.left.allSatisfy { $0 == 0 })
        rehearsal.renderer.provide(try SoundFile.tone(440), for: Rehearsal.music)
        rehearsal.run(to: 3000)
        #expect(abs(TestTone.level(of: 440, in: rehearsal.output.sound(from: 1800, to: 2900)) - Self.amplitude) < 0.005)
    }

    @Test("Another slate's music begins when the one before has faded out")
    func change() throws {
        let rehearsal = try Rehearsal()
        rehearsal.renderer.provide(try SoundFile.tone(440), for: "one")
        rehearsal.renderer.provide(try SoundFile.tone(880), for: "two")
        rehearsal.renderer.apply(Rehearsal.slate(music: "one"))
        rehearsal.run(to: 2000)
        rehearsal.renderer.apply(Rehearsal.slate(music: "two"))
        rehearsal.run(to: 4000)
        let output = rehearsal.output
        #expect(TestTone.level(of: 880, in: output.sound(from: 1000, to: 2000)) < 0.001)
        #expect(TestTone.level(of: 440, in: output.sound(from: 2700, to: 3900)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: output.sound(from: 3300, to: 3900)) - Self.amplitude) < 0.005)
        let limit = TestTone.step(of: 880, amplitude: Self.amplitude) * 1.05
        #expect(TestTone.largestStep(in: output.left[...]) < limit)
    }

    @Test("Another file in the place of the one that plays begins when that has faded out, without a click")
    func replaced() throws {
        let rehearsal = try Rehearsal(music: SoundFile.tone(440))
        rehearsal.run(to: 2000)
        rehearsal.renderer.provide(try SoundFile.tone(880), for: Rehearsal.music)
        rehearsal.run(to: 4000)
        let output = rehearsal.output
        #expect(abs(TestTone.level(of: 440, in: output.sound(from: 1000, to: 2000)) - Self.amplitude) < 0.005)
        #expect(TestTone.level(of: 440, in: output.sound(from: 2700, to: 3900)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: output.sound(from: 3300, to: 3900)) - Self.amplitude) < 0.005)
        let limit = TestTone.step(of: 880, amplitude: Self.amplitude) * 1.05
        #expect(TestTone.largestStep(in: output.left[...]) < limit)
    }

    @Test("A file that is taken back fades out, as one that is not wanted any more")
    func takenBack() throws {
        let rehearsal = try Rehearsal(music: SoundFile.tone(440))
        rehearsal.run(to: 3000)
        rehearsal.renderer.provide(ByteBuffer(), for: Rehearsal.music)
        rehearsal.run(to: 5000)
        let output = rehearsal.output
        #expect(abs(TestTone.amplitude(of: 440, in: output.sound(from: 700, to: 2900)) - Self.amplitude) < 0.003)
        #expect(output.sound(from: 3700, to: 4900).allSatisfy { $0 == 0 })
        let step = TestTone.step(of: 440, amplitude: Self.amplitude)
        #expect(TestTone.largestStep(in: output.left[...]) < step * 1.02 + 0.001)
    }

    @Test("What is no music is silence, and what is hardly a file is not gone through for ever")
    func nonsense() throws {
        for bytes in [
            ByteBuffer(), ByteBuffer(string: "not music"), ByteBuffer(repeating: 0xFF, count: 100_000),
            try SoundFile.make("aevalsrc=0.5:d=0.01", ["-c:a", "pcm_s16le"], suffix: "wav"),
            try SoundFile.make("testsrc=d=1:s=64x64", ["-f", "mpegts"], suffix: "ts"),
        ] {
            let told = Mutex<[String]>([])
            let shelf = AssetShelf { name, _ in told.withLock { $0.append(name) } }
            shelf.put(bytes, for: "music")
            let music = SlateMusic(shelf)
            music.play("music")
            music.fill()
            music.fill()
            #expect(!music.isReady)
            // Of what is a file of sound, if a short one, there is nothing to tell.
            #expect(told.withLock { $0.count } <= 1)
            if bytes == ByteBuffer(string: "not music") { #expect(told.withLock { $0 } == ["music"]) }
        }
        let none = SlateMusic(AssetShelf())
        none.play("music")
        none.fill()
        #expect(!none.isReady)
    }

    @Test("No more than two seconds are decoded ahead, however long the file")
    func bounded() throws {
        let shelf = AssetShelf()
        shelf.put(try SoundFile.tone(440, seconds: 60, ["-c:a", "flac"], suffix: "flac"), for: "music")
        let music = SlateMusic(shelf)
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
