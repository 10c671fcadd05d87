import Media
import Testing

@testable import Stage

@Suite("HLS state machine")
struct HLSStateMachineTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000).advanced(seconds: seconds)
    }

    private func changed(_ state: HLSState, at playable: Double? = nil) -> HLSAction {
        .changed(HLSStatus(state: state, playableAt: playable))
    }

    private func handle(_ machine: inout HLSStateMachine, _ event: HLSEvent, at seconds: Double) -> [HLSAction] {
        machine.handle(event, now: at(seconds), secondsSince1970: 1000 + seconds)
    }

    private func code(_ actions: [HLSAction]) -> Int? {
        actions.compactMap { if case .fail(let error) = $0 { error.code } else { nil } }.first
    }

    /// HLS that runs by itself and is playable since second 5.
    private func playable() -> HLSStateMachine {
        var machine = HLSStateMachine()
        _ = handle(&machine, .programFlows, at: 0)
        _ = handle(&machine, .segmentCompleted, at: 5)
        return machine
    }

    @Test("V23 starts with the program, and is playable with the first complete segment")
    func automatic() {
        var machine = HLSStateMachine()
        #expect(machine.status == HLSStatus())
        #expect(!machine.isOpen)
        #expect(handle(&machine, .segmentCompleted, at: 0) == [])
        #expect(handle(&machine, .programFlows, at: 1) == [changed(.starting), .open, changed(.started)])
        #expect(machine.isOpen)
        #expect(handle(&machine, .programFlows, at: 2) == [])
        #expect(machine.deadline == nil)
        #expect(handle(&machine, .segmentCompleted, at: 6) == [changed(.playable, at: 1006)])
        #expect(handle(&machine, .segmentCompleted, at: 8) == [])
    }

    @Test("V23 after stop the playlist is ended, whatever flows, until start")
    func stopAndStart() throws {
        var machine = playable()
        #expect(try machine.stop(now: at(9)) == [changed(.stopping, at: 1005), .end])
        #expect(!machine.isOpen)
        #expect(throws: StageError.hlsInFlight) { try machine.stop(now: at(9)) }
        #expect(throws: StageError.hlsInFlight) { try machine.start(now: at(9)) }
        #expect(handle(&machine, .segmentCompleted, at: 9) == [])
        #expect(handle(&machine, .playlistEnded, at: 10) == [changed(.stopped)])
        #expect(handle(&machine, .programFlows, at: 11) == [])
        #expect(machine.status.state == .stopped)
        let again = #expect(throws: StageError.self) { try machine.stop(now: at(11)) }
        #expect(again?.code == 4017)
        #expect(again?.status == 409)
        #expect(try machine.start(now: at(12)) == [changed(.starting), .open, changed(.started)])
        #expect(handle(&machine, .segmentCompleted, at: 14) == [changed(.playable, at: 1014)])
    }

    @Test("V23 a start while it runs by itself only makes it explicit; a second one is refused")
    func explicit() throws {
        var machine = playable()
        #expect(try machine.start(now: at(6)) == [])
        #expect(throws: StageError.hlsAlreadyStarted) { try machine.start(now: at(7)) }
        var waiting = HLSStateMachine()
        #expect(try waiting.start(now: at(0)) == [changed(.starting), .open])
        #expect(throws: StageError.hlsInFlight) { try waiting.start(now: at(1)) }
        #expect(handle(&waiting, .programFlows, at: 2) == [changed(.started)])
    }

    @Test("V23 4016: a start by command without a playable playlist ends after 30 s")
    func neverPlayable() throws {
        var machine = HLSStateMachine()
        _ = try machine.start(now: at(0))
        #expect(machine.deadline == at(30))
        #expect(handle(&machine, .timePassed, at: 29.9) == [])
        let actions = handle(&machine, .timePassed, at: 30)
        #expect(code(actions) == 4016)
        #expect(actions.suffix(2) == [changed(.stopping), .end])
        #expect(handle(&machine, .playlistEnded, at: 30.1) == [changed(.stopped)])
        // HLS was not stopped by command: the next program starts it again.
        #expect(handle(&machine, .programFlows, at: 40) == [changed(.starting), .open, changed(.started)])
        var segmentless = HLSStateMachine()
        _ = try segmentless.start(now: at(0))
        _ = handle(&segmentless, .programFlows, at: 1)
        #expect(code(handle(&segmentless, .timePassed, at: 31)) == 4016)
    }

    @Test("V23 4017: an end not written in 10 s fails, and counts as stopped")
    func neverEnded() throws {
        var machine = playable()
        _ = try machine.stop(now: at(20))
        #expect(handle(&machine, .timePassed, at: 29) == [])
        let actions = handle(&machine, .timePassed, at: 30)
        #expect(code(actions) == 4017)
        #expect(actions.last == changed(.stopped))
        #expect(machine.deadline == nil)
    }

    @Test("V23 5003: a failure while running is reported, and ends HLS")
    func broken() {
        var machine = playable()
        let actions = handle(&machine, .broke("no key pictures"), at: 9)
        #expect(code(actions) == 5003)
        #expect(actions.suffix(2) == [changed(.stopping, at: 1005), .end])
        #expect(handle(&machine, .playlistEnded, at: 9) == [changed(.stopped)])
        #expect(handle(&machine, .broke("again"), at: 10) == [])
        #expect(handle(&machine, .programFlows, at: 11) == [changed(.starting), .open, changed(.started)])
    }

    @Test("A program that ends ends the playlist, and the next one has its own")
    func programs() {
        var machine = playable()
        #expect(handle(&machine, .programEnded, at: 9) == [changed(.stopping, at: 1005), .end])
        #expect(handle(&machine, .programFlows, at: 9.1) == [])
        #expect(
            handle(&machine, .playlistEnded, at: 9.2)
                == [changed(.stopped), changed(.starting), .open, changed(.started)]
        )
        _ = handle(&machine, .programEnded, at: 20)
        #expect(handle(&machine, .playlistEnded, at: 20) == [changed(.stopped)])
        #expect(handle(&machine, .programEnded, at: 21) == [])
    }

    @Test("A start by command waits for a program that comes and goes")
    func waits() throws {
        var machine = HLSStateMachine()
        _ = try machine.start(now: at(0))
        #expect(handle(&machine, .programEnded, at: 1) == [])
        #expect(machine.status.state == .starting)
    }
}
