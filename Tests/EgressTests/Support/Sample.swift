import Foundation
import Media
import NIOCore
import Synchronization

@testable import Egress

/// A few seconds of moving frame and tone, made once by ffmpeg: 640x360 at 30 frames a second, key every second.
struct Sample: Sendable {
    let packets: [MediaPacket]
    /// One hash for each decoded frame.
    let frames: [String]

    static let shared = Result { try Sample(seconds: 6) }

    private init(seconds: Int) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("sample.flv")
        try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30", "-f", "lavfi", "-i",
                "sine=frequency=440:sample_rate=48000", "-t", "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast",
                "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "30", "-sc_threshold", "0", "-b:v", "2500k",
                "-minrate", "2500k", "-maxrate", "2500k", "-bufsize", "2500k", "-nal-hrd", "cbr", "-c:a",
                "aac", "-b:a", "96k", "-f", "flv", file,
            ]
        )
        packets = try FLVFile.read(file)
        frames = try Self.hashes(of: file)
    }

    static func hashes(of file: String) throws -> [String] {
        try Tool.run("ffmpeg", ["-v", "error", "-i", file, "-map", "0:v", "-f", "framemd5", "-"])
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
    }
}

/// Plays the sample in a loop, in real time, into any number of sinks, from a thread of its own.
final class Broadcast: Sendable {
    private struct State {
        var sinks: [any PacketSink] = []
        var isEnded = false
        var slowest = 0.0
    }

    private let state = Mutex(State())
    private let done = Latch(false)

    /// - Parameter rounds: How often the sample is played.
    init(_ packets: [MediaPacket], to sinks: [any PacketSink], rounds: Int = 100) {
        state.withLock { $0.sinks = sinks }
        Thread.detachNewThread { [self] in
            play(packets, rounds: rounds)
            done.update { $0 = true }
        }
    }

    /// Seconds that the slowest single `receive` took.
    var slowestReceive: Double { state.withLock { $0.slowest } }

    func end() {
        state.withLock { $0.isEnded = true }
        _ = done.wait(until: .now().advanced(seconds: 2)) { $0 ? true : nil }
    }

    func waitForEnd(seconds: Double) {
        _ = done.wait(until: .now().advanced(seconds: seconds)) { $0 ? true : nil }
    }

    private func play(_ packets: [MediaPacket], rounds: Int) {
        let start = MonotonicTime.now()
        let length = (packets.map { $0.timestamp }.max() ?? 0) + 33
        for round in 0..<rounds {
            for var packet in packets {
                if round > 0, packet.isConfiguration { continue }
                packet.timestamp += Int64(round) * length
                let wait = start.advanced(milliseconds: packet.timestamp).seconds(since: .now())
                if wait > 0 { Thread.sleep(forTimeInterval: wait) }
                guard let sinks = state.withLock({ $0.isEnded ? nil : $0.sinks }) else { return }
                for sink in sinks {
                    let before = MonotonicTime.now()
                    sink.receive(packet)
                    let took = MonotonicTime.now().seconds(since: before)
                    state.withLock { $0.slowest = max($0.slowest, took) }
                }
            }
        }
    }
}

/// The packets of an FLV file with legacy AVC and AAC tags.
enum FLVFile {
    static func read(_ path: String) throws -> [MediaPacket] {
        var file = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
        file.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let head = file.readBytes(length: 11) {
            let size = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
            let time = Int64(head[7]) << 24 | Int64(head[4]) << 16 | Int64(head[5]) << 8 | Int64(head[6])
            // A file that is still written may end inside a tag.
            guard let body = file.readSlice(length: size), file.readInteger(as: UInt32.self) != nil else { break }
            if let packet = packet(type: head[0], timestamp: time, body: body) { packets.append(packet) }
        }
        return packets
    }

    private static func packet(type: UInt8, timestamp: Int64, body: ByteBuffer) -> MediaPacket? {
        let bytes = body.readableBytesView
        guard bytes.count > 5 || type == 8 && bytes.count > 2 else { return nil }
        let first = bytes[bytes.startIndex]
        let second = bytes[bytes.startIndex + 1]
        switch type {
        case 18: return MediaPacket(content: .metadata, timestamp: timestamp, body: body, headerLength: 0)
        case 8:
            let content: MediaPacket.Content = second == 0 ? .audioConfiguration(.aac) : .audio(.aac)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 2)
        case 9 where second == 0:
            return MediaPacket(content: .videoConfiguration(.h264), timestamp: timestamp, body: body, headerLength: 5)
        case 9 where second == 1:
            let content = MediaPacket.Content.video(.h264, isKey: first >> 4 == 1, isDisposable: first >> 4 == 3)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 5)
        default: return nil
        }
    }
}
