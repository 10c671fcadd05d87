import GatewayModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("What a listener is called for")
struct RoomNewsTests {
    /// Notes down what it hears.
    private final class Listener: RoomListening {
        var heard: [String] = []

        func roomDidConnect(_ call: BroadcastCall) { heard.append("connected") }
        func room(_ call: BroadcastCall, didFailToConnect error: StageError) { heard.append("failed \(error.code)") }
        func room(_ call: BroadcastCall, isReconnecting error: StageError) { heard.append("lost \(error.code)") }
        func roomDidReconnect(_ call: BroadcastCall) { heard.append("back") }
        func room(_ call: BroadcastCall, didDisconnect error: StageError?) {
            heard.append("left \(error?.code.description ?? "nil")")
        }
        func room(_ call: BroadcastCall, _ news: RoomNews) {
            if case .participantConnected(let participant) = news { heard.append("joined \(participant.identity)") }
        }
    }

    private func words(_ news: [RoomNews]) -> [String] {
        news.map { one in
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
        words(RoomNews.changes(from: before, to: after))
    }

    @Test("V7 a stream is told on its edges alone: on when published, subscribed and enabled, off when not")
    func edges() {
        let none = Played.participant("bob")
        var loading = none
        loading.tracks = [Played.track(.camera, subscribed: false)]
        let playing = Played.participant("bob", on: [.camera])
        let muted = Played.participant("bob", disabled: [.camera])
        #expect(changes([none], [loading]) == ["published camera"])
        #expect(changes([loading], [playing]) == ["subscribed camera", "on video"])
        #expect(changes([playing], [playing]).isEmpty)
        #expect(changes([playing], [muted]) == ["disabled camera", "off video"])
        #expect(changes([muted], [playing]) == ["enabled camera", "on video"])
        #expect(changes([playing], [none]) == ["unsubscribed camera", "unpublished camera", "off video"])
        let all = Played.participant("bob", on: [.mic, .camera, .screen])
        #expect(changes([none], [all]).filter { $0.hasPrefix("on") } == ["on audio", "on video", "on share"])
    }

    @Test("V21 who is known does not join again; V18 a mode that changes is told; who leaves takes the streams along")
    func membership() {
        let bob = Played.participant("bob", on: [.mic])
        let down = Played.participant("bob", mode: .receiveOnly)
        #expect(changes([], [bob]) == ["connected bob", "published mic", "subscribed mic", "on audio"])
        #expect(
            changes([bob], [down]) == [
                "unsubscribed mic", "unpublished mic", "off audio", "mode bob from SEND_AND_RECV",
            ]
        )
        #expect(changes([bob], []) == ["off audio", "disconnected bob"])
        let lost = Played.participant("bob", on: [.mic], status: .reconnecting)
        #expect(changes([bob], [lost]) == ["reconnecting bob"] && changes([lost], [bob]) == ["reconnected bob"])
    }

    @Test("V25 the floor may be nobody's")
    func floor() {
        let quiet = Played.participant("bob")
        let speaking = Played.participant("bob", isDominant: true)
        #expect(changes([quiet], [speaking]) == ["floor bob"] && changes([speaking], [quiet]) == ["floor nobody"])
        #expect(changes([speaking], []) == ["disconnected bob", "floor nobody"])
    }

    @Test("T14 T16 failing to connect, losing what and winning it back, leaving by wish or by an error")
    func connection() throws {
        let call = try Played.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        let step = { (phase: CallPhase) in observer.take(CallStatus(phase: phase, wasAttempted: true)) }
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
            listener.heard == [
                "failed 53105", "connected", "lost 53001", "back", "lost 53405", "back", "left nil", "connected",
                "left 53002",
            ]
        )
        observer.take([Played.participant("bob")])
        #expect(listener.heard.last == "joined bob")
    }

    @Test("T14 who is in a room is told after one is in it oneself, whatever came first")
    func order() async throws {
        let call = try Played.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        #expect(try await soon { call.status.phase == .joining })
        try call.play([Played.participant("ann")])
        call.handle(.joinSucceeded(request: 1, mode: .sendAndReceive))
        #expect(try await soon { listener.heard.count >= 2 })
        #expect(listener.heard.prefix(2) == ["connected", "joined ann"], "\(listener.heard)")
        withExtendedLifetime(observer) {}
    }

    @Test("T16 the reason of an interruption is told anew when the stream is back and the media is not")
    func reasonChanges() async throws {
        let call = try Played.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        try call.playJoined([Played.participant("ann")])
        call.handle(.connectionLost(.signalling))
        call.handle(.connectionLost(.media))
        call.handle(.restored(.resume))
        call.handle(.mediaRestored)
        #expect(call.status.phase == .joined)
        #expect(try await soon { listener.heard.contains("back") })
        let heard = listener.heard.filter { !$0.hasPrefix("joined") }
        #expect(heard == ["connected", "lost 53001", "lost 53405", "back"])
        withExtendedLifetime(observer) {}
    }

    @Test("T13 a session that is over says what to do: join again, which nobody does unasked")
    func sessionOver() async throws {
        let call = try Played.call()
        let listener = Listener()
        let observer = RoomObserver(call, listener)
        call.join(CallJoin(room: "show"))
        try call.playJoined([Played.participant("ann")])
        call.handle(.sessionDisconnected(.sessionTimedOut))
        #expect(call.status.phase == .left(.sessionTimedOut) && call.status.error?.solution == "Join the room again")
        #expect(try await soon { listener.heard.contains("left 53002") })
        #expect(call.status.phase == .left(.sessionTimedOut))
        withExtendedLifetime(observer) {}
    }

    @Test(
        "T14 every error is whole",
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
