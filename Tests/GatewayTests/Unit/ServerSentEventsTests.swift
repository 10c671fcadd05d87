@testable import Gateway
import Testing

@Suite("Reading server-sent events")
struct ServerSentEventsTests {
    private typealias Event = ServerSentEvents.Event

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

    @Test("The same events come out however the bytes are cut", arguments: [1, 2, 3, 7, 64, 10_000])
    func pieces(size: Int) {
        var parser = ServerSentEvents()
        let bytes = Array(Self.stream.utf8)
        var events: [Event] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += parser.take(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(events == Self.events)
    }

    @Test("An event that is not finished by an empty line is not given out")
    func unfinished() {
        var parser = ServerSentEvents()
        let first = parser.take("event: x\ndata: 1\n".utf8)
        #expect(first.isEmpty)
        let second = parser.take("\n".utf8)
        #expect(second == [Event(name: "x", data: "1", id: "")])
    }

    @Test("A line without end is cut off, and what follows is read again")
    func endlessLine() {
        var parser = ServerSentEvents()
        let endless = parser.take(repeatElement(UInt8(ascii: "x"), count: 5 << 20))
        #expect(endless.isEmpty)
        let events = parser.take("\n\ndata: good\n\n".utf8)
        #expect(events == [Event(name: "", data: "good", id: "")])
    }
}
