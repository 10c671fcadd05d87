import Testing

@testable import Stage

@Suite("Names of host feeds")
struct HostFeedNameTests {
    @Test("parses a formatted name", arguments: [PublishSource.camera, .screen])
    func roundTrip(source: PublishSource) {
        let name = HostFeedName(room: "show_1", participantSID: "PA0f", source: source)
        #expect(HostFeedName(name.text) == name)
        #expect(name.text == "show_1.host.PA0f" + (source == .screen ? ".screen" : ""))
    }

    @Test(
        "refuses names of rooms and other text",
        arguments: [
            "", "show", "show.host", "show.host.", ".host.PA1", "show.guest.PA1", "show.host.PA1.camera", "a.b.c.d.e",
            "show.host.PA1.screen.x", "show.host..screen", "..",
        ]
    )
    func others(text: String) {
        #expect(HostFeedName(text) == nil)
    }
}

@Suite("Names of return feeds")
struct ReturnFeedNameTests {
    @Test("parses a formatted name")
    func roundTrip() {
        let name = ReturnFeedName(room: "show_1", identity: "anna-2")
        #expect(name.text == "show_1.return.anna-2")
        #expect(ReturnFeedName(name.text) == name)
        #expect(HostFeedName(name.text) == nil)
    }

    @Test(
        "refuses names of rooms, of host feeds and other text",
        arguments: [
            "", "show", "show.return", "show.return.", ".return.a", "show.host.PA1", "a.return.b.c", "..", "return",
        ]
    )
    func others(text: String) {
        #expect(ReturnFeedName(text) == nil)
    }
}

@Suite("Names of previews")
struct PreviewFeedNameTests {
    @Test("parses a formatted name, which is no program's")
    func roundTrip() {
        let name = PreviewFeedName(room: "show_1")
        #expect(name.text == "show_1.preview" && PreviewFeedName(name.text) == name)
        #expect(HostFeedName(name.text) == nil && ReturnFeedName(name.text) == nil)
        #expect(FeedAudience(of: name.text) == .monitors)
    }

    @Test(
        "refuses other text",
        arguments: [
            "", "show", ".preview", "preview", "show.preview.x", "show.return.preview", "a.b.preview", "show.Preview",
        ]
    )
    func others(text: String) {
        #expect(PreviewFeedName(text) == nil)
    }
}

@Suite("Audiences of feeds")
struct FeedAudienceTests {
    @Test("programs and renditions have viewers, who are counted; the other feeds have players with a token")
    func audiences() {
        let names: [(String, FeedAudience)] = [
            ("show_1", .viewers), (RenditionFeedName(room: "show", rendition: "720p").text, .viewers),
            (PreviewFeedName(room: "show").text, .monitors), (".preview", .monitors), ("a.b.preview", .monitors),
            (ReturnFeedName(room: "show", identity: "ann").text, .host),
            (HostFeedName(room: "show", participantSID: "PA1", source: .screen).text, .mixer),
        ]
        for (name, audience) in names {
            #expect(FeedAudience(of: name) == audience, "\(name)")
            #expect(FeedAudience(of: name).isCounted == (audience == .viewers), "\(name)")
        }
    }
}
