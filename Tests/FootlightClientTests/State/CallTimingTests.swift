import Testing

@testable import FootlightClient
import Stage

@Suite("Call timing")
struct CallTimingTests {
    @Test("U9 a join is tried at most three times, 0.25 to 0.5 s apart", arguments: [0.0, 0.5, 1.0])
    func tries(chance: Double) {
        var (run, first) = CallFixture.joining()
        let pause = 0.25 + 0.25 * chance
        var request = first
        for _ in 1...2 {
            #expect(run.send(.joinFailed(request: request, .callNotConnected), chance: chance) == [])
            #expect(abs((run.untilDeadline ?? 0) - pause) < 0.001)
            let actions = run.wait(pause, chance: chance)
            #expect(actions.count == 1)
            let next = actions.request ?? 0
            #expect(next > request)
            request = next
        }
        run.send(.joinFailed(request: request, .callNotConnected), chance: chance)
        #expect(run.phases == [.joining, .left(.callNotConnected)])
    }

    @Test("U9 a late response to an earlier attempt is ignored")
    func overtaken() {
        var (run, first) = CallFixture.joining()
        run.send(.joinFailed(request: first, .callNotConnected))
        let second = run.wait(0.5).request ?? 0
        #expect(run.send(.joinFailed(request: first, .roomFull)) == [])
        let late = CallEvent.joinSucceeded(request: first, mode: .sendAndReceive)
        #expect(run.send(late) == [.abandonJoin(request: first)])
        run.send(.joinSucceeded(request: second, mode: .sendAndReceive))
        #expect(run.phase == .joined)
        #expect(run.send(.joinSucceeded(request: 99, mode: .sendAndReceive)) == [])
    }

    @Test("U9 a join that takes 30 s ends with 53000, or with the error it had last")
    func joinLimit() {
        var (silent, request) = CallFixture.joining()
        silent.wait(29.9)
        #expect(silent.phase == .joining)
        #expect(silent.wait(0.1).effects == [.cancelJoin(request: request)])
        #expect(silent.phase == .left(.callNotConnected))
        let late = CallEvent.joinSucceeded(request: request, mode: .sendAndReceive)
        #expect(silent.send(late) == [.abandonJoin(request: request)])

        var (failing, first) = CallFixture.joining()
        failing.send(.joinFailed(request: first, .internalError))
        failing.wait(30)
        #expect(failing.phase == .left(.internalError))
    }

    @Test("53006 a busy gateway's Retry-After is respected within the join timeout")
    func busy() {
        var (run, request) = CallFixture.joining()
        for _ in 1...5 {
            run.send(.joinFailed(request: request, .serverBusy(retryAfter: 4)))
            #expect(run.wait(4).request == nil)
            request = run.wait(0.5).request ?? 0
        }
        #expect(run.phase == .joining)
        run.send(.joinFailed(request: request, .serverBusy(retryAfter: 10)))
        #expect(run.phase == .left(.serverBusy(retryAfter: 10)))
    }

    @Test("53006 a busy gateway without Retry-After ends the join")
    func busyForGood() {
        var (run, request) = CallFixture.joining()
        run.send(.joinFailed(request: request, .serverBusy(retryAfter: nil)))
        #expect(run.phase == .left(.serverBusy(retryAfter: nil)))
    }

    @Test("U13 tries to reconnect come after 80 ms, each delay half as long again, up to a limit")
    func backOff() {
        var run = CallFixture.reconnecting()
        var delays: [Double] = []
        for _ in 1...12 {
            delays.append(run.untilDeadline ?? 0)
            let actions = run.wait(run.untilDeadline ?? 0)
            guard case .reconnect? = actions.first else { break }
            run.send(.reconnectFailed(.callNotConnected))
        }
        let expected = [0.08, 0.12, 0.18, 0.27, 0.405, 0.6075, 0.911, 1.367, 2.05, 3.075, 4.613, 5]
        #expect(zip(delays, expected).allSatisfy { abs($0 - $1) < 0.002 }, "\(delays)")
    }

    @Test("U13 chance spreads the delays by half", arguments: [(0.0, 0.04), (1.0, 0.12), (-3.0, 0.04), (.nan, 0.04)])
    func jitter(chance: Double, delay: Double) {
        var run = CallFixture.joined()
        run.send(.connectionLost(.signalling), chance: chance)
        #expect(abs((run.untilDeadline ?? 0) - delay) < 0.001)
    }

