import NIOCore

extension SequenceParameterSet {
    /// The profiles whose sets say the chroma format and bit depth (H.264 7.3.2.1.1).
    static let profilesWithChroma: Set<UInt8> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]

    /// Larger pictures than any level of H.264 allows on a side are damage, not pictures.
    static let maximumSide = 16_384

    mutating func readChroma(_ reader: inout BitReader) throws(BitstreamError) {
        chromaFormat = Int(try reader.unsignedGolomb())
        guard chromaFormat <= 3 else { throw .invalid(field: "chroma_format_idc") }
        if chromaFormat == 3 { try reader.skip(1) }
        let luma = try reader.unsignedGolomb()
        let chroma = try reader.unsignedGolomb()
        guard luma <= 6, chroma <= 6 else { throw .invalid(field: "bit_depth") }
        lumaBitDepth = 8 + Int(luma)
        chromaBitDepth = 8 + Int(chroma)
        try reader.skip(1)
        guard try reader.flag() else { return }
        for list in 0..<(chromaFormat == 3 ? 12 : 8) where try reader.flag() {
            try skipScalingList(&reader, size: list < 6 ? 16 : 64)
        }
    }

    private func skipScalingList(_ reader: inout BitReader, size: Int) throws(BitstreamError) {
        var last: Int64 = 8
        for _ in 0..<size {
            let next = (last + (try reader.signedGolomb()) + 256) % 256
            if next == 0 { return }
            last = next
        }
    }

    mutating func readReferences(_ reader: inout BitReader) throws(BitstreamError) {
        guard try reader.unsignedGolomb() <= 12 else { throw .invalid(field: "log2_max_frame_num") }
        switch try reader.unsignedGolomb() {
        case 0:
            guard try reader.unsignedGolomb() <= 12 else { throw .invalid(field: "log2_max_pic_order_cnt_lsb") }
        case 1:
            try reader.skip(1)
            _ = try reader.signedGolomb()
            _ = try reader.signedGolomb()
            let cycle = try reader.unsignedGolomb()
            guard cycle <= 255 else { throw .invalid(field: "num_ref_frames_in_pic_order_cnt_cycle") }
            for _ in 0..<cycle { _ = try reader.signedGolomb() }
        case 2: break
        default: throw .invalid(field: "pic_order_cnt_type")
        }
        let references = try reader.unsignedGolomb()
        guard references <= 16 else { throw .invalid(field: "max_num_ref_frames") }
        referenceFrames = Int(references)
        try reader.skip(1)
    }

    mutating func readSize(_ reader: inout BitReader) throws(BitstreamError) {
        let columns = Int(try reader.unsignedGolomb()) + 1
        let rows = Int(try reader.unsignedGolomb()) + 1
        isInterlaced = !(try reader.flag())
        if isInterlaced { try reader.skip(1) }
        try reader.skip(1)
        let fields = isInterlaced ? 2 : 1
        guard columns <= Self.maximumSide / 16, rows <= Self.maximumSide / 16 / fields else {
            throw .invalid(field: "picture size")
        }
        codedWidth = columns * 16
        codedHeight = rows * 16 * fields
        width = codedWidth
        height = codedHeight
        guard try reader.flag() else { return }
        let unitWidth = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
        let unitHeight = (chromaFormat == 1 ? 2 : 1) * fields
        let left = Int(try reader.unsignedGolomb())
        let right = Int(try reader.unsignedGolomb())
        let top = Int(try reader.unsignedGolomb())
        let bottom = Int(try reader.unsignedGolomb())
        width -= (left + right) * unitWidth
        height -= (top + bottom) * unitHeight
        guard width > 0, height > 0 else { throw .invalid(field: "frame cropping") }
    }
}
