import GatewayModel
import Stage
import Testing

@testable import FootlightClient

@Suite("The rules of a call that may ring")
struct CallingRuleTests {
    private let invitation = CallInvitation(sid: "IN1", room: "show", inviter: "bob")

    @Test("S1 equal states are equal, and there are seven")
    func states() {
        let info = LobbyInfo(callID: "show")
        let states: [CallingState] = [
            .idle, .lobby(info), .incoming(invitation), .outgoing, .joining, .inCall, .reconnecting,
        ]
        for (index, state) in states.enumerated() {
            #expect(states.indices.filter { states[$0] == state } == [index])
        }
        #expect(CallingState.lobby(info) != .lobby(LobbyInfo(callID: "other")))
        #expect(info.callType == "default" && info.participants.isEmpty)
    }

    @Test("S2 S12 each state has its screen; in the call it depends on who is there, and on the size")
    func screens() {
        let screen = { (state: CallingState, isEmpty: Bool, isMinimized: Bool) in
            CallScreen(state, isEmpty: isEmpty, isMinimized: isMinimized)
        }
        #expect(screen(.idle, true, false) == .host)
        #expect(screen(.lobby(LobbyInfo(callID: "a")), true, false) == .lobby(LobbyInfo(callID: "a")))
        #expect(screen(.incoming(invitation), true, false) == .incoming(invitation))
        #expect(screen(.outgoing, true, true) == .outgoing)
        #expect(screen(.joining, true, false) == .joining)
        #expect(screen(.inCall, true, false) == .waiting && screen(.inCall, true, true) == .waiting)
        #expect(screen(.inCall, false, false) == .call && screen(.inCall, false, true) == .minimized)
        #expect(screen(.reconnecting, false, false) == .reconnecting)
    }

    @Test("S12 a call rings while it comes in or goes out; idle and in the call end that")
    func ringing() {
        #expect(CallingModel.rings(.incoming(invitation)) == true && CallingModel.rings(.outgoing) == true)
        #expect(CallingModel.rings(.idle) == false && CallingModel.rings(.inCall) == false)
        #expect(CallingModel.rings(.joining) == nil && CallingModel.rings(.reconnecting) == nil)
    }

    @Test("S13 settings are on and to the front unless changed; either device is a reason to publish")
    func settings() {
        let settings = DeviceSettings()
        #expect(settings.audioOn && settings.videoOn && settings.speakerOn && settings.audioOutputOn)
        #expect(settings.cameraPosition == .front && settings.shouldPublish)
        #expect(DeviceSettings(audioOn: false).shouldPublish && DeviceSettings(videoOn: false).shouldPublish)
        #expect(!DeviceSettings(audioOn: false, videoOn: false).shouldPublish)
    }

    @Test(
        "L12 T20 a presentation makes a grid a spotlight and back, unless the user chose; the call's end forgets that"
    )
    func layout() {
        var choice = LayoutChoice()
        #expect(choice.layout == .grid)
        choice.setPresenting(true)
        choice.setPresenting(true)
        #expect(choice.layout == .spotlight)
        choice.setPresenting(false)
        #expect(choice.layout == .grid)
        choice.choose(.fullScreen)
        choice.setPresenting(true)
        #expect(choice.layout == .fullScreen && choice.isManual)
        choice.setPresenting(false)
        #expect(choice.layout == .fullScreen)
        choice.callEnded()
        #expect(choice == LayoutChoice())
        choice.setPresenting(true)
        choice.choose(.grid)
        choice.setPresenting(false)
        #expect(choice.layout == .grid)
        #expect(ParticipantsLayout.allCases == [.grid, .spotlight, .fullScreen])
    }

    @Test("L12 a small grid without a screen of somebody else leaves the local one floating")
    func floating() {
        let shown = { (all: [ParticipantResource], layout: ParticipantsLayout) in
            DisplayedParticipants(all, local: "ann", layout: layout)
        }
        let ann = Played.participant("ann", on: [.camera])
        let others = ["b", "c", "d"].map { Played.participant($0, on: [.camera]) }
        let small = shown([ann] + others.prefix(2), .grid)
        #expect(small.participants.map(\.identity) == ["b", "c"] && small.isLocalFloating)
        let large = shown([ann] + others, .grid)
        #expect(large.participants.map(\.identity) == ["ann", "b", "c", "d"] && !large.isLocalFloating)
        let spotlight = shown([ann, others[0]], .spotlight)
        #expect(spotlight.participants.map(\.identity) == ["ann", "b"])
        let shared = shown([ann, Played.participant("b", on: [.screen])], .grid)
        #expect(shared.participants.map(\.identity) == ["b", "ann"] && !shared.isLocalFloating)
        let own = shown([Played.participant("ann", on: [.screen]), others[0]], .grid)
        #expect(own.participants.map(\.identity) == ["b"])
    }

    @Test("V2 L5 only hosts are in the order, and the rules decide it: pinned, then screen, then the rest")
    func order() {
        let pin = PinResource(isLocal: false, pinType: "CAM", pinnedAt: Timestamp(1))
        let all = [
            Played.participant("a", on: [.camera]), Played.participant("b", on: [.screen]),
            Played.participant("c", pin: pin), Played.participant("x", mode: .receiveOnly),
        ]
        let shown = DisplayedParticipants(all, local: "me", layout: .spotlight)
        #expect(shown.participants.map(\.identity) == ["c", "b", "a"])
        let reversed = DisplayedParticipants(
            all,
            local: "me",
            layout: .spotlight,
            comparators: [
                ParticipantComparator("descending") { $0.id > $1.id ? .orderedAscending : .orderedDescending }
            ]
        )
        #expect(reversed.participants.map(\.identity) == ["c", "b", "a"], "a rule of the app's own")
    }
}
