import Media
import NIOCore
import Testing

@Suite("NAL units in both framings")
struct NALUnitsTests {
    private let prefixed = ByteBuffer(bytes: [0, 0, 0, 2, 0x09, 0xF0, 0, 0, 0, 3, 0x65, 0x88, 0x80, 0, 0, 0, 1, 0x06])

    @Test("units of a length-prefixed frame")
    func iteration() {
        let units = Array(NALUnits(in: prefixed))
        #expect(units.map(\.kind) == [.delimiter, .idrSlice, .supplement])
        #expect(units.map(\.referenceIDC) == [0, 3, 0])
        #expect(Array(units[1].bytes.readableBytesView) == [0x65, 0x88, 0x80])
        #expect(NALUnits.areWellFormed(in: prefixed))
        #expect(NALUnits.isKeyframe(prefixed))
        #expect(!NALUnits.isDisposable(prefixed))
    }

    @Test("shorter length prefixes")
    func shortLengths() {
        let payload = ByteBuffer(bytes: [0, 2, 0x01, 0xAA, 0, 1, 0x01])
        #expect(NALUnits.areWellFormed(in: payload, lengthSize: 2))
        #expect(Array(NALUnits(in: payload, lengthSize: 2)).map(\.kind) == [.slice, .slice])
        #expect(NALUnits.isDisposable(payload, lengthSize: 2))
        #expect(!NALUnits.areWellFormed(in: payload, lengthSize: 0))
    }

    @Test(
        "lengths that lead elsewhere than the end are seen",
        arguments: [
            [], [0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2, 0x65], [0, 0, 0, 1, 0x65, 0], [0xFF, 0xFF, 0xFF, 0xFF, 1],
        ] as [[UInt8]]
    )
    func damaged(bytes: [UInt8]) {
        #expect(!NALUnits.areWellFormed(in: ByteBuffer(bytes: bytes)))
        #expect(Array(NALUnits(in: ByteBuffer(bytes: bytes))).count <= 1)
    }

    @Test("a byte stream with start codes becomes length-prefixed")
    func annexB() {
        let stream = ByteBuffer(
            bytes: [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3, 0, 0, 1, 0x65, 0x88, 0, 0]
        )
        #expect(NALUnits.isAnnexB(stream))
        #expect(
            NALUnits.units(inAnnexB: stream).map(\.kind) == [
                .delimiter, .sequenceParameters, .pictureParameters, .idrSlice,
            ]
        )
        let all = NALUnits.lengthPrefixed(fromAnnexB: stream)
        #expect(Array(NALUnits(in: all)).map { $0.bytes.readableBytes } == [2, 3, 2, 2])
        #expect(NALUnits.areWellFormed(in: all))
        let frame = NALUnits.lengthPrefixed(fromAnnexB: stream, keepsParameterSets: false)
        #expect(Array(frame.readableBytesView) == [0, 0, 0, 2, 0x65, 0x88])
    }

    @Test("a length of 300 is not taken for a start code")
    func ambiguous() {
        var payload = ByteBuffer(bytes: [0, 0, 1, 0x2C, 0x41])
        payload.writeRepeatingByte(7, count: 299)
        #expect(!NALUnits.isAnnexB(payload))
        #expect(NALUnits.lengthPrefixed(fromAnnexB: ByteBuffer(bytes: [1, 2, 3])).readableBytes == 0)
    }
}
