import Stage
import TestSupport
import Testing

@Suite("Comparators of participants")
struct ParticipantComparatorTests {
    private typealias Order = ParticipantOrder

    private func ids(_ participants: [ParticipantOrder], _ comparators: [ParticipantComparator]) -> [String] {
        participants.sorted(using: comparators).map(\.id)
    }

    /// Random participants with many duplicates.
    private func crowd(_ count: Int, using generator: inout SeededGenerator) -> [ParticipantOrder] {
        (0..<count).map { number in
            var order = ParticipantOrder(id: "p\(Int.random(in: 0..<max(count / 2, 1), using: &generator))")
            if Int.random(in: 0..<3, using: &generator) == 0 {
                order.pin = Order.Pin(isLocal: .random(using: &generator), pinnedAt: Double(number % 3))
            }
            order.isScreenSharing = .random(using: &generator)
            order.isDominantSpeaker = .random(using: &generator)
            order.isSpeaking = .random(using: &generator)
            order.hasVideo = .random(using: &generator)
            order.hasAudio = .random(using: &generator)
            order.showTrack = .random(using: &generator)
            order.roles = Bool.random(using: &generator) ? ["host"] : ["guest"]
            return order
        }
    }

    @Test("L2 the default order is pinned, screen, dominant speaker, video, audio, id")
    func usualOrder() {
        #expect(
            ParticipantComparator.defaultComparators.map(\.name) == [
                "pinned", "screensharing", "dominantSpeaker", "publishingVideo", "publishingAudio", "userId",
            ]
        )
        let all = [
            Order(id: "a"), Order(id: "b", hasAudio: true), Order(id: "c", hasVideo: true),
            Order(id: "d", isDominantSpeaker: true), Order(id: "e", isScreenSharing: true),
            Order(id: "f", pin: Order.Pin(pinnedAt: 1)),
        ]
        #expect(ids(all, ParticipantComparator.defaultComparators) == ["f", "e", "d", "c", "b", "a"])
    }

    @Test("L2 any list of rules sorts, and an empty one keeps the order")
    func anyList() {
        let all = [Order(id: "c", hasAudio: true), Order(id: "a", hasVideo: true), Order(id: "b", hasAudio: true)]
        #expect(ids(all, [.publishingAudio, .userID]) == ["b", "c", "a"])
        #expect(ids(all, [.publishingAudio]) == ["c", "b", "a"])
        #expect(ids(all, []) == ["c", "a", "b"])
    }

    @Test("L3 pinned before not pinned, a pin for everybody before a local one, then the newer one")
    func pins() {
        let none = Order(id: "a")
        let local = Order(id: "b", pin: Order.Pin(isLocal: true, pinnedAt: 9))
        let old = Order(id: "c", pin: Order.Pin(pinnedAt: 1))
        let new = Order(id: "d", pin: Order.Pin(pinnedAt: 2))
        #expect(ids([none, local, old, new], [.pinned]) == ["d", "c", "b", "a"])
        #expect(ParticipantComparator.pinned.compare(old, old) == .orderedSame)
        #expect(ParticipantComparator.pinned.compare(none, none) == .orderedSame)
        #expect(ParticipantComparator.pinned.compare(new, old) == .orderedAscending)
        #expect(ParticipantComparator.pinned.compare(old, new) == .orderedDescending)
        #expect(ParticipantComparator.pinned.compare(local, new) == .orderedDescending)
    }

    @Test("L3 each of the other rules puts true before false, and equals are the same")
    func qualities() {
        let off = Order(id: "x")
        let rules: [(ParticipantComparator, ParticipantOrder)] = [
            (.screensharing, Order(id: "y", isScreenSharing: true)),
            (.dominantSpeaker, Order(id: "y", isDominantSpeaker: true)),
            (.speaking, Order(id: "y", isSpeaking: true)),
            (.publishingVideo, Order(id: "y", hasVideo: true)),
            (.publishingAudio, Order(id: "y", hasAudio: true)),
            (.roles(), Order(id: "y", roles: ["speaker", "guest"])),
        ]
        for (rule, on) in rules {
            #expect(rule.compare(on, off) == .orderedAscending, "\(rule.name)")
            #expect(rule.compare(off, on) == .orderedDescending, "\(rule.name)")
            #expect(rule.compare(on, on) == .orderedSame, "\(rule.name)")
            #expect(rule.compare(off, off) == .orderedSame, "\(rule.name)")
        }
    }

    @Test("L3 ids ascend, and the same id is the same")
    func identifiers() {
        #expect(ParticipantComparator.userID.compare(Order(id: "a"), Order(id: "b")) == .orderedAscending)
        #expect(ParticipantComparator.userID.compare(Order(id: "b"), Order(id: "a")) == .orderedDescending)
        #expect(ParticipantComparator.userID.compare(Order(id: "a"), Order(id: "a")) == .orderedSame)
    }

    @Test("L4 every rule but the conditional ones is a strict weak ordering")
    func strictWeakOrdering() {
        var generator = SeededGenerator(seed: 4)
        let rules =
            ParticipantComparator.defaultComparators + [
                .speaking, .roles(), ParticipantComparator.defaultComparators.combined,
            ]
        for _ in 0..<300 {
            let (a, b, c) = { ($0[0], $0[1], $0[2]) }(crowd(3, using: &generator))
            for rule in rules {
                #expect(rule.compare(a, a) == .orderedSame)
                let (ab, ba) = (rule.compare(a, b), rule.compare(b, a))
                #expect((ab == .orderedAscending) == (ba == .orderedDescending))
                #expect((ab == .orderedSame) == (ba == .orderedSame))
                let (bc, ac) = (rule.compare(b, c), rule.compare(a, c))
                if ab == bc { #expect(ac == ab, "\(rule.name) is not transitive") }
            }
        }
    }

    @Test("L4 with different ids the usual order is total: it is the same from wherever it starts")
    func permutations() {
        var generator = SeededGenerator(seed: 40)
        for round in 0..<200 {
            let count = Int.random(in: 0...40, using: &generator)
            let all = crowd(count, using: &generator).enumerated().map { number, order in
                var order = order
                order.id = "p\(round)-\(number)"
                return order
            }
            let sorted = all.sorted(using: ParticipantComparator.defaultComparators)
            #expect(all.shuffled(using: &generator).sorted(using: ParticipantComparator.defaultComparators) == sorted)
            #expect(sorted.sorted(using: ParticipantComparator.defaultComparators) == sorted)
            let rule = ParticipantComparator.defaultComparators.combined
            for (one, next) in zip(sorted, sorted.dropFirst()) {
                #expect(rule.compare(one, next) == .orderedAscending)
            }
        }
    }

    @Test("L5 pinned, then the screen, then the rest")
    func pinBeforeScreen() {
        let (a, b) = (Order(id: "A"), Order(id: "B", isScreenSharing: true))
        let c = Order(id: "C", pin: Order.Pin(pinnedAt: 5))
        #expect(ids([a, b, c], ParticipantComparator.defaultComparators) == ["C", "B", "A"])
    }

    @Test("L5 a dominant speaker without video precedes video, and video precedes audio alone")
    func dominantSpeakerBeforeVideo() {
        let speaker = Order(id: "z", isDominantSpeaker: true)
        let seen = Order(id: "y", hasVideo: true)
        let received = Order(id: "a", hasAudio: true)
        #expect(ids([received, seen, speaker], ParticipantComparator.defaultComparators) == ["z", "y", "a"])
    }

    @Test("L6 in the stable order no visible participant moves for voice, video, audio or id")
    func stable() {
        var all = [
            Order(id: "c", showTrack: true), Order(id: "b", isDominantSpeaker: true, showTrack: true),
            Order(id: "a", isSpeaking: true, hasVideo: true, hasAudio: true, showTrack: true),
        ]
        #expect(ids(all, ParticipantComparator.stableComparators) == ["c", "b", "a"])
        // A hidden dominant speaker precedes all, a silent hidden participant does not.
        all.append(Order(id: "d", isDominantSpeaker: true, hasVideo: true))
        all.append(Order(id: "e"))
        #expect(ids(all, ParticipantComparator.stableComparators).last == "e")
        #expect(ids([all[0], all[3]], ParticipantComparator.stableComparators) == ["d", "c"])
        // A pin and a screen count for the visible too.
        all[2].isScreenSharing = true
        #expect(ids(all, ParticipantComparator.stableComparators).first == "a")
        all[0].pin = Order.Pin(pinnedAt: 1)
        #expect(Array(ids(all, ParticipantComparator.stableComparators).prefix(2)) == ["c", "a"])
    }

    @Test("L6 for one large tile the dominant speaker counts for the visible too")
    func speaker() {
        let all = [
            Order(id: "a", hasVideo: true, showTrack: true), Order(id: "b", isDominantSpeaker: true, showTrack: true),
            Order(id: "c", isSpeaking: true, showTrack: true),
        ]
        #expect(ids(all, ParticipantComparator.speakerComparators) == ["b", "a", "c"])
    }

    @Test("L6 for an audience roles come first, and a hidden dominant speaker before them")
    func livestream() {
        let guest = Order(id: "a", hasVideo: true, showTrack: true, roles: ["guest"])
        let host = Order(id: "b", showTrack: true, roles: ["host"])
        let admin = Order(id: "c", showTrack: true, roles: ["admin", "guest"])
        #expect(ids([guest, host, admin], ParticipantComparator.livestreamComparators) == ["b", "c", "a"])
        let hidden = Order(id: "d", isDominantSpeaker: true, roles: ["guest"])
        #expect(ids([host, hidden], ParticipantComparator.livestreamComparators) == ["d", "b"])
    }

    @Test("L6 even rules that contradict themselves rearrange the same participants, and always in the same way")
    func contradictions() {
        var generator = SeededGenerator(seed: 6)
        let presets = [
            ParticipantComparator.stableComparators, ParticipantComparator.speakerComparators,
            ParticipantComparator.livestreamComparators,
            [ParticipantComparator("first") { _, _ in .orderedDescending }],
        ]
        for _ in 0..<200 {
            let all = crowd(.random(in: 0...60, using: &generator), using: &generator)
            for preset in presets {
                let sorted = all.sorted(using: preset)
                #expect(sorted == all.sorted(using: preset))
                #expect(sorted.map(\.id).sorted() == all.map(\.id).sorted())
            }
        }
    }
}
