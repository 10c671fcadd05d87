import NIOCore
import Stage
import Testing

@testable import Assets

@Suite("Asset formats")
struct AssetFormatTests {
    private static let samples: [(AssetFormat, [UInt8])] = [
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]), (.gif, Array("GIF89a".utf8)), (.gif, Array("GIF87a".utf8)),
        (.webp, Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)), (.wav, Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8)),
        (.bmp, Array("BM".utf8) + Array(repeating: 9, count: 12) + [40, 0, 0, 0, 1, 0]), (.ogg, Array("OggS\0".utf8)),
        (.flac, Array("fLaC\0".utf8)), (.mp3, Array("ID3\u{4}\0".utf8)), (.mp3, [0xFF, 0xFB, 0x90, 0x64]),
        (.aac, [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC]),
    ]

    @Test("detects each format by its signature", arguments: 0..<12)
    func known(index: Int) {
        let (format, head) = Self.samples[index]
        #expect(AssetFormat(head: head) == format)
        #expect(AssetFormat(head: head)?.contentType.hasPrefix(format.kind == .image ? "image/" : "audio/") == true)
    }

    @Test("rejects scripts, vector images, programs, archives and truncated signatures")
    func unknown() {
        for text in [
            "", "<svg xmlns=\"http://www.w3.org/2000/svg\">", "<?xml version=\"1.0\"?><svg>", "<html>", "%PDF-1.7",
            "PK\u{3}\u{4}", "\u{7F}ELF", "BM<script>alert(1)</script>......", "GIF8", "RIFF1234AVI ", "#!/bin/sh", "ID",
        ] {
            #expect(AssetFormat(head: Array(text.utf8)) == nil, "\(text)")
        }
        for (format, head) in Self.samples where [.png, .jpeg, .gif].contains(format) {
            #expect(AssetFormat(head: Array(head.prefix(2))) == nil)
        }
        #expect(AssetFormat(head: [0xFF, 0xFB, 0xF0, 0x64]) == nil, "a bit rate that does not exist")
        #expect(AssetFormat(head: [0xFF, 0xF1, 0x7C, 0x80, 0x02, 0x1F, 0xFC]) == nil, "a rate that does not exist")
    }

    @Test("detects the format for any chunk size and refuses oversized files immediately")
    func cut() throws {
        let bytes = Self.samples[0].1 + Array(repeating: 7, count: 100)
        for length in 1...40 {
            var validator = AssetValidator()
            for start in stride(from: 0, to: bytes.count, by: length) {
                try validator.append(ByteBuffer(bytes: bytes[start..<min(start + length, bytes.count)]))
            }
            #expect(try validator.finish() == .png && validator.size == bytes.count)
        }
        for (sample, limit) in [(0, 5), (9, 20)] {
            var validator = AssetValidator()
            let mebibyte = ByteBuffer(repeating: 1, count: 1_048_576)
            try validator.append(ByteBuffer(bytes: Self.samples[sample].1))
            for _ in 1..<limit { try validator.append(mebibyte) }
            try validator.append(ByteBuffer(repeating: 1, count: 1_048_576 - Self.samples[sample].1.count))
            let error = #expect(throws: StageError.self) { try validator.append(ByteBuffer(bytes: [1])) }
            #expect(error?.status == 413 && error?.message.contains("\(limit) MiB") == true)
        }
        var validator = AssetValidator()
        #expect(throws: StageError.assetFormatUnknown) { try validator.finish() }
        #expect(throws: StageError.assetFormatUnknown) { try validator.append(ByteBuffer(repeating: 0x3C, count: 64)) }
    }

    /// Headers of images of 300x5000 pixels.
    private static let tall: [(name: String, bytes: [UInt8])] = [
        ("png", samples[0].1 + Array("IHDR".utf8) + [0, 0, 0x01, 0x2C, 0, 0, 0x13, 0x88, 8, 2, 0, 0, 0]),
        ("gif", Array("GIF89a".utf8) + [0x2C, 0x01, 0x88, 0x13, 0, 0, 0]),
        ("bmp", bitmap([40, 0, 0, 0, 0x2C, 1, 0, 0, 0x88, 0x13, 0, 0])),
        ("bmp from the top", bitmap([40, 0, 0, 0, 0x2C, 1, 0, 0, 0x78, 0xEC, 0xFF, 0xFF])),
        ("old bmp", bitmap([12, 0, 0, 0, 0x2C, 1, 0x88, 0x13, 1, 0])),
        ("webp", webp("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 0x2C, 0x01, 0x88, 0x13])),
        ("webp without loss", webp("VP8L", [0x2F, 0x2B, 0xC1, 0xE1, 0x04, 0, 0])),
        ("webp with alpha", webp("VP8X", [0x10, 0, 0, 0, 0x2B, 1, 0, 0x87, 0x13, 0])),
        ("jpeg", jpeg(0xC0, [])), ("progressive jpeg", jpeg(0xC2, [0xFF, 0xDB, 0, 4, 1, 2])),
        // A thumbnail within another segment is ignored.
        ("jpeg with notes", jpeg(0xC1, [0xFF, 0xE1, 0x60, 0] + Array(repeating: 0xFF, count: 0x5FFE) + [0xFF, 0xFF])),
    ]

    private static func bitmap(_ header: [UInt8]) -> [UInt8] {
        Array("BM".utf8) + Array(repeating: 0, count: 12) + header
    }

    private static func webp(_ chunk: String, _ body: [UInt8]) -> [UInt8] {
        Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBP".utf8) + Array(chunk.utf8) + [40, 0, 0, 0] + body
    }

    private static func jpeg(_ frame: UInt8, _ before: [UInt8]) -> [UInt8] {
        let start: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0x4A, 0x46]
        return start + before + [0xFF, frame, 0, 17, 8, 0x13, 0x88, 0x01, 0x2C, 3]
    }

    @Test("refuses an image with a too long side as soon as its header is received", arguments: 0..<11)
    func size(index: Int) throws {
        let (name, head) = Self.tall[index]
        let bytes = head + Array(repeating: 0, count: 40)
        for length in [1, 3, 7, 31, 32, 33, 50_000] {
            var validator = AssetValidator()
            let error = #expect(throws: StageError.self, "\(name) in pieces of \(length)") {
                for start in stride(from: 0, to: bytes.count, by: length) {
                    try validator.append(ByteBuffer(bytes: bytes[start..<min(start + length, bytes.count)]))
                }
                _ = try validator.finish()
            }
            #expect(error == .imageTooLarge(width: 300, height: 5000), "\(name)")
            #expect(error?.status == 413)
        }
    }

    @Test("accepts the maximum side length in every format")
    func longest() throws {
        // 5000 is 0x1388 and 4096 is 0x1000.
        for index in [0, 1, 2, 4, 5, 8, 9] {
            var bytes = Self.tall[index].bytes
            for index in bytes.indices where [0x13, 0x88].contains(bytes[index]) {
                bytes[index] = bytes[index] == 0x13 ? 0x10 : 0
            }
            var validator = AssetValidator()
            try validator.append(ByteBuffer(bytes: bytes + Array(repeating: 0, count: 40)))
            #expect(throws: Never.self) { _ = try validator.finish() }
        }
    }
}
