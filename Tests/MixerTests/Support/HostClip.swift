import Codecs
import Foundation
import Media
import NIOCore

/// A host's encoded media of eight seconds, made by our own encoders, to be played in a loop.
///
/// Eight seconds are a whole number of AAC frames, of video frames at every usual rate, and of periods of every integer
/// frequency, so the loop is seamless.
struct HostClip: Sendable {
    static let length: Int64 = 8000

    var configuration: [MediaPacket] = []
    /// The packets in order of time, with timestamps from 0 up to, not including, `length`.
    var media: [MediaPacket] = []

    var video: HostClip { filtered(\.isVideo) }
    var audio: HostClip { filtered(\.isAudio) }

    private func filtered(_ predicate: (MediaPacket) -> Bool) -> HostClip {
        HostClip(configuration: configuration.filter(predicate), media: media.filter(predicate))
    }

    /// Returns the packets from `start` up to `end` of the endlessly repeated clip, with timestamps moved by `shift`.
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
    ///   - paint: Draws the frame of the given number.
    ///   - sample: Returns the sample of the given number, for both channels; nil for no audio.
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

    /// Makes a clip of one colour with a tone.
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

    /// Makes a black and silent clip, with a white frame and a loud 1 kHz tone in the first 100 ms of each second.
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

/// Makes the packets of hosts with ffmpeg, which writes an FLV file.
enum FLVClip {
    /// Runs ffmpeg with `arguments` and reads the FLV it writes.
    static func make(_ arguments: [String]) throws -> [MediaPacket] {
        let path = NSTemporaryDirectory() + "clip-\(UUID().uuidString).flv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"] + arguments + ["-f", "flv", path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return packets(of: ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// Returns the H.264 and AAC tags of a file (Adobe FLV specification 10.1, annex E).
    static func packets(of file: ByteBuffer) -> [MediaPacket] {
        var file = file
        file.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let head = file.readBytes(length: 11) {
            let size = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
            let time = Int64(head[7]) << 24 | Int64(head[4]) << 16 | Int64(head[5]) << 8 | Int64(head[6])
            guard let body = file.readSlice(length: size), file.readInteger(as: UInt32.self) != nil else { break }
            if let packet = packet(kind: head[0], time: time, body: body) { packets.append(packet) }
        }
        return packets
    }

    private static func packet(kind: UInt8, time: Int64, body: ByteBuffer) -> MediaPacket? {
        guard let bytes = body.getBytes(at: body.readerIndex, length: min(5, body.readableBytes)) else { return nil }
        if kind == 8, bytes.count >= 2 {
            let content: MediaPacket.Content = bytes[1] == 0 ? .audioConfiguration(.aac) : .audio(.aac)
            return MediaPacket(content: content, timestamp: time, body: body, headerLength: 2)
        }
        guard kind == 9, bytes.count == 5, bytes[1] < 2 else { return nil }
        let offset = Int32(bitPattern: UInt32(bytes[2]) << 24 | UInt32(bytes[3]) << 16 | UInt32(bytes[4]) << 8) >> 8
        return MediaPacket(
            content: bytes[1] == 0
                ? .videoConfiguration(.h264)
                : .video(.h264, isKey: bytes[0] >> 4 == 1, isDisposable: bytes[0] >> 4 == 3),
            timestamp: time,
            compositionOffset: offset,
            body: body,
            headerLength: 5
        )
    }
}

/// Makes audio files with ffmpeg.
enum AudioFile {
    /// Returns the file that ffmpeg makes of a filter source, `aevalsrc=...`.
    static func make(_ source: String, _ arguments: [String], suffix: String) throws -> ByteBuffer {
        let path = NSTemporaryDirectory() + "sound-\(UUID().uuidString).\(suffix)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source] + arguments + [path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns a stereo tone; `amplitude` is of full scale.
    static func tone(
        _ frequency: Int,
        amplitude: Double = 0.5,
        seconds: Int = 1,
        rate: Int = 48_000,
        _ arguments: [String] = ["-c:a", "pcm_s16le"],
        suffix: String = "wav"
    ) throws -> ByteBuffer {
        let wave = "\(amplitude)*sin(2*PI*\(frequency)*t)"
        return try make("aevalsrc=\(wave)|\(wave):s=\(rate):d=\(seconds)", arguments, suffix: suffix)
    }
}

extension YUVColour {
    static let red = YUVColour(red: 200, green: 30, blue: 30)
    static let green = YUVColour(red: 30, green: 180, blue: 40)
    static let blue = YUVColour(red: 30, green: 40, blue: 210)
    static let white = YUVColour(red: 255, green: 255, blue: 255)
}
