public import Media
import RTMP

/// A generated host: a picture of one colour and a tone, without camera, microphone or encoder.
///
/// A key picture comes each second, and every other picture of those between is disposable. The tone is 468.75 Hz: of
/// it a frame of 1024 samples holds ten whole waves, so that one coded frame, repeated, is the whole tone.
public struct PatternMediaSource: MediaSource {
    /// Pictures a second, 2 to 60.
    public var frameRate = 15
    /// Whether there is a tone; silence otherwise.
    public var hasTone = true
    private let pictures: PatternPictures
    private let clock: ClientClock

    /// Hertz of the tone.
    public static let frequency = 468.75
    static let sampleRate: Int64 = 48_000
    static let frameLength: Int64 = 1024
    /// AAC-LC, 48 kHz, one channel.
    static let soundConfiguration: [UInt8] = [0x11, 0x88]
    static let silence: [UInt8] = [0x01, 0x18, 0x20, 0x07]
    static let tone: [UInt8] = [
        0x00, 0xF2, 0x2E, 0x8A, 0x02, 0x8D, 0x10, 0x87, 0x44, 0xF1, 0xEB, 0xFB, 0x7F, 0xFD, 0xC9, 0xFF, 0xE7, 0xFE,
        0x7D, 0xB8, 0xE3, 0xAF, 0x5F, 0x1F, 0x2E, 0x19, 0xA7, 0xAF, 0x88, 0xF8, 0x73, 0xBA, 0x1E, 0x7E, 0x7E, 0x67,
        0x39, 0x8D, 0xF2, 0xE3, 0x0C, 0xC0, 0x40, 0x73, 0x6B, 0xE7, 0x49, 0x24, 0xA9, 0x19, 0x29, 0x12, 0x50, 0xA4,
        0x69, 0x12, 0x91, 0x92, 0x50, 0xA4, 0x68, 0x50, 0x4A, 0x1C,
    ]

    /// Makes a pattern.
    ///
    /// - Parameters:
    ///   - columns: The width in blocks of 16 pixels, 1 to 40.
    ///   - rows: The height in blocks of 16 pixels, 1 to 30.
    ///   - luma: The brightness, 16 to 235.
    ///   - blue: The colour's Cb, 16 to 240.
    ///   - red: The colour's Cr, 16 to 240.
    ///   - clock: Paces the packets.
    public init(
        columns: Int = 10,
        rows: Int = 6,
        luma: UInt8 = 81,
        blue: UInt8 = 90,
        red: UInt8 = 240,
        clock: ClientClock = .system
    ) {
        pictures = PatternPictures(
            columns: min(max(columns, 1), 40),
            rows: min(max(rows, 1), 30),
            colour: (min(max(luma, 16), 235), min(max(blue, 16), 240), min(max(red, 16), 240))
        )
        self.clock = clock
    }

    /// Gives the pattern until the task is cancelled.
    public func produce(_ take: @escaping @Sendable (MediaPacket) -> Void) async throws {
        let start = clock.now()
        var pictures = pictures
        let rate = min(max(frameRate, 2), 60)
        for packet in configuration { take(packet) }
        var (picture, sound) = (0, 0)
        while true {
            let pictureTime = Int64(picture) * 1000 / Int64(rate)
            let soundTime = Int64(sound) * Self.frameLength * 1000 / Self.sampleRate
            try await clock.sleep(until: start + .milliseconds(min(pictureTime, soundTime)))
            try Task.checkCancellation()
            if soundTime <= pictureTime {
                take(.aacFrame(data: hasTone ? Self.tone : Self.silence, timestamp: soundTime))
                sound += 1
            } else {
                take(Self.picture(picture, rate: rate, of: &pictures, at: pictureTime))
                picture += 1
            }
        }
    }

    private var configuration: [MediaPacket] {
        let metadata = StreamMetadata.packet(
            width: pictures.columns * 16,
            height: pictures.rows * 16,
            frameRate: Double(frameRate),
            videoBitrate: pictures.columns * pictures.rows * 384 * 8 / 1000,
            audioBitrate: 24,
            sampleRate: Int(Self.sampleRate),
            channels: 1,
            encoder: "Footlight"
        )
        return [
            metadata, .h264Configuration(data: pictures.configuration, timestamp: 0),
            .aacConfiguration(data: Self.soundConfiguration, timestamp: 0),
        ]
    }

    /// Of two pictures after each other at most one may be disposable.
    private static func picture(
        _ number: Int,
        rate: Int,
        of pictures: inout PatternPictures,
        at timestamp: Int64
    ) -> MediaPacket {
        let isKey = number % rate == 0
        let isDisposable = !isKey && number % rate % 2 == 1
        return .h264Picture(
            data: isKey ? pictures.key() : pictures.same(isDisposable: isDisposable),
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: timestamp
        )
    }
}
