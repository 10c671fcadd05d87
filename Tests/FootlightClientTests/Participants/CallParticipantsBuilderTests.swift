import FootlightClient
import Stage
import TestSupport
import Testing

@Suite("Visible participants of a client's view")
struct CallParticipantsBuilderTests {
    /// A view in which every change is built and stabilized.
    private struct ViewSimulation {
        var builder: CallParticipantsBuilder
        var view: CallParticipants

        init(limit: Int) {
            builder = CallParticipantsBuilder(local: CallParticipant(id: "local"), limit: limit)
            view = builder.build()
        }

        var visible: [Int] { view.visible.compactMap { Int($0.id) } }

        mutating func upsert(_ id: Int, hasVideo: Bool = true) {
            change { $0.upsert(CallParticipant(id: "\(id)", camera: hasVideo ? .playable : .off)) }
        }

        mutating func speak(_ id: Int?) {
            change { $0.setActiveSpeaker(id.map { "\($0)" }) }
        }

        mutating func leave(_ id: Int) {
            change { $0.remove("\(id)") }
        }

        private mutating func change(_ body: (inout CallParticipantsBuilder) -> Void) {
            body(&builder)
            view = view.stabilize(builder.build())
        }
    }

    private func builder(limit: Int = 12, joins: [Bool] = []) -> CallParticipantsBuilder {
        var builder = CallParticipantsBuilder(local: CallParticipant(id: "local"), limit: limit)
        for (id, hasVideo) in joins.enumerated() {
            builder.upsert(CallParticipant(id: "\(id)", camera: hasVideo ? .playable : .off))
        }
        return builder
    }

    private func visible(_ builder: CallParticipantsBuilder) -> [Int] {
        builder.build().visible.compactMap { Int($0.id) }
    }

    @Test("D17 a change of a hidden participant leaves the visible ones equal")
    func hiddenChange() {
        var all = builder(limit: 2, joins: [true, true, true])
        let before = all.build()
        all.upsert(CallParticipant(id: "0", username: "New name", camera: .playable))
        #expect(all.build().visible == before.visible)
        #expect(all.build() != before)
        all.upsert(CallParticipant(id: "2", username: "New name", camera: .playable))
        #expect(all.build().visible != before.visible)
    }

    @Test("D18 a phone shows 6 and a pad 12, and the orders hold everybody")
    func limits() {
        for (idiom, limit) in [(GridGeometry.Idiom.phone, 6), (.pad, 12)] {
            var all = CallParticipantsBuilder(local: CallParticipant(id: "local"), idiom: idiom)
            for id in 0..<19 {
                all.upsert(CallParticipant(id: "\(id)"))
                all.setActiveSpeaker("\(id)")
            }
            #expect(all.build().count == 20)
            #expect(all.build().visible.count == limit)
            #expect(all.joinOrder.count == 19 && all.speakerOrder.count == 19)
        }
    }

    @Test("D19 the active speaker, speakers with and without video, then the others with and without")
    func priorities() {
        var all = builder(joins: [true, false, true, false, true, false, true, false])
        for id in [3, 2, 1, 0, 5] { all.setActiveSpeaker("\(id)") }
        #expect(visible(all) == [5, 0, 2, 1, 3, 6, 4, 7])
    }

    @Test("D20 the local one speaks without a place; speaking again moves to the end; silence keeps the order")
    func speakerOrder() {
        var all = builder(joins: [true, true])
        all.setActiveSpeaker("local")
        #expect(all.speakerOrder.isEmpty && all.activeSpeaker == "local")
        #expect(visible(all) == [1, 0])
        for id in ["0", "1", "0"] { all.setActiveSpeaker(id) }
        #expect(all.speakerOrder == ["1", "0"])
        all.setActiveSpeaker(nil)
        #expect(all.speakerOrder == ["1", "0"] && all.activeSpeaker == nil)
        all.setActiveSpeaker("1")
        all.remove("1")
        #expect(all.activeSpeaker == nil)
        #expect(all.speakerOrder == ["0"] && all.joinOrder == ["0"])
    }

    @Test("D21 a hidden participant becomes visible when a higher one leaves")
    func hiddenBecomesVisible() {
        var all = builder(limit: 1, joins: [true, true])
        #expect(visible(all) == [1])
        all.remove("1")
        #expect(visible(all) == [0])
    }

