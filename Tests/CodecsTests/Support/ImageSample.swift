import Foundation
import NIOCore
import Testing

/// Image files made by the ffmpeg tool.
enum ImageSample {
    /// Left half red, right half blue, the upper row of quarters white; 96 x 64 pixels.
    static let flag = """
        color=c=red:s=96x64:d=0.1:r=25,format=gbrp,drawbox=x=48:w=48:h=64:t=fill:c=blue,\
        drawbox=x=0:w=96:h=16:t=fill:c=white
        """

    /// What ffmpeg makes of `filter` in the file format of the suffix `kind`.
    static func file(_ filter: String, _ kind: String, arguments: [String]) throws -> ByteBuffer {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("image-\(UUID().uuidString).\(kind)")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", filter] + arguments + ["-y", file.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return ByteBuffer(bytes: try Data(contentsOf: file))
    }

    /// A JPEG file with a camera's note of how it was held (TIFF tag 0x0112), 1 to 8.
    static func turned(_ file: ByteBuffer, orientation: UInt8) -> ByteBuffer {
        var note = ByteBuffer(string: "Exif")
        note.writeBytes([0, 0])
        note.writeString("MM")
        // Magic number, where the only directory is, one entry: the tag, a 16-bit number, one of them, its value.
        note.writeBytes([0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0])
        var (rest, result) = (file, ByteBuffer())
        if var start = rest.readSlice(length: 2) { result.writeBuffer(&start) }
        result.writeBytes([0xFF, 0xE1])
        result.writeInteger(UInt16(note.readableBytes + 2))
        result.writeBuffer(&note)
        result.writeBuffer(&rest)
        return result
    }
}
