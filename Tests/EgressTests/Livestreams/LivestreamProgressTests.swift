import Media
import Stage
import Testing

@testable import Egress

@Suite("What becomes of a livestream")
struct LivestreamProgressTests {
    private typealias Progress = LivestreamProgress
    private let begin = MonotonicTime(nanoseconds: 0)

    private func at(_ seconds: Double) -> MonotonicTime { begin.advanced(seconds: seconds) }

    private func output(_ name: String, _ state: OutputStatus.State, _ error: String? = nil) -> OutputStatus {
        let fault = error.map { OutputFault(.hungUp, $0, retry: .soon) }
        return OutputStatus(
            name: name,
            url: "rtmp://127.0.0.1/live",
            maskedStreamKey: "****",
            state: state,
            lastFault: fault
        )
    }

    private func update(
        _ progress: inout Progress,
        _ outputs: [OutputStatus],
        at seconds: Double,
        mutedSince: Double? = nil
    ) -> [Progress.Finding] {
        progress.update(
            outputs: outputs,
            mutedSince: mutedSince.map { at($0) },
            now: at(seconds),
            secondsSince1970: 1000 + seconds
        )
    }

    private func started(_ limits: Progress.Limits = .init()) -> Progress {
        var progress = Progress(now: begin, limits: limits)
        _ = update(&progress, [output("a", .connected), output("b", .connected)], at: 0)
        return progress
    }

    private func reasons(_ findings: [Progress.Finding]) -> [LivestreamWarning.Reason] {
        findings.compactMap { if case .warn(let warning) = $0 { warning.reason } else { nil } }
    }

    @Test("an output whose target is too slow is told of once, and again when it keeps up")
    func slow() {
        func paced(isSlow: Bool, _ state: OutputStatus.State = .connected) -> OutputStatus {
            var result = output("a", state)
            result.isSlow = isSlow
            return result
        }
        let other = output("b", .connected)
        var progress = started()
        let found = update(&progress, [paced(isSlow: true), other], at: 1)
        #expect(reasons(found) == [.outputSlow])
        guard case .warn(let warning)? = found.first else { return }
        #expect(warning == paced(isSlow: true).slowWarning && warning.output == "a" && warning.code == 5002)
        #expect(update(&progress, [paced(isSlow: true), other], at: 2) == [])
        #expect(reasons(update(&progress, [paced(isSlow: true, .interrupted), other], at: 3)) == [.outputInterrupted])
        #expect(paced(isSlow: true, .interrupted).slowWarning == nil)
        #expect(update(&progress, [paced(isSlow: true), other], at: 4) == [])
        #expect(reasons(update(&progress, [paced(isSlow: false), other], at: 5)) == [.outputKeepsUp])
        #expect(update(&progress, [paced(isSlow: false), other], at: 6) == [])
        // One that was removed while it was slow leaves nothing to a new one of its name.
        #expect(reasons(update(&progress, [paced(isSlow: true), other], at: 7)) == [.outputSlow])
        #expect(update(&progress, [other], at: 8) == [])
        #expect(update(&progress, [paced(isSlow: false), other], at: 9) == [])
    }

    @Test("V22 it is started when the first output is connected")
    func start() {
        var progress = Progress(now: begin)
        #expect(update(&progress, [output("a", .connecting), output("b", .connecting)], at: 5) == [])
        #expect(progress.state == .starting)
        #expect(update(&progress, [output("a", .connecting), output("b", .connected)], at: 6) == [])
        #expect(progress.state == .started)
        #expect(progress.startedAt == 1006)
    }

    @Test("V22 not started within 30 s, it stops")
    func late() {
        var progress = Progress(now: begin)
        #expect(update(&progress, [output("a", .connecting)], at: 29.9) == [])
        #expect(update(&progress, [output("a", .connecting)], at: 30) == [.end(.notStarted)])
        #expect(progress.state == .stopping)
        #expect(progress.endReason == .notStarted)
        #expect(update(&progress, [output("a", .connected)], at: 31) == [])
        progress.ended()
        #expect(progress.state == .stopped)
    }

