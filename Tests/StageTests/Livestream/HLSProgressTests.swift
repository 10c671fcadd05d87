import Media
import Testing

@testable import Stage

@Suite("How far a room's HLS is")
struct HLSProgressTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000).advanced(seconds: seconds)
    }

    private func changed(_ state: HLSState, at playable: Double? = nil) -> HLSAction {
        .changed(HLSStatus(state: state, playableAt: playable))
    }

    private func handle(_ progress: inout HLSProgress, _ event: HLSEvent, at seconds: Double) -> [HLSAction] {
        progress.handle(event, now: at(seconds), secondsSince1970: 1000 + seconds)
    }

    private func code(_ actions: [HLSAction]) -> Int? {
        actions.compactMap { if case .fail(let error) = $0 { error.code } else { nil } }.first
    }

    /// HLS that runs by itself and can be played since second 5.
    private func playable() -> HLSProgress {
        var progress = HLSProgress()
        _ = handle(&progress, .programFlows, at: 0)
        _ = handle(&progress, .segmentCompleted, at: 5)
        return progress
    }

    @Test("V23 it runs by itself once the program flows, and is playable with the first whole segment")
    func automatic() {
        var progress = HLSProgress()
        #expect(progress.status == HLSStatus())
        #expect(!progress.isOpen)
        #expect(handle(&progress, .segmentCompleted, at: 0) == [])
        #expect(handle(&progress, .programFlows, at: 1) == [changed(.starting), .open, changed(.started)])
        #expect(progress.isOpen)
        #expect(handle(&progress, .programFlows, at: 2) == [])
        #expect(progress.deadline == nil)
        #expect(handle(&progress, .segmentCompleted, at: 6) == [changed(.playable, at: 1006)])
        #expect(handle(&progress, .segmentCompleted, at: 8) == [])
    }

    @Test("V23 after stop the playlist is ended, whatever flows, until start")
    func stopAndStart() throws {
        var progress = playable()
        #expect(try progress.stop(now: at(9)) == [changed(.stopping, at: 1005), .end])
        #expect(!progress.isOpen)
        #expect(throws: StageError.hlsInFlight) { try progress.stop(now: at(9)) }
        #expect(throws: StageError.hlsInFlight) { try progress.start(now: at(9)) }
        #expect(handle(&progress, .segmentCompleted, at: 9) == [])
        #expect(handle(&progress, .playlistEnded, at: 10) == [changed(.stopped)])
        #expect(handle(&progress, .programFlows, at: 11) == [])
        #expect(progress.status.state == .stopped)
        let again = #expect(throws: StageError.self) { try progress.stop(now: at(11)) }
        #expect(again?.code == 4017)
        #expect(again?.status == 409)
        #expect(try progress.start(now: at(12)) == [changed(.starting), .open, changed(.started)])
        #expect(handle(&progress, .segmentCompleted, at: 14) == [changed(.playable, at: 1014)])
    }

    @Test("V23 a start while it runs by itself only makes it explicit; a second one is refused")
    func explicit() throws {
        var progress = playable()
        #expect(try progress.start(now: at(6)) == [])
        #expect(throws: StageError.hlsAlreadyStarted) { try progress.start(now: at(7)) }
        var waiting = HLSProgress()
        #expect(try waiting.start(now: at(0)) == [changed(.starting), .open])
        #expect(throws: StageError.hlsInFlight) { try waiting.start(now: at(1)) }
        #expect(handle(&waiting, .programFlows, at: 2) == [changed(.started)])
    }

    @Test("V23 4016: a start by command that leads to nothing playable in 30 s ends")
    func neverPlayable() throws {
        var progress = HLSProgress()
        _ = try progress.start(now: at(0))
        #expect(progress.deadline == at(30))
        #expect(handle(&progress, .timePassed, at: 29.9) == [])
        let actions = handle(&progress, .timePassed, at: 30)
        #expect(code(actions) == 4016)
        #expect(actions.suffix(2) == [changed(.stopping), .end])
        #expect(handle(&progress, .playlistEnded, at: 30.1) == [changed(.stopped)])
        // Nobody took HLS away: the next program has it again.
        #expect(handle(&progress, .programFlows, at: 40) == [changed(.starting), .open, changed(.started)])
        var segmentless = HLSProgress()
        _ = try segmentless.start(now: at(0))
        _ = handle(&segmentless, .programFlows, at: 1)
        #expect(code(handle(&segmentless, .timePassed, at: 31)) == 4016)
    }

    @Test("V23 4017: an end that is not written in 10 s is told, and counts as stopped")
    func neverEnded() throws {
        var progress = playable()
        _ = try progress.stop(now: at(20))
        #expect(handle(&progress, .timePassed, at: 29) == [])
        let actions = handle(&progress, .timePassed, at: 30)
        #expect(code(actions) == 4017)
        #expect(actions.last == changed(.stopped))
        #expect(progress.deadline == nil)
    }

    @Test("V23 5003: what breaks while it runs is told, and ends it")
    func broken() {
        var progress = playable()
        let actions = handle(&progress, .broke("no key pictures"), at: 9)
        #expect(code(actions) == 5003)
        #expect(actions.suffix(2) == [changed(.stopping, at: 1005), .end])
        #expect(handle(&progress, .playlistEnded, at: 9) == [changed(.stopped)])
        #expect(handle(&progress, .broke("again"), at: 10) == [])
        #expect(handle(&progress, .programFlows, at: 11) == [changed(.starting), .open, changed(.started)])
    }

    @Test("A program that ends ends the playlist, and the next one has its own")
    func programs() {
        var progress = playable()
        #expect(handle(&progress, .programEnded, at: 9) == [changed(.stopping, at: 1005), .end])
        #expect(handle(&progress, .programFlows, at: 9.1) == [])
        #expect(
            handle(&progress, .playlistEnded, at: 9.2)
                == [changed(.stopped), changed(.starting), .open, changed(.started)]
        )
        _ = handle(&progress, .programEnded, at: 20)
        #expect(handle(&progress, .playlistEnded, at: 20) == [changed(.stopped)])
        #expect(handle(&progress, .programEnded, at: 21) == [])
    }

    @Test("A start by command waits for a program that comes and goes")
    func waits() throws {
        var progress = HLSProgress()
        _ = try progress.start(now: at(0))
        #expect(handle(&progress, .programEnded, at: 1) == [])
        #expect(progress.status.state == .starting)
    }
}
