import Testing

@testable import ControlAPI

@Suite("Tables as text")
struct CSVTextTests {
    @Test("RFC 4180: quotes, commas and line ends are quoted, and nothing becomes a formula")
    func table() {
        var table = CSVText(header: ["a", "b"])
        table.add([.text("x,y"), .text("say \"hi\"")])
        table.add([.text("=1+1"), .text("@cmd")])
        table.add([.text("-2"), .number(-2.5)])
        table.add([.text("line\nend"), .nothing])
        table.add([.text("+\u{301}1"), .count(3)])
        #expect(
            table.text
                == "a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n'=1+1,'@cmd\r\n'-2,-2.5\r\n\"line\nend\",\r\n'+\u{301}1,3\r\n"
        )
    }
}
