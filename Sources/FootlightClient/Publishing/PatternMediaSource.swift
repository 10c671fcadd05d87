public import Media
import RTMP

/// A test pattern: video of one colour and a tone, without camera, microphone or encoder.
///
/// A keyframe is sent each second, and every second frame in between is disposable. The tone is 468.75 Hz: a frame of
/// 1024 samples contains ten whole periods, so that one repeated AAC frame is a continuous tone.
public struct PatternMediaSource: MediaSource {
    /// The frame rate in frames per second, 2 to 60.
    public var frameRate = 15
    /// Whether the audio is a tone; otherwise silence.
    public var hasTone = true
    private let encoder: PatternVideoEncoder
    private let clock: ClientClock

    /// The frequency of the tone in hertz.
    public static let frequency = 468.75
    static let sampleRate: Int64 = 48_000
    static let frameLength: Int64 = 1024
    /// AAC-LC, 48 kHz, one channel.
    static let audioConfiguration: [UInt8] = [0x11, 0x88]
    static let silence: [UInt8] = [0x01, 0x18, 0x20, 0x07]
    static let tone: [UInt8] = [
        0x00, 0xF2, 0x2E, 0x8A, 0x02, 0x8D, 0x10, 0x87, 0x44, 0xF1, 0xEB, 0xFB, 0x7F, 0xFD, 0xC9, 0xFF, 0xE7, 0xFE,
        0x7D, 0xB8, 0xE3, 0xAF, 0x5F, 0x1F, 0x2E, 0x19, 0xA7, 0xAF, 0x88, 0xF8, 0x73, 0xBA, 0x1E, 0x7E, 0x7E, 0x67,
        0x39, 0x8D, 0xF2, 0xE3, 0x0C, 0xC0, 0x40, 0x73, 0x6B, 0xE7, 0x49, 0x24, 0xA9, 0x19, 0x29, 0x12, 0x50, 0xA4,
        0x69, 0x12, 0x91, 0x92, 0x50, 0xA4, 0x68, 0x50, 0x4A, 0x1C,
    ]

    /// Creates a pattern.
    ///
    /// - Parameters:
    ///   - columns: The width in blocks of 16 pixels, 1 to 40.
    ///   - rows: The height in blocks of 16 pixels, 1 to 30.
    ///   - luma: The brightness, 16 to 235.
    ///   - blue: The colour's Cb, 16 to 240.
    ///   - red: The colour's Cr, 16 to 240.
    ///   - clock: The clock that paces the packets.
    public init(
        columns: Int = 10,
        rows: Int = 6,
        luma: UInt8 = 81,
        blue: UInt8 = 90,
        red: UInt8 = 240,
        clock: ClientClock = .system
    ) {
        encoder = PatternVideoEncoder(
            columns: min(max(columns, 1), 40),
            rows: min(max(rows, 1), 30),
            colour: (min(max(luma, 16), 235), min(max(blue, 16), 240), min(max(red, 16), 240))
        )
        self.clock = clock
    }

    /// Sends the pattern until the task is cancelled.
    public func produce(_ send: @escaping @Sendable (MediaPacket) -> Void) async throws {
        let start = clock.now()
        var encoder = encoder
        let rate = min(max(frameRate, 2), 60)
        for packet in configuration { send(packet) }
        var (frame, audioFrame) = (0, 0)
        while true {
            let frameTime = Int64(frame) * 1000 / Int64(rate)
            let audioTime = Int64(audioFrame) * Self.frameLength * 1000 / Self.sampleRate
            try await clock.sleep(until: start + .milliseconds(min(frameTime, audioTime)))
            try Task.checkCancellation()
            if audioTime <= frameTime {
                send(.aacFrame(data: hasTone ? Self.tone : Self.silence, timestamp: audioTime))
                audioFrame += 1
            } else {
                send(Self.frame(frame, rate: rate, of: &encoder, at: frameTime))
                frame += 1
            }
        }
    }

    private var configuration: [MediaPacket] {
        let metadata = StreamMetadata.packet(
            width: encoder.columns * 16,
            height: encoder.rows * 16,
            frameRate: Double(frameRate),
            videoBitrate: encoder.columns * encoder.rows * 384 * 8 / 1000,
            audioBitrate: 24,
            sampleRate: Int(Self.sampleRate),
            channels: 1,
            encoder: "Footlight"
        )
        return [
            metadata, .h264Configuration(data: encoder.configuration, timestamp: 0),
            .aacConfiguration(data: Self.audioConfiguration, timestamp: 0),
        ]
    }

    /// Returns a frame; of two successive frames at most one is disposable.
    private static func frame(
        _ number: Int,
        rate: Int,
        of encoder: inout PatternVideoEncoder,
        at timestamp: Int64
    ) -> MediaPacket {
        let isKey = number % rate == 0
        let isDisposable = !isKey && number % rate % 2 == 1
        return .h264Frame(
            data: isKey ? encoder.keyframe() : encoder.repeatedFrame(isDisposable: isDisposable),
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: timestamp
        )
    }
}

