@testable import Gateway
import TestSupport
import Testing

@Suite("Server-sent event parser", .enabled(if: TestRun.isFull))
struct EventStreamParserTests {
    private typealias Event = EventStreamParser.Event

    private static let stream = """
        : welcome\r
        event: room.snapshot\r
        id: 7\r
        data: {"a":1,\r
        data:  "b":"ü"}\r
        \r
        event:heartbeat
        data:{}

        : a comment
        retry: 3000
        unknown
        data

        id: 8
        data: last


        """

    private static let events = [
        Event(name: "room.snapshot", data: "{\"a\":1,\n \"b\":\"ü\"}", id: "7"),
        Event(name: "heartbeat", data: "{}", id: ""),
        Event(name: "", data: "last", id: "8"),
    ]

    @Test("returns the same events for any division of the bytes", arguments: [1, 2, 3, 7, 64, 10_000])
    func pieces(size: Int) {
        var parser = EventStreamParser()
        let bytes = Array(Self.stream.utf8)
        var events: [Event] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += parser.parse(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(events == Self.events)
    }

    @Test("does not return an event without its final empty line")
    func unfinished() {
        var parser = EventStreamParser()
        let first = parser.parse("event: x\ndata: 1\n".utf8)
        #expect(first.isEmpty)
        let second = parser.parse("\n".utf8)
        #expect(second == [Event(name: "x", data: "1", id: "")])
    }

    @Test("truncates an endless line and continues after it")
    func endlessLine() {
        var parser = EventStreamParser()
        let endless = parser.parse(repeatElement(UInt8(ascii: "x"), count: 5 << 20))
        #expect(endless.isEmpty)
        let events = parser.parse("\n\ndata: good\n\n".utf8)
        #expect(events == [Event(name: "", data: "good", id: "")])
    }
}
