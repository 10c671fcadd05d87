import Codecs
import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("A/V sync through the whole program", .enabled(if: TestRun.isFull)) struct SyncTests {
    /// A host with a flash and a beep at the beginning of each of its seconds.
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

    // Because of the program's frame grid and the selector's hysteresis, a flash may be off by up to 18 ms at 30 frames
    // a second, and by up to 9 ms at 60.

    /// Checks that every second from `start` to `end` has one flash, and one beep within 20 ms of it.
    private func checkSync(_ monitor: SyncMonitor, from start: Double, to end: Double, within limit: Double = 20) {
        let offsets = monitor.offsets(from: start, to: end)
        #expect(abs(Double(offsets.count) - (end - start) / 1000) <= 1, "\(offsets.count) flashes")
        #expect(offsets.allSatisfy { abs($0) <= limit }, "\(offsets)")
        #expect(monitor.isContinuous)
    }

    @Test(
        "video and audio of the same moment leave within 20 ms of each other at every frame rate",
        arguments: [15, 25, 30, 50, 60],
        [30, 60]
    )
    func rates(rate: Int, programRate: Int) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(programRate))
        program.show(["a"])
        program.join("a")
        // Audio and video jitter differently.
        program.feed("a", try clip(rate).packets(from: 0, to: 10_000)) {
            Double($0.timestamp) + 30 + Double(($0.timestamp * 7919 + ($0.isVideo ? 0 : 17)) % 40)
        }
        program.run(to: 9800)
        checkSync(program.monitor, from: 500, to: 9500)
        #expect(program.host("a").audioGaps == 0 && program.host("a").offsetSteps == 0)
    }

    @Test(
        "a target of 60 ms keeps sync while the initial delay decreases and audio is late",
        arguments: [0.0, 64]
    )
    func smallTarget(audioBehind: Double) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a", jitterTarget: 60)
        let packets = try clip().packets(from: 0, to: 20_000)
        for isVideo in [true, false] {
            program.feed("a", packets.filter { $0.isVideo == isVideo }) { packet in
                Double(packet.timestamp) + 30 + (isVideo ? 0 : audioBehind) + (packet.timestamp < 400 ? 35 : 0)
            }
        }
        program.run(to: 3000)
        let early = program.host("a")
        program.run(to: 19_800)
        checkSync(program.monitor, from: 900, to: 19_500)
        let host = program.host("a")
        #expect(host.audioGaps == early.audioGaps && host.audioSkips == early.audioSkips, "\(host)")
        #expect(host.late == early.late && host.offsetSteps <= 1)
        let held = try #require(host.offset) - 30 - audioBehind
        #expect(held < HostTimeline.audioNeed + HostTimeline.minimumSlack + HostTimeline.deadBand + 8, "\(held)")
    }

    @Test("no frame is off by more than 20 ms at 30 frames a second, at any phase of the host's frames")
    func framePhase() throws {
        let clip = try clip()
        var worst = 0.0
        for phase in stride(from: 0, to: 34, by: 3) {
            let program = try ScheduledProgram()
            program.show(["a"])
            program.join("a")
            program.feed("a", clip.packets(from: 0, to: 4000)) { Double($0.timestamp) + 30 + Double(phase) }
            program.run(to: 3900)
            let offsets = program.monitor.offsets(from: 500, to: 3900)
            #expect(offsets.count >= 3 && offsets.allSatisfy { abs($0) <= 20 }, "phase \(phase): \(offsets)")
            worst = offsets.reduce(worst) { max($0, abs($1)) }
            // Half a frame off is where alternating repeats and drops would begin.
            #expect(program.host("a").framesDropped <= 2, "phase \(phase)")
        }
        print("flash and beep at 30 fps: at most \(worst) ms apart")
    }

    @Test("mono 44.1 kHz audio with full-range B-frame video at 25 frames a second stays in sync")
    func foreign() throws {
        let packets = try FLVClip.make([
            "-f", "lavfi", "-i", "color=c=black:s=160x90:r=25:d=10",
            "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.1),0.6*sin(2*PI*1000*t),0)':s=44100:c=mono:d=10",
            "-vf", "drawbox=x=0:y=0:w=160:h=90:c=white:t=fill:enable='lt(mod(t,1),0.1)',format=yuvj420p",
            "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "50", "-color_range", "pc",
            "-c:a", "aac", "-ac", "1", "-ar", "44100", "-b:a", "96k",
        ])
        #expect(packets.contains { $0.compositionOffset > 0 })
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        program.feed("a", packets) { Double($0.timestamp) + 30 }
        program.run(to: 9800)
        checkSync(program.monitor, from: 500, to: 9500)
        // Full-range black becomes the program's black, and not below it.
        #expect((14...18).contains(program.monitor.lumas[0] ?? 0))
        let host = program.host("a")
        #expect(host.decodeErrors == 0 && host.audioGaps == 0 && host.offsetSteps == 0)
    }

    @Test("a clock drift of 200 ppm for ten minutes stays in sync", arguments: [200.0, -200])
    func drift(partsPerMillion: Double) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        let clip = try clip()
        let rate = 1 + partsPerMillion / 1e6
        var worst = 0.0
        for minute in 0..<Int64(10) {
            let packets = clip.packets(from: minute * 60_000, to: (minute + 1) * 60_000)
            program.feed("a", packets) { Double($0.timestamp) / rate + 30 + Double($0.timestamp * 7919 % 25) }
            for second in 0..<60 {
                let now = Double(minute) * 60_000 + Double(second) * 1000
                program.run(to: now)
                guard now > 10_000, let offset = program.host("a").offset else { continue }
                worst = max(worst, abs(offset - (330 - now * (1 - 1 / rate) * rate)))
            }
        }
        checkSync(program.monitor, from: 10_000, to: 598_000, within: 20)
        let host = program.host("a")
        #expect(worst < 20)
        #expect(host.audioGaps == 0 && host.audioSkips == 0)
        #expect(host.offsetSteps == 0 && host.timestampDiscontinuities == 0)
        #expect(abs(host.driftPartsPerMillion - partsPerMillion) < 10, "\(host.driftPartsPerMillion)")
    }

    @Test("a host returns to its offset after a stall", arguments: [500.0, 2000, 12_000])
    func stall(length: Double) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        let end = 12_000 + length
        program.feed("a", try clip().packets(from: 0, to: Int64(end))) { packet in
            let time = Double(packet.timestamp) + 30
            // The network is blocked from 4250 on; then everything comes within a tenth of a second.
            return time < 4250 || time > 4350 + length ? time : 4250 + length + (time - 4250) / length * 100
        }
        program.run(to: end - 200)
        checkSync(program.monitor, from: 500, to: 4200)
        // The buffer is played; after the stall nothing is missing beyond the second that contains its end.
        checkSync(program.monitor, from: 4250 + length + 1000, to: end - 500)
        #expect(program.monitor.beeps[0].count >= Int((end - length) / 1000) - 2)
        let host = program.host("a")
        #expect(host.offsetSteps == 0 && host.timestampDiscontinuities == 0)
        #expect(length < 1000 || host.late > 0)
    }

    @Test(
        "timestamps that jump by ten seconds, or across 32 bits, interrupt for less than a second",
        arguments: [Int64(10_000), -10_000, -(1 << 32), 1 << 32]
    )
    func jump(by jump: Int64) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        let clip = try clip()
        // Up to 250 ms before the end of 32 bits, for a clock that is not unwrapped.
        let shift: Int64 = (1 << 32) - 6250
        program.feed("a", clip.packets(from: 0, to: 6250, shift: shift)) { Double($0.timestamp - shift) + 30 }
        let later = clip.packets(from: 6250, to: 14_000, shift: shift + jump).filter { !$0.isConfiguration }
        program.feed("a", later) { Double($0.timestamp - shift - jump) + 30 }
        program.run(to: 13_800)
        checkSync(program.monitor, from: 500, to: 13_500)
        let host = program.host("a")
        #expect(host.timestampDiscontinuities == 1 && host.audioGaps == 0 && host.offsetSteps == 0)
    }

    @Test("timestamps pass the 24-bit and the 32-bit limits", arguments: [Int64(1 << 24), 1 << 31, 1 << 32])
    func borders(border: Int64) throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        let shift = border - 5000
        program.feed("a", try clip().packets(from: 0, to: 10_000, shift: shift)) { Double($0.timestamp - shift) + 30 }
        program.run(to: 9800)
        checkSync(program.monitor, from: 500, to: 9500)
        #expect(program.host("a").timestampDiscontinuities == 0 && program.host("a").audioGaps == 0)
    }

    @Test("a host whose frame size grows while it is live stays in sync")
    func newSize() throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a"])
        program.join("a")
        let packets = try clip().packets(from: 0, to: 5000)
        let larger = try clip(25, width: 320, height: 240).packets(from: 5000, to: 10_000)
        program.feed("a", packets + larger) { Double($0.timestamp) + 30 }
        program.run(to: 9800)
        // The decoder for the new size begins with its first keyframe.
        checkSync(program.monitor, from: 500, to: 5000)
        checkSync(program.monitor, from: 7000, to: 9500)
        #expect(program.host("a").decodeErrors == 0 && program.host("a").offsetSteps == 0)
    }

    @Test("5 % packet loss and 300 ms of jitter keep sync and do not affect other hosts")
    func lossAndJitter() throws {
        let program = try ScheduledProgram(frameRate: FrameRate(60))
        program.show(["a", "b"])
        program.join("a")
        program.join("b")
        let clip = try clip()
        var generator = SeededGenerator(seed: 11)
        program.feed("a", clip.packets(from: 0, to: 30_000)) { packet in
            guard packet.isConfiguration || packet.isKeyframe || generator.next() % 20 > 0 else { return nil }
            return Double(packet.timestamp) + 30 + Double(generator.next() % 300)
        }
        program.feed("b", clip.video.packets(from: 0, to: 30_000)) { Double($0.timestamp) + 30 }
        program.run(to: 29_800)
        let offsets = program.monitor.offsets(from: 3000, to: 29_000)
        #expect(offsets.count >= 22, "\(offsets.count)")
        // Where the packet that begins the beep or the flash is lost, the next one begins it.
        #expect(offsets.count { abs($0) <= 25 } >= offsets.count * 3 / 4, "\(offsets)")
        #expect(offsets.allSatisfy { abs($0) <= 60 }, "\(offsets)")
        let others = program.monitor.flashes[1] ?? []
        #expect(zip(others, others.dropFirst()).allSatisfy { abs($1 - $0 - 1000) < 1 })
        #expect(program.host("b").framesDropped == 0 && program.host("b").late == 0)
        #expect(program.monitor.isContinuous)
    }

    @Test("joining and leaving work at every phase of a tick, in steps of a millisecond")
    func phases() throws {
        let clip = try clip()
        let other = try HostClip.plain(.white, tone: nil, width: 160, height: 90)
        for phase in 0..<34 {
            let program = try ScheduledProgram(frameRate: FrameRate(60))
            program.show(["a", "b"])
            program.join("b")
            program.feed("b", other.packets(from: 0, to: 6000)) { Double($0.timestamp) + 30 }
            let joined = 500 + Double(phase)
            program.at(joined) { program.join("a") }
            program.feed("a", clip.packets(from: 0, to: 6000)) { Double($0.timestamp) + joined + 5 }
            let left = 4700 + Double(phase)
            program.at(left) { program.leave("a") }
            program.run(to: 6000)
            let offsets = program.monitor.offsets(from: joined + 400, to: left)
            #expect((3...4).contains(offsets.count), "phase \(phase)")
            #expect(offsets.allSatisfy { abs($0) <= 20 }, "phase \(phase): \(offsets)")
            #expect(program.monitor.isContinuous && program.monitor.frames == 361)
            #expect(program.monitor.beeps[0].allSatisfy { $0 < left + 40 })
            #expect((program.monitor.flashes[1] ?? []).count <= 1 && program.host("b").framesDropped == 0)
        }
    }
}

