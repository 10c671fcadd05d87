import Stage
import Testing

@Suite("Who is shown in a client's view")
struct CallParticipantsBuilderTests {
    /// A view that goes on: every change is built and stabilized.
    private struct Trace {
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

    @Test("D17 a change of somebody who is not shown leaves what is shown equal")
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

    @Test("D21 who was hidden becomes visible when a higher one leaves")
    func hiddenBecomesVisible() {
        var all = builder(limit: 1, joins: [true, true])
        #expect(visible(all) == [1])
        all.remove("1")
        #expect(visible(all) == [0])
    }

    @Test("D23 the golden trace: six places, seven with video")
    func goldenTrace() {
        var trace = Trace(limit: 6)
        for id in 1...6 { trace.upsert(id) }
        #expect(trace.visible == [1, 2, 3, 4, 5, 6])
        trace.upsert(7)
        #expect(trace.visible == [7, 2, 3, 4, 5, 6])
        trace.speak(1)
        #expect(trace.visible == [7, 1, 3, 4, 5, 6])
        trace.speak(2)
        #expect(trace.visible == [7, 1, 2, 4, 5, 6])
        trace.upsert(7, hasVideo: false)
        #expect(trace.visible == [3, 1, 2, 4, 5, 6])
        trace.speak(nil)
        #expect(trace.visible == [3, 1, 2, 4, 5, 6])
        trace.leave(2)
        #expect(trace.visible == [3, 1, 7, 4, 5, 6])
        trace.leave(5)
        #expect(trace.visible == [3, 1, 7, 4, 6])
        trace.upsert(7)
        #expect(trace.visible == [3, 1, 7, 4, 6])
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

    @Test("An update of somebody unknown is a join, and a second join is an update")
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

    @Test("Whatever happens, everybody visible is there, once, and only as many as there is room for")
    func anyTrace() {
        var generator = SeededGenerator(seed: 16)
        for _ in 0..<40 {
            var trace = Trace(limit: .random(in: 1...6, using: &generator))
            var present: Set<Int> = []
            for _ in 0..<100 {
                let id = Int.random(in: 0..<10, using: &generator)
                let before = trace.visible
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    trace.upsert(id, hasVideo: .random(using: &generator))
                    present.insert(id)
                case 2:
                    trace.leave(id)
                    present.remove(id)
                default: trace.speak(Bool.random(using: &generator) ? id : nil)
                }
                #expect(trace.view.count == present.count + 1)
                #expect(trace.visible.count == min(present.count, trace.builder.limit))
                #expect(Set(trace.visible).count == trace.visible.count && present.isSuperset(of: trace.visible))
                for (index, id) in before.enumerated() where index < trace.visible.count && trace.visible.contains(id) {
                    #expect(trace.visible[index] == id, "somebody who could stay has moved")
                }
            }
        }
    }

    @Test("D23 of those who never spoke the least recently visible gives way, not who joined first")
    func leastRecentlyVisible() {
        var all = CallParticipantsBuilder(local: CallParticipant(id: "me"), limit: 3)
        var view = all.build()
        func look() -> Set<String> {
            view = view.stabilize(all.build())
            all.noteShown(view.visible.map(\.id))
            return Set(view.visible.map(\.id))
        }
        for id in ["1", "2", "3", "4"] {
            all.upsert(CallParticipant(id: id, camera: .playable))
            _ = look()
        }
        #expect(look() == ["2", "3", "4"])
        all.setActiveSpeaker("1")
        #expect(look() == ["1", "3", "4"])
        all.remove("1")
        #expect(look() == ["2", "3", "4"], "the second came back into view")
        all.upsert(CallParticipant(id: "5"))
        #expect(look() == ["2", "3", "4"])
        all.setActiveSpeaker("5")
        #expect(look() == ["2", "4", "5"], "the third was in view for longest")
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
