import FootlightTesting
import Foundation
import FootlightModel
import Testing

@testable import FootlightClient

@Suite("A room built from its events")
struct CallRoomTests {
    private func room(_ participants: String...) throws -> CallRoom {
        let list = participants.map { WireFixtures.participant($0) }
        var text = WireFixtures.snapshot(rev: 10, list.first ?? "")
        if list.isEmpty { text = WireFixtures.snapshot(rev: 10) }
        var room = try #require(CallRoom(snapshot: EventResource(wire: text)))
        for (index, one) in list.dropFirst().enumerated() {
            room.apply(try event("participant.joined", 11 + index, ",\"participant\":\(one)"))
        }
        return room
    }

    private func event(_ type: String, _ rev: Int, _ fields: String = "") throws -> EventResource {
        try EventResource(wire: WireFixtures.event(type, rev: rev, fields))
    }

    @Test("V21 a participant is in the list once until it leaves; a new one of its identity replaces it")
    func membership() throws {
        var room = try room("ann", "bob")
        #expect(room.participants.map(\.identity) == ["ann", "bob"])
        let again = WireFixtures.participant("ann", status: "reconnecting", revision: 2)
        let isNew = room.apply(try event("participant.reconnecting", 20, ",\"participant\":\(again)"))
        #expect(isNew)
        #expect(room.participants.map(\.status) == ["reconnecting", "connected"])
        let old = WireFixtures.participant("ann", revision: 1)
        let isOldNew = room.apply(try event("track.enabled", 21, ",\"participant\":\(old)"))
        #expect(!isOldNew, "older than what is known")
        let other = WireFixtures.participant("ann").replacing("PA-ann", with: "PA-2")
        room.apply(try event("participant.joined", 22, ",\"participant\":\(other)"))
        #expect(room.participants.map(\.sid) == ["PA-bob", "PA-2"])
        room.apply(try event("participant.left", 23, ",\"participant\":\(WireFixtures.participant("bob"))"))
        #expect(room.participants.map(\.sid) == ["PA-2"] && room["ann"]?.sid == "PA-2" && room["bob"] == nil)
    }

    @Test("Events up to the known revision are ignored; a snapshot never is")
    func revisions() throws {
        var room = try room("ann")
        let gone = ",\"participant\":\(WireFixtures.participant("ann"))"
        let isNew = room.apply(try event("participant.left", 10, gone))
        #expect(!isNew)
        #expect(room.participants.count == 1 && room.revision == 10)
        let isFresh = room.apply(try EventResource(wire: WireFixtures.snapshot(rev: 3)))
        #expect(isFresh)
        #expect(room.participants.isEmpty && room.revision == 3)
    }

    @Test("V25 there is at most one dominant speaker, and the flags follow")
    func speaker() throws {
        var room = try room("ann", "bob")
        room.apply(try event("dominant_speaker.changed", 20, ",\"sid\":\"PA-bob\",\"previous_sid\":null"))
        #expect(room.participants.map(\.isDominantSpeaker) == [false, true])
        #expect(room.room.dominantSpeakerSID == "PA-bob")
        room.apply(try event("dominant_speaker.changed", 21, ",\"sid\":null,\"previous_sid\":\"PA-bob\""))
        #expect(room.participants.allSatisfy { !$0.isDominantSpeaker } && room.room.dominantSpeakerSID == nil)
    }

    @Test("Raised hands are those of the snapshot and of later events, one for each participant")
    func hands() throws {
        func hand(_ sid: String, _ identity: String) -> String {
            """
            {"sid":"\(sid)","participant_sid":"PA-\(identity)","identity":"\(identity)",\
            "raised_at":"2026-01-01T12:00:00.000Z","expires_at":"2026-01-01T12:05:00.000Z"}
            """
        }
        let snapshot = try EventResource(wire: WireFixtures.snapshot(rev: 10))
        #expect(CallRoom(snapshot: snapshot)?.hands == [], "gateways of earlier versions do not say it")
        var full = snapshot
        full.hands = [try WireJSON.decode(HandResource.self, from: Data(hand("HA1", "ann").utf8))]
        var room = try #require(CallRoom(snapshot: full))
        #expect(room.hands.map(\.sid) == ["HA1"])
        room.apply(try event("hand.raised", 11, ",\"hand\":\(hand("HA2", "bob"))"))
        room.apply(try event("hand.raised", 11, ",\"hand\":\(hand("HA2", "bob"))"))
        #expect(room.hands.map(\.sid) == ["HA1", "HA2"])
        room.apply(try event("hand.raised", 12, ",\"hand\":\(hand("HA3", "ann"))"))
        #expect(room.hands.map(\.sid) == ["HA2", "HA3"])
        for (revision, name) in ["hand.accepted", "hand.rejected", "hand.expired", "hand.lowered"].enumerated() {
            let sid = "HB\(revision)"
            room.apply(try event("hand.raised", 20 + 2 * revision, ",\"hand\":\(hand(sid, "eve"))"))
            #expect(room.hands.map(\.sid) == ["HA2", "HA3", sid])
            room.apply(try event(name, 21 + 2 * revision, ",\"hand\":\(hand(sid, "eve"))"))
            #expect(room.hands.map(\.sid) == ["HA2", "HA3"])
        }
    }

    @Test("Counts, egress and pins are kept up to date")
    func rest() throws {
        var room = try room("ann")
        room.apply(
            try event(
                "viewership.updated",
                20,
                ",\"counts\":{\"hosts\":1,\"audience\":7,\"anonymous\":7,\"signalling_only\":0,\"participants\":1}"
            )
        )
        #expect(room.audienceCount == 7)
        let livestream = #"{"state":"LIVESTREAM_STARTED","started_at":null,"end_reason":null,"outputs":[]}"#
        room.apply(try event("livestream.state_changed", 21, ",\"livestream\":\(livestream)"))
        #expect(room.room.egress.livestream.state == "LIVESTREAM_STARTED")
        let output = """
            {"name":"yt","url":"rtmp://x","stream_key":"****","state":"interrupted","bytes_sent":5,"dropped_frames":0,\
            "reconnects":1,"last_error":null}
            """
        room.apply(try event("livestream.output_updated", 22, ",\"output\":\(output)"))
        #expect(room.room.egress.livestream.outputs.map(\.state) == ["interrupted"])
        let pin = #"{"is_local":false,"pin_type":"CAM","pinned_at":"2026-01-01T12:00:00.000Z"}"#
        room.apply(try event("pin.changed", 23, ",\"participant_sid\":\"PA-ann\",\"pin\":\(pin)"))
        #expect(room["ann"]?.pin?.pinType == "CAM")
        room.apply(try event("pin.changed", 24, ",\"participant_sid\":\"PA-ann\",\"pin\":null"))
        #expect(room["ann"]?.pin == nil)
    }
}