@Suite("A host with clock drift", .enabled(if: TestRun.isFull)) struct DriftTests {
    @Test("five minutes at 200 ppm stay within 20 ms, without gaps and clicks", arguments: [200.0, -200.0])
    func drift(partsPerMillion: Double) throws {
        let program = try TestProgram()
        program.show(["a"])
        let clip = try HostClip.plain(nil, tone: 440)
        let end: Int64 = 300_000
        program.feed("a", clip.packets(from: 0, to: end)) { stamp in
            Double(stamp) / (1 + partsPerMillion / 1e6) + 30 + Double(stamp * 7919 % 25)
        }
        var worst = 0.0
        while program.now < Double(end) - 1000 {
            program.run(to: program.now + 500)
            guard program.now > 10_000, let offset = program.host("a").offset else { continue }
            let ideal = 330 - program.now * partsPerMillion / (1e6 + partsPerMillion)
            worst = max(worst, abs(offset - ideal))
        }
        #expect(worst < 20)
        let host = program.host("a")
        #expect(host.audioGaps == 0 && host.audioSkips == 0 && host.offsetSteps == 0)
        let recorded = program.output.left[48_000...]
        #expect(TestTone.largestStep(in: recorded) < TestTone.step(of: 440, amplitude: 0.3) * 1.4)
        #expect(abs(TestTone.level(of: 440, in: recorded.suffix(48_000 / 4)) - 0.3) < 0.02)
    }
}
