import Foundation
import Media
import NIOCore
import RTMP

/// Packets as an FLV file.
struct FLVFileBytes {
    private var buffer = FLVTagWriter.header(hasAudio: true, hasVideo: true)

    mutating func append(_ packet: MediaPacket) {
        FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
    }

    var data: Data { Data(buffer.readableBytesView) }
}
