import NIOCore
import Stage
import Testing

@testable import Assets

@Suite("What a file is, by its first bytes")
struct AssetFormatTests {
    private static let samples: [(AssetFormat, [UInt8])] = [
        (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]), (.gif, Array("GIF89a".utf8)), (.gif, Array("GIF87a".utf8)),
        (.webp, Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)), (.wav, Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8)),
        (.bmp, Array("BM".utf8) + Array(repeating: 9, count: 12) + [40, 0, 0, 0, 1, 0]), (.ogg, Array("OggS\0".utf8)),
        (.flac, Array("fLaC\0".utf8)), (.mp3, Array("ID3\u{4}\0".utf8)), (.mp3, [0xFF, 0xFB, 0x90, 0x64]),
        (.aac, [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC]),
    ]

    @Test("Each format is known by its own bytes", arguments: 0..<12)
    func known(index: Int) {
        let (format, head) = Self.samples[index]
        #expect(AssetFormat(head: head) == format)
        #expect(AssetFormat(head: head)?.contentType.hasPrefix(format.kind == .image ? "image/" : "audio/") == true)
    }

    @Test("Scripts, vector pictures, programs, archives and half of a head are none")
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

    @Test("A file is recognised however it is cut, and refused as soon as it is too large for what it is")
    func cut() throws {
        let bytes = Self.samples[0].1 + Array(repeating: 7, count: 100)
        for length in 1...40 {
            var check = AssetCheck()
            for start in stride(from: 0, to: bytes.count, by: length) {
                try check.take(ByteBuffer(bytes: bytes[start..<min(start + length, bytes.count)]))
            }
            #expect(try check.finish() == .png && check.size == bytes.count)
        }
        for (sample, limit) in [(0, 5), (9, 20)] {
            var check = AssetCheck()
            let mebibyte = ByteBuffer(repeating: 1, count: 1_048_576)
            try check.take(ByteBuffer(bytes: Self.samples[sample].1))
            for _ in 1..<limit { try check.take(mebibyte) }
            try check.take(ByteBuffer(repeating: 1, count: 1_048_576 - Self.samples[sample].1.count))
            let error = #expect(throws: StageError.self) { try check.take(ByteBuffer(bytes: [1])) }
            #expect(error?.status == 413 && error?.message.contains("\(limit) MiB") == true)
        }
        var check = AssetCheck()
        #expect(throws: StageError.assetFormatUnknown) { try check.finish() }
        #expect(throws: StageError.assetFormatUnknown) { try check.take(ByteBuffer(repeating: 0x3C, count: 64)) }
    }
}
