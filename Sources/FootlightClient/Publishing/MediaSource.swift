import Foundation
public import Media
import RTMP

/// A source of encoded audio and video: a camera and microphone, a file, or a test pattern.
public protocol MediaSource: Sendable {
    /// Sends packets in real time until the source ends or the task is cancelled.
    ///
    /// Configuration precedes the media that needs it; decode times are milliseconds on one clock.
    ///
    /// - Parameter send: Receives a packet; returns immediately.
    func produce(_ send: @escaping @Sendable (MediaPacket) -> Void) async throws

    /// Requests a keyframe as soon as possible, because the publisher can only continue with one.
    func requestKeyframe()
}

extension MediaSource {
    /// Does nothing, for sources with a fixed keyframe interval.
    public func requestKeyframe() {}
}

/// A source that plays an FLV file with H.264 and AAC in real time.
public struct FileMediaSource: MediaSource {
    private let path: String
    private let isLooped: Bool
    private let clock: ClientClock

    /// The time in milliseconds between the last packet of one loop and the first of the next.
    private static let loopGap: Int64 = 33
    private static let readLength = 64 * 1024

    /// Creates a source; the file is opened by `produce`.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isLooped: Whether the file is repeated, with continuing timestamps.
    ///   - clock: The clock that paces the packets.
    public init(path: String, isLooped: Bool = false, clock: ClientClock = .system) {
        self.path = path
        self.isLooped = isLooped
        self.clock = clock
    }

    /// Sends the packets of the file, each at its time.
    ///
    /// - Throws: File-system errors, and `FLVError` for a file that is not FLV.
    public func produce(_ send: @escaping @Sendable (MediaPacket) -> Void) async throws {
        let start = clock.now()
        var offset: Int64 = 0
        repeat {
            let end = try await playOnce(from: offset, start: start, send)
            guard end > offset else { return }
            offset = end
        } while isLooped && !Task.isCancelled
    }

    /// Plays the file from a time on; returns the time when it ends.
    private func playOnce(
        from offset: Int64,
        start: Duration,
        _ send: @Sendable (MediaPacket) -> Void
    ) async throws -> Int64 {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var reader = FLVReader()
        var first: Int64?
        var latest = offset
        while let data = try file.read(upToCount: Self.readLength), !data.isEmpty {
            reader.append(data: data)
            while var packet = try reader.next() {
                let begin = first ?? packet.timestamp
                first = begin
                packet.timestamp += offset - begin
                latest = max(latest, packet.timestamp)
                try await clock.sleep(until: start + .milliseconds(packet.timestamp))
                send(packet)
            }
        }
        return latest > offset ? latest + Self.loopGap : offset
    }
}