    @Test("D23 the golden trace: six places, seven with video")
    func goldenTrace() {
        var simulation = ViewSimulation(limit: 6)
        for id in 1...6 { simulation.upsert(id) }
        #expect(simulation.visible == [1, 2, 3, 4, 5, 6])
        simulation.upsert(7)
        #expect(simulation.visible == [7, 2, 3, 4, 5, 6])
        simulation.speak(1)
        #expect(simulation.visible == [7, 1, 3, 4, 5, 6])
        simulation.speak(2)
        #expect(simulation.visible == [7, 1, 2, 4, 5, 6])
        simulation.upsert(7, hasVideo: false)
        #expect(simulation.visible == [3, 1, 2, 4, 5, 6])
        simulation.speak(nil)
        #expect(simulation.visible == [3, 1, 2, 4, 5, 6])
        simulation.leave(2)
        #expect(simulation.visible == [3, 1, 7, 4, 5, 6])
        simulation.leave(5)
        #expect(simulation.visible == [3, 1, 7, 4, 6])
        simulation.upsert(7)
        #expect(simulation.visible == [3, 1, 7, 4, 6])
    }

    @Test("D24 two orders that are agreed")
    func agreedOrders() {
        var first = builder(joins: [false, true, false, true, false])
        for id in ["1", "2", "0"] { first.setActiveSpeaker(id) }
        #expect(visible(first) == [0, 1, 2, 3, 4])

        let second = builder(limit: 6, joins: [true, false, true, false, true, false])
        #expect(visible(second) == [4, 2, 0, 5, 3, 1])
        #expect(second.build().visible.map(\.hasVideo) == [true, true, true, false, false, false])
    }

    @Test("an update of an unknown id is a join, and a second join is an update")
    func idempotence() {
        var all = builder(joins: [true, true])
        let before = all.build()
        all.upsert(CallParticipant(id: "0", camera: .playable))
        all.upsert(CallParticipant(id: "0", camera: .playable))
        #expect(all.joinOrder == ["0", "1"] && all.build() == before)
        all.remove("9")
        all.setActiveSpeaker("9")
        #expect(all.activeSpeaker == nil && all.build() == before)
        all.upsert(CallParticipant(id: "local", username: "Me"))
        #expect(all.local.username == "Me" && all.build().count == 3)
    }

    @Test("visible participants are present, unique and within the limit")
    func anyTrace() {
        var generator = SeededGenerator(seed: 16)
        for _ in 0..<40 {
            var simulation = ViewSimulation(limit: .random(in: 1...6, using: &generator))
            var present: Set<Int> = []
            for _ in 0..<100 {
                let id = Int.random(in: 0..<10, using: &generator)
                let before = simulation.visible
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    simulation.upsert(id, hasVideo: .random(using: &generator))
                    present.insert(id)
                case 2:
                    simulation.leave(id)
                    present.remove(id)
                default: simulation.speak(Bool.random(using: &generator) ? id : nil)
                }
                #expect(simulation.view.count == present.count + 1)
                #expect(simulation.visible.count == min(present.count, simulation.builder.limit))
                #expect(
                    Set(simulation.visible).count == simulation.visible.count
                        && present.isSuperset(of: simulation.visible)
                )
                for (index, id) in before.enumerated()
                where index < simulation.visible.count && simulation.visible.contains(id) {
                    #expect(simulation.visible[index] == id, "a participant moved needlessly")
                }
            }
        }
    }

    @Test("D23 of silent participants the least recently visible is replaced")
    func leastRecentlyVisible() {
        var all = CallParticipantsBuilder(local: CallParticipant(id: "me"), limit: 3)
        var view = all.build()
        func refresh() -> Set<String> {
            view = view.stabilize(all.build())
            all.updateVisible(view.visible.map(\.id))
            return Set(view.visible.map(\.id))
        }
        for id in ["1", "2", "3", "4"] {
            all.upsert(CallParticipant(id: id, camera: .playable))
            _ = refresh()
        }
        #expect(refresh() == ["2", "3", "4"])
        all.setActiveSpeaker("1")
        #expect(refresh() == ["1", "3", "4"])
        all.remove("1")
        #expect(refresh() == ["2", "3", "4"], "the second came back into view")
        all.upsert(CallParticipant(id: "5"))
        #expect(refresh() == ["2", "3", "4"])
        all.setActiveSpeaker("5")
        #expect(refresh() == ["2", "4", "5"], "the third was in view for longest")
    }

    @Test("D16 places that are to be empty are, who stays visible stays there, and the local one is shown always")
    func emptyPlaces() {
        let me = CallParticipant(id: "me")
        var builder = CallParticipantsBuilder(local: me, limit: 4)
        for id in ["a", "b", "c", "d"] { builder.upsert(CallParticipant(id: id, camera: .playable)) }
        let full = builder.build()
        #expect(full.places.mapValues(\.id) == [0: "d", 1: "c", 2: "b", 3: "a"])
        builder.emptyPlaces = [1]
        let holed = full.stabilize(builder.build())
        #expect(holed.places.mapValues(\.id) == [0: "d", 2: "b", 3: "c"], "three places are left")
        #expect(holed.visible.map(\.id) == ["d", "b", "c"] && holed.shown.map(\.id) == ["me", "d", "b", "c"])
        builder.setActiveSpeaker("a")
        let speaking = holed.stabilize(builder.build())
        #expect(speaking.places.keys.sorted() == [0, 2, 3] && speaking.visible.map(\.id).contains("a"))
        builder.emptyPlaces = []
        #expect(speaking.stabilize(builder.build()).places.count == 4)
        builder.emptyPlaces = [0, 1, 2, 3]
        #expect(builder.build().visible.isEmpty && builder.build().shown == [me] && builder.build().count == 5)
    }
}

