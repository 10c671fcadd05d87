import NIOCore

/// Writes ISO base media boxes (ISO/IEC 14496-12 4.2): a size, a four-character type, and the content.
struct BoxWriter {
    private(set) var bytes: ByteBuffer

    init(capacity: Int) {
        bytes = ByteBuffer()
        bytes.reserveCapacity(capacity)
    }

    /// Writes a box around the output of `content`.
    mutating func box(_ type: StaticString, _ content: (inout BoxWriter) -> Void) {
        let start = bytes.writerIndex
        bytes.writeInteger(UInt32(0))
        bytes.writeStaticString(type)
        content(&self)
        patch(UInt32(truncatingIfNeeded: bytes.writerIndex - start), at: start)
    }

    /// Writes a box that begins with a version and flags.
    mutating func fullBox(
        _ type: StaticString,
        version: UInt8 = 0,
        flags: UInt32 = 0,
        _ content: (inout BoxWriter) -> Void
    ) {
        box(type) { box in
            box.write(UInt32(version) << 24 | flags)
            content(&box)
        }
    }

    mutating func write<Value: FixedWidthInteger>(_ value: Value) {
        bytes.writeInteger(value)
    }

    mutating func write(_ text: StaticString) {
        bytes.writeStaticString(text)
    }

    mutating func write(_ slice: ByteBuffer) {
        bytes.writeImmutableBuffer(slice)
    }

    mutating func zeros(_ count: Int) {
        bytes.writeRepeatingByte(0, count: count)
    }

    /// The index of the next byte.
    var position: Int { bytes.writerIndex }

    /// Overwrites an integer written earlier.
    mutating func patch(_ value: UInt32, at position: Int) {
        bytes.setInteger(value, at: position)
    }
}
