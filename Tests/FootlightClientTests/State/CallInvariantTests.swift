import Media
import TestSupport
import Testing

@testable import FootlightClient
import Stage

@Suite("Call invariants under random events", .enabled(if: TestRun.isFull))
struct CallInvariantTests {
    /// Random events: half of them results of the machine's actions.
    private struct RandomEvents {
        var generator: SeededGenerator
        var run = CallFixture()
        /// The latest assigned number.
        private var latest = 0

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
        }

        mutating func nextStep(commands: Bool = true) -> [CallAction] {
            if Int.random(in: 0..<3, using: &generator) == 0 {
                let seconds: Double = [0.05, 0.3, 1.0, 8.0, 35.0].randomElement(using: &generator) ?? 1
                if Bool.random(using: &generator) { run.skip(seconds) } else { recordNumbers(run.wait(seconds)) }
            }
            let event = self.event(commands: commands)
            let actions = run.send(event, chance: Double.random(in: 0...1, using: &generator))
            recordNumbers(actions)
            return actions
        }

        private mutating func recordNumbers(_ actions: [CallAction]) {
            latest = max(latest, actions.request ?? 0, actions.ring ?? 0)
        }

        private mutating func event(commands: Bool) -> CallEvent {
            let number = Int.random(in: 0..<4, using: &generator) == 0 ? latest - 1 : latest
            let sid = ["IN1", "IN2"].randomElement(using: &generator) ?? ""
            let room = ["studio", "studio", "other"].randomElement(using: &generator) ?? ""
            let who = ["ann", "bob", "me"].randomElement(using: &generator) ?? ""
            let answer = InvitationAnswer(sid: sid, room: room, identity: who)
            let error =
                [
                    StageError.roomFull, .callNotConnected, .callConnectionLost, .serverBusy(retryAfter: 2),
                    .duplicateIdentity,
                ]
                .randomElement(using: &generator) ?? .roomFull
            let order = CallJoin(room: room, mode: Bool.random(using: &generator) ? .sendAndReceive : .receiveOnly)
            var events: [CallEvent] = [
                .invitationReceived(CallInvitation(sid: sid, room: room, inviter: who)),
                .invitationAccepted(answer), .invitationRejected(answer), .invitationCancelled(sid: sid),
                .invitationMissed(sid: sid), .roomEnded(room: room), .invitationsSent(sids: [sid], ring: number),
                .invitationsRefused(error, ring: number), .acceptConfirmed(sid: sid), .acceptRefused(sid: sid, error),
                .joinSucceeded(request: number, mode: order.mode), .joinSucceeded(request: number, mode: order.mode),
                .joinFailed(request: number, error), .leaveAcknowledged, .networkUnavailable,
                .connectionLost(.signalling), .connectionLost(.media), .restored(.resume), .restored(.rejoin),
                .mediaRestored,
                .reconnectFailed(error), .sessionDisconnected(error), .roomChanged, .timePassed,
            ]
            if commands {
                events += [
                    .enterLobby(LobbyInfo(callID: room)), .join(order), .join(order), .accept, .accept, .reject,
                    .ring(CallRing(join: order, invitees: ["ann", "bob"])), .hangUp,
                ]
            }
            return events.randomElement(using: &generator) ?? .timePassed
        }
    }

    private static let seeds: ClosedRange<UInt64> = 1...300
    private static let steps = 200

    @Test("`initialized` never recurs, and `idle` occurs only before the first attempt")
    func initialized() {
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps { _ = random.nextStep() }
            let states = random.run.emitted.map { $0.callState }
            let first = states.firstIndex { $0 != .initialized } ?? states.count
            #expect(!states[first...].contains(.initialized), "seed \(seed)")
            #expect(random.run.emitted.allSatisfy { $0.phase != .idle || !$0.wasAttempted }, "seed \(seed)")
        }
    }

    @Test("Daily's joined equals Stream's inCall or reconnecting")
    func joinedIsInCall() {
        var phases = 0
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps {
                _ = random.nextStep()
                let status = random.run.machine.status
                let isInCall = [.inCall, .reconnecting].contains(status.callingState)
                #expect((status.callState == .joined) == isInCall, "seed \(seed)")
                phases += isInCall ? 1 : 0
            }
        }
        // The random events reached the phases often enough.
        #expect(phases > 1000)
    }

    @Test("equal statuses are emitted once, and the last emitted one is current")
    func emissions() {
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps { _ = random.nextStep() }
            let emitted = random.run.emitted
            #expect(zip(emitted, emitted.dropFirst()).allSatisfy { $0 != $1 }, "seed \(seed)")
            #expect((emitted.last ?? CallStatus()) == random.run.machine.status, "seed \(seed)")
        }
    }

    @Test("an attempt ends once with at most one error, and an unrequested end has one")
    func oneError() {
        var errors = 0
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps { _ = random.nextStep() }
            var isOpen = false
            var isLeaving = false
            for phase in random.run.phases {
                switch phase {
                case .incoming, .outgoing, .joining, .joined, .reconnecting: isOpen = true
                case .leaving: isLeaving = true
                case .left(let error):
                    if let error {
                        #expect(isOpen, "seed \(seed): \(error.code) belongs to no attempt")
                        #expect(!isLeaving, "seed \(seed): \(error.code) after a wish to leave")
                        errors += 1
                    }
                    (isOpen, isLeaving) = (false, false)
                case .idle, .lobby: (isOpen, isLeaving) = (false, false)
                }
            }
        }
        #expect(errors > 1000)
    }

    @Test("a join or session that ends unrequested has an error")
    func noSilentEnd() {
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps { _ = random.nextStep() }
            for (before, after) in zip(random.run.phases, random.run.phases.dropFirst()) {
                switch before {
                case .joining, .joined, .reconnecting: #expect(after != .left(nil), "seed \(seed)")
                default: break
                }
            }
        }
    }

    @Test("hanging up ends the call within 10 s from any phase")
    func leavingEnds() {
        var reached: [String: Int] = [:]
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps {
                _ = random.nextStep()
                reached["\(random.run.machine.status.meetingState as Any)", default: 0] += 1
                var silent = random.run
                silent.send(.hangUp)
                silent.wait(10)
                #expect(Self.isOut(silent.phase), "seed \(seed)")
                #expect(silent.machine.deadline == nil, "seed \(seed)")
            }
            // With further events the call may end and ring again within one step, so the emitted phases count.
            var noisy = random
            let known = noisy.run.emitted.count
            let wasOut = Self.isOut(noisy.run.phase)
            _ = noisy.run.send(.hangUp)
            let end = noisy.run.now.advanced(seconds: 10)
            while noisy.run.now < end {
                _ = noisy.nextStep(commands: false)
                noisy.run.skip(0.01)
            }
            _ = noisy.run.send(.timePassed)
            #expect(wasOut || noisy.run.phases.dropFirst(known).contains(where: Self.isOut), "seed \(seed)")
        }
        #expect(reached.count == 6, "\(reached)")
    }

    @Test("S8 a join that was hung up never results in a joined call")
    func hungUpJoin() {
        var times = 0
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps {
                _ = random.nextStep()
                guard random.run.phase == .joining else { continue }
                times += 1
                var after = random
                let known = after.run.emitted.count
                _ = after.run.send(.hangUp)
                for _ in 0..<40 {
                    _ = after.nextStep(commands: false)
                    #expect(after.run.machine.status.callingState != .inCall, "seed \(seed)")
                }
                #expect(!after.run.phases.dropFirst(known).contains(.joined), "seed \(seed)")
            }
        }
        #expect(times > 1000)
    }

    @Test("the deadline is in the future after every event")
    func deadlines() {
        for seed in Self.seeds {
            var random = RandomEvents(seed: seed)
            for _ in 0..<Self.steps {
                _ = random.nextStep()
                if let deadline = random.run.machine.deadline { #expect(deadline > random.run.now, "seed \(seed)") }
            }
        }
    }

    private static func isOut(_ phase: CallPhase) -> Bool {
        switch phase {
        case .idle, .left: true
        default: false
        }
    }
}
