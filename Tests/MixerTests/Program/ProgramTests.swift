import Codecs
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("A program of several hosts", .enabled(if: TestRun.isFull)) struct ProgramTests {
    @Test("two hosts are shown where the grid says and heard together")
    func two() throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        program.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: 6000)) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 6000, shift: 700_000)) {
            Double($0) - 700_000 + 55
        }
        program.run(to: 5000)
        let shown = program.output.frames.suffix(100)
        #expect(shown.allSatisfy { isNear($0.colours[0], .red) && isNear($0.colours[1], .blue) })
        let recorded = program.output.audio(from: 2000, to: 5000)
        #expect(abs(TestTone.level(of: 440, in: recorded) - 0.3) < 0.02)
        #expect(abs(TestTone.level(of: 880, in: recorded) - 0.3) < 0.02)
        #expect(TestTone.level(of: 660, in: recorded) < 0.01)
        #expect(program.output.frames.map(\.index) == Array(0...150))
        #expect(program.output.isContiguous)
        for host in ["a", "b"] {
            #expect(program.host(host).audioGaps == 0 && program.host(host).offsetSteps == 0)
            #expect(program.host(host).framesDropped == 0)
        }
    }

    @Test("a program without hosts is background and silence")
    func empty() throws {
        let program = try TestProgram()
        program.output.probes = [PixelRectangle(x: 0, y: 0, width: 320, height: 180)]
        program.run(to: 3000)
        #expect(program.output.frames.count == 91)
        #expect(program.output.frames.allSatisfy { $0.colours == [ProgramColours.background] })
        #expect(program.output.left.count >= 3 * 48_000)
        #expect(program.output.left.allSatisfy { $0 == 0 })
    }

    @Test("a host that joins with a burst of old frames is live within a second")
    func joinBurst() throws {
        // The luma of frame n encodes its time.
        let clip = try HostClip.make(
            paint: { canvas, index in
                canvas.fill(canvas.bounds, YUVColour(y: UInt8(30 + index % 60 * 3), u: 128, v: 128))
            },
            sample: { Float(0.3 * TestTone.sine(of: 440, at: $0)) }
        )
        let program = try TestProgram()
        program.show(["a"])
        program.run(to: 1000)
        // At 1000 ms the last 1.9 s come at once, then live packets.
        program.feed("a", clip.packets(from: 4000, to: 9000)) { max(Double($0) - 4900, 1000) }
        program.run(to: 4000)
        // Until then the host's card is shown.
        let card = try #require(program.output.frames.last { program.time(of: $0.index) < 1000 })
        let first = try #require(
            program.output.frames.first { $0.index > card.index && $0.colours[0] != card.colours[0] }
        )
        let time = program.time(of: first.index)
        #expect(time < 2000)
        // Live at 1000 ms is host time 5900, and the target 300 ms: every frame shown has exactly that age.
        for shown in program.output.frames where shown.index >= first.index + 6 {
            let host = program.time(of: shown.index) + 4900 - 300
            let expected = 30 + Int(host * 30 / 1000) % 60 * 3
            let distance = abs(Int(shown.colours[0].y) - expected)
            #expect(min(distance, 180 - distance) <= 6, "picture \(shown.index)")
        }
        #expect(TestTone.level(of: 440, in: program.output.audio(from: Int(time) + 100, to: 4000)) > 0.28)
        #expect(program.host("a").packetsDropped == 0)
    }

    @Test("hosts of every frame rate keep their own speed", arguments: [15, 25, 50, 60])
    func rates(rate: Int) throws {
        let clip = try HostClip.make(
            frameRate: rate,
            paint: { canvas, index in
                let luma = UInt8(30 + (index * 1000 / rate) % 2000 / 10)
                canvas.fill(canvas.bounds, YUVColour(y: luma, u: 128, v: 128))
            },
            sample: nil
        )
        let program = try TestProgram()
        program.show(["a"])
        program.feed("a", clip.packets(from: 0, to: 5000)) { Double($0) + 20 }
        program.run(to: 4500)
        for shown in program.output.frames where shown.index > 30 {
            let host = program.time(of: shown.index) - 320
            let seen = Double(Int(shown.colours[0].y) - 30) * 10
            var distance = abs(host.truncatingRemainder(dividingBy: 2000) - seen)
            distance = min(distance, 2000 - distance)
            // Half a frame of the slower of the two rates, and the encoder's luma error.
            #expect(distance <= 500 / Double(min(rate, 30)) + 10 + 30, "picture \(shown.index) is \(distance) ms off")
        }
        let expectedDrops = rate > 30 ? Int64(4 * (rate - 30)) : 0
        #expect(abs(program.host("a").framesDropped - expectedDrops) <= 10)
    }

    @Test(
        "a stalled host is frozen for two seconds, then dimmed, then a card, and no other host is affected",
        arguments: [500.0, 2000, 12_000]
    )
    func stall(length: Double) throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        let end = Int64(6000 + length)
        program.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: end)) { stamp in
            // The network is blocked from 3000 on, and then everything comes within a second.
            let time = Double(stamp) + 30
            if time < 3000 { return time }
            return max(time, 3000 + length + min((time - 3000) / length, 1) * 300)
        }
        program.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: end)) { Double($0) + 30 }
        program.run(to: Double(end) - 100)
        let output = program.output
        for shown in output.frames where program.time(of: shown.index) > 1000 {
            let time = program.time(of: shown.index)
            #expect(isNear(shown.colours[1], .blue))
            // The burst itself takes 300 ms, decoding begins with its oldest packet, and dimmed frames brighten.
            guard length < 2000 || !(3000 + length..<3800 + length).contains(time) else { continue }
            // The last frame that came through was shown at about 3300.
            guard length >= 3000, (5250..<3000 + length).contains(time) else {
                #expect(isNear(shown.colours[0], .red), "at \(time)")
                continue
            }
            if time > 5700 { #expect(!isNear(shown.colours[0], .red, within: 16), "at \(time)") }
        }
        let other = output.audio(from: 1000, to: Int(end) - 200)
        #expect(abs(TestTone.level(of: 880, in: other) - 0.3) < 0.02)
        #expect(TestTone.level(of: 440, in: output.audio(from: Int(end) - 1600, to: Int(end) - 200)) > 0.28)
        // Two sines and a fade: nothing steeper, so no clicks.
        let limit = TestTone.step(of: 440, amplitude: 0.3) + TestTone.step(of: 880, amplitude: 0.3) + 0.3 / 384
        #expect(TestTone.largestStep(in: output.left[48_000...]) < limit * 1.3)
        #expect(program.host("b").audioGaps == 0)
        #expect(program.host("a").offsetSteps == 0)
    }

    @Test(
        "timestamp jumps interrupt the host for no longer than the jump's own gap",
        arguments: [Int64(10_000), -10_000]
    )
    func jump(by jump: Int64) throws {
        let program = try TestProgram()
        program.show(["a"])
        let clip = try HostClip.plain(.red, tone: 440)
        program.feed("a", clip.packets(from: 0, to: 4000, shift: 20_000)) { Double($0) - 20_000 + 30 }
        let later = clip.packets(from: 4000, to: 8000, shift: 20_000 + jump).filter { !$0.isConfiguration }
        program.feed("a", later) { Double($0 - jump) - 20_000 + 30 }
        program.run(to: 7500)
        #expect(program.output.frames.suffix(200).allSatisfy { isNear($0.colours[0], .red) })
        #expect(abs(TestTone.level(of: 440, in: program.output.audio(from: 2000, to: 7400)) - 0.3) < 0.02)
        #expect(program.host("a").timestampDiscontinuities == 1)
        #expect(program.host("a").audioGaps == 0)
    }

    @Test("hosts join and leave without clicks, and the grid changes")
    func joinAndLeave() throws {
        let program = try TestProgram()
        program.show(["a"])
        program.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: 9000)) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 9000)) { Double($0) + 30 }
        program.run(to: 3000)
        #expect(TestTone.level(of: 880, in: program.output.audio(from: 1000, to: 3000)) < 0.001)
        program.show(["a", "b"])
        program.run(to: 5000)
        let both = try #require(program.output.frames.last)
        #expect(isNear(both.colours[0], .red) && isNear(both.colours[1], .blue))
        program.show(["b"])
        program.renderer.removeHost("a")
        program.run(to: 7000)
        let last1 = try #require(program.output.frames.last)
        #expect(isNear(last1.colours[0], .blue))
        #expect(TestTone.level(of: 440, in: program.output.audio(from: 5500, to: 7000)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: program.output.audio(from: 3500, to: 7000)) - 0.3) < 0.02)
        let limit = TestTone.step(of: 440, amplitude: 0.3) + TestTone.step(of: 880, amplitude: 0.3) + 0.6 / 384
        #expect(TestTone.largestStep(in: program.output.left[...]) < limit * 1.15)
    }

    @Test("audio alone has an empty tile, and video alone is silent")
    func singleTrack() throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        let clip = try HostClip.plain(.red, tone: 440)
        program.feed("a", clip.audio.packets(from: 0, to: 4000)) { Double($0) + 30 }
        program.feed("b", clip.video.packets(from: 0, to: 4000)) { Double($0) + 30 }
        program.run(to: 3800)
        let last = try #require(program.output.frames.last)
        // The card, as before anything came.
        #expect(last.colours[0] == program.output.frames[20].colours[0])
        #expect(isNear(last.colours[1], .red))
        #expect(abs(TestTone.level(of: 440, in: program.output.audio(from: 1000, to: 3800)) - 0.3) < 0.02)
    }

    @Test("a host that changes its frame size continues in its tile")
    func newSize() throws {
        let program = try TestProgram()
        program.show(["a"])
        program.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 2000)) { Double($0) + 30 }
        let larger = try HostClip.plain(.green, tone: nil, width: 400, height: 300, frameRate: 25)
        program.feed("a", larger.packets(from: 2000, to: 5000)) { Double($0) + 30 }
        program.run(to: 4800)
        for shown in program.output.frames where program.time(of: shown.index) > 1000 {
            let time = program.time(of: shown.index)
            if time < 2280 { #expect(isNear(shown.colours[0], .red), "at \(time)") }
            if time > 2400 { #expect(isNear(shown.colours[0], .green), "at \(time)") }
        }
        #expect(program.host("a").decodeErrors == 0)
    }

    @Test("damaged packets of one host affect only its own tile")
    func garbage() throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        var generator = SeededGenerator(seed: 42)
        let clip = try HostClip.plain(.red, tone: 440)
        let damaged = clip.packets(from: 0, to: 6000).map { packet -> MediaPacket in
            guard !packet.isConfiguration, (1000..<4000).contains(packet.timestamp) else { return packet }
            var packet = packet
            let length = packet.body.readableBytes
            for _ in 0..<8 {
                packet.body.setInteger(
                    UInt8.random(in: .min ... .max, using: &generator),
                    at: packet.body.readerIndex + Int.random(in: packet.headerLength..<length, using: &generator)
                )
            }
            return packet
        }
        program.feed("a", damaged) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 6000)) { Double($0) + 30 }
        program.run(to: 5800)
        for shown in program.output.frames where program.time(of: shown.index) > 1000 {
            #expect(isNear(shown.colours[1], .blue))
        }
        let last2 = try #require(program.output.frames.last)
        #expect(isNear(last2.colours[0], .red))
        #expect(abs(TestTone.level(of: 880, in: program.output.audio(from: 4600, to: 5600)) - 0.3) < 0.02)
        #expect(program.output.left.allSatisfy { abs($0) <= Limiter.ceiling })
        #expect(program.host("b").decodeErrors == 0)
    }

    @Test("a flash and a beep of the same moment leave at the same moment", arguments: [25, 30])
    func sync(rate: Int) throws {
        let program = try TestProgram()
        program.show(["a"])
        program.feed("a", try HostClip.flashAndBeep(frameRate: rate).packets(from: 0, to: 8000)) { stamp in
            // Audio and video jitter differently.
            Double(stamp) + 30 + Double(stamp * 7919 % 40)
        }
        program.run(to: 7800)
        let frames = program.output.frames
        var differences: [Double] = []
        for (before, after) in zip(frames, frames.dropFirst())
        where after.colours[0].y > 150 && before.colours[0].y < 100 {
            let flash = program.time(of: after.index)
            let near = max(Int(flash) - 200, 0) * 48
            let beep = program.output.left[near..<min(near + 19_200, program.output.left.count)]
                .firstIndex { abs($0) > 0.1 }
            if let beep { differences.append(flash - Double(beep) / 48) }
        }
        #expect(differences.count >= 6)
        let mean = differences.reduce(0, +) / Double(max(differences.count, 1))
        // A frame can begin only on the program's grid: half a frame either way, without an offset of our own.
        #expect(differences.allSatisfy { abs($0) <= 500.0 / 30 + 5 }, "\(differences)")
        #expect(abs(mean) < 17, "\(mean)")
    }
}
