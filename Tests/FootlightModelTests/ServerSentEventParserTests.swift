import Testing

@testable import FootlightModel

@Suite("Server-sent events are parsed by the standard, in pieces of any size")
struct ServerSentEventParserTests {
    private func parse(_ text: String, piece: Int = .max) -> (events: [ServerSentEvent], parser: ServerSentEventParser)
    {
        var parser = ServerSentEventParser()
        var events: [ServerSentEvent] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            events += parser.parse(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        return (events, parser)
    }

    private static let stream = """
        retry: 2000

        : ping
        id: 7
        event: track.published
        data: {"rev":7,
        data: "name":"mic"}

        data:tail\u{e4}


        """

    @Test("Pieces of any size yield the same events", arguments: [1, 2, 3, 7, 64, 10_000])
    func pieces(size: Int) {
        let (events, parser) = parse(Self.stream, piece: size)
        #expect(
            events == [
                ServerSentEvent(id: "7", name: "track.published", data: "{\"rev\":7,\n\"name\":\"mic\"}"),
                ServerSentEvent(id: "7", name: "message", data: "tail\u{e4}"),
            ]
        )
        #expect(parser.retry == 2000)
    }

    @Test("Lines end with LF, CR or CRLF, and a split CRLF is one line end", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) {
        let text = Self.stream.replacing("\n", with: end)
        for size in [1, 5, 10_000] {
            #expect(parse(text, piece: size).events == parse(Self.stream).events, "pieces of \(size)")
        }
    }

    @Test("A byte order mark is skipped at the beginning only", arguments: [1, 2, 100])
    func byteOrderMark(size: Int) {
        #expect(parse("\u{feff}data: a\n\n", piece: size).events.map(\.data) == ["a"])
        #expect(parse("data: \u{feff}a\n\n", piece: size).events.map(\.data) == ["\u{feff}a"])
        // Half a byte order mark is an unknown field.
        var parser = ServerSentEventParser()
        let events = parser.parse([0xEF, 0xBB] + Array("data: a\n\ndata: b\n\n".utf8))
        #expect(events.map(\.data) == ["b"])
    }

    @Test("Comments and unknown fields are ignored; only one space is removed from a value")
    func fields() {
        let (events, _) = parse(": data: no\nfoo: bar\nfoo\ndata:  two\ndata\ndata:\n\n")
        #expect(events.map(\.data) == [" two\n\n"])
    }

    @Test("An event without data is ignored, but its id is kept; an empty id clears it; an id with NUL is ignored")
    func ids() {
        let (events, _) = parse("id: 4\n\ndata: a\n\nid: 5\u{0}\ndata: b\n\nid\ndata: c\n\n")
        #expect(events.map(\.id) == ["4", "4", ""])
    }

    @Test("Retry is accepted only if it is a number; an unterminated event is not emitted")
    func retry() {
        let (events, parser) = parse("retry: 80\nretry: 1s\nevent: x\ndata: a\n")
        #expect(parser.retry == 80)
        #expect(events.isEmpty)
    }

    @Test("A line without end makes the stream unusable instead of filling the memory")
    func overflow() {
        var parser = ServerSentEventParser()
        let flood = [UInt8](repeating: UInt8(ascii: "x"), count: ServerSentEventParser.limit / 2)
        _ = parser.parse(flood)
        _ = parser.parse(flood)
        #expect(!parser.isOverLimit)
        _ = parser.parse([0, 0])
        #expect(parser.isOverLimit)
        let events = parser.parse(Array("\n\ndata: a\n\n".utf8))
        #expect(events.isEmpty)
    }
}
