import Stage
import Testing

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

    @Test("D16 everybody counts, the local one too, who is never among the visible")
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