@Suite("Participants of a call")
struct CallParticipantsTests {
    private static let local = CallParticipant(id: "local")

    private func view(_ ids: [Int], hasVideo: Bool = false) -> CallParticipants {
        let visible = ids.map { CallParticipant(id: "\($0)", camera: hasVideo ? .playable : .off) }
        return CallParticipants(
            local: Self.local,
            remote: Dictionary(uniqueKeysWithValues: visible.map { ($0.id, $0) }),
            visible: visible
        )
    }

    private func stabilized(_ old: [Int], _ new: [Int]) -> [Int] {
        view(old).stabilize(view(new)).visible.compactMap { Int($0.id) }
    }

    @Test("D16 counts all participants; the local one is never among the visible")
    func count() {
        var builder = CallParticipantsBuilder(local: Self.local)
        #expect(builder.build().count == 1)
        builder.upsert(CallParticipant(id: "a"))
        builder.upsert(Self.local)
        let view = builder.build()
        #expect(view.count == 2)
        #expect(view.visible.map(\.id) == ["a"])
        #expect(view.remote.keys.sorted() == ["a"])
        #expect(view == builder.build())
    }

    @Test("D22 stabilize keeps positions")
    func vectors() {
        #expect(stabilized([0, 1, 2], [1, 2, 3]) == [3, 1, 2])
        #expect(stabilized([0, 1, 2], [3, 4, 0, 1, 2]) == [0, 1, 2, 3, 4])
        #expect(stabilized([0, 1, 2, 3, 4], [1, 2, 3]) == [3, 1, 2])
        #expect(stabilized([0, 1, 2], [2, 1, 0]) == [0, 1, 2])
        #expect(stabilized([], [2, 1]) == [2, 1])
        #expect(stabilized([2, 1], []) == [])
    }

    @Test("D22 values are the new ones")
    func values() {
        let stabilized = view([0, 1]).stabilize(view([1, 0], hasVideo: true))
        #expect(stabilized.visible.map(\.id) == ["0", "1"])
        #expect(stabilized.visible.map(\.hasVideo) == [true, true])
        #expect(stabilized.remote == view([1, 0], hasVideo: true).remote)
    }

    @Test("D31 only what is playable is heard or seen", arguments: MediaState.all)
    func mediaStates(state: MediaState) {
        let isPlayable = state == .playable
        #expect(CallParticipant(id: "a", mic: state).hasAudio == isPlayable)
        #expect(CallParticipant(id: "a", camera: state).hasVideo == isPlayable)
        let sharing = CallParticipant(id: "a", screen: state)
        #expect(sharing.isSharingScreen == isPlayable && sharing.hasVideo == isPlayable)
        #expect(CallParticipant(id: "a").username == "Guest")
    }
}

extension MediaState {
    fileprivate static let all: [MediaState] = [.blocked, .off, .receivable, .loading, .playable, .interrupted]
}
