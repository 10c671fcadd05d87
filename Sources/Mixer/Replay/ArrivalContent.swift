import Media

/// A packet's kind of content as one byte of a recording; nil for what no mixer takes.
struct ArrivalContent: RawRepresentable, Sendable {
    let content: MediaPacket.Content

    init?(_ content: MediaPacket.Content) {
        guard Self.byte(of: content) != nil else { return nil }
        self.content = content
    }

    init?(rawValue: UInt8) {
        switch rawValue {
        case 0: content = .videoConfiguration(.h264)
        case 1: content = .audioConfiguration(.aac)
        case 2: content = .sound(.aac)
        case 3: content = .sound(.mp3)
        case 4...7: content = .picture(.h264, isKey: rawValue & 1 != 0, isDisposable: rawValue & 2 != 0)
        default: return nil
        }
    }

    var rawValue: UInt8 { Self.byte(of: content) ?? .max }

    private static func byte(of content: MediaPacket.Content) -> UInt8? {
        switch content {
        case .videoConfiguration(.h264): 0
        case .audioConfiguration(.aac): 1
        case .sound(.aac): 2
        case .sound(.mp3): 3
        case .picture(.h264, let isKey, let isDisposable): 4 + (isKey ? 1 : 0) + (isDisposable ? 2 : 0)
        default: nil
        }
    }
}
