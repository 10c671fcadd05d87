import FootlightModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The callbacks of a room listener")
struct RoomChangeTests {
    /// Records the callbacks.
    private final class Listener: RoomListener {
        var received: [String] = []

        func roomDidConnect(_ call: BroadcastCall) { received.append("connected") }
        func room(_ call: BroadcastCall, didFailToConnect error: StageError) { received.append("failed \(error.code)") }
        func room(_ call: BroadcastCall, isReconnecting error: StageError) { received.append("lost \(error.code)") }
        func roomDidReconnect(_ call: BroadcastCall) { received.append("back") }
        func room(_ call: BroadcastCall, didDisconnect error: StageError?) {
            received.append("left \(error?.code.description ?? "nil")")
        }
        func room(_ call: BroadcastCall, _ change: RoomChange) {
            if case .participantConnected(let participant) = change {
                received.append("joined \(participant.identity)")
            }
        }
    }

    private func words(_ change: [RoomChange]) -> [String] {
        change.map { one in
            switch one {
            case .participantConnected(let who): "connected \(who.identity)"
            case .participantDisconnected(let who): "disconnected \(who.identity)"
            case .participantReconnecting(let who): "reconnecting \(who.identity)"
            case .participantReconnected(let who): "reconnected \(who.identity)"
            case .modeChanged(let who, let before): "mode \(who.identity) from \(before)"
            case .trackPublished(let track, _): "published \(track.name)"
            case .trackUnpublished(let track, _): "unpublished \(track.name)"
            case .trackSubscribed(let track, _): "subscribed \(track.name)"
            case .trackUnsubscribed(let track, _): "unsubscribed \(track.name)"
            case .trackEnabled(let track, _): "enabled \(track.name)"
            case .trackDisabled(let track, _): "disabled \(track.name)"
            case .streamEnabled(let kind, _): "on \(kind)"
            case .streamDisabled(let kind, _): "off \(kind)"
            case .dominantSpeakerChanged(let who): "floor \(who?.identity ?? "nobody")"
            }
        }
    }

    private func changes(_ before: [ParticipantResource], _ after: [ParticipantResource]) -> [String] {
        words(RoomChange.changes(from: before, to: after))
    }

    @Test("V7 a stream is reported when it turns on (published, subscribed and enabled) and off, once each")
    func edges() {
        let none = SampleParticipants.participant("bob")
        var loading = none
        loading.tracks = [SampleParticipants.track(.camera, subscribed: false)]
        let playing = SampleParticipants.participant("bob", on: [.camera])
        let muted = SampleParticipants.participant("bob", disabled: [.camera])
        #expect(changes([none], [loading]) == ["published camera"])
        #expect(changes([loading], [playing]) == ["subscribed camera", "on video"])
        #expect(changes([playing], [playing]).isEmpty)
        #expect(changes([playing], [muted]) == ["disabled camera", "off video"])
        #expect(changes([muted], [playing]) == ["enabled camera", "on video"])
        #expect(changes([playing], [none]) == ["unsubscribed camera", "unpublished camera", "off video"])
        let all = SampleParticipants.participant("bob", on: [.mic, .camera, .screen])
        #expect(changes([none], [all]).filter { $0.hasPrefix("on") } == ["on audio", "on video", "on share"])
    }

    @Test("V21 a known participant does not join again; V18 a mode change is reported; leaving ends the streams")
    func membership() {
        let bob = SampleParticipants.participant("bob", on: [.mic])
        let down = SampleParticipants.participant("bob", mode: .receiveOnly)
        #expect(changes([], [bob]) == ["connected bob", "published mic", "subscribed mic", "on audio"])
        #expect(
            changes([bob], [down]) == [
                "unsubscribed mic", "unpublished mic", "off audio", "mode bob from SEND_AND_RECV",
            ]
        )
        #expect(changes([bob], []) == ["off audio", "disconnected bob"])
        let lost = SampleParticipants.participant("bob", on: [.mic], status: .reconnecting)
        #expect(changes([bob], [lost]) == ["reconnecting bob"] && changes([lost], [bob]) == ["reconnected bob"])
    }

    @Test("V25 there may be no dominant speaker")
    func dominantSpeaker() {
        let quiet = SampleParticipants.participant("bob")
        let speaking = SampleParticipants.participant("bob", isDominant: true)
        #expect(changes([quiet], [speaking]) == ["floor bob"] && changes([speaking], [quiet]) == ["floor nobody"])
        #expect(changes([speaking], []) == ["disconnected bob", "floor nobody"])
    }

    @Test("T14 T16 failed connects, losses with their reason, reconnects, and leaving by request or error")
    func connection() throws {
        let call = try SampleParticipants.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        let step = { (phase: CallPhase) in observer.apply(CallStatus(phase: phase, wasAttempted: true)) }
        step(.joining)
        step(.left(.roomFull))
        step(.joining)
        step(.joined)
        step(.reconnecting(.signalling))
        step(.joined)
        step(.reconnecting(.media))
        step(.joined)
        step(.leaving)
        step(.left(nil))
        step(.joining)
        step(.joined)
        step(.left(.sessionTimedOut))
        #expect(
            listener.received == [
                "failed 53105", "connected", "lost 53001", "back", "lost 53405", "back", "left nil", "connected",
                "left 53002",
            ]
        )
        observer.apply([SampleParticipants.participant("bob")])
        #expect(listener.received.last == "joined bob")
    }

    @Test("T14 participants are reported after the local connection, in any order of updates")
    func order() async throws {
        let call = try SampleParticipants.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        #expect(try await soon { call.status.phase == .joining })
        try call.play([SampleParticipants.participant("ann")])
        call.handle(.joinSucceeded(request: 1, mode: .sendAndReceive))
        #expect(try await soon { listener.received.count >= 2 })
        #expect(listener.received.prefix(2) == ["connected", "joined ann"], "\(listener.received)")
        withExtendedLifetime(observer) {}
    }

    @Test("T16 the reason of an interruption is reported again when the stream is restored and the media is not")
    func reasonChanges() async throws {
        let call = try SampleParticipants.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        try call.simulateJoined([SampleParticipants.participant("ann")])
        call.handle(.connectionLost(.signalling))
        call.handle(.connectionLost(.media))
        call.handle(.restored(.resume))
        call.handle(.mediaRestored)
        #expect(call.status.phase == .joined)
        #expect(try await soon { listener.received.contains("back") })
        let received = listener.received.filter { !$0.hasPrefix("joined") }
        #expect(received == ["connected", "lost 53001", "lost 53405", "back"])
        withExtendedLifetime(observer) {}
    }

    @Test("T13 an expired session suggests to join again, and does not do so itself")
    func sessionOver() async throws {
        let call = try SampleParticipants.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        try call.simulateJoined([SampleParticipants.participant("ann")])
        call.handle(.sessionDisconnected(.sessionTimedOut))
        #expect(call.status.phase == .left(.sessionTimedOut) && call.status.error?.solution == "Join the room again")
        #expect(try await soon { listener.received.contains("left 53002") })
        #expect(call.status.phase == .left(.sessionTimedOut))
        withExtendedLifetime(observer) {}
    }

    @Test(
        "T14 every error is complete",
        arguments: [
            StageError.callNotConnected, .callConnectionLost, .roomFull, .roomNotFound, .mediaLost, .sessionTimedOut,
            .duplicateIdentity, .roomCompleted, .reconnecting, .notJoined,
        ]
    )
    func whole(error: StageError) {
        #expect(error.code > 0 && !error.name.isEmpty && !error.message.isEmpty)
        #expect(!error.cause.isEmpty && !error.solution.isEmpty)
    }
}
