import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("Chunk decoder")
struct ChunkDecoderTests {
    private func decode(
        _ bytes: [UInt8],
        step: Int = .max,
        limits: RTMPLimits = RTMPLimits()
    ) throws -> [RTMPMessage] {
        var decoder = ChunkDecoder(GrantedLimits(limits))
        var rest = ByteBuffer(bytes: bytes)
        var messages: [RTMPMessage] = []
        while rest.readableBytes > 0, let part = rest.readSlice(length: min(step, rest.readableBytes)) {
            decoder.append(part)
            while let message = try decoder.next() { messages.append(message) }
        }
        return messages
    }

    /// Returns a type-0 header on a chunk stream below 64.
    private func header(_ id: UInt8, time: UInt32, length: Int, type: UInt8 = 9, stream: UInt8 = 1) -> [UInt8] {
        let field = min(time, 0xFF_FFFF)
        var bytes = [id & 0x3F] + big24(field) + big24(UInt32(length)) + [type, stream, 0, 0, 0]
        if field == 0xFF_FFFF { bytes += big32(time) }
        return bytes
    }

    private func big24(_ value: UInt32) -> [UInt8] { Array(big32(value).dropFirst()) }

    private func big32(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    private func body(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + seed) }
    }

    @Test("decodes what the encoder writes, in reads of any size", arguments: [1, 2, 3, 7, 100, 4096, Int.max])
    func roundTrip(step: Int) throws {
        var bytes = ByteBuffer()
        let sizes = [0, 1, 3, 127, 128, 129, 256, 257, 5000]
        let times: [UInt32] = [0, 1, 0xFF_FFFE, 0xFF_FFFF, 0x100_0000, 0x7FFF_FFFF, 0xFFFF_FFFF]
        var expected: [RTMPMessage] = []
        for (index, size) in sizes.enumerated() {
            for time in times {
                let payload = ByteBuffer(bytes: body(size, seed: index))
                let message = RTMPMessage(type: 9, streamID: 1, timestamp: time, payload: payload)
                bytes.writeChunks(message, chunkStream: UInt8(3 + index % 3), chunkSize: 128)
                expected.append(message)
            }
        }
        #expect(try decode(Array(bytes.readableBytesView), step: step) == expected)
    }

    @Test("predicts the exact length of the encoded chunks")
    func announcedLength() {
        for (size, time) in [(0, 0), (128, 5), (129, 5), (300, 0x100_0000)] as [(Int, UInt32)] {
            var bytes = ByteBuffer()
            let message = RTMPMessage(type: 9, streamID: 1, timestamp: time, payload: ByteBuffer(bytes: body(size)))
            bytes.writeChunks(message, chunkStream: 6, chunkSize: 128)
            #expect(
                bytes.readableBytes
                    == ByteBuffer.chunksLength(payload: size, isExtended: time >= 0xFF_FFFF, chunkSize: 128)
            )
        }
    }

    @Test("decodes chunk stream IDs of one, two and three bytes", arguments: [1, 5])
    func chunkStreamForms(step: Int) throws {
        let fields = Array(header(3, time: 9, length: 2).dropFirst())
        var bytes: [UInt8] = [63] + fields + [1, 2]
        bytes += [0, 0] + fields + [3, 4]
        bytes += [0, 255] + fields + [5, 6]
        bytes += [1, 255, 255] + fields + [7, 8]
        bytes += [0xC0, 255, 9, 9]
        bytes += [0xC1, 255, 255, 8, 8]
        let payloads = try decode(bytes, step: step).map { Array($0.payload.readableBytesView) }
        #expect(payloads == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 9], [8, 8]])
    }

    @Test("accepts format 1 on a new chunk stream, but not 2 or 3")
    func firstFormat() throws {
        let messages = try decode([0x42, 0, 0, 5, 0, 0, 4, 4, 0, 6, 1, 2])
        #expect(messages.map(\.type) == [4])
        #expect(messages.map(\.timestamp) == [5])
        #expect(throws: RTMPViolation.self) { try decode([0x82, 0, 0, 5]) }
        #expect(throws: RTMPViolation.self) { try decode([0xC2]) }
    }

    @Test("repeats the last delta for a format 3 header that begins a message")
    func repeatedDelta() throws {
        var bytes = header(4, time: 1000, length: 2) + [1, 1]
        bytes += [0xC4, 2, 2]
        bytes += [0x84, 0, 0, 40, 3, 3]
        bytes += [0xC4, 4, 4]
        bytes += [0xC4, 5, 5]
        #expect(try decode(bytes, step: 1).map(\.timestamp) == [1000, 1000, 1040, 1080, 1120])
    }

    @Test("decodes interleaved messages of several chunk streams", arguments: [1, 64, Int.max])
    func interleaved(step: Int) throws {
        let video = body(300, seed: 1)
        let audio = body(150, seed: 2)
        var bytes = header(6, time: 10, length: 300) + video[0..<128]
        bytes += header(4, time: 11, length: 150, type: 8) + audio[0..<128]
        bytes += [0xC6] + video[128..<256]
        bytes += [0xC4] + audio[128...]
        bytes += [0xC6] + video[256...]
        let messages = try decode(bytes, step: step)
        #expect(messages.map(\.type) == [8, 9])
        #expect(messages.map { Array($0.payload.readableBytesView) } == [audio, video])
    }

    @Test("discards an aborted message and continues the chunk stream")
    func abort() throws {
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        decoder.append(ByteBuffer(bytes: header(6, time: 1, length: 300) + body(128)))
        #expect(try decoder.next() == nil)
        #expect(decoder.unfinishedBytes == 128)
        decoder.abort(chunkStream: 6)
        #expect(decoder.unfinishedBytes == 0)
        decoder.append(ByteBuffer(bytes: header(6, time: 2, length: 3) + [1, 2, 3]))
        #expect(try decoder.next()?.timestamp == 2)
    }

    @Test(
        "decodes extended timestamps, repeated in every chunk or omitted",
        arguments: [true, false],
        [1, 6, Int.max]
    )
    func extendedDialects(isRepeated: Bool, step: Int) throws {
        let time: UInt32 = 0x0100_0203
        let long = body(300, seed: 3)
        let more = isRepeated ? big32(time) : []
        var bytes = header(6, time: time, length: 300) + long[0..<128]
        bytes += [0xC6] + more + long[128..<256]
        bytes += [0xC6] + more + long[256...]
        bytes += header(6, time: time + 40, length: 1) + [9]
        let messages = try decode(bytes, step: step)
        #expect(messages.map(\.timestamp) == [time, time + 40])
        #expect(messages.first.map { Array($0.payload.readableBytesView) } == long)
    }

    @Test("completes a short last chunk without its extended timestamp")
    func shortRemainder() throws {
        var bytes = header(6, time: 0x0100_0000, length: 129) + body(128)
        bytes += [0xC6, 0x77]
        #expect(try decode(bytes).count == 1)
    }

    @Test("decodes relative timestamps: wrap at 32 bits, negative deltas, and absolute times in place of a delta")
    func relativeTimes() throws {
        func next(_ field: [UInt8]) -> [UInt8] { [0x86] + field + [0] }
        var bytes = header(6, time: 0xFFFF_FFF0, length: 1) + [0]
        bytes += next(big24(0x20))
        #expect(try decode(bytes).map(\.timestamp) == [0xFFFF_FFF0, 0x10])

        bytes = header(6, time: 1000, length: 1) + [0]
        bytes += next([0xFF, 0xFF, 0xFF] + big32(UInt32(bitPattern: -20)))
        bytes += next(big24(0xFF_FFF6))
        #expect(try decode(bytes).map(\.timestamp) == [1000, 980, 970])

        bytes = header(6, time: 0x0100_0000, length: 1) + [0]
        bytes += next([0xFF, 0xFF, 0xFF] + big32(0x0100_0028))
        #expect(try decode(bytes).map(\.timestamp) == [0x0100_0000, 0x0100_0028])

        bytes = header(6, time: 0x8000_0000, length: 1) + [0]
        bytes += next(big24(33))
        #expect(try decode(bytes).map(\.timestamp) == [0x8000_0000, 0x8000_0021])
    }

    @Test("accepts chunk sizes from 128 on without the top bit and rejects smaller ones")
    func chunkSizes() throws {
        for size in [128, 4096, 65_536, 128 << 20, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32] {
            var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
            try decoder.setChunkSize(size)
            let payload = body(100_000)
            let message = RTMPMessage(type: 9, streamID: 1, timestamp: 1, payload: ByteBuffer(bytes: payload))
            var bytes = ByteBuffer()
            bytes.writeChunks(message, chunkStream: 6, chunkSize: Int(size & 0x7FFF_FFFF))
            decoder.append(bytes)
            #expect(try decoder.next() == message)
        }
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        for size in [0, 1, 127, 0x8000_0001] as [UInt32] {
            #expect(throws: RTMPViolation.self) { try decoder.setChunkSize(size) }
        }
    }

    @Test("limits the message length by type and does not allocate announced bytes")
    func lengths() throws {
        #expect(throws: RTMPViolation.self) { try decode(header(6, time: 0, length: 4 * 1024 * 1024 + 1)) }
        #expect(throws: RTMPViolation.self) { try decode(header(3, time: 0, length: 64 * 1024 + 1, type: 20)) }
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        decoder.append(ByteBuffer(bytes: header(6, time: 0, length: 4 * 1024 * 1024) + body(100)))
        #expect(try decoder.next() == nil)
        #expect(decoder.unfinishedBytes == 100)
    }

    @Test("limits the number and bytes of unfinished messages and the number of chunk streams")
    func partials() throws {
        var many: [UInt8] = []
        for id in 3..<11 as Range<UInt8> { many += header(id, time: 0, length: 200) + body(128) }
        #expect(try decode(many).isEmpty)
        #expect(throws: RTMPViolation("too many unfinished messages")) {
            try decode(many + header(11, time: 0, length: 200) + body(128))
        }
        var limits = RTMPLimits()
        limits.partialBytes = 1000
        #expect(throws: RTMPViolation("unfinished messages too large")) { try decode(many, limits: limits) }

        var streams: [UInt8] = []
        for id in 0..<65 as Range<UInt8> { streams += [0, id] + header(3, time: 0, length: 0).dropFirst() }
        #expect(throws: RTMPViolation("too many chunk streams")) { try decode(streams) }
    }

    @Test("copies a small message from a large read")
    func copiesSmallMessages() throws {
        var bytes = ByteBuffer()
        bytes.writeBytes(header(4, time: 0, length: 10, type: 8) + body(10))
        bytes.writeBytes(body(60_000).map { _ in 0 })
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        decoder.append(bytes)
        let message = try #require(try decoder.next())
        #expect(message.payload.storageCapacity < 100)
    }

    @Test("decodes random bytes within the memory limit or throws a violation", arguments: 0..<80)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        for _ in 0..<40 {
            let count = Int.random(in: 1...300, using: &random)
            decoder.append(ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }))
            do {
                while try decoder.next() != nil {}
            } catch {
                return
            }
            #expect(decoder.unfinishedBytes <= RTMPLimits().partialBytes)
            #expect(decoder.bufferedBytes < 32)
        }
    }
}
