import Foundation
import Glibc
import NIOCore

/// Parses the lines of a CDN log incrementally.
struct CDNLogParser {
    /// The maximum number of media lines parsed per log; media of a log with more proves no viewer.
    static let mediaLimit = 10_000
    /// The maximum number of media files reported per client and time span.
    private static let mediaSpan = (seconds: 10.0, files: 128)

    /// The number of malformed lines that any log may have; above it, at most half of the lines may be malformed.
    private static let malformedLimit = 1000

    private let text: ByteBuffer
    private let room: String?
    private let usesDeviceIDs: Bool
    private var position = 0
    private(set) var receipt = LogReceipt()
    private(set) var requests: [LoggedRequest] = []
    /// Media sent to clients, as far as needed to prove who watches.
    private(set) var media: [LoggedMedia] = []
    private var mediaLines = 0
    private var filesSent: [LoggedSpan: Int] = [:]

    /// A client in a room during one time span.
    private struct LoggedSpan: Hashable {
        var room: String
        var client: UInt64
        var span: Int
    }

    /// Whether all media lines of the log were parsed.
    var hasAllMedia: Bool { mediaLines <= Self.mediaLimit }

    /// - Parameters:
    ///   - room: The only room that the log may report; nil for all rooms.
    ///   - usesDeviceIDs: Whether persistent device ids are used.
    init(_ text: ByteBuffer, room: String?, usesDeviceIDs: Bool) {
        self.text = text
        self.room = room
        self.usesDeviceIDs = usesDeviceIDs
    }

    /// Whether all lines have been parsed.
    var isAtEnd: Bool { position >= text.readableBytes }

    /// Whether the lines so far are mostly malformed.
    var isMalformed: Bool {
        let others = requests.count + receipt.ignored + receipt.nameless
        return receipt.malformed > Self.malformedLimit && receipt.malformed > others
    }

    /// Whether there were lines, and none of them was valid.
    var isWhollyMalformed: Bool {
        receipt.malformed > 0 && requests.isEmpty && receipt.ignored == 0 && receipt.nameless == 0
    }

    /// Counts the lines of a text, empty ones included, up to `limit` + 1.
    static func lineCount(of text: ByteBuffer, limit: Int) -> Int {
        text.withUnsafeReadableBytes { bytes in
            var count = 0
            var position = 0
            while position < bytes.count, count <= limit {
                count += 1
                position = lineEnd(in: bytes, from: position) + 1
            }
            return count
        }
    }

    /// Parses the next lines.
    mutating func read(lines: Int) {
        let text = text
        text.withUnsafeReadableBytes { bytes in
            for _ in 0..<lines where position < bytes.count {
                let end = Self.lineEnd(in: bytes, from: position)
                let isPadded = end > position && bytes[end - 1] == 13
                let line = UnsafeRawBufferPointer(rebasing: bytes[position..<(isPadded ? end - 1 : end)])
                if !line.isEmpty { read(line) }
                position = end + 1
            }
        }
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) {
        guard line.count <= LogLine.limit else {
            receipt.malformed += 1
            return
        }
        // Most lines of a log are segments, which name no viewer; they are not decoded as requests.
        if line[0] == UInt8(ascii: "{"), line[line.count - 1] == UInt8(ascii: "}"), !Self.mentionsPlaylist(line) {
            receipt.ignored += 1
            addMedia(line)
            return
        }
        do throws(LoggedRequest.Fault) {
            let request = try LoggedRequest(Data(line), usesDeviceIDs: usesDeviceIDs)
            if room == nil || request.room == room { requests.append(request) } else { receipt.ignored += 1 }
        } catch {
            switch error {
            case .other: receipt.ignored += 1
            case .nameless: receipt.nameless += 1
            case .malformed: receipt.malformed += 1
            }
        }
    }

    private mutating func addMedia(_ line: UnsafeRawBufferPointer) {
        guard Self.contains("/live/", in: line) else { return }
        mediaLines += 1
        guard hasAllMedia, let file = LoggedMedia(Data(line)), room == nil || file.room == room else { return }
        // Clamped, so that it converts to an integer.
        let seconds = min(max(file.date ?? 0, 0), 4e9)
        let span = LoggedSpan(room: file.room, client: file.client, span: Int(seconds / Self.mediaSpan.seconds))
        let files = filesSent[span, default: 0]
        guard files < Self.mediaSpan.files else { return }
        filesSent[span] = files + 1
        media.append(file)
    }

    /// Returns the index of the next line feed, or the end.
    private static func lineEnd(in bytes: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard let start = bytes.baseAddress, let found = memchr(start + position, 10, bytes.count - position) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - start
    }

    private static func mentionsPlaylist(_ line: UnsafeRawBufferPointer) -> Bool { contains(".m3u8", in: line) }

    private static func contains(_ name: StaticString, in line: UnsafeRawBufferPointer) -> Bool {
        var rest = line
        while let start = rest.baseAddress, let found = memchr(start, Int32(name.utf8Start.pointee), rest.count) {
            let offset = UnsafeRawPointer(found) - start
            guard rest.count - offset >= name.utf8CodeUnitCount else { return false }
            if memcmp(found, name.utf8Start, name.utf8CodeUnitCount) == 0 { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[(offset + 1)...])
        }
        return false
    }
}
