import Testing

@testable import Stage

@Suite("A call keeps its times")
struct CallTimingTests {
    @Test("U9 a join is tried at most three times, 0.25 to 0.5 s apart", arguments: [0.0, 0.5, 1.0])
    func tries(chance: Double) {
        var (run, first) = CallRun.joining()
        let pause = 0.25 + 0.25 * chance
        var request = first
        for _ in 1...2 {
            #expect(run.say(.joinFailed(request: request, .callNotConnected), chance: chance) == [])
            #expect(abs((run.untilDeadline ?? 0) - pause) < 0.001)
            let actions = run.wait(pause, chance: chance)
            #expect(actions.count == 1)
            let next = actions.request ?? 0
            #expect(next > request)
            request = next
        }
        run.say(.joinFailed(request: request, .callNotConnected), chance: chance)
        #expect(run.phases == [.joining, .left(.callNotConnected)])
    }

    @Test("U9 an answer to a try that was given up is not mistaken for that of the next")
    func overtaken() {
        var (run, first) = CallRun.joining()
        run.say(.joinFailed(request: first, .callNotConnected))
        let second = run.wait(0.5).request ?? 0
        #expect(run.say(.joinFailed(request: first, .roomFull)) == [])
        let late = CallEvent.joinSucceeded(request: first, mode: .sendAndReceive)
        #expect(run.say(late) == [.abandonJoin(request: first)])
        run.say(.joinSucceeded(request: second, mode: .sendAndReceive))
        #expect(run.phase == .joined)
        #expect(run.say(.joinSucceeded(request: 99, mode: .sendAndReceive)) == [])
    }

    @Test("U9 a join that takes 30 s ends with 53000, or with the error it had last")
    func joinLimit() {
        var (silent, request) = CallRun.joining()
        silent.wait(29.9)
        #expect(silent.phase == .joining)
        #expect(silent.wait(0.1).effects == [.cancelJoin(request: request)])
        #expect(silent.phase == .left(.callNotConnected))
        let late = CallEvent.joinSucceeded(request: request, mode: .sendAndReceive)
        #expect(silent.say(late) == [.abandonJoin(request: request)])

        var (failing, first) = CallRun.joining()
        failing.say(.joinFailed(request: first, .internalFault))
        failing.wait(30)
        #expect(failing.phase == .left(.internalFault))
    }

    @Test("53006 a busy gateway is waited for as long as it says, within the time of the join")
    func busy() {
        var (run, request) = CallRun.joining()
        for _ in 1...5 {
            run.say(.joinFailed(request: request, .serverBusy(retryAfter: 4)))
            #expect(run.wait(4).request == nil)
            request = run.wait(0.5).request ?? 0
        }
        #expect(run.phase == .joining)
        run.say(.joinFailed(request: request, .serverBusy(retryAfter: 10)))
        #expect(run.phase == .left(.serverBusy(retryAfter: 10)))
    }

    @Test("53006 a busy gateway that names no time is believed")
    func busyForGood() {
        var (run, request) = CallRun.joining()
        run.say(.joinFailed(request: request, .serverBusy(retryAfter: nil)))
        #expect(run.phase == .left(.serverBusy(retryAfter: nil)))
    }

    @Test("U13 tries to reconnect come after 80 ms, each delay half as long again, up to a limit")
    func backOff() {
        var run = CallRun.reconnecting()
        var delays: [Double] = []
        for _ in 1...12 {
            delays.append(run.untilDeadline ?? 0)
            let actions = run.wait(run.untilDeadline ?? 0)
            guard case .reconnect? = actions.first else { break }
            run.say(.reconnectFailed(.callNotConnected))
        }
        let expected = [0.08, 0.12, 0.18, 0.27, 0.405, 0.6075, 0.911, 1.367, 2.05, 3.075, 4.613, 5]
        #expect(zip(delays, expected).allSatisfy { abs($0 - $1) < 0.002 }, "\(delays)")
    }

    @Test("U13 chance spreads the delays by half", arguments: [(0.0, 0.04), (1.0, 0.12), (-3.0, 0.04), (.nan, 0.04)])
    func jitter(chance: Double, delay: Double) {
        var run = CallRun.joined()
        run.say(.connectionLost(.signalling), chance: chance)
        #expect(abs((run.untilDeadline ?? 0) - delay) < 0.001)
    }

