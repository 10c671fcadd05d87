@testable import FanOut
import Testing

@Suite("Range headers")
struct ByteRangeTests {
    @Test(
        "One range is resolved against the length",
        arguments: [
            ("bytes=0-0", 0, 0), ("bytes=0-99", 0, 99), ("bytes=10-19", 10, 19), ("bytes=90-500", 90, 99),
            ("bytes=95-", 95, 99), ("bytes=0-", 0, 99), ("bytes=-1", 99, 99), ("bytes=-30", 70, 99),
            ("bytes=-1000", 0, 99), ("bytes=99-99", 99, 99),
        ]
    )
    func partial(header: String, first: Int, last: Int) {
        #expect(ByteRange.read(header, length: 100) == .partial(ByteRange(first: first, last: last)))
    }

    @Test("What lies behind the end cannot be satisfied", arguments: ["bytes=100-", "bytes=100-200", "bytes=-0"])
    func unsatisfiable(header: String) {
        #expect(ByteRange.read(header, length: 100) == .unsatisfiable)
        #expect(ByteRange.read("bytes=-5", length: 0) == .unsatisfiable)
    }

    @Test(
        "Anything else means the whole body",
        arguments: [
            nil, "", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,5-6", "items=0-1", "bytes=a-b", "bytes=1-x",
            "bytes=+1-5", "bytes=--5", "bytes=1-2-3", "bytes=99999999999999999999-", "bytes= 0-1",
        ] as [String?]
    )
    func whole(header: String?) {
        #expect(ByteRange.read(header, length: 100) == .whole)
    }
}