    @Test("a stream is resumed three times, then rejoined; media is only resumed")
    func methods() {
        func methods(_ loss: ConnectionLoss) -> [CallAction] {
            var run = CallFixture.reconnecting(loss)
            return (1...5).flatMap { _ in
                let actions = run.wait(run.untilDeadline ?? 0)
                run.send(.reconnectFailed(.callNotConnected))
                return actions
            }
        }
        #expect(
            methods(.signalling) == [
                .reconnect(.signalling, .resume, attempt: 1), .reconnect(.signalling, .resume, attempt: 2),
                .reconnect(.signalling, .resume, attempt: 3), .reconnect(.signalling, .rejoin, attempt: 4),
                .reconnect(.signalling, .rejoin, attempt: 5),
            ]
        )
        #expect(methods(.media) == (1...5).map { .reconnect(.media, .resume, attempt: $0) })
    }

    @Test("a stream lost while media is missing reconnects under the first reason and its timeout")
    func bothLost() {
        var run = CallFixture.reconnecting(.media)
        run.wait(20)
        #expect(run.send(.connectionLost(.signalling)) == [])
        #expect(run.wait(1).effects.first == .reconnect(.signalling, .resume, attempt: 1))
        #expect(run.phase == .reconnecting(.media))
        run.wait(9)
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 the call ends with 53405 after 30 s without media")
    func mediaGone() {
        var run = CallFixture.reconnecting(.media)
        run.wait(29.9)
        #expect(run.phase == .reconnecting(.media))
        #expect(run.wait(0.1).effects == [.stopReconnecting, .reset])
        #expect(run.phase == .left(.mediaLost))
        #expect(run.machine.status.error?.code == 53405)
        #expect(
            run.machine.status.error?.solution == "Check the network. Allow media traffic through the firewall"
        )
    }

    @Test("a restored stream keeps the remaining timeout of missing media")
    func mediaStillMissing() {
        var run = CallFixture.reconnecting(.media)
        run.wait(10)
        run.send(.connectionLost(.signalling))
        run.wait(1)
        #expect(run.send(.restored(.resume)) == [.applySnapshot])
        #expect(run.phase == .reconnecting(.media))
        #expect(run.wait(1).effects == [.reconnect(.media, .resume, attempt: 1)])
        run.wait(17)
        #expect(run.phase == .reconnecting(.media))
        run.wait(1)
        #expect(run.phase == .left(.mediaLost))
    }

    @Test("media lost during a stream outage becomes the reason once the stream is restored")
    func mediaLostMeanwhile() {
        var run = CallFixture.reconnecting()
        #expect(run.send(.connectionLost(.media)) == [])
        let isMissing = CallStatus(phase: .reconnecting(.media), wasAttempted: true)
        #expect(run.send(.restored(.rejoin)) == [.applySnapshot, .emit(isMissing)])
        #expect(run.send(.mediaRestored) == [.emit(CallStatus(phase: .joined, wasAttempted: true))])
        #expect(run.send(.mediaRestored) == [])
    }

    @Test("restored media leaves the stream outage with its own reason and timeout")
    func streamStillMissing() {
        var run = CallFixture.reconnecting(.media)
        run.wait(20)
        run.send(.connectionLost(.signalling))
        let isMissing = CallStatus(phase: .reconnecting(.signalling), wasAttempted: true)
        #expect(run.send(.mediaRestored) == [.emit(isMissing)])
        run.wait(29)
        #expect(run.phase == .reconnecting(.signalling))
        run.wait(1)
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 more than ten rejoins in 120 s end the call and delete the participant")
    func rejoins() {
        var run = CallFixture.joined()
        for _ in 1...10 {
            run.send(.connectionLost(.signalling))
            run.send(.restored(.rejoin))
            run.wait(10)
        }
        #expect(run.phase == .joined)
        run.send(.connectionLost(.signalling))
        #expect(run.effects(of: .restored(.rejoin)) == [.stopReconnecting, .reset, .deleteParticipant])
        #expect(run.phase == .left(.callConnectionLost))
    }

    @Test("U15 rare rejoins and resumed streams keep the call")
    func rareRejoins() {
        var run = CallFixture.joined()
        for _ in 1...30 {
            run.send(.connectionLost(.signalling))
            run.send(.restored(.rejoin))
            run.wait(12.1)
            run.send(.connectionLost(.signalling))
            run.send(.restored(.resume))
        }
        #expect(run.phase == .joined)
    }

    @Test("delays grow while connections break at once, and reset after one that lasted")
    func flapping() {
        var run = CallFixture.joined()
        var delays: [Double] = []
        for hold in [0.0, 1, 1, 10, 0] {
            run.wait(hold)
            run.send(.connectionLost(.signalling))
            delays.append(run.untilDeadline ?? 0)
            run.wait(run.untilDeadline ?? 0)
            run.send(.restored(.resume))
        }
        #expect(zip(delays, [0.08, 0.12, 0.18, 0.08, 0.12]).allSatisfy { abs($0 - $1) < 0.001 }, "\(delays)")
    }

    @Test("overdue timeouts are handled before a late event")
    func lateTimer() {
        var (run, request) = CallFixture.joining()
        run.skip(31)
        #expect(
            run.effects(of: .joinSucceeded(request: request, mode: .sendAndReceive))
                == [.cancelJoin(request: request), .abandonJoin(request: request)]
        )
        #expect(run.phases == [.joining, .left(.callNotConnected)])
    }
}