    @Test("V22 refused by all, it stops at once")
    func refused() {
        var progress = Progress(now: begin)
        let first = update(&progress, [output("a", .failed, "wrong key"), output("b", .connecting)], at: 1)
        #expect(reasons(first) == [.outputFailed])
        #expect(update(&progress, [output("a", .failed), output("b", .failed)], at: 2) == [.end(.notStarted)])
    }

    @Test("V22 started and then given up by all, it is lost")
    func lost() {
        var progress = started()
        #expect(
            reasons(update(&progress, [output("a", .interrupted), output("b", .failed)], at: 9)) == [
                .outputInterrupted, .outputFailed,
            ]
        )
        #expect(progress.state == .started)
        #expect(update(&progress, [output("a", .failed), output("b", .failed)], at: 10) == [.end(.lost)])
        #expect(progress.endReason == .lost)
    }

    @Test("D34 an output that stops taking the program is named once per loss, and the others go on")
    func dropped() {
        var progress = started()
        let broken = [output("a", .connected), output("b", .interrupted, "reset by peer")]
        let message = "Output b lost its target and tries again: reset by peer"
        #expect(
            update(&progress, broken, at: 1)
                == [.warn(LivestreamWarning(.outputInterrupted, output: "b", message: message))]
        )
        #expect(update(&progress, broken, at: 2) == [])
        #expect(update(&progress, [output("a", .connected), output("b", .connected)], at: 3) == [])
        #expect(reasons(update(&progress, broken, at: 4)) == [.outputInterrupted])
        let gone = [output("a", .connected), output("b", .failed, "refused")]
        #expect(
            update(&progress, gone, at: 5)
                == [.warn(LivestreamWarning(.outputFailed, output: "b", message: "Output b is dropped: refused"))]
        )
        #expect(update(&progress, gone, at: 6) == [])
        #expect(progress.state == .started)
    }

    @Test("D36 the longest duration counts from the first connected output, is warned of a minute before, then ends it")
    func duration() {
        var progress = Progress(now: begin)
        let outputs = [output("a", .connected)]
        _ = update(&progress, outputs, at: 20)
        #expect(update(&progress, outputs, at: 20 + 10_739) == [])
        let warning = update(&progress, outputs, at: 20 + 10_740.5)
        #expect(reasons(warning) == [.maximumDurationSoon])
        if case .warn(let warning) = warning.first { #expect(warning.secondsLeft == 60) }
        #expect(update(&progress, outputs, at: 20 + 10_799) == [])
        #expect(update(&progress, outputs, at: 20 + 10_800) == [.end(.maximumDuration)])
    }

    @Test("D36 with every host muted for 300 s it ends, warned of before; a host heard again begins anew")
    func idle() {
        var progress = started()
        let outputs = [output("a", .connected), output("b", .connected)]
        #expect(update(&progress, outputs, at: 239, mutedSince: -1000) == [])
        #expect(reasons(update(&progress, outputs, at: 240, mutedSince: -1000)) == [.idleSoon])
        #expect(update(&progress, outputs, at: 299, mutedSince: -1000) == [])
        #expect(update(&progress, outputs, at: 299.5) == [])
        #expect(update(&progress, outputs, at: 400, mutedSince: 300) == [])
        #expect(reasons(update(&progress, outputs, at: 541, mutedSince: 300)) == [.idleSoon])
        #expect(update(&progress, outputs, at: 600, mutedSince: 300) == [.end(.idle)])
    }

    @Test("D36 a short limit is warned of at its half")
    func short() {
        var limits = Progress.Limits()
        limits.duration = 10
        var progress = started(limits)
        let outputs = [output("a", .connected)]
        #expect(update(&progress, outputs, at: 4) == [])
        #expect(reasons(update(&progress, outputs, at: 5)) == [.maximumDurationSoon])
    }

    @Test("An output that goes over to its spare address, and comes back, is named each time")
    func spare() {
        var progress = started()
        func spared(_ usesBackup: Bool, _ state: OutputStatus.State) -> OutputStatus {
            var output = output("b", state)
            (output.backupURL, output.usesBackup) = ("rtmp://127.0.0.2/live", usesBackup)
            return output
        }
        let other = output("a", .connected)
        #expect(reasons(update(&progress, [other, spared(true, .interrupted)], at: 1)) == [.outputInterrupted])
        #expect(reasons(update(&progress, [other, spared(true, .connected)], at: 2)) == [.outputOnBackup])
        #expect(update(&progress, [other, spared(true, .connected)], at: 3) == [])
        #expect(reasons(update(&progress, [other, spared(false, .interrupted)], at: 4)) == [.outputInterrupted])
        #expect(reasons(update(&progress, [other, spared(false, .connected)], at: 5)) == [.outputOnMain])
    }

    @Test(
        "A spare address out of reach is told of once, and again when it can be reached; not when it is in use by then"
    )
    func spareOutOfReach() {
        var progress = started()
        func spared(_ fault: String?, usesBackup: Bool = false) -> OutputStatus {
            var output = output("b", .connected)
            (output.backupURL, output.usesBackup) = ("rtmp://127.0.0.2/live", usesBackup)
            output.backupFault = fault.map { OutputFault(.unreachable, $0, retry: .soon) }
            return output
        }
        let other = output("a", .connected)
        let found = update(&progress, [other, spared("nobody there")], at: 1)
        #expect(reasons(found) == [.backupUnreachable])
        if case .warn(let warning) = found.first {
            #expect(warning.output == "b" && warning.message.contains("nobody there") && warning.code == 5002)
        }
        #expect(update(&progress, [other, spared("nobody at all")], at: 2) == [])
        #expect(reasons(update(&progress, [other, spared(nil)], at: 3)) == [.backupReachable])
        #expect(update(&progress, [other, spared(nil)], at: 4) == [])
        #expect(reasons(update(&progress, [other, spared("nobody there")], at: 5)) == [.backupUnreachable])
        #expect(reasons(update(&progress, [other, spared(nil, usesBackup: true)], at: 6)) == [.outputOnBackup])
    }

    @Test("An output that was taken out leaves nothing to one that comes by its name")
    func nameTakenAgain() {
        var progress = started()
        var bad = output("b", .connected)
        bad.backupURL = "rtmp://127.0.0.2/live"
        bad.backupFault = OutputFault(.unreachable, "nobody there", retry: .soon)
        bad.isSlow = true
        let other = output("a", .connected)
        #expect(Set(reasons(update(&progress, [other, bad], at: 1))) == [.backupUnreachable, .outputSlow])
        #expect(update(&progress, [other], at: 2) == [])
        #expect(update(&progress, [other, output("b", .connected)], at: 3) == [])
        #expect(Set(reasons(update(&progress, [other, bad], at: 4))) == [.backupUnreachable, .outputSlow])
        #expect(update(&progress, [other], at: 5) == [])
        var spared = output("b", .connected)
        (spared.backupURL, spared.usesBackup) = ("rtmp://127.0.0.2/live", true)
        #expect(reasons(update(&progress, [other, spared], at: 6)) == [.outputOnBackup])
        #expect(update(&progress, [other], at: 7) == [])
        spared.usesBackup = false
        #expect(update(&progress, [other, spared], at: 8) == [])
    }

    @Test("The first reason for an end stays")
    func reasonStays() {
        var progress = started()
        progress.stop(.command)
        progress.stop(.roomEnded)
        #expect(progress.endReason == .command)
        #expect(update(&progress, [output("a", .failed)], at: 1) == [])
    }
}
