@testable import Gateway
import Testing

@Suite("Names of return feeds")
struct ReturnFeedNameTests {
    @Test("A name is read back as it was made")
    func roundTrip() {
        let name = ReturnFeedName(room: "show_1", identity: "anna-2")
        #expect(name.text == "show_1.return.anna-2")
        #expect(ReturnFeedName(name.text) == name)
        #expect(HostFeedName(name.text) == nil)
    }

    @Test(
        "Names of rooms and of host feeds, and anything else, are no return feeds",
        arguments: [
            "", "show", "show.return", "show.return.", ".return.a", "show.host.PA1", "a.return.b.c", "..", "return",
        ]
    )
    func others(text: String) {
        #expect(ReturnFeedName(text) == nil)
    }
}
