import Foundation
public import Media
import RTMP

/// An FLV file with H.264 and AAC, played as if it were filmed now.
public struct FileMediaSource: MediaSource {
    private let path: String
    private let isLooped: Bool
    private let clock: ClientClock

    /// Between the last packet of one turn and the first of the next.
    private static let turnGap: Int64 = 33
    private static let readLength = 64 * 1024

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isLooped: Begins again at the end, with timestamps that go on.
    ///   - clock: Paces the packets.
    public init(path: String, isLooped: Bool = false, clock: ClientClock = .system) {
        self.path = path
        self.isLooped = isLooped
        self.clock = clock
    }

    /// Gives the packets of the file, each at its time.
    ///
    /// - Throws: What opening and reading the file throws, and `FLVError` for one that is no FLV.
    public func produce(_ take: @escaping @Sendable (MediaPacket) -> Void) async throws {
        let start = clock.now()
        var offset: Int64 = 0
        repeat {
            let end = try await playOnce(from: offset, start: start, take)
            guard end > offset else { return }
            offset = end
        } while isLooped && !Task.isCancelled
    }

    /// Plays the file from that time on, and tells the time it ends.
    private func playOnce(
        from offset: Int64,
        start: Duration,
        _ take: @Sendable (MediaPacket) -> Void
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
                take(packet)
            }
        }
        return latest > offset ? latest + Self.turnGap : offset
    }
}
