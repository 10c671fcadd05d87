import Media
import NIOCore
import Testing

@testable import HLS

@Suite("Movie fragment")
struct MovieFragmentTests {
    private func videoSample(
        _ time: Int64,
        offset: Int32 = 0,
        key: Bool = false,
        disposable: Bool = false,
        _ bytes: [UInt8]
    ) -> MovieFragment.VideoSample {
        MovieFragment.VideoSample(
            time: time,
            compositionOffset: offset,
            isKey: key,
            isDisposable: disposable,
            payload: ByteBuffer(bytes: bytes)
        )
    }

    @Test("preserves samples, 64-bit times and signed composition offsets")
    func roundTrip() throws {
        let base: Int64 = 1 << 40
        var fragment = MovieFragment()
        fragment.append(videoSample(base, offset: 6000, key: true, [1, 2, 3]))
        fragment.append(videoSample(base + 3000, offset: -3000, disposable: true, [4]))
        fragment.append(MovieFragment.AudioSample(time: 7, payload: ByteBuffer(bytes: [8, 9])))
        fragment.append(videoSample(base + 6060, [5, 6]))
        fragment.append(MovieFragment.AudioSample(time: 7 + 1024, payload: ByteBuffer(bytes: [10])))
        let read = try Fragment(fragment.write(number: 77, videoEndTime: base + 9000, audioFrameDuration: 1024))
        #expect(read.number == 77)
        #expect(read.video?.baseTime == base)
        #expect(read.video?.durations == [3000, 3060, 2940])
        #expect(read.video?.compositionOffsets == [6000, -3000, 0])
        #expect(read.video?.flags == [0x0200_0000, 0x0181_0000, 0x0101_0000])
        #expect(read.video?.samples == [[1, 2, 3], [4], [5, 6]])
        #expect(read.audio?.baseTime == 7)
        #expect(read.audio?.durations == [1024, 1024])
        #expect(read.audio?.flags == [0x0200_0000, 0x0200_0000])
        #expect(read.audio?.samples == [[8, 9], [10]])
    }

    @Test("extends an audio frame to the end of a following gap")
    func gap() throws {
        var fragment = MovieFragment()
        for time: Int64 in [0, 1024, 5000] {
            fragment.append(MovieFragment.AudioSample(time: time, payload: ByteBuffer(bytes: [1])))
        }
        let read = try Fragment(fragment.write(number: 1, videoEndTime: 0, audioFrameDuration: 1024))
        #expect(read.video == nil)
        #expect(read.audio?.durations == [1024, 3976, 1024])
    }
}

@Suite("Movie header")
struct MovieHeaderTests {
    private func format(video: Bool, audio: Bool) throws -> ProgramFormat {
        ProgramFormat(
            video: video ? try AVCConfiguration(ByteBuffer(bytes: SyntheticProgram.avcRecord)) : nil,
            audio: audio ? try AACConfiguration(ByteBuffer(bytes: [0x11, 0x90])) : nil
        )
    }

    @Test("nests all boxes with exact sizes", arguments: [(true, true), (true, false), (false, true)])
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

    @Test("writes record, size, colour and pixel aspect ratio of the video sample entry")
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

    @Test("writes the audio configuration in nested descriptors")
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
