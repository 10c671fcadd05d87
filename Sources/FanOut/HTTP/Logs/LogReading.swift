import Foundation
import Glibc
import NIOCore

/// Reads the lines of a log, some at a time.
struct LogReading {
    /// Malformed lines that a log may have in any case; beyond them, half of its lines.
    private static let malformedLimit = 1000

    private let text: ByteBuffer
    private let room: String?
    private let takesDevices: Bool
    private var position = 0
    private(set) var receipt = LogReceipt()
    private(set) var requests: [LoggedRequest] = []

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

    /// The index of the next line feed, or the end.
    private static func lineEnd(in bytes: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard let start = bytes.baseAddress, let found = memchr(start + position, 10, bytes.count - position) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - start
    }

    private static func namesPlaylist(_ line: UnsafeRawBufferPointer) -> Bool {
        let name: StaticString = ".m3u8"
        var rest = line
        while let start = rest.baseAddress, let found = memchr(start, Int32(UInt8(ascii: ".")), rest.count) {
            let offset = UnsafeRawPointer(found) - start
            guard rest.count - offset >= name.utf8CodeUnitCount else { return false }
            if memcmp(found, name.utf8Start, name.utf8CodeUnitCount) == 0 { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[(offset + 1)...])
        }
        return false
    }
}
