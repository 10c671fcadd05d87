@testable import HLS
import Media
import NIOCore
import Testing

@Suite("An initialization describes its tracks")
struct MovieHeaderTests {
    private func format(video: Bool, audio: Bool) throws -> ProgramFormat {
        ProgramFormat(
            video: video ? try AVCConfiguration(ByteBuffer(bytes: SyntheticProgram.avcRecord)) : nil,
            audio: audio ? try AACConfiguration(ByteBuffer(bytes: [0x11, 0x90])) : nil
        )
    }

    @Test("boxes nest exactly, all the way down", arguments: [(true, true), (true, false), (false, true)])
    func nesting(video: Bool, audio: Bool) throws {
        let top = try Box.all(in: MovieHeader.write(try format(video: video, audio: audio)))
        #expect(top.map(\.type) == ["ftyp", "moov"])
        let movie = try Box.all(in: top[1].content)
        let tracks = [video, audio].filter { $0 }.count
        #expect(movie.map(\.type) == ["mvhd"] + Array(repeating: "trak", count: tracks) + ["mvex"])
        #expect(movie[0].content.readableBytes == 100)
        #expect(try Box.all(in: movie[tracks + 1].content).map(\.type) == Array(repeating: "trex", count: tracks))
        for track in movie where track.type == "trak" {
            let parts = try Box.all(in: track.content)
            #expect(parts.map(\.type) == ["tkhd", "mdia"])
            #expect(parts[0].content.readableBytes == 84)
            let media = try Box.all(in: parts[1].content)
            #expect(media.map(\.type) == ["mdhd", "hdlr", "minf"])
            let information = try Box.all(in: media[2].content)
            #expect(information.dropFirst().map(\.type) == ["dinf", "stbl"])
            let table = try Box.all(in: information[2].content)
            #expect(table.map(\.type) == ["stsd", "stts", "stsc", "stsz", "stco"])
        }
    }

    @Test("the video entry carries the record as it came, the size, the pixel's shape and the colours")
    func video() throws {
        let file = MovieHeader.write(try format(video: true, audio: true))
        let path = [("moov", 0), ("trak", 0), ("mdia", 0), ("minf", 0), ("stbl", 0), ("stsd", 8), ("avc1", 78)]
        let entry = try Box.find(path, in: file)
        #expect(try Box.all(in: entry).map(\.type) == ["avcC", "colr", "pasp"])
        #expect(try Array(Box.find([("avcC", 0)], in: entry).readableBytesView) == SyntheticProgram.avcRecord)
        #expect(
            try Array(Box.find([("colr", 0)], in: entry).readableBytesView)
                == Array("nclx".utf8) + [0, 1, 0, 1, 0, 1, 0]
        )
        let size = try Box.find(Array(path.dropLast()) + [("avc1", 24)], in: file)
        #expect(size.getInteger(at: size.readerIndex) == UInt16(638))
        #expect(size.getInteger(at: size.readerIndex + 2) == UInt16(358))
    }

    @Test("the sound entry carries the configuration in nested descriptors")
    func audio() throws {
        let file = MovieHeader.write(try format(video: false, audio: true))
        let path = [
            ("moov", 0), ("trak", 0), ("mdia", 0), ("minf", 0), ("stbl", 0), ("stsd", 8), ("mp4a", 28), ("esds", 4),
        ]
        #expect(
            try Array(Box.find(path, in: file).readableBytesView) == [
                3, 0x80, 0x80, 0x80, 34, 0, 0, 0,
                4, 0x80, 0x80, 0x80, 20, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                5, 0x80, 0x80, 0x80, 2, 0x11, 0x90,
                6, 0x80, 0x80, 0x80, 1, 2,
            ]
        )
    }
}
