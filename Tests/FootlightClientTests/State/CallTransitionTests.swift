import Testing

@testable import FootlightClient
import Stage

@Suite("Call transitions")
struct CallTransitionTests {
    private let lobby = LobbyInfo(callID: "studio", participants: ["ann"])

    @Test("U1 enters the lobby before or after a call, and fetches the room")
    func enterLobby() {
        for start in [CallFixture(), .left(), .left(.roomFull)] {
            var run = start
            #expect(run.effects(of: .enterLobby(lobby)) == [.fetchRoom(lobby)])
            #expect(run.phase == .lobby(lobby))
        }
        for start in [CallFixture.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.send(.enterLobby(lobby)) == [])
        }
    }

    @Test("U2 hanging up in the lobby restores the previous state")
    func leaveLobby() {
        var fresh = CallFixture()
        fresh.send(.enterLobby(lobby))
        fresh.send(.hangUp)
        #expect(fresh.phase == .idle)
        var experienced = CallFixture.left(.roomFull)
        experienced.send(.enterLobby(lobby))
        experienced.send(.hangUp)
        #expect(experienced.phase == .left(nil))
    }

    @Test("U3 an invitation rings before or after a call until its timeout, except the own one")
    func invited() {
        for start in [CallFixture(), .left(.roomFull)] {
            var run = start
            run.send(.invitationReceived(CallFixture.invitation))
            #expect(run.phase == .incoming(CallFixture.invitation))
            #expect(run.untilDeadline == 30)
        }
        var own = CallFixture(identity: "ann")
        #expect(own.send(.invitationReceived(CallFixture.invitation)) == [])
        var inLobby = CallFixture()
        inLobby.send(.enterLobby(lobby))
        #expect(inLobby.send(.invitationReceived(CallFixture.invitation)) == [])
        var ringing = CallFixture.incoming()
        let second = CallInvitation(sid: "IN2", room: "other", inviter: "bob")
        #expect(ringing.send(.invitationReceived(second)) == [])
    }

    @Test("U4 accepting joins with the invitation once the gateway confirms")
    func accept() {
        var run = CallFixture.incoming()
        #expect(run.send(.accept) == [.acceptInvitation(sid: "IN1")])
        #expect(run.send(.accept) == [])
        #expect(run.send(.acceptConfirmed(sid: "IN9")) == [])
        // The own acceptance is delivered as an event; it is not another device's.
        #expect(run.send(.invitationAccepted(CallFixture.answer("me"))) == [])
        let join = CallJoin(room: "studio", mode: .sendAndReceive, invitation: "IN1")
        #expect(run.effects(of: .acceptConfirmed(sid: "IN1")) == [.sendJoin(join, request: 1)])
        #expect(run.phase == .joining)
    }

    @Test("U4 a refused or unanswered acceptance ends with its error")
    func acceptFails() {
        var refused = CallFixture.incoming()
        refused.send(.accept)
        #expect(refused.effects(of: .acceptRefused(sid: "IN1", .roomNotFound)) == [])
        #expect(refused.phase == .left(.roomNotFound))
        var unanswered = CallFixture.incoming()
        unanswered.wait(29)
        unanswered.send(.accept)
        unanswered.wait(9.9)
        #expect(unanswered.phase == .incoming(CallFixture.invitation))
        unanswered.wait(0.1)
        #expect(unanswered.phase == .left(.callNotConnected))
        #expect(unanswered.send(.acceptConfirmed(sid: "IN1")) == [])
    }

    @Test("U5 ringing stops when rejected, cancelled, missed, ended or answered elsewhere")
    func ringingEnds() {
        let ends: [CallEvent] = [
            .reject, .invitationCancelled(sid: "IN1"), .invitationMissed(sid: "IN1"), .roomEnded(room: "studio"),
            .invitationAccepted(CallFixture.answer("me")), .invitationRejected(CallFixture.answer("me")),
        ]
        for event in ends {
            var run = CallFixture.incoming()
            let expected: [CallAction] = event == .reject ? [.rejectInvitation(sid: "IN1")] : []
            #expect(run.effects(of: event) == expected, "\(event)")
            #expect(run.phase == .idle, "\(event)")
        }
        var expired = CallFixture.incoming()
        expired.wait(29.9)
        #expect(expired.phase == .incoming(CallFixture.invitation))
        expired.wait(0.1)
        #expect(expired.phase == .idle)
    }

    @Test("U5 events of other invitations or invitees do not stop the ringing")
    func ringsOn() {
        let others: [CallEvent] = [
            .invitationCancelled(sid: "IN2"), .invitationMissed(sid: "IN2"), .roomEnded(room: "other"),
            .invitationAccepted(CallFixture.answer("bob")), .invitationRejected(CallFixture.answer("bob")),
            .invitationAccepted(CallFixture.answer("me", sid: "IN2")),
        ]
        for event in others {
            var run = CallFixture.incoming()
            #expect(run.send(event) == [], "\(event)")
        }
    }

    @Test("U6 an outgoing call starts before or after a call or in the lobby, and times out")
    func ring() {
        var inLobby = CallFixture()
        inLobby.send(.enterLobby(lobby))
        for start in [CallFixture(), .left(), inLobby] {
            var run = start
            guard case .sendInvitations(CallFixture.ring, _)? = run.effects(of: .ring(CallFixture.ring)).first else {
                Issue.record("no invitations")
                continue
            }
            #expect(run.phase == .outgoing(CallFixture.ring))
            #expect(run.untilDeadline == 30)
        }
        for start in [CallFixture.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.send(.ring(CallFixture.ring)) == [])
        }
    }

    @Test("U6 invitations the gateway refuses end with its error")
    func ringRefused() {
        var run = CallFixture()
        let ring = run.send(.ring(CallFixture.ring)).ring ?? 0
        #expect(run.send(.invitationsRefused(.roomNotFound, ring: ring + 1)) == [])
        run.send(.invitationsRefused(.roomNotFound, ring: ring))
        #expect(run.phase == .left(.roomNotFound))
    }

    @Test("U7 the first acceptance in the same room joins")
    func ringAccepted() {
        var run = CallFixture.outgoing()
        #expect(run.send(.invitationAccepted(CallFixture.answer("ann", room: "other"))) == [])
        #expect(run.send(.invitationAccepted(CallFixture.answer("somebody"))) == [])
        run.send(.invitationRejected(CallFixture.answer("ann")))
        let actions = run.effects(of: .invitationAccepted(CallFixture.answer("bob")))
        #expect(actions == [.sendJoin(CallFixture.join, request: 2)])
        #expect(run.phase == .joining)
    }

    @Test("U7 an acceptance may arrive before the invitations are confirmed")
    func ringAcceptedEarly() {
        var run = CallFixture()
        let ring = run.send(.ring(CallFixture.ring)).ring ?? 0
        run.send(.invitationAccepted(CallFixture.answer("bob")))
        #expect(run.send(.invitationsSent(sids: ["IN1", "IN2"], ring: ring)) == [])
        #expect(run.phase == .joining)
    }

    @Test("U8 an outgoing call that is hung up, rejected, unanswered or without a room restores the previous state")
    func ringEnds() {
        var hungUp = CallFixture.outgoing()
        #expect(hungUp.effects(of: .hangUp) == [.cancelInvitations(sids: ["IN1", "IN2"])])
        #expect(hungUp.phase == .idle)

        var rejected = CallFixture.outgoing()
        rejected.send(.invitationRejected(CallFixture.answer("ann")))
        rejected.send(.invitationRejected(CallFixture.answer("ann")))
        #expect(rejected.phase == .outgoing(CallFixture.ring))
        #expect(rejected.effects(of: .invitationRejected(CallFixture.answer("bob"))) == [])
        #expect(rejected.phase == .idle)

        var unanswered = CallFixture.outgoing()
        #expect(unanswered.wait(30).effects == [.cancelInvitations(sids: ["IN1", "IN2"])])
        #expect(unanswered.phase == .idle)

        var missed = CallFixture.outgoing()
        missed.send(.invitationMissed(sid: "IN2"))
        #expect(missed.phase == .idle)

        var roomless = CallFixture.outgoing()
        #expect(roomless.send(.roomEnded(room: "other")) == [])
        #expect(roomless.effects(of: .roomEnded(room: "studio")) == [])
        #expect(roomless.phase == .idle)
    }

    @Test("U8 invitations confirmed after hanging up are cancelled")
    func lateInvitations() {
        var run = CallFixture()
        let ring = run.send(.ring(CallFixture.ring)).ring ?? 0
        #expect(run.effects(of: .hangUp) == [])
        #expect(run.send(.invitationsSent(sids: ["IN1"], ring: ring)) == [.cancelInvitations(sids: ["IN1"])])
        #expect(run.send(.invitationsSent(sids: ["IN1"], ring: 77)) == [])
    }

    @Test("U9 a join is emitted at once, and a second one is ignored")
    func join() {
        var inLobby = CallFixture()
        inLobby.send(.enterLobby(lobby))
        for start in [CallFixture(), .left(), .left(.roomFull), inLobby] {
            var run = start
            let actions = run.send(.join(CallFixture.join))
            #expect(actions.first == .emit(CallStatus(phase: .joining, wasAttempted: true)))
            #expect(actions.request != nil)
            #expect(actions.count == 2)
        }
        for start in [CallFixture.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.send(.join(CallFixture.join)) == [])
        }
    }

    @Test("U10 a successful join applies the snapshot first, and a host then publishes")
    func joined() {
        var (run, request) = CallFixture.joining()
        #expect(
            run.send(.joinSucceeded(request: request, mode: .sendAndReceive))
                == [.applySnapshot, .emit(CallStatus(phase: .joined, wasAttempted: true)), .publishTracks]
        )
        #expect(run.send(.joinSucceeded(request: request, mode: .sendAndReceive)) == [])
        var (watcher, number) = CallFixture.joining(CallFixture.watchOnly)
        #expect(watcher.effects(of: .joinSucceeded(request: number, mode: .receiveOnly)) == [.applySnapshot])
    }

    @Test("U11 a join that is refused ends with the error")
    func refused() {
        var (run, request) = CallFixture.joining()
        #expect(run.effects(of: .joinFailed(request: request, .roomFull)) == [])
        #expect(run.phase == .left(.roomFull))
        #expect(run.machine.status.error == .roomFull)
    }

    @Test("U12 a join that is hung up is cancelled, and abandoned if it succeeds")
    func cancelled() {
        var (run, request) = CallFixture.joining()
        #expect(run.effects(of: .hangUp) == [.cancelJoin(request: request)])
        #expect(run.phase == .leaving)
        let late = CallEvent.joinSucceeded(request: request, mode: .sendAndReceive)
        #expect(run.send(late) == [.abandonJoin(request: request)])
        #expect(run.phase == .leaving)
        run.send(.leaveAcknowledged)
        #expect(run.phase == .left(nil))

        var (prompt, number) = CallFixture.joining()
        prompt.send(.hangUp)
        prompt.send(.joinFailed(request: number, .callNotConnected))
        #expect(prompt.phase == .left(nil))

        var (slow, last) = CallFixture.joining()
        slow.send(.hangUp)
        slow.wait(10)
        #expect(slow.phase == .left(nil))
        #expect(slow.send(.joinSucceeded(request: last, mode: .sendAndReceive)) == [.abandonJoin(request: last)])
        #expect(!slow.phases.contains(.joined))
    }

    @Test("U12 hanging up between two attempts ends at once")
    func cancelledBetweenTries() {
        var (run, request) = CallFixture.joining()
        run.send(.joinFailed(request: request, .callNotConnected))
        #expect(run.effects(of: .hangUp) == [.reset])
        #expect(run.phases == [.joining, .leaving, .left(nil)])
    }

    @Test("U13 T16 a lost connection is emitted with its reason", arguments: [ConnectionLoss.signalling, .media])
    func lost(loss: ConnectionLoss) {
        var run = CallFixture.joined()
        run.send(.connectionLost(loss))
        #expect(run.phase == .reconnecting(loss))
        #expect(loss.rawValue == (loss == .media ? 53405 : 53001))
        #expect(run.send(.connectionLost(loss)) == [])
    }

    @Test("U14 a restored connection applies the snapshot and is emitted")
    func restored() {
        for method in [ReconnectMethod.resume, .rejoin] {
            var run = CallFixture.reconnecting()
            #expect(
                run.send(.restored(method)) == [.applySnapshot, .emit(CallStatus(phase: .joined, wasAttempted: true))]
            )
        }
    }

    @Test(
        "U15 a permanent error of the gateway ends the call",
        arguments: [StageError.roomNotFound, .duplicateIdentity, .roomCompleted, .tokenExpired]
    )
    func endedWhileReconnecting(error: StageError) {
        var run = CallFixture.reconnecting()
        run.wait(0.08)
        #expect(run.effects(of: .reconnectFailed(error)) == [.stopReconnecting, .reset])
        #expect(run.phase == .left(error))
        var kicked = CallFixture.reconnecting(.media)
        kicked.send(.sessionDisconnected(error))
        #expect(kicked.phase == .left(error))
    }

    @Test("U15 after 30 s without a connection the call is over with 53001")
    func abandoned() {
        var run = CallFixture.reconnecting()
        run.wait(29.9)
        #expect(run.phase == .reconnecting(.signalling))
        #expect(run.wait(0.1).effects == [.stopReconnecting, .reset])
        #expect(run.phase == .left(.callConnectionLost))
        #expect(run.machine.status.error?.code == 53001)
    }

    @Test("U16 leaving in a call, or while it reconnects, deletes the participant and stops every try")
    func leave() {
        var run = CallFixture.joined()
        #expect(run.effects(of: .hangUp) == [.deleteParticipant])
        #expect(run.phase == .leaving)
        var broken = CallFixture.reconnecting()
        #expect(broken.effects(of: .hangUp) == [.stopReconnecting, .deleteParticipant])
        #expect(broken.wait(9).effects == [])
        #expect(broken.send(.restored(.resume)) == [])
    }

    @Test("U17 leaving ends with the response, after 10 s, or at once without a network")
    func leaveEnds() {
        for event in [CallEvent.leaveAcknowledged, .networkUnavailable] {
            var run = CallFixture.leaving()
            #expect(run.effects(of: event) == [.reset])
            #expect(run.phase == .left(nil))
        }
        var silent = CallFixture.leaving()
        silent.wait(9.9)
        #expect(silent.phase == .leaving)
        #expect(silent.wait(0.1).effects == [.reset])
        #expect(silent.phase == .left(nil))
    }

    @Test("U18 a disconnect by the gateway ends the call without reconnecting")
    func disconnected() {
        for error in [StageError.roomCompleted, .duplicateIdentity, .participantNotFound] {
            var run = CallFixture.joined()
            #expect(run.effects(of: .sessionDisconnected(error)) == [.reset])
            #expect(run.phase == .left(error))
            #expect(run.send(.connectionLost(.signalling)) == [])
            #expect(run.machine.deadline == nil)
        }
    }

    @Test("U18 a slow reader that was disconnected reconnects")
    func tooSlow() {
        var run = CallFixture.joined()
        run.send(.sessionDisconnected(.readerTooSlow))
        #expect(run.phase == .reconnecting(.signalling))
        #expect(abs((run.untilDeadline ?? 0) - 0.08) < 0.001)
    }

    @Test("U19 room changes do not change the call")
    func roomChanges() {
        for start in [CallFixture.joined(), .reconnecting()] {
            var run = start
            #expect(run.send(.roomChanged) == [])
        }
    }

    @Test("U20 an invitation to the stage while watching is shown, and accepting it changes the mode")
    func stageInvitation() {
        var run = CallFixture.joined(CallFixture.watchOnly)
        #expect(run.send(.invitationReceived(CallFixture.invitation)) == [.stageInvitation(CallFixture.invitation)])
        #expect(run.machine.stageInvitation == CallFixture.invitation)
        #expect(run.send(.accept) == [.acceptInvitation(sid: "IN1")])
        #expect(
            run.send(.acceptConfirmed(sid: "IN1"))
                == [.stageInvitation(nil), .changeMode(.sendAndReceive, invitation: "IN1")]
        )
        #expect(run.phase == .joined)
    }

    @Test("U20 an invitation to the stage ends when rejected, cancelled, missed, answered elsewhere or expired")
    func stageInvitationEnds() {
        let ends: [CallEvent] = [
            .reject, .invitationCancelled(sid: "IN1"), .invitationMissed(sid: "IN1"),
            .invitationAccepted(CallFixture.answer("me")),
        ]
        for event in ends {
            var run = CallFixture.joined(CallFixture.watchOnly)
            run.send(.invitationReceived(CallFixture.invitation))
            #expect(run.send(event).first == .stageInvitation(nil), "\(event)")
            #expect(run.phase == .joined)
        }
        var old = CallFixture.joined(CallFixture.watchOnly)
        old.send(.invitationReceived(CallFixture.invitation))
        #expect(old.wait(30) == [.stageInvitation(nil)])
        var refused = CallFixture.joined(CallFixture.watchOnly)
        refused.send(.invitationReceived(CallFixture.invitation))
        refused.send(.accept)
        #expect(
            refused.send(.acceptRefused(sid: "IN1", .tooManyHosts)) == [.stageInvitation(nil), .report(.tooManyHosts)]
        )
        #expect(refused.phase == .joined)
    }

    @Test("U20 an invitation to another room is ignored during a call, and leaving drops the own one")
    func otherRoom() {
        var run = CallFixture.joined(CallFixture.watchOnly)
        let other = CallInvitation(sid: "IN2", room: "other", inviter: "ann")
        #expect(run.send(.invitationReceived(other)) == [])
        run.send(.invitationReceived(CallFixture.invitation))
        #expect(run.effects(of: .hangUp) == [.stageInvitation(nil), .deleteParticipant])
        #expect(run.machine.stageInvitation == nil)
    }
}
