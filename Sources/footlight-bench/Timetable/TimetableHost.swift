import Codecs
import Foundation
import Media
import Mixer

/// A host on a virtual clock, which generates its packets on demand.
struct TimetableHost: Sendable {
    let name: String
    /// The drift of its clock in parts per million; positive for a fast clock.
    let partsPerMillion: Double
    private let clip: FlashClip
    /// Its clock's time at its join, in milliseconds.
    private let origin: Int64
    private var joined = 0.0
    /// Packets sent since the join; the configurations are sent first.
    private var sent = 0
    private var clockSteps: Int64 = 0
    private var outage: Range<Double>?
    private var lastArrival = 0.0
    private(set) var input: HostInput?

    /// - Parameters:
    ///   - frequency: Kilohertz of its beep.
    ///   - origin: Its clock's time at its join, in milliseconds.
    init(_ name: String, frequency: Int, partsPerMillion: Double, origin: Int64) throws {
        self.name = name
        self.partsPerMillion = partsPerMillion
        self.origin = origin
        clip = try FlashClip(frequency: frequency)
    }

    var isOnAir: Bool { input != nil }

    mutating func join(_ input: HostInput, at time: Double) {
        (self.input, joined, lastArrival) = (input, time, time)
        (sent, clockSteps, outage) = (0, 0, nil)
    }

    mutating func leave() { input = nil }

    /// Steps its clock by an offset in milliseconds.
    mutating func stepClock(_ milliseconds: Int64) { clockSteps += milliseconds }

    /// Blocks its network for a time; the delayed packets arrive within a tenth of a second after its end.
    mutating func stall(_ span: Range<Double>) { outage = span }

    /// The arrival time of its next packet in milliseconds; nil when off air.
    var nextArrival: Double? {
        guard isOnAir else { return nil }
        let time = Double(mediaTime)
        // A network delay of 30 ms and up to 25 ms of jitter, which differs between audio and video.
        let jitter = Double((mediaTime * 7919 + (packet.isVideo ? 0 : 17)) % 25)
        var arrival = joined + time / (1 + partsPerMillion / 1e6) + 30 + jitter
        if let outage, outage.contains(arrival) {
            arrival = outage.upperBound + (arrival - outage.lowerBound) / (outage.upperBound - outage.lowerBound) * 100
        }
        return max(arrival, lastArrival)
    }

    /// Delivers the next packet.
    mutating func deliver() {
        guard let input, let arrival = nextArrival else { return }
        var packet = packet
        // 32 bits, as on the wire.
        packet.timestamp = (origin + mediaTime + clockSteps) & 0xFFFF_FFFF
        input.receive(packet, arrival: MonotonicTime(nanoseconds: Int64(arrival * 1e6)))
        lastArrival = arrival
        sent += 1
    }

    /// Returns the deviation in milliseconds of `time` from the nearest beginning of one of the host's seconds.
    ///
    /// - Parameter delay: Milliseconds from a moment at the host to the same moment in the program.
    func distance(of time: Double, delay: Double) -> Double {
        let rate = 1 + partsPerMillion / 1e6
        let second = ((time - delay - joined) * rate / 1000).rounded()
        return time - delay - joined - second * 1000 / rate
    }

    private var packet: MediaPacket {
        guard sent >= clip.configuration.count else { return clip.configuration[sent] }
        return clip.media[(sent - clip.configuration.count) % clip.media.count]
    }

    /// The packet's time since the join, by the host's clock.
    private var mediaTime: Int64 {
        guard sent >= clip.configuration.count else { return 0 }
        let round = (sent - clip.configuration.count) / clip.media.count
        return packet.timestamp + Int64(round) * FlashClip.length
    }
}

/// Eight seconds of a host's media for a seamless loop: black and silent, except for a white frame and a beep in the
/// first tenth of every second.
///
/// Eight seconds are a whole number of AAC frames, of video frames, and of periods of the beep.
struct FlashClip: Sendable {
    static let length: Int64 = 8000
    /// Frames per second: few are cheap, and each lasts a tenth of a second.
    static let frameRate = 10
    /// The amplitude relative to full scale; five hosts together stay below the limiter's threshold.
    static let amplitude: Float = 0.15

    let configuration: [MediaPacket]
    /// Packets with timestamps from 0 up to, not including, `length`, in order of time.
    let media: [MediaPacket]

    /// - Parameter frequency: The frequency of the beep, in whole kilohertz.
    init(frequency: Int) throws {
        var configuration: [MediaPacket] = []
        var media: [MediaPacket] = []
        var video = try VideoEncoder(
            VideoEncoderConfiguration(
                width: 96,
                height: 54,
                frameRateNumerator: Self.frameRate,
                bitrate: 100_000,
                preset: "ultrafast",
                keyInterval: 2 * Self.frameRate,
                options: ""
            )
        )
        configuration.append(.h264Configuration(video.configuration, timestamp: 0))
        let canvas = try Canvas(width: 96, height: 54)
        for index in 0..<Int(Self.length) / 1000 * Self.frameRate {
            let isLight = index % Self.frameRate == 0
            canvas.fill(canvas.bounds, isLight ? YUVColour(red: 255, green: 255, blue: 255) : .black)
            let time = Int64(index * 1000 / Self.frameRate)
            try video.encode(canvas, index: Int64(index), timestamp: time, forceKey: false) { media.append($0) }
        }
        var audio = try AudioEncoder(AudioEncoderConfiguration(bitrate: 96_000))
        configuration.append(.aacConfiguration(audio.configuration, timestamp: 0))
        let count = 48 * Int(Self.length) + 4096
        let samples = (0..<count).map { index -> Float in
            let place = index % 48_000
            guard place < 4800 else { return 0 }
            // The frequency is in kilohertz, and the sample rate is 48 kHz.
            return Self.amplitude * Float(sin(2 * Double.pi * Double(frequency * place) / 48))
        }
        try audio.encode(left: samples, right: samples, count: count, firstSample: 0) { packet in
            if (0..<Self.length).contains(packet.timestamp) { media.append(packet) }
        }
        self.configuration = configuration
        self.media = media.sorted { $0.timestamp < $1.timestamp }
    }
}
