import Testing

@testable import Mixer

@Suite("What a tile shows as pictures come and stay away") struct PicturePresenceTests {
    private static let step: Int64 = 1600

    /// The looks at every picture of 30 a second, from `from` to `to` milliseconds.
    ///
    /// - Parameter new: Whether a new picture comes at that time.
    private func looks(
        _ presence: inout PicturePresence,
        from: Int,
        to: Int,
        isConcealed: Bool = false,
        new: Bool
    ) -> [(time: Int, look: PicturePresence.Look)] {
        var result: [(time: Int, look: PicturePresence.Look)] = []
        var sample = Int64(from) * 48
        while sample < Int64(to) * 48 {
            result.append((Int(sample / 48), presence.advance(to: sample, hasNew: new, isConcealed: isConcealed)))
            sample += Self.step
        }
        return result
    }

    @Test("Before the first picture there is the card, and the first picture fades in over it within 200 ms")
    func first() {
        var presence = PicturePresence()
        let before = looks(&presence, from: 0, to: 1000, new: false)
        #expect(before.allSatisfy { $0.look == .absent })
        let after = looks(&presence, from: 1000, to: 2000, new: true)
        #expect(after[0].look == PicturePresence.Look(dim: 0, card: 213))
        #expect(zip(after, after.dropFirst()).allSatisfy { $0.look.card >= $1.look.card })
        #expect(after.filter { $0.time >= 1200 }.allSatisfy { $0.look == .init(dim: 0, card: 0) })
    }

    @Test("Two seconds as it was, then dimmed to 40 % within 300 ms, and after three seconds the card alone")
    func falters() {
        var presence = PicturePresence()
        _ = looks(&presence, from: 0, to: 1000, new: true)
        // The last picture came at 966.
        let silent = looks(&presence, from: 1000, to: 9000, new: false)
        for (time, look) in silent {
            switch time {
            case ..<2967: #expect(look == .init(dim: 0, card: 0), "at \(time)")
            case 3300..<3767: #expect(look == .init(dim: 154, card: 0), "at \(time)")
            case 3967...: #expect(look == .absent, "at \(time)")
            default: continue
            }
        }
        #expect(silent.filter { (2967..<3300).contains($0.time) }.allSatisfy { (1...154).contains($0.look.dim) })
        #expect(zip(silent, silent.dropFirst()).allSatisfy { $0.look.card <= $1.look.card })
    }

    @Test("A dimmed picture brightens when the next one comes; no step of it is darker or the card")
    func back() {
        var presence = PicturePresence()
        _ = looks(&presence, from: 0, to: 1000, new: true)
        _ = looks(&presence, from: 1000, to: 3600, new: false)
        let back = looks(&presence, from: 3600, to: 4600, new: true)
        #expect(back.allSatisfy { $0.look.card == 0 })
        #expect(zip(back, back.dropFirst()).allSatisfy { $0.look.dim >= $1.look.dim })
        #expect(back.filter { $0.time >= 3900 }.allSatisfy { $0.look.dim == 0 })
    }

    @Test("Who is concealed is a card at once, and comes back only with a picture from afterwards")
    func concealed() {
        var presence = PicturePresence()
        _ = looks(&presence, from: 0, to: 1000, new: true)
        let hidden = looks(&presence, from: 1000, to: 1500, isConcealed: true, new: true)
        #expect(hidden.allSatisfy { $0.look == .absent })
        let waiting = looks(&presence, from: 1500, to: 2000, new: false)
        #expect(waiting.allSatisfy { $0.look == .absent })
        let back = looks(&presence, from: 2000, to: 2500, new: true)
        #expect(back[0].look.card == 213 && back[9].look.card == 0)
    }

    @Test("A host that was long out of sight is what it is by then, not what it was")
    func longAway() {
        var presence = PicturePresence()
        _ = looks(&presence, from: 0, to: 1000, new: true)
        #expect(presence.advance(to: 30 * 48_000, hasNew: false, isConcealed: false) == .absent)
        var other = PicturePresence()
        _ = looks(&other, from: 0, to: 1000, new: true)
        #expect(other.advance(to: 30 * 48_000, hasNew: true, isConcealed: false) == .init(dim: 0, card: 0))
    }

    @Test("D28 A picture that is there when its tile appears comes with the tile, and no card before it")
    func atOnce() {
        var presence = PicturePresence()
        let shown = looks(&presence, from: 500, to: 1000, new: true)
        #expect(shown.allSatisfy { $0.look == PicturePresence.Look(dim: 0, card: 0) })
        var concealed = PicturePresence()
        #expect(concealed.advance(to: 0, hasNew: true, isConcealed: true) == .absent)
        #expect(concealed.advance(to: Self.step, hasNew: true, isConcealed: false).card > 0)
    }

    @Test("A screen that stands still stays as it is for half a minute")
    func screen() {
        var presence = PicturePresence()
        for (second, dim) in [(0, 0), (1, 0), (29, 0), (30.5, Int(PicturePresence.darkness))] {
            let now = Int64(second * 48_000) + 480
            let look = presence.advance(to: now, hasNew: second == 0, isConcealed: false, isScreen: true)
            #expect(second == 0 || look == PicturePresence.Look(dim: dim, card: 0), "\(second) s")
        }
    }
}
