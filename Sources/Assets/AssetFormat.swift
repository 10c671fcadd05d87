import Stage

/// A file format, detected from the first bytes; the client's declaration is ignored.
enum AssetFormat: String, CaseIterable {
    case png
    case jpeg
    case webp
    case gif
    case bmp
    case mp3
    case aac
    case wav
    case ogg
    case flac

    /// The number of bytes needed for detection.
    static let headLength = 32

    /// - Parameter head: The first bytes of the file, up to `headLength`; the result is nil for an unknown format.
    init?(head: [UInt8]) {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { head.count >= offset + $0.count && head[offset...].starts(with: $0) }
        }
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webp
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("BM"), Self.isBitmap(head) {
            self = .bmp
        } else if has("RIFF"), has("WAVE", at: 8) {
            self = .wav
        } else if has("OggS") {
            self = .ogg
        } else if has("fLaC") {
            self = .flac
        } else if has("ID3") || Self.isMP3Frame(head) {
            self = .mp3
        } else if Self.isADTSFrame(head) {
            self = .aac
        } else {
            return nil
        }
    }

    var contentType: String {
        switch self {
        case .png, .jpeg, .webp, .gif, .bmp: "image/\(rawValue)"
        case .mp3: "audio/mpeg"
        case .aac, .wav, .ogg, .flac: "audio/\(rawValue)"
        }
    }

    var kind: Asset.Kind {
        switch self {
        case .png, .jpeg, .webp, .gif, .bmp: .image
        case .mp3, .aac, .wav, .ogg, .flac: .sound
        }
    }

    /// Returns whether the header after the file header has a valid length, since two letters are a weak signature.
    private static func isBitmap(_ head: [UInt8]) -> Bool {
        head.count >= 18 && [12, 40, 52, 56, 64, 108, 124].contains(head[14]) && head[15...17].allSatisfy { $0 == 0 }
    }

    /// Returns whether the head is an MPEG-1, 2 or 2.5 layer III frame with a valid bit rate and sample rate.
    private static func isMP3Frame(_ head: [UInt8]) -> Bool {
        guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE6 == 0xE2, head[1] & 0x18 != 0x08 else { return false }
        let bitRate = head[2] >> 4
        return bitRate != 0 && bitRate != 15 && head[2] & 0x0C != 0x0C
    }

    /// Returns whether the head is an ADTS frame with a valid sample rate and a length beyond its header.
    private static func isADTSFrame(_ head: [UInt8]) -> Bool {
        guard head.count >= 7, head[0] == 0xFF, head[1] & 0xF6 == 0xF0, head[2] >> 2 & 0x0F < 13 else { return false }
        let length = Int(head[3] & 3) << 11 | Int(head[4]) << 3 | Int(head[5] >> 5)
        return length > 7
    }
}
