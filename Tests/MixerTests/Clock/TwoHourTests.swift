import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("Two hours of a host whose clock is not ours") struct TwoHourTests {
    private static let hours = 2.0

    /// One host's way from its packets to the program's tick: the very parts that a program has, without other hosts.
    ///
    /// Pictures are decoded; of sound only the decoding is left out, for it has no part in time: each frame of 1024
    /// samples comes as it would come out of the decoder.
    private final class Host {
        let input: HostInput
        private var decoder = HostDecoder()
        private var reader: SoundReader
        private var selector = PictureSelector()
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
            reader = try SoundReader()
            canvas = try Canvas(width: 32, height: 32)
        }

        var gaps: Int64 { reader.gaps }
        var skips: Int64 { reader.skips }

        func decode(at now: Double) {
            while let packet = input.takeDue(at: now) {
                guard packet.isAudio else {
                    decoder.decode(packet, into: input.media)
                    continue
                }
                // The frame's number from its time, which is rounded down.
                let first = (packet.timestamp * 48 + 1023) / 1024 * 1024
                for index in 0..<1024 {
                    let sample = Int(first) + index
                    frame.left[index] = sample % 48_000 < 4800 ? Float(0.5 * TestTone.sine(of: 1000, at: sample)) : 0
                    frame.right[index] = frame.left[index]
                }
                input.media.withLock {
                    $0.sound.append(frame.left, frame.right, count: 1024, timestamp: Double(packet.timestamp))
                }
            }
        }

        func listen(from first: Int64) {
            let time = ProgramTime.fractionalMilliseconds(ofSample: first)
            let (offset, rate, _) = input.advance(
                to: ProgramTime.fractionalMilliseconds(ofSample: first - ProgramTime.soundLead),
                isHeard: true
            )
            self.offset = offset
            input.media.withLock { media in
                do {
                    try reader.read(
                        from: &media.sound,
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

        func look(at sample: Int64) {
            guard let offset else { return }
            let time = ProgramTime.fractionalMilliseconds(ofSample: sample)
            let picture = input.media.withLock {
                selector.select(from: &$0.pictures, hostTime: time - offset, interval: 1000.0 / 60)
            }
            guard let picture else { return }
            do {
                try canvas.draw(picture, in: canvas.bounds)
            } catch {
                Issue.record("\(error)")
            }
            let isLight = canvas.averageColour(of: canvas.bounds).y > 125
            if isLight, !wasLight { flashes.append(time) }
            wasLight = isLight
        }
    }

    @Test("200 ppm either way: in place within 20 ms all the time, without a gap or a step", arguments: [200.0, -200])
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
        var (pictures, nextPicture, nextFrame) = ([MediaPacket](), 0, Int64(0))
        var minute: Int64 = 0
        var (now, last) = (0.0, 0.0)
        var worst = 0.0
        /// What has come by `now`: stamped with the host's clock, 30 ms on its way and up to 25 more.
        func arrive() {
            while Double(minute) * 60_000 < now + 5000 {
                if nextPicture > 0 { pictures.removeFirst(nextPicture) }
                nextPicture = 0
                let part = clip.packets(from: minute * 60_000, to: (minute + 1) * 60_000)
                pictures += minute == 0 ? part : part.filter { !$0.isConfiguration }
                minute += 1
            }
            while true {
                let frame = nextFrame * 1024 / 48
                let picture = nextPicture < pictures.count ? pictures[nextPicture].timestamp : .max
                let stamp = min(frame, picture)
                let arrival = max(last, Double(stamp) / rate + 30 + Double(stamp / 100 * 7919 % 25))
                guard arrival <= now else { return }
                last = arrival
                let moment = MonotonicTime(nanoseconds: Int64(arrival * 1e6))
                if picture <= frame {
                    host.input.receive(pictures[nextPicture], arrival: moment)
                    nextPicture += 1
                } else {
                    host.input.receive(.aacFrame(timestamp: frame, capacity: 0) { _ in }, arrival: moment)
                    nextFrame += 1
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
            case .sound(let first):
                host.listen(from: first)
                if now > 10_000, let offset = host.offset {
                    worst = max(worst, abs(offset - (330 - now * (rate - 1))))
                }
            case .picture(_, let sample, _): host.look(at: sample)
            case .jump: Issue.record("a jump")
            }
        }
        let statistics = host.input.statistics(at: now)
        #expect(worst < 20, "\(worst)")
        #expect(host.gaps == 0 && host.skips == 0)
        #expect(statistics.offsetSteps == 0 && statistics.timestampLeaps == 0 && statistics.late == 0)
        #expect(abs(statistics.driftPartsPerMillion - partsPerMillion) < 5, "\(statistics.driftPartsPerMillion)")
        #expect(abs(statistics.offsetChange + end * (rate - 1)) < 20)
        // Each second of the host has its flash and its beep, together, and they never fall behind.
        let (flashes, beeps) = (host.flashes, host.beeps)
        #expect(abs(Double(flashes.count) - end * rate / 1000) < 3 && abs(flashes.count - beeps.count) <= 1)
        let apart = zip(flashes, beeps).map { abs($0 - $1) }
        #expect((apart.max() ?? 100) <= 20, "\(apart.max() ?? 100)")
        let ages = beeps.enumerated().map { $1 - Double($0) * 1000 / rate - beeps[0] }
        #expect(ages.allSatisfy { abs($0) < 20 })
    }
}
