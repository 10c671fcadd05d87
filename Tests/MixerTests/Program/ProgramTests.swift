import Codecs
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("A program of several hosts") struct ProgramTests {
    @Test("Two hosts are shown where the grid says and heard together")
    func two() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        rehearsal.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: 6000)) { Double($0) + 30 }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 6000, shift: 700_000)) {
            Double($0) - 700_000 + 55
        }
        rehearsal.run(to: 5000)
        let shown = rehearsal.output.pictures.suffix(100)
        #expect(shown.allSatisfy { isNear($0.colours[0], .red) && isNear($0.colours[1], .blue) })
        let heard = rehearsal.output.sound(from: 2000, to: 5000)
        #expect(abs(TestTone.level(of: 440, in: heard) - 0.3) < 0.02)
        #expect(abs(TestTone.level(of: 880, in: heard) - 0.3) < 0.02)
        #expect(TestTone.level(of: 660, in: heard) < 0.01)
        #expect(rehearsal.output.pictures.map(\.index) == Array(0...150))
        #expect(rehearsal.output.isContiguous)
        for host in ["a", "b"] {
            #expect(rehearsal.host(host).soundGaps == 0 && rehearsal.host(host).offsetSteps == 0)
            #expect(rehearsal.host(host).picturesDropped == 0)
        }
    }

    @Test("Without hosts the program is background and silence, and goes on")
    func empty() throws {
        let rehearsal = try Rehearsal()
        rehearsal.output.probes = [PixelRectangle(x: 0, y: 0, width: 320, height: 180)]
        rehearsal.run(to: 3000)
        #expect(rehearsal.output.pictures.count == 91)
        #expect(rehearsal.output.pictures.allSatisfy { $0.colours == [ProgramColours.background] })
        #expect(rehearsal.output.left.count >= 3 * 48_000)
        #expect(rehearsal.output.left.allSatisfy { $0 == 0 })
    }

    @Test("A host that joins with a burst of old pictures is on within a second, at the live edge")
    func joinBurst() throws {
        // The luma of picture n says how old it is.
        let clip = try HostClip.make(
            paint: { canvas, index in
                canvas.fill(canvas.bounds, YUVColour(y: UInt8(30 + index % 60 * 3), u: 128, v: 128))
            },
            sample: { Float(0.3 * TestTone.sine(of: 440, at: $0)) }
        )
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.run(to: 1000)
        // At 1000 ms the last 1.9 s come at once, then what is live.
        rehearsal.feed("a", clip.packets(from: 4000, to: 9000)) { max(Double($0) - 4900, 1000) }
        rehearsal.run(to: 4000)
        // Until then the host's card is there.
        let card = try #require(rehearsal.output.pictures.last { rehearsal.time(of: $0.index) < 1000 })
        let first = try #require(
            rehearsal.output.pictures.first { $0.index > card.index && $0.colours[0] != card.colours[0] }
        )
        let time = rehearsal.time(of: first.index)
        #expect(time < 2000)
        // Live at 1000 ms is host time 5900, and the target 300 ms: every picture shown is exactly that old.
        for shown in rehearsal.output.pictures where shown.index >= first.index + 6 {
            let host = rehearsal.time(of: shown.index) + 4900 - 300
            let expected = 30 + Int(host * 30 / 1000) % 60 * 3
            let distance = abs(Int(shown.colours[0].y) - expected)
            #expect(min(distance, 180 - distance) <= 6, "picture \(shown.index)")
        }
        #expect(TestTone.level(of: 440, in: rehearsal.output.sound(from: Int(time) + 100, to: 4000)) > 0.28)
        #expect(rehearsal.host("a").packetsDropped == 0)
    }

    @Test("Hosts of every picture rate keep their own speed", arguments: [15, 25, 50, 60])
    func rates(rate: Int) throws {
        let clip = try HostClip.make(
            frameRate: rate,
            paint: { canvas, index in
                let luma = UInt8(30 + (index * 1000 / rate) % 2000 / 10)
                canvas.fill(canvas.bounds, YUVColour(y: luma, u: 128, v: 128))
            },
            sample: nil
        )
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.feed("a", clip.packets(from: 0, to: 5000)) { Double($0) + 20 }
        rehearsal.run(to: 4500)
        for shown in rehearsal.output.pictures where shown.index > 30 {
            let host = rehearsal.time(of: shown.index) - 320
            let seen = Double(Int(shown.colours[0].y) - 30) * 10
            var distance = abs(host.truncatingRemainder(dividingBy: 2000) - seen)
            distance = min(distance, 2000 - distance)
            // Half a picture of the slower of the two rates, and what coding does to the luma.
            #expect(distance <= 500 / Double(min(rate, 30)) + 10 + 30, "picture \(shown.index) is \(distance) ms off")
        }
        let expectedDrops = rate > 30 ? Int64(4 * (rate - 30)) : 0
        #expect(abs(rehearsal.host("a").picturesDropped - expectedDrops) <= 10)
    }

    @Test(
        "A stalled host keeps its last picture for two seconds, then it dims and gives way to a card; nobody else notices",
        arguments: [500.0, 2000, 12_000]
    )
    func stall(length: Double) throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        let end = Int64(6000 + length)
        rehearsal.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: end)) { stamp in
            // The way is blocked from 3000 on, and then everything comes within a second.
            let time = Double(stamp) + 30
            if time < 3000 { return time }
            return max(time, 3000 + length + min((time - 3000) / length, 1) * 300)
        }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: end)) { Double($0) + 30 }
        rehearsal.run(to: Double(end) - 100)
        let output = rehearsal.output
        for shown in output.pictures where rehearsal.time(of: shown.index) > 1000 {
            let time = rehearsal.time(of: shown.index)
            #expect(isNear(shown.colours[1], .blue))
            // The burst itself takes 300 ms, decoding begins with its oldest packet, and what is dimmed brightens.
            guard length < 2000 || !(3000 + length..<3800 + length).contains(time) else { continue }
            // The last picture that came through was shown at about 3300.
            guard length >= 3000, (5250..<3000 + length).contains(time) else {
                #expect(isNear(shown.colours[0], .red), "at \(time)")
                continue
            }
            if time > 5700 { #expect(!isNear(shown.colours[0], .red, within: 16), "at \(time)") }
        }
        let other = output.sound(from: 1000, to: Int(end) - 200)
        #expect(abs(TestTone.level(of: 880, in: other) - 0.3) < 0.02)
        #expect(TestTone.level(of: 440, in: output.sound(from: Int(end) - 1600, to: Int(end) - 200)) > 0.28)
        // Two sines and a fade: nothing steeper, so nothing that clicks.
        let limit = TestTone.step(of: 440, amplitude: 0.3) + TestTone.step(of: 880, amplitude: 0.3) + 0.3 / 384
        #expect(TestTone.largestStep(in: output.left[48_000...]) < limit * 1.3)
        #expect(rehearsal.host("b").soundGaps == 0)
        #expect(rehearsal.host("a").offsetSteps == 0)
    }

    @Test(
        "Timestamps that leap do not interrupt the host for longer than the leap's own seam",
        arguments: [Int64(10_000), -10_000]
    )
    func leap(by leap: Int64) throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        let clip = try HostClip.plain(.red, tone: 440)
        rehearsal.feed("a", clip.packets(from: 0, to: 4000, shift: 20_000)) { Double($0) - 20_000 + 30 }
        let later = clip.packets(from: 4000, to: 8000, shift: 20_000 + leap).filter { !$0.isConfiguration }
        rehearsal.feed("a", later) { Double($0 - leap) - 20_000 + 30 }
        rehearsal.run(to: 7500)
        #expect(rehearsal.output.pictures.suffix(200).allSatisfy { isNear($0.colours[0], .red) })
        #expect(abs(TestTone.level(of: 440, in: rehearsal.output.sound(from: 2000, to: 7400)) - 0.3) < 0.02)
        #expect(rehearsal.host("a").timestampLeaps == 1)
        #expect(rehearsal.host("a").soundGaps == 0)
    }

    @Test("Hosts join and leave; the grid changes and the sound never clicks")
    func joinAndLeave() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: 9000)) { Double($0) + 30 }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 9000)) { Double($0) + 30 }
        rehearsal.run(to: 3000)
        #expect(TestTone.level(of: 880, in: rehearsal.output.sound(from: 1000, to: 3000)) < 0.001)
        rehearsal.show(["a", "b"])
        rehearsal.run(to: 5000)
        let both = try #require(rehearsal.output.pictures.last)
        #expect(isNear(both.colours[0], .red) && isNear(both.colours[1], .blue))
        rehearsal.show(["b"])
        rehearsal.renderer.removeHost("a")
        rehearsal.run(to: 7000)
        let last1 = try #require(rehearsal.output.pictures.last)
        #expect(isNear(last1.colours[0], .blue))
        #expect(TestTone.level(of: 440, in: rehearsal.output.sound(from: 5500, to: 7000)) < 0.001)
        #expect(abs(TestTone.level(of: 880, in: rehearsal.output.sound(from: 3500, to: 7000)) - 0.3) < 0.02)
        let limit = TestTone.step(of: 440, amplitude: 0.3) + TestTone.step(of: 880, amplitude: 0.3) + 0.6 / 384
        #expect(TestTone.largestStep(in: rehearsal.output.left[...]) < limit * 1.15)
    }

    @Test("Sound alone has an empty tile, pictures alone are silent")
    func oneKindOnly() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        let clip = try HostClip.plain(.red, tone: 440)
        rehearsal.feed("a", clip.sound.packets(from: 0, to: 4000)) { Double($0) + 30 }
        rehearsal.feed("b", clip.pictures.packets(from: 0, to: 4000)) { Double($0) + 30 }
        rehearsal.run(to: 3800)
        let last = try #require(rehearsal.output.pictures.last)
        // The card, as before anything came.
        #expect(last.colours[0] == rehearsal.output.pictures[20].colours[0])
        #expect(isNear(last.colours[1], .red))
        #expect(abs(TestTone.level(of: 440, in: rehearsal.output.sound(from: 1000, to: 3800)) - 0.3) < 0.02)
    }

    @Test("A host that changes its picture size goes on in its tile")
    func newSize() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 2000)) { Double($0) + 30 }
        let larger = try HostClip.plain(.green, tone: nil, width: 400, height: 300, frameRate: 25)
        rehearsal.feed("a", larger.packets(from: 2000, to: 5000)) { Double($0) + 30 }
        rehearsal.run(to: 4800)
        for shown in rehearsal.output.pictures where rehearsal.time(of: shown.index) > 1000 {
            let time = rehearsal.time(of: shown.index)
            if time < 2280 { #expect(isNear(shown.colours[0], .red), "at \(time)") }
            if time > 2400 { #expect(isNear(shown.colours[0], .green), "at \(time)") }
        }
        #expect(rehearsal.host("a").decodeErrors == 0)
    }

    @Test("Rubbish from one host stays in its own tile")
    func rubbish() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        var generator = SplitMix(seed: 42)
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
        rehearsal.feed("a", damaged) { Double($0) + 30 }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 6000)) { Double($0) + 30 }
        rehearsal.run(to: 5800)
        for shown in rehearsal.output.pictures where rehearsal.time(of: shown.index) > 1000 {
            #expect(isNear(shown.colours[1], .blue))
        }
        let last2 = try #require(rehearsal.output.pictures.last)
        #expect(isNear(last2.colours[0], .red))
        #expect(abs(TestTone.level(of: 880, in: rehearsal.output.sound(from: 4600, to: 5600)) - 0.3) < 0.02)
        #expect(rehearsal.output.left.allSatisfy { abs($0) <= Limiter.ceiling })
        #expect(rehearsal.host("b").decodeErrors == 0)
    }

    @Test("A flash and a beep of the same moment leave at the same moment", arguments: [25, 30])
    func sync(rate: Int) throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.feed("a", try HostClip.flashAndBeep(frameRate: rate).packets(from: 0, to: 8000)) { stamp in
            // Sound and picture jitter differently.
            Double(stamp) + 30 + Double(stamp * 7919 % 40)
        }
        rehearsal.run(to: 7800)
        let pictures = rehearsal.output.pictures
        var differences: [Double] = []
        for (before, after) in zip(pictures, pictures.dropFirst())
        where after.colours[0].y > 150 && before.colours[0].y < 100 {
            let flash = rehearsal.time(of: after.index)
            let near = max(Int(flash) - 200, 0) * 48
            let beep = rehearsal.output.left[near..<min(near + 19_200, rehearsal.output.left.count)]
                .firstIndex { abs($0) > 0.1 }
            if let beep { differences.append(flash - Double(beep) / 48) }
        }
        #expect(differences.count >= 6)
        let mean = differences.reduce(0, +) / Double(max(differences.count, 1))
        // A picture can begin only on the program's grid: half a picture either way, and none of our own.
        #expect(differences.allSatisfy { abs($0) <= 500.0 / 30 + 5 }, "\(differences)")
        #expect(abs(mean) < 17, "\(mean)")
    }
}
