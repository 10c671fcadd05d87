public import NIOCore

// ITU-T H.264 annex B: units follow start codes `00 00 01`, with any number of zero bytes before and after. Some
// encoders send this form where FLV wants length prefixes.

extension NALUnits {
    /// Whether `payload` is a byte stream with start codes rather than units with length prefixes.
    ///
    /// The first bytes alone do not decide: `00 00 01 2C` is also the length 300. What begins like a start code and
    /// also reads as lengths to the last byte, is taken as lengths.
    public static func isAnnexB(_ payload: ByteBuffer, lengthSize: Int = 4) -> Bool {
        guard let prefix = payload.getBytes(at: payload.readerIndex, length: Swift.min(4, payload.readableBytes)) else {
            return false
        }
        guard prefix.starts(with: [0, 0, 1]) || prefix == [0, 0, 0, 1] else { return false }
        return !areWellFormed(in: payload, lengthSize: lengthSize)
    }

    /// The units of a byte stream with start codes, each a slice of `stream`; zero bytes around them are left out.
    public static func units(inAnnexB stream: ByteBuffer) -> [NALUnit] {
        var units: [NALUnit] = []
        let view = stream.readableBytesView
        var start: Int?
        var index = view.startIndex
        var zeros = 0

        func finish(before end: Int) {
            guard let start else { return }
            var last = end
            while last > start, view[last - 1] == 0 { last -= 1 }
            if last > start, let bytes = stream.getSlice(at: start, length: last - start), let unit = NALUnit(bytes) {
                units.append(unit)
            }
        }

        while index < view.endIndex {
            let byte = view[index]
            index += 1
            if byte == 1, zeros >= 2 {
                finish(before: index - 3)
                start = index
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        finish(before: view.endIndex)
        return units
    }

    /// The same units with 4-byte length prefixes; empty when `stream` has no start code.
    ///
    /// - Parameter keepsParameterSets: False leaves out parameter sets and delimiters, which FLV carries apart.
    public static func lengthPrefixed(fromAnnexB stream: ByteBuffer, keepsParameterSets: Bool = true) -> ByteBuffer {
        var output = ByteBuffer()
        output.reserveCapacity(stream.readableBytes + 16)
        for unit in units(inAnnexB: stream) {
            switch unit.kind {
            case .sequenceParameters, .pictureParameters, .delimiter:
                guard keepsParameterSets else { continue }
            default: break
            }
            output.writeInteger(UInt32(unit.bytes.readableBytes))
            output.writeImmutableBuffer(unit.bytes)
        }
        return output
    }
}
