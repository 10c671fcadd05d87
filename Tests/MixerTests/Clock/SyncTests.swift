import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("Flash and beep through the whole program") struct SyncTests {
    /// A host in its seconds: a flash and a beep at the beginning of each.
    private func clip(_ frameRate: Int = 30, width: Int = 160, height: Int = 90) throws -> HostClip {
        try HostClip.make(
            width: width,
            height: height,
            frameRate: frameRate,
            paint: { canvas, index in
                let isOn = index % frameRate * 1000 / frameRate < 100
                canvas.fill(canvas.bounds, isOn ? YUVColour(red: 255, green: 255, blue: 255) : .black)
            },
            sample: { $0 % 48_000 < 4800 ? Float(0.6 * TestTone.sine(of: 1000, at: $0)) : 0 }
        )
    }

    // On the program's grid, and with what the selector gives way by, a flash may be up to 18 ms from its place at 30
    // pictures a second, and up to 9 ms at 60.

    /// Every second from `start` to `end` has one flash, and one beep within 20 ms of it.
    private func expectSync(_ watch: SyncWatch, from start: Double, to end: Double, within limit: Double = 20) {
        let offsets = watch.offsets(from: start, to: end)
        #expect(abs(Double(offsets.count) - (end - start) / 1000) <= 1, "\(offsets.count) flashes")
        #expect(offsets.allSatisfy { abs($0) <= limit }, "\(offsets)")
        #expect(watch.isContinuous)
    }

    @Test(
        "Picture and sound of the same moment leave within 20 ms of each other, at every rate",
        arguments: [15, 25, 30, 50, 60],
        [30, 60]
    )
    func rates(rate: Int, program: Int) throws {
        let table = try Timetable(frameRate: FrameRate(program))
        table.show(["a"])
        table.join("a")
        // Sound and picture jitter differently.
        table.feed("a", try clip(rate).packets(from: 0, to: 10_000)) {
            Double($0.timestamp) + 30 + Double(($0.timestamp * 7919 + ($0.isVideo ? 0 : 17)) % 40)
        }
        table.run(to: 9800)
        expectSync(table.watch, from: 500, to: 9500)
        #expect(table.host("a").soundGaps == 0 && table.host("a").offsetSteps == 0)
    }

    @Test(
        "With a target of 60 ms the two stay together while a late beginning is made up for, and sound comes up late",
        arguments: [0.0, 64]
    )
    func smallTarget(soundBehind: Double) throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a", jitterTarget: 60)
        let packets = try clip().packets(from: 0, to: 20_000)
        for isVideo in [true, false] {
            table.feed("a", packets.filter { $0.isVideo == isVideo }) { packet in
                Double(packet.timestamp) + 30 + (isVideo ? 0 : soundBehind) + (packet.timestamp < 400 ? 35 : 0)
            }
        }
        table.run(to: 3000)
        let early = table.host("a")
        table.run(to: 19_800)
        expectSync(table.watch, from: 900, to: 19_500)
        let host = table.host("a")
        #expect(host.soundGaps == early.soundGaps && host.soundSkips == early.soundSkips, "\(host)")
        #expect(host.late == early.late && host.offsetSteps <= 1)
        let held = try #require(host.offset) - 30 - soundBehind
        #expect(held < HostTimeline.soundNeed + HostTimeline.leastSlack + HostTimeline.deadBand + 8, "\(held)")
    }

    @Test("At 30 pictures a second, wherever between two of them the host's fall, none is off by more than 20 ms")
    func phaseOfPictures() throws {
        let clip = try clip()
        var worst = 0.0
        for phase in stride(from: 0, to: 34, by: 3) {
            let table = try Timetable()
            table.show(["a"])
            table.join("a")
            table.feed("a", clip.packets(from: 0, to: 4000)) { Double($0.timestamp) + 30 + Double(phase) }
            table.run(to: 3900)
            let offsets = table.watch.offsets(from: 500, to: 3900)
            #expect(offsets.count >= 3 && offsets.allSatisfy { abs($0) <= 20 }, "phase \(phase): \(offsets)")
            worst = offsets.reduce(worst) { max($0, abs($1)) }
            // Half a picture off is where repeating and dropping in turns would begin.
            #expect(table.host("a").picturesDropped <= 2, "phase \(phase)")
        }
        print("flash and beep at 30 pictures a second: at most \(worst) ms apart")
    }

    @Test("44.1 kHz on one channel, full range, 25 pictures a second with B-frames")
    func foreign() throws {
        let packets = try FLVClip.make([
            "-f", "lavfi", "-i", "color=c=black:s=160x90:r=25:d=10",
            "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.1),0.6*sin(2*PI*1000*t),0)':s=44100:c=mono:d=10",
            "-vf", "drawbox=x=0:y=0:w=160:h=90:c=white:t=fill:enable='lt(mod(t,1),0.1)',format=yuvj420p",
            "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "50", "-color_range", "pc",
            "-c:a", "aac", "-ac", "1", "-ar", "44100", "-b:a", "96k",
        ])
        #expect(packets.contains { $0.compositionOffset > 0 })
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        table.feed("a", packets) { Double($0.timestamp) + 30 }
        table.run(to: 9800)
        expectSync(table.watch, from: 500, to: 9500)
        // Black of the full range is the program's black, and not below it.
        #expect((14...18).contains(table.watch.lumas[0] ?? 0))
        let host = table.host("a")
        #expect(host.decodeErrors == 0 && host.soundGaps == 0 && host.offsetSteps == 0)
    }

    @Test("Ten minutes of a clock that is 200 ppm off", arguments: [200.0, -200])
    func drift(partsPerMillion: Double) throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        let clip = try clip()
        let rate = 1 + partsPerMillion / 1e6
        var worst = 0.0
        for minute in 0..<Int64(10) {
            let packets = clip.packets(from: minute * 60_000, to: (minute + 1) * 60_000)
            table.feed("a", packets) { Double($0.timestamp) / rate + 30 + Double($0.timestamp * 7919 % 25) }
            for second in 0..<60 {
                let now = Double(minute) * 60_000 + Double(second) * 1000
                table.run(to: now)
                guard now > 10_000, let offset = table.host("a").offset else { continue }
                worst = max(worst, abs(offset - (330 - now * (1 - 1 / rate) * rate)))
            }
        }
        expectSync(table.watch, from: 10_000, to: 598_000, within: 20)
        let host = table.host("a")
        #expect(worst < 20)
        #expect(host.soundGaps == 0 && host.soundSkips == 0 && host.offsetSteps == 0 && host.timestampLeaps == 0)
        #expect(abs(host.driftPartsPerMillion - partsPerMillion) < 10, "\(host.driftPartsPerMillion)")
    }

    @Test("After a stall the host is back where it was", arguments: [500.0, 2000, 12_000])
    func stall(length: Double) throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        let end = 12_000 + length
        table.feed("a", try clip().packets(from: 0, to: Int64(end))) { packet in
            let time = Double(packet.timestamp) + 30
            // The way is blocked from 4250 on; then everything comes within a tenth of a second.
            return time < 4250 || time > 4350 + length ? time : 4250 + length + (time - 4250) / length * 100
        }
        table.run(to: end - 200)
        expectSync(table.watch, from: 500, to: 4200)
        // What was in the buffer is shown; after the stall nothing is missing beyond the second that holds its end.
        expectSync(table.watch, from: 4250 + length + 1000, to: end - 500)
        #expect(table.watch.beeps[0].count >= Int((end - length) / 1000) - 2)
        let host = table.host("a")
        #expect(host.offsetSteps == 0 && host.timestampLeaps == 0)
        #expect(length < 1000 || host.late > 0)
    }

    @Test(
        "Timestamps that leap by ten seconds, or over the end of 32 bits, leave a seam of less than a second",
        arguments: [Int64(10_000), -10_000, -(1 << 32), 1 << 32]
    )
    func leap(by leap: Int64) throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        let clip = try clip()
        // Up to 250 ms before the end of 32 bits, for a clock that was not unwrapped.
        let shift: Int64 = (1 << 32) - 6250
        table.feed("a", clip.packets(from: 0, to: 6250, shift: shift)) { Double($0.timestamp - shift) + 30 }
        let later = clip.packets(from: 6250, to: 14_000, shift: shift + leap).filter { !$0.isConfiguration }
        table.feed("a", later) { Double($0.timestamp - shift - leap) + 30 }
        table.run(to: 13_800)
        expectSync(table.watch, from: 500, to: 13_500)
        let host = table.host("a")
        #expect(host.timestampLeaps == 1 && host.soundGaps == 0 && host.offsetSteps == 0)
    }

    @Test("Timestamps pass the 24-bit border and that of 32 bits", arguments: [Int64(1 << 24), 1 << 31, 1 << 32])
    func borders(border: Int64) throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        let shift = border - 5000
        table.feed("a", try clip().packets(from: 0, to: 10_000, shift: shift)) { Double($0.timestamp - shift) + 30 }
        table.run(to: 9800)
        expectSync(table.watch, from: 500, to: 9500)
        #expect(table.host("a").timestampLeaps == 0 && table.host("a").soundGaps == 0)
    }

    @Test("A host whose picture becomes larger in the middle stays in sync")
    func newSize() throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a"])
        table.join("a")
        let packets = try clip().packets(from: 0, to: 5000)
        let larger = try clip(25, width: 320, height: 240).packets(from: 5000, to: 10_000)
        table.feed("a", packets + larger) { Double($0.timestamp) + 30 }
        table.run(to: 9800)
        // The decoder of the new size begins with the first key picture of its own.
        expectSync(table.watch, from: 500, to: 5000)
        expectSync(table.watch, from: 7000, to: 9500)
        #expect(table.host("a").decodeErrors == 0 && table.host("a").offsetSteps == 0)
    }

    @Test("One packet in twenty lost and 300 ms of jitter: still in step, and nobody else notices")
    func lossAndJitter() throws {
        let table = try Timetable(frameRate: FrameRate(60))
        table.show(["a", "b"])
        table.join("a")
        table.join("b")
        let clip = try clip()
        var generator = SplitMix(seed: 11)
        table.feed("a", clip.packets(from: 0, to: 30_000)) { packet in
            guard packet.isConfiguration || packet.isKeyPicture || generator.next() % 20 > 0 else { return nil }
            return Double(packet.timestamp) + 30 + Double(generator.next() % 300)
        }
        table.feed("b", clip.pictures.packets(from: 0, to: 30_000)) { Double($0.timestamp) + 30 }
        table.run(to: 29_800)
        let offsets = table.watch.offsets(from: 3000, to: 29_000)
        #expect(offsets.count >= 22, "\(offsets.count)")
        // Where the frame that begins the beep or the flash is lost, the next one begins it.
        #expect(offsets.count { abs($0) <= 25 } >= offsets.count * 3 / 4, "\(offsets)")
        #expect(offsets.allSatisfy { abs($0) <= 60 }, "\(offsets)")
        let others = table.watch.flashes[1] ?? []
        #expect(zip(others, others.dropFirst()).allSatisfy { abs($1 - $0 - 1000) < 1 })
        #expect(table.host("b").picturesDropped == 0 && table.host("b").late == 0)
        #expect(table.watch.isContinuous)
    }

    @Test("Joining and leaving at every phase of a tick, in steps of a millisecond")
    func phases() throws {
        let clip = try clip()
        let other = try HostClip.plain(.white, tone: nil, width: 160, height: 90)
        for phase in 0..<34 {
            let table = try Timetable(frameRate: FrameRate(60))
            table.show(["a", "b"])
            table.join("b")
            table.feed("b", other.packets(from: 0, to: 6000)) { Double($0.timestamp) + 30 }
            let joined = 500 + Double(phase)
            table.at(joined) { table.join("a") }
            table.feed("a", clip.packets(from: 0, to: 6000)) { Double($0.timestamp) + joined + 5 }
            let left = 4700 + Double(phase)
            table.at(left) { table.leave("a") }
            table.run(to: 6000)
            let offsets = table.watch.offsets(from: joined + 400, to: left)
            #expect((3...4).contains(offsets.count), "phase \(phase)")
            #expect(offsets.allSatisfy { abs($0) <= 20 }, "phase \(phase): \(offsets)")
            #expect(table.watch.isContinuous && table.watch.pictures == 361)
            #expect(table.watch.beeps[0].allSatisfy { $0 < left + 40 })
            #expect((table.watch.flashes[1] ?? []).count <= 1 && table.host("b").picturesDropped == 0)
        }
    }
}
