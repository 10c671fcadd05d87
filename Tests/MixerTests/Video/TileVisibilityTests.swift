import Testing

@testable import Mixer

@Suite("Tile visibility") struct TileVisibilityTests {
    private static let step: Int64 = 1600

    /// Returns the appearance in every frame at 30 frames a second, from `from` to `to` milliseconds.
    ///
    /// - Parameter new: Whether there is a new host frame each time.
    private func appearances(
        _ visibility: inout TileVisibility,
        from: Int,
        to: Int,
        isConcealed: Bool = false,
        new: Bool
    ) -> [(time: Int, appearance: TileVisibility.Appearance)] {
        var result: [(time: Int, appearance: TileVisibility.Appearance)] = []
        var sample = Int64(from) * 48
        while sample < Int64(to) * 48 {
            result.append((Int(sample / 48), visibility.advance(to: sample, hasNew: new, isConcealed: isConcealed)))
            sample += Self.step
        }
        return result
    }

    @Test("the card is shown before the first frame, which then fades in within 200 ms")
    func first() {
        var visibility = TileVisibility()
        let before = appearances(&visibility, from: 0, to: 1000, new: false)
        #expect(before.allSatisfy { $0.appearance == .absent })
        let after = appearances(&visibility, from: 1000, to: 2000, new: true)
        #expect(after[0].appearance == TileVisibility.Appearance(dim: 0, card: 213))
        #expect(zip(after, after.dropFirst()).allSatisfy { $0.appearance.card >= $1.appearance.card })
        #expect(after.filter { $0.time >= 1200 }.allSatisfy { $0.appearance == .init(dim: 0, card: 0) })
    }

    @Test("a stopped host is frozen for two seconds, then dimmed to 40 % within 300 ms, and a card after three seconds")
    func falters() {
        var visibility = TileVisibility()
        _ = appearances(&visibility, from: 0, to: 1000, new: true)
        // The last frame came at 966.
        let silent = appearances(&visibility, from: 1000, to: 9000, new: false)
        for (time, appearance) in silent {
            switch time {
            case ..<2967: #expect(appearance == .init(dim: 0, card: 0), "at \(time)")
            case 3300..<3767: #expect(appearance == .init(dim: 154, card: 0), "at \(time)")
            case 3967...: #expect(appearance == .absent, "at \(time)")
            default: continue
            }
        }
        #expect(silent.filter { (2967..<3300).contains($0.time) }.allSatisfy { (1...154).contains($0.appearance.dim) })
        #expect(zip(silent, silent.dropFirst()).allSatisfy { $0.appearance.card <= $1.appearance.card })
    }

    @Test("a dimmed frame brightens when the next one comes, without getting darker or showing the card")
    func back() {
        var visibility = TileVisibility()
        _ = appearances(&visibility, from: 0, to: 1000, new: true)
        _ = appearances(&visibility, from: 1000, to: 3600, new: false)
        let back = appearances(&visibility, from: 3600, to: 4600, new: true)
        #expect(back.allSatisfy { $0.appearance.card == 0 })
        #expect(zip(back, back.dropFirst()).allSatisfy { $0.appearance.dim >= $1.appearance.dim })
        #expect(back.filter { $0.time >= 3900 }.allSatisfy { $0.appearance.dim == 0 })
    }

    @Test("a concealed host is a card at once, and comes back only with a later frame")
    func concealed() {
        var visibility = TileVisibility()
        _ = appearances(&visibility, from: 0, to: 1000, new: true)
        let hidden = appearances(&visibility, from: 1000, to: 1500, isConcealed: true, new: true)
        #expect(hidden.allSatisfy { $0.appearance == .absent })
        let waiting = appearances(&visibility, from: 1500, to: 2000, new: false)
        #expect(waiting.allSatisfy { $0.appearance == .absent })
        let back = appearances(&visibility, from: 2000, to: 2500, new: true)
        #expect(back[0].appearance.card == 213 && back[9].appearance.card == 0)
    }

    @Test("a host that was long hidden appears in its present state")
    func longAway() {
        var visibility = TileVisibility()
        _ = appearances(&visibility, from: 0, to: 1000, new: true)
        #expect(visibility.advance(to: 30 * 48_000, hasNew: false, isConcealed: false) == .absent)
        var other = TileVisibility()
        _ = appearances(&other, from: 0, to: 1000, new: true)
        #expect(other.advance(to: 30 * 48_000, hasNew: true, isConcealed: false) == .init(dim: 0, card: 0))
    }

    @Test("D28 a frame that is there when its tile appears is shown without a card before it")
    func atOnce() {
        var visibility = TileVisibility()
        let shown = appearances(&visibility, from: 500, to: 1000, new: true)
        #expect(shown.allSatisfy { $0.appearance == TileVisibility.Appearance(dim: 0, card: 0) })
        var concealed = TileVisibility()
        #expect(concealed.advance(to: 0, hasNew: true, isConcealed: true) == .absent)
        #expect(concealed.advance(to: Self.step, hasNew: true, isConcealed: false).card > 0)
    }

    @Test("a static screen stays unchanged for half a minute")
    func screen() {
        var visibility = TileVisibility()
        for (second, dim) in [(0, 0), (1, 0), (29, 0), (30.5, Int(TileVisibility.darkness))] {
            let now = Int64(second * 48_000) + 480
            let appearance = visibility.advance(to: now, hasNew: second == 0, isConcealed: false, isScreen: true)
            #expect(second == 0 || appearance == TileVisibility.Appearance(dim: dim, card: 0), "\(second) s")
        }
    }
}
