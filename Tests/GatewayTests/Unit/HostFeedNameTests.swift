@testable import Gateway
import Stage
import Testing

@Suite("Names of host feeds")
struct HostFeedNameTests {
    @Test("A name is read back as it was made", arguments: [PublishSource.camera, .screen])
    func roundTrip(source: PublishSource) {
        let name = HostFeedName(room: "show_1", participantSID: "PA0f", source: source)
        #expect(HostFeedName(name.text) == name)
        #expect(name.text == "show_1.host.PA0f" + (source == .screen ? ".screen" : ""))
    }

    @Test(
        "Names of rooms, and anything else, are no host feeds",
        arguments: [
            "", "show", "show.host", "show.host.", ".host.PA1", "show.guest.PA1", "show.host.PA1.camera", "a.b.c.d.e",
            "show.host.PA1.screen.x", "show.host..screen", "..",
        ]
    )
    func others(text: String) {
        #expect(HostFeedName(text) == nil)
    }
}
