/// Looks through what a server sends a new viewer for the end of its first key picture, and keeps nothing of it.
protocol StreamSkim {
    /// Takes the next bytes; nil while neither is there.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> SkimResult?
}

/// What a new viewer came to.
enum SkimResult {
    case keyPicture
    case refused
}

/// The first two bytes of a picture of H.264 in FLV, by which a key picture is told (FLV 10.1, E.4.3).
struct PictureMark {
    private var first: UInt8 = 0
    private var second: UInt8 = 0

    /// Takes the byte at a place of the message.
    mutating func note(_ byte: UInt8, at offset: Int) {
        if offset == 0 { first = byte }
        if offset == 1 { second = byte }
    }

    /// A key frame, of AVC, which is a picture and no configuration.
    var isKeyPicture: Bool { first == 0x17 && second == 1 }
}