    @Test("A stream is resumed three times, then the session is asked for anew; media are only won back")
    func ways() {
        func ways(_ loss: ConnectionLoss) -> [CallAction] {
            var run = CallRun.reconnecting(loss)
            return (1...5).flatMap { _ in
                let actions = run.wait(run.untilDeadline ?? 0)
                run.say(.reconnectFailed(.callNotConnected))
                return actions
            }
        }
        #expect(
            ways(.signalling) == [
                .reconnect(.signalling, .resume, attempt: 1), .reconnect(.signalling, .resume, attempt: 2),
                .reconnect(.signalling, .resume, attempt: 3), .reconnect(.signalling, .rejoin, attempt: 4),
                .reconnect(.signalling, .rejoin, attempt: 5),
            ]
        )
        #expect(ways(.media) == (1...5).map { .reconnect(.media, .resume, attempt: $0) })
    }

    @Test("A stream lost while media are missing is won back, too, under the first reason and its time")
    func bothLost() {
        var run = CallRun.reconnecting(.media)
        run.wait(20)
        #expect(run.say(.connectionLost(.signalling)) == [])
        #expect(run.wait(1).effects.first == .reconnect(.signalling, .resume, attempt: 1))
        #expect(run.phase == .reconnecting(.media))
        run.wait(9)
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 after 30 s without media the call is over with 53405, which says both things to do")
    func mediaGone() {
        var run = CallRun.reconnecting(.media)
        run.wait(29.9)
        #expect(run.phase == .reconnecting(.media))
        #expect(run.wait(0.1).effects == [.stopReconnecting, .reset])
        #expect(run.phase == .left(.mediaLost))
        #expect(run.machine.status.error?.code == 53405)
        #expect(
            run.machine.status.error?.solution == "Check the network. Allow media traffic through the firewall"
        )
    }

    @Test("A stream that comes back while media is missing ends nothing; the media has the rest of its 30 s")
    func mediaStillMissing() {
        var run = CallRun.reconnecting(.media)
        run.wait(10)
        run.say(.connectionLost(.signalling))
        run.wait(1)
        #expect(run.say(.restored(.resume)) == [.applySnapshot])
        #expect(run.phase == .reconnecting(.media))
        #expect(run.wait(1).effects == [.reconnect(.media, .resume, attempt: 1)])
        run.wait(17)
        #expect(run.phase == .reconnecting(.media))
        run.wait(1)
        #expect(run.phase == .left(.mediaLost))
    }

    @Test("Media lost while the stream is missing is the reason once the stream is back, and ends with the media")
    func mediaLostMeanwhile() {
        var run = CallRun.reconnecting()
        #expect(run.say(.connectionLost(.media)) == [])
        let isMissing = CallStatus(phase: .reconnecting(.media), wasAttempted: true)
        #expect(run.say(.restored(.rejoin)) == [.applySnapshot, .emit(isMissing)])
        #expect(run.say(.mediaRestored) == [.emit(CallStatus(phase: .joined, wasAttempted: true))])
        #expect(run.say(.mediaRestored) == [])
    }

    @Test("Media that comes back leaves the stream to be won back, under its own reason and within its own 30 s")
    func streamStillMissing() {
        var run = CallRun.reconnecting(.media)
        run.wait(20)
        run.say(.connectionLost(.signalling))
        let isMissing = CallStatus(phase: .reconnecting(.signalling), wasAttempted: true)
        #expect(run.say(.mediaRestored) == [.emit(isMissing)])
        run.wait(29)
        #expect(run.phase == .reconnecting(.signalling))
        run.wait(1)
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 more than ten rejoins in 120 s end the call, and the gateway is told")
    func rejoins() {
        var run = CallRun.joined()
        for _ in 1...10 {
            run.say(.connectionLost(.signalling))
            run.say(.restored(.rejoin))
            run.wait(10)
        }
        #expect(run.phase == .joined)
        run.say(.connectionLost(.signalling))
        #expect(run.effects(of: .restored(.rejoin)) == [.stopReconnecting, .reset, .deleteParticipant])
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 rejoins that are further apart, and streams that are resumed, go on")
    func rareRejoins() {
        var run = CallRun.joined()
        for _ in 1...30 {
            run.say(.connectionLost(.signalling))
            run.say(.restored(.rejoin))
            run.wait(12.1)
            run.say(.connectionLost(.signalling))
            run.say(.restored(.resume))
        }
        #expect(run.phase == .joined)
    }

    @Test("A connection that breaks at once again is waited for longer each time, until one has held")
    func flapping() {
        var run = CallRun.joined()
        var delays: [Double] = []
        for hold in [0.0, 1, 1, 10, 0] {
            run.wait(hold)
            run.say(.connectionLost(.signalling))
            delays.append(run.untilDeadline ?? 0)
            run.wait(run.untilDeadline ?? 0)
            run.say(.restored(.resume))
        }
        #expect(zip(delays, [0.08, 0.12, 0.18, 0.08, 0.12]).allSatisfy { abs($0 - $1) < 0.001 }, "\(delays)")
    }

    @Test("What was due counts before what happens later, however late the call")
    func lateTimer() {
        var (run, request) = CallRun.joining()
        run.skip(31)
        #expect(
            run.effects(of: .joinSucceeded(request: request, mode: .sendAndReceive))
                == [.cancelJoin(request: request), .abandonJoin(request: request)]
        )
        #expect(run.phases == [.joining, .left(.callNotConnected)])
    }
}
