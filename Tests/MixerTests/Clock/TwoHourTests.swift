import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Two hours with clock drift", .enabled(if: TestRun.isFull)) struct TwoHourTests {
    private static let hours = 2.0

    /// One host's pipeline from its packets to the program's tick, with the production components.
    ///
    /// Video is decoded; audio decoding is left out, since it does not affect timing: each frame of 1024 samples is
    /// generated as the decoder would return it.
    private final class Host {
        let input: HostInput
        private var decoder = HostDecoder()
        private var reader: HostAudioReader
        private var selector = FrameSelector()
        private let canvas: Canvas
        private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
        private let frame = StereoBuffer(capacity: 1024)
        private var wasLight = false
        private var quiet = 0
        private(set) var offset: Double?
        private(set) var flashes: [Double] = []
        private(set) var beeps: [Double] = []

        init(anchor: ProgramAnchor) throws {
            input = HostInput(id: "a", anchor: anchor, jitterTarget: 300)
            reader = try HostAudioReader()
            canvas = try Canvas(width: 32, height: 32)
        }

        var gaps: Int64 { reader.gaps }
        var skips: Int64 { reader.skips }

        func decode(at now: Double) {
            while let packet = input.dequeueDuePacket(at: now) {
                guard packet.isAudio else {
                    decoder.decode(packet, into: input.media)
                    continue
                }
                // The frame's number, computed from its rounded timestamp.
                let first = (packet.timestamp * 48 + 1023) / 1024 * 1024
                for index in 0..<1024 {
                    let sample = Int(first) + index
                    frame.left[index] = sample % 48_000 < 4800 ? Float(0.5 * TestTone.sine(of: 1000, at: sample)) : 0
                    frame.right[index] = frame.left[index]
                }
                input.media.withLock {
                    $0.audio.append(frame.left, frame.right, count: 1024, timestamp: Double(packet.timestamp))
                }
            }
        }

        func readAudio(from first: Int64) {
            let time = ProgramTime.fractionalMilliseconds(ofSample: first)
            let (offset, rate, _) = input.advance(
                to: ProgramTime.fractionalMilliseconds(ofSample: first - ProgramTime.audioLead),
                isAudible: true
            )
            self.offset = offset
            input.media.withLock { media in
                do {
                    try reader.read(
                        from: &media.audio,
                        offset: offset,
                        rate: rate,
                        time: time,
                        left: quantum.left,
                        right: quantum.right
                    )
                } catch {
                    Issue.record("\(error)")
                }
            }
            for index in 0..<ProgramTime.quantum {
                guard abs(quantum.left[index]) > 0.1 else {
                    quiet += 1
                    continue
                }
                if quiet > 9600 { beeps.append(time + Double(index) / 48) }
                quiet = 0
            }
        }

        func showFrame(at sample: Int64) {
            guard let offset else { return }
            let time = ProgramTime.fractionalMilliseconds(ofSample: sample)
            let newFrame = input.media.withLock {
                selector.select(from: &$0.frames, hostTime: time - offset, interval: 1000.0 / 60)
            }
            guard let newFrame else { return }
            do {
                try canvas.draw(newFrame, in: canvas.bounds)
            } catch {
                Issue.record("\(error)")
            }
            let isLight = canvas.averageColour(of: canvas.bounds).y > 125
            if isLight, !wasLight { flashes.append(time) }
            wasLight = isLight
        }
    }

    @Test("a drift of 200 ppm stays within 20 ms without a gap or a step", arguments: [200.0, -200])
    func drift(partsPerMillion: Double) throws {
        let clip = try HostClip.make(
            width: 32,
            height: 32,
            frameRate: 10,
            paint: { canvas, index in
                canvas.fill(canvas.bounds, index % 10 == 0 ? YUVColour(red: 255, green: 255, blue: 255) : .black)
            },
            sample: nil
        )
        let anchor = ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0)
        var clock = ProgramClock(anchor: anchor, frameRate: FrameRate(60))
        let host = try Host(anchor: anchor)
        let rate = 1 + partsPerMillion / 1e6
        let end = Self.hours * 3_600_000
        var (packets, nextVideo, nextAudioFrame) = ([MediaPacket](), 0, Int64(0))
        var minute: Int64 = 0
        var (now, last) = (0.0, 0.0)
        var worst = 0.0
        /// Delivers what has arrived by `now`: stamped with the host's clock, 30 ms in transit and up to 25 ms of
        /// jitter.
        func arrive() {
            while Double(minute) * 60_000 < now + 5000 {
                if nextVideo > 0 { packets.removeFirst(nextVideo) }
                nextVideo = 0
                let part = clip.packets(from: minute * 60_000, to: (minute + 1) * 60_000)
                packets += minute == 0 ? part : part.filter { !$0.isConfiguration }
                minute += 1
            }
            while true {
                let frame = nextAudioFrame * 1024 / 48
                let videoTime = nextVideo < packets.count ? packets[nextVideo].timestamp : .max
                let stamp = min(frame, videoTime)
                let arrival = max(last, Double(stamp) / rate + 30 + Double(stamp / 100 * 7919 % 25))
                guard arrival <= now else { return }
                last = arrival
                let moment = MonotonicTime(nanoseconds: Int64(arrival * 1e6))
                if videoTime <= frame {
                    host.input.receive(packets[nextVideo], arrival: moment)
                    nextVideo += 1
                } else {
                    host.input.receive(.aacFrame(timestamp: frame, capacity: 0) { _ in }, arrival: moment)
                    nextAudioFrame += 1
                }
            }
        }
        var moment = anchor.start
        while now < end {
            switch clock.next(at: moment) {
            case .wait(let next):
                moment = next
                now = anchor.milliseconds(at: moment)
                arrive()
                host.decode(at: now)
            case .audio(let first):
                host.readAudio(from: first)
                if now > 10_000, let offset = host.offset {
                    worst = max(worst, abs(offset - (330 - now * (rate - 1))))
                }
            case .frame(_, let sample, _): host.showFrame(at: sample)
            case .jump: Issue.record("unexpected jump")
            }
        }
        let statistics = host.input.statistics(at: now)
        #expect(worst < 20, "\(worst)")
        #expect(host.gaps == 0 && host.skips == 0)
        #expect(statistics.offsetSteps == 0 && statistics.timestampDiscontinuities == 0 && statistics.late == 0)
        #expect(abs(statistics.driftPartsPerMillion - partsPerMillion) < 5, "\(statistics.driftPartsPerMillion)")
        #expect(abs(statistics.offsetChange + end * (rate - 1)) < 20)
        // Each second of the host has its flash and its beep, together, and they never fall behind.
        let (flashes, beeps) = (host.flashes, host.beeps)
        #expect(abs(Double(flashes.count) - end * rate / 1000) < 3 && abs(flashes.count - beeps.count) <= 1)
        let differences = zip(flashes, beeps).map { abs($0 - $1) }
        #expect((differences.max() ?? 100) <= 20, "\(differences.max() ?? 100)")
        let ages = beeps.enumerated().map { $1 - Double($0) * 1000 / rate - beeps[0] }
        #expect(ages.allSatisfy { abs($0) < 20 })
    }
}