/// Generates H.264 frames of one colour without an encoder (ITU-T H.264, baseline profile, CAVLC).
///
/// A keyframe contains its samples uncompressed (I_PCM); every other frame repeats the previous one (all macroblocks
/// skipped) and takes a few bytes.
struct PatternVideoEncoder {
    /// The width in macroblocks of 16 pixels.
    let columns: Int
    let rows: Int
    /// Y, Cb and Cr, 16 to 240.
    let colour: (luma: UInt8, blue: UInt8, red: UInt8)

    /// The number of reference frames since the last keyframe, modulo 16.
    private var frameNumber: UInt32 = 0
    private var keyframes: UInt32 = 0

    init(columns: Int, rows: Int, colour: (luma: UInt8, blue: UInt8, red: UInt8)) {
        self.columns = columns
        self.rows = rows
        self.colour = colour
    }

    private var sequence: [UInt8] {
        var bits = BitWriter()
        // Profile 66 with the constraints of both baselines, level 3.0.
        for byte: UInt32 in [66, 0xC0, 30] { bits.write(byte, bits: 8) }
        bits.writeGolomb(0)
        // Frame numbers of 4 bits; output order is decoding order (type 2); one reference frame.
        bits.writeGolomb(0)
        bits.writeGolomb(2)
        bits.writeGolomb(1)
        bits.write(0, bits: 1)
        bits.writeGolomb(UInt32(columns - 1))
        bits.writeGolomb(UInt32(rows - 1))
        // Frames only, direct 8x8 inference, no cropping, no VUI.
        bits.write(0b1100, bits: 4)
        bits.end()
        return bits.unit(header: 0x67)
    }

    private var parameters: [UInt8] {
        var bits = BitWriter()
        bits.writeGolomb(0)
        bits.writeGolomb(0)
        bits.write(0b00, bits: 2)
        for _ in 0..<3 { bits.writeGolomb(0) }
        bits.write(0b000, bits: 3)
        for _ in 0..<3 { bits.writeGolomb(0) }
        // The slices set the deblocking filter.
        bits.write(0b100, bits: 3)
        bits.end()
        return bits.unit(header: 0x68)
    }

    /// The AVCDecoderConfigurationRecord.
    var configuration: [UInt8] {
        let (sequence, parameters) = (sequence, parameters)
        return [1, sequence[1], sequence[2], sequence[3], 0xFF, 0xE1] + Self.length16(sequence) + sequence
            + [1] + Self.length16(parameters) + parameters
    }

    /// Returns a keyframe.
    mutating func keyframe() -> [UInt8] {
        frameNumber = 0
        keyframes += 1
        var bits = BitWriter()
        for value: UInt32 in [0, 7, 0] { bits.writeGolomb(value) }
        bits.write(0, bits: 4)
        // Successive IDR pictures have different `idr_pic_id`s.
        bits.writeGolomb(keyframes % 2)
        bits.write(0b00, bits: 2)
        bits.writeGolomb(0)
        bits.writeGolomb(1)
        for _ in 0..<columns * rows {
            bits.writeGolomb(25)
            bits.align()
            bits.append(repeatElement(colour.luma, count: 256))
            bits.append(repeatElement(colour.blue, count: 64))
            bits.append(repeatElement(colour.red, count: 64))
        }
        bits.end()
        return Self.prefixed(bits.unit(header: 0x65))
    }

    /// Returns a frame that repeats the previous one.
    mutating func repeatedFrame(isDisposable: Bool) -> [UInt8] {
        var bits = BitWriter()
        for value: UInt32 in [0, 5, 0] { bits.writeGolomb(value) }
        bits.write((frameNumber + 1) % 16, bits: 4)
        // No override of the number of references, no reordering, no memory management.
        bits.write(0b00, bits: 2)
        if !isDisposable { bits.write(0, bits: 1) }
        bits.writeGolomb(0)
        bits.writeGolomb(1)
        bits.writeGolomb(UInt32(columns * rows))
        bits.end()
        if !isDisposable { frameNumber += 1 }
        return Self.prefixed(bits.unit(header: isDisposable ? 0x01 : 0x41))
    }

    private static func length16(_ unit: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)]
    }

    private static func prefixed(_ unit: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit.count >> $0) } + unit
    }
}

/// Writes the bits of an H.264 NAL unit, most significant bit first (ITU-T H.264, 7.2 and 9.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    /// The number of unused bits in the last byte.
    private var free = 0

    mutating func write(_ value: UInt32, bits: Int) {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: value >> UInt32(bit) & 1) << UInt8(free)
        }
    }

    /// Writes an unsigned Exp-Golomb code; signed codes are only needed for 0, which is encoded the same.
    mutating func writeGolomb(_ value: UInt32) {
        let code = value + 1
        let length = UInt32.bitWidth - code.leadingZeroBitCount
        write(0, bits: length - 1)
        write(code, bits: length)
    }

    /// Pads the last byte with zeros.
    mutating func align() {
        free = 0
    }

    /// Appends whole bytes; the writer must be aligned.
    mutating func append(_ data: Repeated<UInt8>) {
        bytes.append(contentsOf: data)
    }

    /// Writes the stop bit that ends a NAL unit.
    mutating func end() {
        write(1, bits: 1)
        align()
    }

    /// Returns the NAL unit with its header byte and emulation prevention bytes.
    func unit(header: UInt8) -> [UInt8] {
        var unit = [header]
        var zeros = 0
        for byte in bytes {
            if zeros == 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}
