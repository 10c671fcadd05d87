import Foundation
import Glibc
import NIOCore

/// Reads the lines of a log, some at a time.
struct LogReading {
    /// Lines about media that are read of a log: of one with more of them none proves anybody.
    static let mediaLimit = 10_000
    /// What a client was sent in so many seconds is told so often at most.
    private static let mediaSpan = (seconds: 10.0, files: 128)

    /// Malformed lines that a log may have in any case; beyond them, half of its lines.
    private static let malformedLimit = 1000

    private let text: ByteBuffer
    private let room: String?
    private let takesDevices: Bool
    private var position = 0
    private(set) var receipt = LogReceipt()
    private(set) var requests: [LoggedRequest] = []
    /// Media that clients were sent, as far as it is needed to prove who watches.
    private(set) var media: [LoggedMedia] = []
    private var mediaLines = 0
    private var filesSent: [LoggedSpan: Int] = [:]

    /// What is told of one client in some seconds.
    private struct LoggedSpan: Hashable {
        var room: String
        var client: UInt64
        var span: Int
    }

    /// All that the log tells of media was read.
    var hasAllMedia: Bool { mediaLines <= Self.mediaLimit }

    /// - Parameters:
    ///   - room: The one room that the log may tell of; nil for all.
    ///   - takesDevices: Whether ids that devices keep for themselves are used.
    init(_ text: ByteBuffer, room: String?, takesDevices: Bool) {
        self.text = text
        self.room = room
        self.takesDevices = takesDevices
    }

    /// All lines have been read.
    var isAtEnd: Bool { position >= text.readableBytes }

    /// What was read so far is mostly something else than a log.
    var isMalformed: Bool {
        let others = requests.count + receipt.ignored + receipt.nameless
        return receipt.malformed > Self.malformedLimit && receipt.malformed > others
    }

    /// Nothing of what was read is a line of a log, and something was read.
    var isWhollyMalformed: Bool {
        receipt.malformed > 0 && requests.isEmpty && receipt.ignored == 0 && receipt.nameless == 0
    }

    /// The lines of a text, empty ones included; counted to `limit` and one more.
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

    /// Reads the next lines.
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
        // Most of a log is segments, which no names stand on: those are not taken apart.
        if line[0] == UInt8(ascii: "{"), line[line.count - 1] == UInt8(ascii: "}"), !Self.namesPlaylist(line) {
            receipt.ignored += 1
            noteMedia(line)
            return
        }
        do throws(LoggedRequest.Fault) {
            let request = try LoggedRequest(Data(line), takesDevices: takesDevices)
            if room == nil || request.room == room { requests.append(request) } else { receipt.ignored += 1 }
        } catch {
            switch error {
            case .other: receipt.ignored += 1
            case .nameless: receipt.nameless += 1
            case .malformed: receipt.malformed += 1
            }
        }
    }

    private mutating func noteMedia(_ line: UnsafeRawBufferPointer) {
        guard Self.contains("/live/", in: line) else { return }
        mediaLines += 1
        guard hasAllMedia, let file = LoggedMedia(Data(line)), room == nil || file.room == room else { return }
        // Bounded, whatever the line says, so that it can be made a whole number.
        let seconds = min(max(file.date ?? 0, 0), 4e9)
        let span = LoggedSpan(room: file.room, client: file.client, span: Int(seconds / Self.mediaSpan.seconds))
        let files = filesSent[span, default: 0]
        guard files < Self.mediaSpan.files else { return }
        filesSent[span] = files + 1
        media.append(file)
    }

    /// The index of the next line feed, or the end.
    private static func lineEnd(in bytes: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard let start = bytes.baseAddress, let found = memchr(start + position, 10, bytes.count - position) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - start
    }

    private static func namesPlaylist(_ line: UnsafeRawBufferPointer) -> Bool { contains(".m3u8", in: line) }

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
