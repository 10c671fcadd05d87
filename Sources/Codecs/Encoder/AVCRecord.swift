import NIOCore

/// Writes an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1) with 4-byte lengths.
enum AVCRecord {
    /// - Parameter header: Sequence and picture parameter sets with start codes.
    /// - Throws: `.failed` when either is missing.
    static func make(fromAnnexB header: UnsafeRawBufferPointer) throws(CodecError) -> ByteBuffer {
        var splitter = AnnexB()
        splitter.split(header)
        let sets = splitter.units.map { UnsafeRawBufferPointer(rebasing: header[$0]) }
        let sequence = sets.filter { $0[0] & 0x1F == AnnexB.Kind.sequenceParameters }
        let picture = sets.filter { $0[0] & 0x1F == AnnexB.Kind.pictureParameters }
        guard let first = sequence.first, first.count >= 4, !picture.isEmpty else {
            throw CodecError(.failed, "the encoder gave no parameter sets")
        }
        var record = ByteBuffer()
        record.writeInteger(UInt8(1))
        // Profile, compatibility and level, as in the sequence parameter set.
        record.writeBytes(first[1...3])
        // Reserved bits set; NAL unit lengths of four bytes.
        record.writeInteger(UInt8(0xFF))
        record.writeInteger(0xE0 | UInt8(sequence.count & 0x1F))
        write(sequence, to: &record)
        record.writeInteger(UInt8(picture.count & 0xFF))
        write(picture, to: &record)
        return record
    }

    private static func write(_ sets: [UnsafeRawBufferPointer], to record: inout ByteBuffer) {
        for set in sets {
            record.writeInteger(UInt16(truncatingIfNeeded: set.count))
            record.writeBytes(set)
        }
    }
}
