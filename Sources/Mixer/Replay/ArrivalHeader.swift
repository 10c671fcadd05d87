import Media
import NIOCore
import Stage

/// The header of a recording of arrivals, after the magic number and the version.
///
/// The file, version 5: `FLAR`, one byte of version, this header, and then entries until the end of the file. Numbers
/// are unsigned LEB128, zigzag-encoded where they may be negative; text and blocks of bytes are preceded by their
/// length. An entry begins with its kind:
///
/// - 1, a host's input: its id, its jitter target, and one byte, 1 for a screen share. Inputs are numbered in the order
///   of these entries.
/// - 2, a packet: the input's number; arrival minus that of the packet before, of any input, in nanoseconds; content
///   kind; timestamp minus the input's last one; composition offset; header length; the body.
/// - 3, a change: the number of the program's steps made before it, and the change as JSON.
/// - 4, the end: one byte, 0 for a recording that was closed, 1 for one that became too large or fell behind; and the
///   number of steps that the program made.
/// - 5, a file that scenes reference: its name, its bytes. Files are numbered in the order of these entries.
///
/// A file without an end was truncated with its process; all complete entries count. Version 4 is read too; it has no
/// degradation changes: its scenes are recorded as degraded.
struct ArrivalHeader: Codable, Sendable, Equatable {
    static let mark = Array("FLAR".utf8)
    static let version: UInt8 = 5
    /// The versions that can be read.
    static let versions: ClosedRange<UInt8> = 4...version

    var configuration: ProgramConfiguration
    /// The first value of the program's sample counter.
    var firstSample: Int64

    enum Entry: UInt8 {
        case input = 1
        case packet = 2
        case change = 3
        case end = 4
        case file = 5
    }
}

/// A change that was applied to the program's thread, as recorded with the arrivals.
enum ArrivalChange: Sendable, Equatable, Codable {
    /// The input with this number was added.
    case add(Int)
    /// The host with this id was removed.
    case remove(String)
    /// The scene was applied, before degradation.
    case scene(Scene)
    /// The program changed to this degradation step.
    case degrade(Degradation)
    /// The host's jitter target changed to this many milliseconds.
    case jitterTarget(String, Int)
    /// The file with this number was provided.
    case provide(Int)
    /// The overlays were rendered and are shown from here on.
    case drawn([OverlayCache.Key])
    /// Whether the slate's music is decoded far enough to be played changed.
    case music(Bool)
    /// The host caught up with what it missed while it had no tile, and is shown from here on.
    case caughtUp(String)
}

/// The content kind of a packet as one byte of a recording; nil for kinds that the mixer ignores.
struct ArrivalContent: RawRepresentable, Sendable {
    let content: MediaPacket.Content

    init?(_ content: MediaPacket.Content) {
        guard Self.byte(of: content) != nil else { return nil }
        self.content = content
    }

    init?(rawValue: UInt8) {
        switch rawValue {
        case 0: content = .videoConfiguration(.h264)
        case 1: content = .audioConfiguration(.aac)
        case 2: content = .audio(.aac)
        case 3: content = .audio(.mp3)
        case 4...7: content = .video(.h264, isKey: rawValue & 1 != 0, isDisposable: rawValue & 2 != 0)
        default: return nil
        }
    }

    var rawValue: UInt8 { Self.byte(of: content) ?? .max }

    private static func byte(of content: MediaPacket.Content) -> UInt8? {
        switch content {
        case .videoConfiguration(.h264): 0
        case .audioConfiguration(.aac): 1
        case .audio(.aac): 2
        case .audio(.mp3): 3
        case .video(.h264, let isKey, let isDisposable): 4 + (isKey ? 1 : 0) + (isDisposable ? 2 : 0)
        default: nil
        }
    }
}

/// The error of a recording of arrivals that cannot be written or read.
public struct ArrivalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The message for people.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Reads and writes the numbers and blocks of a recording of arrivals.
extension ByteBuffer {
    mutating func writeCount(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            writeInteger(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        writeInteger(UInt8(value))
    }

    mutating func writeSigned(_ value: Int64) {
        writeCount(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func writeBlock(_ bytes: some Collection<UInt8>) {
        writeCount(UInt64(bytes.count))
        writeBytes(bytes)
    }

    mutating func readCount() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = readInteger(as: UInt8.self) else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    mutating func readSigned() -> Int64? {
        readCount().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func readBlock() -> ByteBuffer? {
        guard let count = readCount(), count <= UInt64(readableBytes) else { return nil }
        return readSlice(length: Int(count))
    }
}
