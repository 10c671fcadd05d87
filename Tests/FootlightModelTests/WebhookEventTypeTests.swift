import FootlightModel
import Stage
import Testing

@Suite("Types of webhook events")
struct WebhookEventTypeTests {
    @Test("every type has the text from which it is created")
    func text() {
        for type in WebhookEventType.subscribable + [.webhook(.test)] {
            #expect(WebhookEventType(rawValue: type.rawValue) == type)
        }
        #expect(WebhookEventType(rawValue: "room.painted") == nil)
    }

    @Test("all events of a room's stream are delivered but those for a single reader and the number of viewers")
    func stream() {
        let omitted = StageEvent.Name.allCases.filter { WebhookEventType($0) == nil }
        #expect(Set(omitted) == [.roomSnapshot, .sessionDisconnected, .heartbeat, .viewershipUpdated])
        #expect(omitted.allSatisfy { WebhookEventType(rawValue: $0.rawValue) == nil })
    }

    @Test("a pattern is a type to which an endpoint can subscribe, or a prefix of one")
    func patterns() {
        let known = ["room.ended", "room.*", "track.*", "host.*", "webhook.*", "broadcast.summary"]
        #expect(known.allSatisfy { WebhookEventPattern(rawValue: $0)?.rawValue == $0 })
        let others = ["room", "*", "room.", "rooms.*", ".*", "", "webhook.test", "viewership.updated", "heartbeat"]
        #expect(others.allSatisfy { WebhookEventPattern(rawValue: $0) == nil })
    }

    @Test("a pattern matches its type, or all types with its prefix")
    func matches() throws {
        let rooms = try #require(WebhookEventPattern(rawValue: "room.*"))
        #expect(rooms.matches(.stream(.roomEnded)) && rooms.matches(.webhook(.roomStarted)))
        #expect(!rooms.matches(.stream(.participantJoined)))
        let ended = try #require(WebhookEventPattern(rawValue: "room.ended"))
        #expect(ended.matches(.stream(.roomEnded)) && !ended.matches(.stream(.roomCreated)))
    }
}

@Suite("Reasons of events")
struct EventReasonTests {
    @Test("every reason of the domain is a known reason of an event")
    func known() {
        let domain =
            LeaveReason.allCases.map(\.rawValue) + UnpublishReason.allCases.map(\.rawValue)
            + SpeakerChange.Reason.allCases.map(\.rawValue) + HandChange.Reason.allCases.map(\.rawValue)
        #expect(domain.allSatisfy { EventReason(rawValue: $0) != nil })
        #expect(Set(domain + ["signalling", "media"]) == Set(EventReason.allCases.map(\.rawValue)))
    }
}
