/// Looks through what a server sends a new viewer for the end of its first key picture, and keeps nothing of it.
protocol StreamSkim {
    /// Takes the next bytes; nil while there is nothing to say of them.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> SkimResult?
    /// What the viewer says every two seconds as long as it watches; nil when it only listens.
    var habit: [UInt8]? { get }
}

extension StreamSkim {
    var habit: [UInt8]? { nil }
}

/// What a new viewer came to.
enum SkimResult {
    /// It says this before it is given more.
    case ask([UInt8])
    /// All of its first key picture is there; by HLS, of the segment that begins with it.
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
