import Media
import Testing

@testable import Stage

@Suite("The laws of a call hold for whatever happens")
struct CallLawTests {
    /// Events by chance: half of them answers to what the machine asked for, half anything at all.
    private struct Chaos {
        var generator: SeededGenerator
        var run = CallRun()
        /// The latest number given out, and a few before it.
        private var latest = 0

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
        }

        mutating func step(wishes: Bool = true) -> [CallAction] {
            if Int.random(in: 0..<3, using: &generator) == 0 {
                let seconds: Double = [0.05, 0.3, 1.0, 8.0, 35.0].randomElement(using: &generator) ?? 1
                if Bool.random(using: &generator) { run.skip(seconds) } else { note(run.wait(seconds)) }
            }
            let event = self.event(wishes: wishes)
            let actions = run.say(event, chance: Double.random(in: 0...1, using: &generator))
            note(actions)
            return actions
        }

        private mutating func note(_ actions: [CallAction]) {
            latest = max(latest, actions.request ?? 0, actions.ring ?? 0)
        }

        private mutating func event(wishes: Bool) -> CallEvent {
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
            if wishes {
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

    @Test("Once left behind, initialized never comes again; idle is only before the first attempt")
    func initialized() {
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps { _ = chaos.step() }
            let states = chaos.run.emitted.map { $0.callState }
            let first = states.firstIndex { $0 != .initialized } ?? states.count
            #expect(!states[first...].contains(.initialized), "seed \(seed)")
            #expect(chaos.run.emitted.allSatisfy { $0.phase != .idle || !$0.wasAttempted }, "seed \(seed)")
        }
    }

    @Test("Joined in Daily's words is in call or reconnecting in Stream's, and nothing else is")
    func joinedIsInCall() {
        var phases = 0
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps {
                _ = chaos.step()
                let status = chaos.run.machine.status
                let isInCall = [.inCall, .reconnecting].contains(status.callingState)
                #expect((status.callState == .joined) == isInCall, "seed \(seed)")
                phases += isInCall ? 1 : 0
            }
        }
        // Chance led there often enough for the law to mean something.
        #expect(phases > 1000)
    }

    @Test("Equal values are emitted once, and what is emitted last is what holds")
    func emissions() {
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps { _ = chaos.step() }
            let emitted = chaos.run.emitted
            #expect(zip(emitted, emitted.dropFirst()).allSatisfy { $0 != $1 }, "seed \(seed)")
            #expect((emitted.last ?? CallStatus()) == chaos.run.machine.status, "seed \(seed)")
        }
    }

    @Test("An attempt ends once, and with one error at most; what ends by itself has one")
    func oneError() {
        var errors = 0
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps { _ = chaos.step() }
            var isOpen = false
            var isLeaving = false
            for phase in chaos.run.phases {
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

    @Test("What was in the room or on its way and ended without a wish has an error")
    func noSilentEnd() {
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps { _ = chaos.step() }
            for (before, after) in zip(chaos.run.phases, chaos.run.phases.dropFirst()) {
                switch before {
                case .joining, .joined, .reconnecting: #expect(after != .left(nil), "seed \(seed)")
                default: break
                }
            }
        }
    }

    @Test("Hanging up leads out within 10 s from any phase, whatever else happens")
    func leavingEnds() {
        var reached: [String: Int] = [:]
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps {
                _ = chaos.step()
                reached["\(chaos.run.machine.status.meetingState as Any)", default: 0] += 1
                var silent = chaos.run
                silent.say(.hangUp)
                silent.wait(10)
                #expect(Self.isOut(silent.phase), "seed \(seed)")
                #expect(silent.machine.deadline == nil, "seed \(seed)")
            }
            // With noise it may be out and ringing again within one step, so what was emitted counts.
            var noisy = chaos
            let known = noisy.run.emitted.count
            let wasOut = Self.isOut(noisy.run.phase)
            _ = noisy.run.say(.hangUp)
            let end = noisy.run.now.advanced(seconds: 10)
            while noisy.run.now < end {
                _ = noisy.step(wishes: false)
                noisy.run.skip(0.01)
            }
            _ = noisy.run.say(.timePassed)
            #expect(wasOut || noisy.run.phases.dropFirst(known).contains(where: Self.isOut), "seed \(seed)")
        }
        #expect(reached.count == 6, "\(reached)")
    }

    @Test("S8 a join that was hung up never leads into the call")
    func hungUpJoin() {
        var times = 0
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps {
                _ = chaos.step()
                guard chaos.run.phase == .joining else { continue }
                times += 1
                var after = chaos
                let known = after.run.emitted.count
                _ = after.run.say(.hangUp)
                for _ in 0..<40 {
                    _ = after.step(wishes: false)
                    #expect(after.run.machine.status.callingState != .inCall, "seed \(seed)")
                }
                #expect(!after.run.phases.dropFirst(known).contains(.joined), "seed \(seed)")
            }
        }
        #expect(times > 1000)
    }

    @Test("After every event the next deadline lies ahead")
    func deadlines() {
        for seed in Self.seeds {
            var chaos = Chaos(seed: seed)
            for _ in 0..<Self.steps {
                _ = chaos.step()
                if let deadline = chaos.run.machine.deadline { #expect(deadline > chaos.run.now, "seed \(seed)") }
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
