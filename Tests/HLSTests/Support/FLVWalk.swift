import Media
import NIOCore

/// Reads the tags of an FLV file that holds H.264 and AAC in their legacy form.
enum FLVWalk {
    static func packets(in file: ByteBuffer) -> [MediaPacket] {
        var input = file
        input.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let type: UInt8 = input.readInteger(), let length = int24(&input), let low = int24(&input),
            let high: UInt8 = input.readInteger(), input.readSlice(length: 3) != nil,
            let body = input.readSlice(length: length), input.readSlice(length: 4) != nil
        {
            let timestamp = Int64(high) << 24 | Int64(low)
            switch type {
            case 8: packets.append(sound(body, timestamp))
            case 9: packets.append(picture(body, timestamp))
            default: break
            }
        }
        return packets
    }

    private static func sound(_ body: ByteBuffer, _ timestamp: Int64) -> MediaPacket {
        let isConfiguration = body.getInteger(at: body.readerIndex + 1) == UInt8(0)
        return MediaPacket(
            content: isConfiguration ? .audioConfiguration(.aac) : .sound(.aac),
            timestamp: timestamp,
            body: body,
            headerLength: 2
        )
    }

    private static func picture(_ body: ByteBuffer, _ timestamp: Int64) -> MediaPacket {
        var header = body
        let frame: UInt8 = header.readInteger() ?? 0
        let type: UInt8 = header.readInteger() ?? 0
        let composition = Int32(int24(&header) ?? 0)
        let content: MediaPacket.Content =
            switch type {
            case 0: .videoConfiguration(.h264)
            case 1: .picture(.h264, isKey: frame >> 4 == 1, isDisposable: frame >> 4 == 3)
            default: .videoEnd
            }
        return MediaPacket(
            content: content,
            timestamp: timestamp,
            compositionOffset: composition >= 0x80_0000 ? composition - 0x100_0000 : composition,
            body: body,
            headerLength: 5
        )
    }

    private static func int24(_ input: inout ByteBuffer) -> Int? {
        guard let bytes = input.readBytes(length: 3) else { return nil }
        return Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    }
}
