import FootlightClient
import GatewayModel
import Stage
import Testing

@Suite("What a participant's tracks amount to")
struct ParticipantReadingTests {
    @Test("T4 on is a track of that name that is published, subscribed and enabled: all 8 ways", arguments: 0..<8)
    func isOn(bits: Int) {
        for name in [TrackName.mic, .camera] {
            var participant = Played.participant("bob")
            #expect(!participant.isOn(name), "no such track")
            let flags = (0..<3).map { bits >> $0 & 1 == 1 }
            participant.tracks = [
                Played.track(name, published: flags[0], subscribed: flags[1], enabled: flags[2])
            ]
            #expect(participant.isOn(name) == (bits == 7))
            #expect(!participant.isOn(name == .mic ? .camera : .mic), "another name")
        }
    }

    @Test("V2 only hosts are shown: an audience takes no place among the participants of a view")
    func hosts() {
        var follower = ParticipantFollower(identity: "ann")
        #expect(follower.participants.local.username == "Guest" && follower.participants.count == 1, "D8")
        follower.take([
            Played.participant("ann", name: "Ann"), Played.participant("bob", on: [.camera]),
            Played.participant("eve", mode: .receiveOnly), Played.participant("sig", mode: .signallingOnly),
        ])
        #expect(follower.participants.local.username == "Ann")
        #expect(follower.participants.visible.map(\.id) == ["PA-bob"] && follower.participants.count == 2)
        follower.take([Played.participant("ann"), Played.participant("bob", mode: .receiveOnly)])
        #expect(follower.participants.visible.isEmpty)
    }

    @Test("D5 the end of a call leaves nobody behind; places are stable while it lasts")
    func follow() {
        var follower = ParticipantFollower(identity: "ann", idiom: .phone)
        let all = ["ann", "b", "c", "d", "e", "f", "g"].map { Played.participant($0, on: [.camera]) }
        follower.take(all)
        let before = follower.participants.visible.map(\.id)
        #expect(before.count == 6)
        var speaking = all
        speaking[2] = Played.participant("c", on: [.camera], isDominant: true)
        follower.take(speaking)
        #expect(follower.participants.visible.map(\.id) == before, "who is visible keeps the place")
        follower.take([])
        #expect(follower.participants.count == 1 && follower.participants.visible.isEmpty)
    }
}
