import Foundation
import Media
import NIOCore

/// Hosts as ffmpeg codes them: a file is made by a child process and its tags are read.
enum FLVClip {
    /// Runs ffmpeg with `arguments` and reads the FLV it writes.
    static func make(_ arguments: [String]) throws -> [MediaPacket] {
        let path = NSTemporaryDirectory() + "clip-\(UUID().uuidString).flv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"] + arguments + ["-f", "flv", path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return packets(of: ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// The H.264 and AAC tags of a file (Adobe FLV specification 10.1, annex E).
    static func packets(of file: ByteBuffer) -> [MediaPacket] {
        var file = file
        file.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let head = file.readBytes(length: 11) {
            let size = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
            let time = Int64(head[7]) << 24 | Int64(head[4]) << 16 | Int64(head[5]) << 8 | Int64(head[6])
            guard let body = file.readSlice(length: size), file.readInteger(as: UInt32.self) != nil else { break }
            if let packet = packet(kind: head[0], time: time, body: body) { packets.append(packet) }
        }
        return packets
    }

    private static func packet(kind: UInt8, time: Int64, body: ByteBuffer) -> MediaPacket? {
        guard let bytes = body.getBytes(at: body.readerIndex, length: min(5, body.readableBytes)) else { return nil }
        if kind == 8, bytes.count >= 2 {
            let content: MediaPacket.Content = bytes[1] == 0 ? .audioConfiguration(.aac) : .sound(.aac)
            return MediaPacket(content: content, timestamp: time, body: body, headerLength: 2)
        }
        guard kind == 9, bytes.count == 5, bytes[1] < 2 else { return nil }
        let offset = Int32(bitPattern: UInt32(bytes[2]) << 24 | UInt32(bytes[3]) << 16 | UInt32(bytes[4]) << 8) >> 8
        return MediaPacket(
            content: bytes[1] == 0
                ? .videoConfiguration(.h264)
                : .picture(.h264, isKey: bytes[0] >> 4 == 1, isDisposable: bytes[0] >> 4 == 3),
            timestamp: time,
            compositionOffset: offset,
            body: body,
            headerLength: 5
        )
    }
}
