import Foundation
import Media
import NIOCore

/// The packets of an FLV file with legacy AVC and AAC tags.
enum FLVFile {
    static func read(_ path: String) throws -> [MediaPacket] {
        var file = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
        file.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let head = file.readBytes(length: 11) {
            let size = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
            let time = Int64(head[7]) << 24 | Int64(head[4]) << 16 | Int64(head[5]) << 8 | Int64(head[6])
            // A file that is still written may end inside a tag.
            guard let body = file.readSlice(length: size), file.readInteger(as: UInt32.self) != nil else { break }
            if let packet = packet(type: head[0], timestamp: time, body: body) { packets.append(packet) }
        }
        return packets
    }

    private static func packet(type: UInt8, timestamp: Int64, body: ByteBuffer) -> MediaPacket? {
        let bytes = body.readableBytesView
        guard bytes.count > 5 || type == 8 && bytes.count > 2 else { return nil }
        let first = bytes[bytes.startIndex]
        let second = bytes[bytes.startIndex + 1]
        switch type {
        case 18: return MediaPacket(content: .metadata, timestamp: timestamp, body: body, headerLength: 0)
        case 8:
            let content: MediaPacket.Content = second == 0 ? .audioConfiguration(.aac) : .sound(.aac)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 2)
        case 9 where second == 0:
            return MediaPacket(content: .videoConfiguration(.h264), timestamp: timestamp, body: body, headerLength: 5)
        case 9 where second == 1:
            let content = MediaPacket.Content.picture(.h264, isKey: first >> 4 == 1, isDisposable: first >> 4 == 3)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 5)
        default: return nil
        }
    }
}
