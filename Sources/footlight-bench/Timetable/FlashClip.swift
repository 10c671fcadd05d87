import Codecs
import Foundation
import Media

/// Eight seconds of a host, to be played in a loop without a seam: black and silent, but for a white picture and a beep
/// in the first tenth of every second.
///
/// Eight seconds are a whole number of AAC frames, of pictures, and of periods of the beep.
struct FlashClip: Sendable {
    static let length: Int64 = 8000
    /// Pictures a second: few are cheap, and a tenth of a second lies between them.
    static let frameRate = 10
    /// Of full scale; those of five hosts at once stay below the limiter's threshold.
    static let amplitude: Float = 0.15

    let configuration: [MediaPacket]
    /// Timestamps from 0 up to, not including, `length`, in order of time.
    let media: [MediaPacket]

    /// - Parameter frequency: Of the beep, a whole number of kilohertz.
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
        var sound = try AudioEncoder(AudioEncoderConfiguration(bitrate: 96_000))
        configuration.append(.aacConfiguration(sound.configuration, timestamp: 0))
        let count = 48 * Int(Self.length) + 4096
        let samples = (0..<count).map { index -> Float in
            let place = index % 48_000
            guard place < 4800 else { return 0 }
            // The number is in kilohertz, and so is a 48th of the sample rate.
            return Self.amplitude * Float(sin(2 * Double.pi * Double(frequency * place) / 48))
        }
        try sound.encode(left: samples, right: samples, count: count, firstSample: 0) { packet in
            if (0..<Self.length).contains(packet.timestamp) { media.append(packet) }
        }
        self.configuration = configuration
        self.media = media.sorted { $0.timestamp < $1.timestamp }
    }
}
