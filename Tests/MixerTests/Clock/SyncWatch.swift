import Codecs

@testable import Mixer

/// Watches a program for flashes in its tiles and beeps in either channel, and keeps nothing else of it: it may be hours
/// long.
final class SyncWatch: ProgramOutput {
    /// Sound below `loud` for so many samples is quiet.
    private static let pause = 9600
    private static let loud: Float = 0.1

    private let ring: CanvasRing
    private let pictureLength: Double
    /// Where to look in each picture.
    var probes: [PixelRectangle] = []
    /// Per probe, when black turned to white, milliseconds of program time.
    private(set) var flashes: [Int: [Double]] = [:]
    /// Per channel, when a quiet channel became loud.
    private(set) var beeps: [[Double]] = [[], []]
    private(set) var lumas: [Int: UInt8] = [:]
    private(set) var pictures: Int64 = 0
    /// Every picture has followed the one before it, and every sample.
    private(set) var isContinuous = true
    private var lastPicture: Int64?
    private var nextSample: Int64?
    private var quiet = [pause, pause]

    init(ring: CanvasRing, frameRate: Double) {
        self.ring = ring
        pictureLength = 1000 / frameRate
    }

    var pendingPictures: Int { 0 }

    func takePicture(canvas: Int, index: Int64) {
        if let lastPicture, index != lastPicture + 1 { isContinuous = false }
        lastPicture = index
        pictures += 1
        for (place, probe) in probes.enumerated() {
            let luma = ring.canvases[canvas].averageColour(of: probe).y
            if luma > 150, let last = lumas[place], last < 100 {
                flashes[place, default: []].append(Double(index) * pictureLength)
            }
            lumas[place] = luma
        }
        ring.giveBack(canvas)
    }

    func takeSound(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        if let nextSample, nextSample != firstSample { isContinuous = false }
        nextSample = firstSample + Int64(count)
        for (channel, samples) in [left, right].enumerated() {
            var quiet = quiet[channel]
            for index in 0..<count {
                guard abs(samples[index]) > Self.loud else {
                    quiet += 1
                    continue
                }
                if quiet >= Self.pause { beeps[channel].append(Double(firstSample + Int64(index)) / 48) }
                quiet = 0
            }
            self.quiet[channel] = quiet
        }
    }

    /// For each flash of `probe` between the two times how much later it comes than the beep nearest to it.
    func offsets(_ probe: Int = 0, channel: Int = 0, from start: Double, to end: Double) -> [Double] {
        var beeps = beeps[channel][...]
        return (flashes[probe] ?? []).filter { (start..<end).contains($0) }.map { flash in
            while let first = beeps.first, let second = beeps.dropFirst().first {
                guard abs(second - flash) <= abs(first - flash) else { break }
                beeps = beeps.dropFirst()
            }
            return beeps.first.map { flash - $0 } ?? .infinity
        }
    }
}
