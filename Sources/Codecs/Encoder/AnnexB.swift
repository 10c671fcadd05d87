/// NAL units in a byte stream with start codes (ITU-T H.264, Annex B), found where they lie: the encoder's output is
/// split thirty times a second, so nothing is copied or allocated.
struct AnnexB {
    /// The kinds of NAL unit that matter here (ITU-T H.264, table 7-1).
    enum Kind {
        static let lastSlice: UInt8 = 5
        static let supplement: UInt8 = 6
        static let sequenceParameters: UInt8 = 7
        static let pictureParameters: UInt8 = 8
        static let delimiter: UInt8 = 9
    }

    /// Where the units lie in the bytes, start codes left out; used again from picture to picture.
    private(set) var units: [Range<Int>] = []

    /// Finds the units in `bytes`.
    mutating func split(_ bytes: UnsafeRawBufferPointer) {
        units.removeAll(keepingCapacity: true)
        var start: Int?
        var index = 2
        while index < bytes.count {
            // The third byte of a start code is 1; a larger one rules out the next three positions at once.
            if bytes[index] > 1 {
                index += 3
            } else if bytes[index] == 1, bytes[index - 1] == 0, bytes[index - 2] == 0 {
                if let start { append(start..<index - 2, of: bytes) }
                start = index + 1
                index += 3
            } else {
                index += 1
            }
        }
        if let start { append(start..<bytes.count, of: bytes) }
    }

    private mutating func append(_ range: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        var end = range.upperBound
        // A unit never ends in zero; what is there belongs to a longer start code.
        while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        if end > range.lowerBound { units.append(range.lowerBound..<end) }
    }
}
