@testable import FanOut
import Media
import Stage
import Testing

@Suite("Viewers whose sockets stand still")
struct StallTests {
    @Test(
        "The time in which a viewer takes nothing is told when it takes again; short ones, and those before media, are not"
    )
    func stalls() {
        let stand = ShareStand()
        let (early, _) = stand.join(sid: "r-9")
        early.noteWritability(false, now: stand.now)
        stand.wait(2)
        early.noteWritability(true, now: stand.now)
        stand.send(Packets.video(), Packets.key(0))
        let (viewer, _) = stand.join(sid: "r-1")
        for seconds in [0.2, 1.5, 0.4] {
            viewer.noteWritability(false, now: stand.now)
            stand.wait(seconds)
            viewer.noteWritability(true, now: stand.now)
            stand.wait(1)
        }
        let stalls = stand.audience.events.filter { if case .stalled = $0.kind { true } else { false } }
        #expect(stalls.map(\.kind) == [.stalled(milliseconds: 1500)])
        #expect(stalls.map(\.sid) == ["r-1"] && stalls.map(\.playback) == [.flv])
    }
}
