import Foundation
import Testing

@testable import Webhooks

@Suite("Event filter")
struct EventFilterTests {
    private func event(_ type: String, _ room: WebhookEvent.Room? = .init(sid: "RM1", name: "show")) -> WebhookEvent {
        WebhookEvent(type, room: room, at: 0) { Data() }
    }

    @Test("matches by type, by prefix, or all")
    func types() {
        let some = EventFilter(types: ["room.*", "participant.joined"])
        #expect(some.passes(event("room.ended")) && some.passes(event("participant.joined")))
        #expect(!some.passes(event("participant.left")) && !some.passes(event("roomy.ended")))
        #expect(EventFilter().passes(event("anything.else")))
    }

    @Test("matches by room name or sid; events without a room always match")
    func rooms() {
        for name in ["show", "RM1"] { #expect(EventFilter(room: name).passes(event("room.ended"))) }
        #expect(!EventFilter(room: "other").passes(event("room.ended")))
        #expect(EventFilter(room: "other").passes(event("webhook.disabled", nil)))
    }

    @Test("unknown types and prefixes are not known")
    func known() {
        let names = ["room.ended", "track.enabled"]
        #expect(["room.ended", "room.*", "track.*"].allSatisfy { EventFilter.isKnown($0, among: names) })
        #expect(["room", "*", "room.", "rooms.*", ".*"].allSatisfy { !EventFilter.isKnown($0, among: names) })
    }
}
