import FootlightModel
import FootlightTesting
import Foundation
import Stage
import Testing

@testable import Webhooks

@Suite("Event filter")
struct EventFilterTests {
    private func event(
        _ type: WebhookEventType,
        _ room: WebhookEvent.Room? = .init(sid: "RM1", name: "show")
    ) -> WebhookEvent {
        WebhookEvent(type, room: room, at: 0) { Data() }
    }

    @Test("matches by type, by prefix, or all")
    func types() {
        let some = EventFilter(types: ["room.*", "participant.joined"])
        #expect(some.passes(event(.stream(.roomEnded))) && some.passes(event(.stream(.participantJoined))))
        #expect(some.passes(event(.webhook(.roomStarted))) && !some.passes(event(.stream(.participantLeft))))
        #expect(EventFilter().passes(event(.webhook(.broadcastSummary))))
    }

    @Test("a type of a newer version matches nothing, and does not make the filter match all")
    func unknown() {
        let newer = EventFilter(types: ["room.painted", "room"])
        #expect(!newer.passes(event(.stream(.roomEnded))) && newer.types.map(\.rawValue) == ["room.painted", "room"])
    }

    @Test("matches by room name or sid; events without a room always match")
    func rooms() {
        let ended = WebhookEventType.stream(.roomEnded)
        for name in ["show", "RM1"] { #expect(EventFilter(room: name).passes(event(ended))) }
        #expect(!EventFilter(room: "other").passes(event(ended)))
        #expect(EventFilter(room: "other").passes(event(.webhook(.webhookDisabled), nil)))
    }

    @Test("a filter of a show matches events of rooms of its name only")
    func shows() {
        let ended = WebhookEventType.stream(.roomEnded)
        #expect(EventFilter(show: "show").passes(event(ended)))
        #expect(!EventFilter(show: "other").passes(event(ended)))
        #expect(!EventFilter(types: ["participant.*"], show: "show").passes(event(ended)))
        #expect(!EventFilter(show: "show").passes(event(.webhook(.webhookDisabled), nil)))
    }
}
