import FootlightTesting
import Foundation
import Media
import NIOCore
import Synchronization
import TestSupport

/// Reads an FLV file while another process writes it, and records when each packet arrives.
final class FLVFollower: Sendable {
    /// A packet in the file.
    struct Arrival: Sendable {
        enum Kind: Sendable {
            case keyframe
            case video
            case audio
            /// Configuration and metadata.
            case other
        }

        let kind: Kind
        /// The stream's timestamp in milliseconds.
        let timestamp: Int64
        /// The time of arrival in this process.
        let time: MonotonicTime

        var isVideo: Bool { kind == .keyframe || kind == .video }
    }

    private let arrivals = Mutex<[Arrival]>([])
    private let reader = Mutex<Task<Void, Never>?>(nil)

    /// Follows the file, which need not exist yet.
    init(path: String) {
        let task = Task { [weak self] in
            var handle: FileHandle?
            var buffer = ByteBuffer()
            var isHeaderRead = false
            while !Task.isCancelled, self != nil {
                handle = handle ?? FileHandle(forReadingAtPath: path)
                if let data = try? handle?.readToEnd(), !data.isEmpty {
                    buffer.writeBytes(data)
                    if !isHeaderRead { isHeaderRead = buffer.readSlice(length: 13) != nil }
                    while isHeaderRead, let arrival = FLVFollower.next(&buffer) {
                        self?.arrivals.withLock { $0.append(arrival) }
                    }
                    buffer.discardReadBytes()
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        reader.withLock { $0 = task }
    }

    deinit { reader.withLock { $0?.cancel() } }

    /// All packets so far.
    var all: [Arrival] { arrivals.withLock { $0 } }

    /// Waits for the first keyframe that arrived after `time`.
    func keyframe(after time: MonotonicTime, within deadline: Duration) async throws -> Arrival? {
        var found: Arrival?
        _ = try await eventually(within: deadline, every: .milliseconds(5)) {
            found = self.all.first { $0.kind == .keyframe && $0.time > time }
            return found != nil
        }
        return found
    }

    /// Returns the differences of consecutive timestamps in milliseconds.
    func steps(_ isMeant: (Arrival) -> Bool) -> [Int64] {
        let times = all.filter(isMeant).map(\.timestamp)
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }

    /// Returns whether a step is a whole number of frames at 30 fps, in rounded milliseconds.
    static func isWholeFrames(_ step: Int64) -> Bool { (step * 3 + 2) % 100 <= 4 }

    /// The longest interval in seconds between the arrivals of two frames.
    var longestWait: Double {
        let times = all.filter(\.isVideo).map(\.time)
        return zip(times, times.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
    }

    /// Parses one tag (Adobe FLV specification 10.1, annex E); nil if it is incomplete.
    private static func next(_ buffer: inout ByteBuffer) -> Arrival? {
        let start = buffer.readerIndex
        guard let head: UInt32 = buffer.getInteger(at: start), let word: UInt32 = buffer.getInteger(at: start + 4),
            buffer.readableBytes >= 15 + Int(head & 0xFF_FFFF)
        else { return nil }
        let first: UInt8 = buffer.getInteger(at: start + 11) ?? 0
        let second: UInt8 = buffer.getInteger(at: start + 12) ?? 0
        buffer.moveReaderIndex(forwardBy: 15 + Int(head & 0xFF_FFFF))
        let kind: Arrival.Kind =
            switch (head >> 24 & 0x1F, second) {
            case (9, 1): first >> 4 == 1 ? .keyframe : .video
            case (8, 1): .audio
            default: .other
            }
        return Arrival(kind: kind, timestamp: Int64(word >> 8 | (word & 0xFF) << 24), time: .now())
    }
}

/// Players whose packets can be observed as they arrive.
enum Players {
    /// Plays RTMP with rtmpdump, with unchanged timestamps.
    static func rtmp(_ url: String) throws -> (child: ChildProcess, tail: FLVFollower) {
        // Unbuffered, so that each packet is seen at once.
        let child = try ChildProcess(["stdbuf", "-o0", "rtmpdump", "-q", "--live", "-r", url, "-o", "-"])
        return (child, FLVFollower(path: child.outputPath))
    }

    /// Plays HTTP-FLV with curl.
    static func flv(_ url: String) throws -> (child: ChildProcess, tail: FLVFollower) {
        let child = try ChildProcess(["curl", "-sS", "-f", "-N", url])
        return (child, FLVFollower(path: child.outputPath))
    }

    /// Returns the decoder's error messages about a file.
    ///
    /// The file's time base is kept, because frames could collide at a guessed frame rate.
    static func decodeErrors(about path: String) async throws -> String {
        let child = try ChildProcess([
            "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", path, "-enc_time_base", "-1", "-f", "null", "-",
        ])
        try await child.waitForSuccess(.seconds(60))
        return child.standardError
    }
}
