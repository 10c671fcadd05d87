import NIOCore

/// What the chunk decoder remembers of one chunk stream: its last header, and its unfinished message.
struct ChunkStream {
    let id: Int
    var timestamp: UInt32 = 0
    /// What the last header added to `timestamp`; 0 after an absolute one.
    var delta: UInt32 = 0
    var length = 0
    var type: UInt8 = 0
    var streamID: UInt32 = 0
    /// The extended timestamp field of the last header, when it had one.
    var extended: UInt32?
    /// The part of a message that has come; nil between messages.
    var partial: ByteBuffer?

    init(id: Int) {
        self.id = id
    }

    /// Takes the timestamp field of a chunk header that begins a message.
    ///
    /// - Parameters:
    ///   - field: The 24-bit field.
    ///   - extended: The extended field behind it, when `field` is 0xFFFFFF.
    ///   - isAbsolute: The header is of format 0.
    mutating func setTime(field: UInt32, extended: UInt32?, isAbsolute: Bool) {
        self.extended = extended
        if isAbsolute {
            timestamp = extended ?? field
            delta = 0
        } else if let extended {
            delta = Self.delta(extended: extended, after: timestamp)
            timestamp &+= delta
        } else {
            // A step of more than four and a half hours is a small negative one, written in 24 bits.
            delta = field >= 0xFF_C000 ? field | 0xFF00_0000 : field
            timestamp &+= delta
        }
    }

    /// An extended field of a relative header holds a delta by the specification, and in the field also the absolute
    /// time; the reading that moves the clock less is the right one.
    private static func delta(extended: UInt32, after timestamp: UInt32) -> UInt32 {
        let asAbsolute = extended &- timestamp
        return Int32(bitPattern: asAbsolute).magnitude < Int32(bitPattern: extended).magnitude ? asAbsolute : extended
    }

    /// A header without fields that begins a message: the last step again.
    mutating func repeatDelta() {
        timestamp &+= delta
    }
}
