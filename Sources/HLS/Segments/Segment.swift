public import NIOCore

/// A finished segment, whose data is the sequence of its parts.
public struct Segment: Sendable, Equatable {
    /// The media sequence number, one more than that of the previous segment.
    public let sequence: Int
    /// The bytes of its parts, in order.
    public let parts: [ByteBuffer]
    /// The decode time of its start, in seconds on the feed's clock.
    public let start: Double
    /// The seconds until the next segment begins (EXTINF).
    public let duration: Double
    /// Whether it begins with a keyframe.
    public let isIndependent: Bool
    /// Whether timestamps, encoder or tracks changed before it.
    public let isDiscontinuity: Bool
    /// The name of its initialization segment.
    public let initialization: String
    /// The file size in bytes.
    public let byteCount: Int

    /// The file name, such as `s12.m4s`.
    public var name: String { MediaName.segment(sequence).text }
}

/// An independently addressable piece of a segment: one movie fragment with its media.
public struct Part: Sendable, Equatable {
    /// The media sequence number of its segment.
    public let sequence: Int
    /// The index in its segment, from 0.
    public let index: Int
    /// The bytes of `moof` and `mdat`, shared by all requests.
    public let data: ByteBuffer
    /// The decode time of its start, in seconds on the feed's clock.
    public let start: Double
    /// The seconds until the next part begins.
    public let duration: Double
    /// Whether it contains a keyframe.
    public let isIndependent: Bool
    /// Whether its segment begins a discontinuity.
    public let isDiscontinuity: Bool
    /// The name of its initialization segment.
    public let initialization: String

    /// The position in the program.
    public var position: PartPosition { PartPosition(sequence: sequence, index: index) }

    /// The file name, such as `s12.p3.m4s`.
    public var name: String { position.name }
}

/// The position of a part: its segment and its index.
public struct PartPosition: Sendable, Hashable, Comparable {
    /// The media sequence number of its segment.
    public var sequence: Int
    /// The index in the segment, from 0.
    public var index: Int

    /// Creates a position.
    public init(sequence: Int, index: Int) {
        self.sequence = sequence
        self.index = index
    }

    /// The file name of the part.
    public var name: String { MediaName.part(sequence, index).text }

    /// Returns whether `left` precedes `right`.
    public static func < (left: PartPosition, right: PartPosition) -> Bool {
        (left.sequence, left.index) < (right.sequence, right.index)
    }
}

/// An initialization segment (`ftyp` and `moov`): the tracks and their decoder configurations.
public struct Initialization: Sendable, Equatable {
    /// The file name, such as `init0.mp4`; unique within one `Segmenter`.
    public let name: String
    /// The file's bytes, shared by all requests.
    public let data: ByteBuffer
    /// The codecs in RFC 6381 format, such as `avc1.64001F,mp4a.40.2`.
    public let codecs: String
    /// The display width in pixels; nil for a program without video.
    public let width: Int?
    /// The display height in pixels; nil for a program without video.
    public let height: Int?
    /// Frames per second as stated by the encoder, or nil.
    public let frameRate: Double?
}

/// The output of a segmenter, in publishing order.
public enum SegmenterOutput: Sendable, Equatable {
    /// An initialization segment for the following parts.
    case initialization(Initialization)
    /// A part of the open segment.
    case part(Part)
    /// The completed segment of the preceding parts.
    case segment(Segment)
}

/// The names of media files, which encode the sequence number and part index.
enum MediaName: Equatable {
    case initialization(Int)
    case segment(Int)
    case part(Int, Int)

    var text: String {
        switch self {
        case .initialization(let number): "init\(number).mp4"
        case .segment(let sequence): "s\(sequence).m4s"
        case .part(let sequence, let index): "s\(sequence).p\(index).m4s"
        }
    }

    /// Parses a requested file name; nil if no file can have it.
    ///
    /// Called for every requested part, so it parses bytes without intermediate strings.
    init?(_ text: String) {
        var rest = text.utf8[...]
        if let number = Self.number(after: "init", in: &rest) {
            guard rest.elementsEqual(".mp4".utf8) else { return nil }
            self = .initialization(number)
        } else if let sequence = Self.number(after: "s", in: &rest) {
            if rest.elementsEqual(".m4s".utf8) {
                self = .segment(sequence)
            } else {
                guard let index = Self.number(after: ".p", in: &rest), rest.elementsEqual(".m4s".utf8) else {
                    return nil
                }
                self = .part(sequence, index)
            }
        } else {
            return nil
        }
    }

    /// Consumes `prefix` and the canonical number after it; nil without consuming anything otherwise.
    private static func number(after prefix: StaticString, in text: inout Substring.UTF8View) -> Int? {
        let isPrefixed = prefix.withUTF8Buffer { text.starts(with: $0) }
        guard isPrefixed else { return nil }
        var rest = text.dropFirst(prefix.utf8CodeUnitCount)
        var number = 0
        var digits = 0
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            // At most 18 digits, and no leading zeros.
            guard digits < 18, digits == 0 || number > 0 else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else { return nil }
        text = rest
        return number
    }
}
