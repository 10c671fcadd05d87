import Codecs
import Media

/// A host's coded media of a few seconds, made by our own encoders, to be played in a loop.
///
/// Eight seconds are a whole number of AAC frames and of pictures at every usual rate, and of periods of every whole
/// frequency, so the loop has no seam.
struct HostClip: Sendable {
    static let length: Int64 = 8000

    var configuration: [MediaPacket] = []
    /// Timestamps from 0 up to, not including, `length`; in order of time.
    var media: [MediaPacket] = []

    var pictures: HostClip { filtered(\.isVideo) }
    var sound: HostClip { filtered(\.isAudio) }

    private func filtered(_ wanted: (MediaPacket) -> Bool) -> HostClip {
        HostClip(configuration: configuration.filter(wanted), media: media.filter(wanted))
    }

    /// The packets with times from `start` up to `end`, the clip repeated without end; times moved by `shift`.
    func packets(from start: Int64, to end: Int64, shift: Int64 = 0) -> [MediaPacket] {
        var result = configuration.map { packet in
            var packet = packet
            packet.timestamp = start + shift
            return packet
        }
        for round in (start / Self.length)...(end / Self.length) {
            for packet in media {
                let time = packet.timestamp + round * Self.length
                guard time >= start, time < end else { continue }
                var copy = packet
                copy.timestamp = time + shift
                result.append(copy)
            }
        }
        return result
    }

    /// Makes a clip.
    ///
    /// - Parameters:
    ///   - paint: Draws the picture of the given number.
    ///   - sample: The sound at a sample of the given number, both channels alike; nil for no sound.
    static func make(
        width: Int = 320,
        height: Int = 180,
        frameRate: Int = 30,
        paint: ((Canvas, Int) -> Void)?,
        sample: ((Int) -> Float)?
    ) throws -> HostClip {
        CodecLibraries.quiet()
        var clip = HostClip()
        if let paint {
            var encoder = try VideoEncoder(
                VideoEncoderConfiguration(
                    width: width,
                    height: height,
                    frameRateNumerator: frameRate,
                    bitrate: 400_000,
                    preset: "ultrafast",
                    keyInterval: 2 * frameRate,
                    options: ""
                )
            )
            clip.configuration.append(.h264Configuration(encoder.configuration, timestamp: 0))
            let canvas = try Canvas(width: width, height: height)
            for index in 0..<(Int(length) / 1000 * frameRate) {
                paint(canvas, index)
                let time = Int64(index * 1000 / frameRate)
                try encoder.encode(canvas, index: Int64(index), timestamp: time, forceKey: false) {
                    clip.media.append($0)
                }
            }
        }
        if let sample {
            var encoder = try AudioEncoder(AudioEncoderConfiguration(bitrate: 192_000))
            clip.configuration.append(.aacConfiguration(encoder.configuration, timestamp: 0))
            let count = 48 * Int(length) + 4096
            let samples = (0..<count).map(sample)
            try encoder.encode(left: samples, right: samples, count: count, firstSample: 0) {
                if (0..<length).contains($0.timestamp) { clip.media.append($0) }
            }
        }
        clip.media.sort { $0.timestamp < $1.timestamp }
        return clip
    }

    /// A clip of one colour with a tone.
    static func plain(
        _ colour: YUVColour?,
        tone: Double?,
        amplitude: Double = 0.3,
        width: Int = 320,
        height: Int = 180,
        frameRate: Int = 30
    ) throws -> HostClip {
        try make(
            width: width,
            height: height,
            frameRate: frameRate,
            paint: colour.map { colour in { canvas, _ in canvas.fill(canvas.bounds, colour) } },
            sample: tone.map { tone in { Float(amplitude * TestTone.sine(of: tone, at: $0)) } }
        )
    }

    /// Black and silent, with a white picture and a loud 1 kHz tone in the first 100 ms of each second.
    static func flashAndBeep(frameRate: Int = 30) throws -> HostClip {
        try make(
            frameRate: frameRate,
            paint: { canvas, index in
                let isOn = index % frameRate * 1000 / frameRate < 100
                canvas.fill(canvas.bounds, isOn ? YUVColour(red: 255, green: 255, blue: 255) : .black)
            },
            sample: { $0 % 48_000 < 4800 ? Float(0.6 * TestTone.sine(of: 1000, at: $0)) : 0 }
        )
    }
}
