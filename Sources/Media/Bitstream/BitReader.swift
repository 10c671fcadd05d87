public import NIOCore

/// Reads a header bit by bit, most significant bit first.
///
/// Inside a NAL unit it skips the emulation prevention bytes (ITU-T H.264 7.3.1: the 3 in `00 00 03`), so the caller
/// reads the raw byte sequence. Every read checks the end, and no code is longer than 32 bits, so damaged data causes
/// an error and never an endless loop.
public struct BitReader: Sendable {
    private let bytes: ByteBuffer
    private let skipsEmulationPrevention: Bool
    /// Index of the byte that holds the next bit.
    private var index: Int
    private let end: Int
    /// Bits of that byte already read, 0 to 7.
    private var bitsTaken = 0
    /// The number of zero bytes directly before the byte at `index`.
    private var zeros = 0

    /// Makes a reader of the readable bytes of `bytes`.
    ///
    /// - Parameter skipsEmulationPrevention: True for the inside of a NAL unit, false for plain fields.
    public init(_ bytes: ByteBuffer, skipsEmulationPrevention: Bool) {
        self.bytes = bytes
        self.skipsEmulationPrevention = skipsEmulationPrevention
        index = bytes.readerIndex
        end = bytes.writerIndex
    }

    /// Unread bits, emulation prevention bytes included.
    public var bitsLeft: Int { (end - index) * 8 - bitsTaken }

    /// Reads the next `count` bits as a number; throws unless `count` is 0 to 32.
    public mutating func bits(_ count: Int) throws(BitstreamError) -> UInt32 {
        guard (0...32).contains(count) else { throw .invalid(field: "bit count") }
        var value: UInt32 = 0
        var wanted = count
        while wanted > 0 {
            let byte = try currentByte()
            let taken = min(wanted, 8 - bitsTaken)
            let chunk = (byte >> UInt8(8 - bitsTaken - taken)) & UInt8(truncatingIfNeeded: (1 << taken) - 1)
            value = (value << UInt32(taken)) | UInt32(chunk)
            wanted -= taken
            advance(taken, over: byte)
        }
        return value
    }

    /// Reads the next bit as a Boolean.
    public mutating func flag() throws(BitstreamError) -> Bool {
        try bits(1) == 1
    }

    /// Skips `count` bits.
    public mutating func skip(_ count: Int) throws(BitstreamError) {
        var left = count
        while left > 0 {
            let step = min(left, 32)
            _ = try bits(step)
            left -= step
        }
    }

    /// Reads an unsigned Exp-Golomb code (H.264 9.1, `ue(v)`), 0 to 2^32 - 2.
    public mutating func unsignedGolomb() throws(BitstreamError) -> UInt32 {
        var leadingZeros = 0
        while try bits(1) == 0 {
            leadingZeros += 1
            guard leadingZeros < 32 else { throw .invalid(field: "Exp-Golomb code") }
        }
        guard leadingZeros > 0 else { return 0 }
        return (1 << UInt32(leadingZeros)) - 1 + (try bits(leadingZeros))
    }

    /// Reads a signed Exp-Golomb code (H.264 9.1.1, `se(v)`).
    public mutating func signedGolomb() throws(BitstreamError) -> Int64 {
        let code = Int64(try unsignedGolomb())
        return code % 2 == 0 ? -(code / 2) : (code + 1) / 2
    }

    private mutating func currentByte() throws(BitstreamError) -> UInt8 {
        if skipsEmulationPrevention, bitsTaken == 0, zeros >= 2 {
            if index < end, bytes.getInteger(at: index) == UInt8(3) { index += 1 }
            zeros = 0
        }
        guard index < end, let byte: UInt8 = bytes.getInteger(at: index) else { throw .truncated }
        return byte
    }

    private mutating func advance(_ count: Int, over byte: UInt8) {
        bitsTaken += count
        guard bitsTaken == 8 else { return }
        bitsTaken = 0
        index += 1
        zeros = byte == 0 ? zeros + 1 : 0
    }
}

/// The reasons why the headers of a coded stream cannot be parsed.
///
/// The bytes come from peers, so every case is expected at run time.
public enum BitstreamError: Error, Sendable, Equatable {
    /// The data ends before the value does.
    case truncated
    /// A field, named here, holds a value that the format forbids or that exceeds a sanity limit.
    case invalid(field: String)
    /// A well-formed header of an unsupported kind.
    case unsupported(what: String)
}
