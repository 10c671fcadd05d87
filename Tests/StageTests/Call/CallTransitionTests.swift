import Testing

@testable import Stage

@Suite("A call goes from phase to phase")
struct CallTransitionTests {
    private let lobby = LobbyInfo(callID: "studio", participants: ["ann"])

    @Test("U1 the lobby is entered from before or after a call, and the room is fetched")
    func enterLobby() {
        for start in [CallRun(), .left(), .left(.roomFull)] {
            var run = start
            #expect(run.effects(of: .enterLobby(lobby)) == [.fetchRoom(lobby)])
            #expect(run.phase == .lobby(lobby))
        }
        for start in [CallRun.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.say(.enterLobby(lobby)) == [])
        }
    }

    @Test("U2 hanging up in the lobby goes back to where one came from")
    func leaveLobby() {
        var fresh = CallRun()
        fresh.say(.enterLobby(lobby))
        fresh.say(.hangUp)
        #expect(fresh.phase == .idle)
        var experienced = CallRun.left(.roomFull)
        experienced.say(.enterLobby(lobby))
        experienced.say(.hangUp)
        #expect(experienced.phase == .left(nil))
    }

    @Test("U3 an invitation rings before or after a call, for its time, unless it is one's own")
    func invited() {
        for start in [CallRun(), .left(.roomFull)] {
            var run = start
            run.say(.invitationReceived(CallRun.invitation))
            #expect(run.phase == .incoming(CallRun.invitation))
            #expect(run.untilDeadline == 30)
        }
        var own = CallRun(identity: "ann")
        #expect(own.say(.invitationReceived(CallRun.invitation)) == [])
        var inLobby = CallRun()
        inLobby.say(.enterLobby(lobby))
        #expect(inLobby.say(.invitationReceived(CallRun.invitation)) == [])
        var ringing = CallRun.incoming()
        let second = CallInvitation(sid: "IN2", room: "other", inviter: "bob")
        #expect(ringing.say(.invitationReceived(second)) == [])
    }

    @Test("U4 accepting joins with the invitation once the gateway has agreed")
    func accept() {
        var run = CallRun.incoming()
        #expect(run.say(.accept) == [.acceptInvitation(sid: "IN1")])
        #expect(run.say(.accept) == [])
        #expect(run.say(.acceptConfirmed(sid: "IN9")) == [])
        // The yes comes back as news; it is not another device's.
        #expect(run.say(.invitationAccepted(CallRun.answer("me"))) == [])
        let join = CallJoin(room: "studio", mode: .sendAndReceive, invitation: "IN1")
        #expect(run.effects(of: .acceptConfirmed(sid: "IN1")) == [.sendJoin(join, request: 1)])
        #expect(run.phase == .joining)
    }

    @Test("U4 a refused or unanswered acceptance ends with its error")
    func acceptFails() {
        var refused = CallRun.incoming()
        refused.say(.accept)
        #expect(refused.effects(of: .acceptRefused(sid: "IN1", .roomNotFound)) == [])
        #expect(refused.phase == .left(.roomNotFound))
        var unanswered = CallRun.incoming()
        unanswered.wait(29)
        unanswered.say(.accept)
        unanswered.wait(9.9)
        #expect(unanswered.phase == .incoming(CallRun.invitation))
        unanswered.wait(0.1)
        #expect(unanswered.phase == .left(.callNotConnected))
        #expect(unanswered.say(.acceptConfirmed(sid: "IN1")) == [])
    }

    @Test("U5 a call that is rejected, cancelled, missed, over or taken elsewhere rings no more")
    func ringingEnds() {
        let ends: [CallEvent] = [
            .reject, .invitationCancelled(sid: "IN1"), .invitationMissed(sid: "IN1"), .roomEnded(room: "studio"),
            .invitationAccepted(CallRun.answer("me")), .invitationRejected(CallRun.answer("me")),
        ]
        for event in ends {
            var run = CallRun.incoming()
            let expected: [CallAction] = event == .reject ? [.rejectInvitation(sid: "IN1")] : []
            #expect(run.effects(of: event) == expected, "\(event)")
            #expect(run.phase == .idle, "\(event)")
        }
        var expired = CallRun.incoming()
        expired.wait(29.9)
        #expect(expired.phase == .incoming(CallRun.invitation))
        expired.wait(0.1)
        #expect(expired.phase == .idle)
    }

    @Test("U5 news of another invitation, or of another invitee, does not stop the ringing")
    func ringsOn() {
        let others: [CallEvent] = [
            .invitationCancelled(sid: "IN2"), .invitationMissed(sid: "IN2"), .roomEnded(room: "other"),
            .invitationAccepted(CallRun.answer("bob")), .invitationRejected(CallRun.answer("bob")),
            .invitationAccepted(CallRun.answer("me", sid: "IN2")),
        ]
        for event in others {
            var run = CallRun.incoming()
            #expect(run.say(event) == [], "\(event)")
        }
    }

    @Test("U6 a ring goes out from before or after a call, or from the lobby, for its time")
    func ring() {
        var inLobby = CallRun()
        inLobby.say(.enterLobby(lobby))
        for start in [CallRun(), .left(), inLobby] {
            var run = start
            guard case .sendInvitations(CallRun.ring, _)? = run.effects(of: .ring(CallRun.ring)).first else {
                Issue.record("no invitations")
                continue
            }
            #expect(run.phase == .outgoing(CallRun.ring))
            #expect(run.untilDeadline == 30)
        }
        for start in [CallRun.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.say(.ring(CallRun.ring)) == [])
        }
    }

    @Test("U6 invitations the gateway refuses end with its error")
    func ringRefused() {
        var run = CallRun()
        let ring = run.say(.ring(CallRun.ring)).ring ?? 0
        #expect(run.say(.invitationsRefused(.roomNotFound, ring: ring + 1)) == [])
        run.say(.invitationsRefused(.roomNotFound, ring: ring))
        #expect(run.phase == .left(.roomNotFound))
    }

    @Test("U7 the first acceptance in the same room joins")
    func ringAccepted() {
        var run = CallRun.outgoing()
        #expect(run.say(.invitationAccepted(CallRun.answer("ann", room: "other"))) == [])
        #expect(run.say(.invitationAccepted(CallRun.answer("somebody"))) == [])
        run.say(.invitationRejected(CallRun.answer("ann")))
        let actions = run.effects(of: .invitationAccepted(CallRun.answer("bob")))
        #expect(actions == [.sendJoin(CallRun.join, request: 2)])
        #expect(run.phase == .joining)
    }

    @Test("U7 an acceptance may be news before the invitations are known to be sent")
    func ringAcceptedEarly() {
        var run = CallRun()
        let ring = run.say(.ring(CallRun.ring)).ring ?? 0
        run.say(.invitationAccepted(CallRun.answer("bob")))
        #expect(run.say(.invitationsSent(sids: ["IN1", "IN2"], ring: ring)) == [])
        #expect(run.phase == .joining)
    }

    @Test("U8 a ring that is hung up, rejected by all, unanswered or without a room ends where it began")
    func ringEnds() {
        var hungUp = CallRun.outgoing()
        #expect(hungUp.effects(of: .hangUp) == [.cancelInvitations(sids: ["IN1", "IN2"])])
        #expect(hungUp.phase == .idle)

        var rejected = CallRun.outgoing()
        rejected.say(.invitationRejected(CallRun.answer("ann")))
        rejected.say(.invitationRejected(CallRun.answer("ann")))
        #expect(rejected.phase == .outgoing(CallRun.ring))
        #expect(rejected.effects(of: .invitationRejected(CallRun.answer("bob"))) == [])
        #expect(rejected.phase == .idle)

        var unanswered = CallRun.outgoing()
        #expect(unanswered.wait(30).effects == [.cancelInvitations(sids: ["IN1", "IN2"])])
        #expect(unanswered.phase == .idle)

        var missed = CallRun.outgoing()
        missed.say(.invitationMissed(sid: "IN2"))
        #expect(missed.phase == .idle)

        var roomless = CallRun.outgoing()
        #expect(roomless.say(.roomEnded(room: "other")) == [])
        #expect(roomless.effects(of: .roomEnded(room: "studio")) == [])
        #expect(roomless.phase == .idle)
    }

    @Test("U8 invitations that went out after all are cancelled")
    func lateInvitations() {
        var run = CallRun()
        let ring = run.say(.ring(CallRun.ring)).ring ?? 0
        #expect(run.effects(of: .hangUp) == [])
        #expect(run.say(.invitationsSent(sids: ["IN1"], ring: ring)) == [.cancelInvitations(sids: ["IN1"])])
        #expect(run.say(.invitationsSent(sids: ["IN1"], ring: 77)) == [])
    }

    @Test("U9 a join is told at once, and a second one is ignored")
    func join() {
        var inLobby = CallRun()
        inLobby.say(.enterLobby(lobby))
        for start in [CallRun(), .left(), .left(.roomFull), inLobby] {
            var run = start
            let actions = run.say(.join(CallRun.join))
            #expect(actions.first == .emit(CallStatus(phase: .joining, wasAttempted: true)))
            #expect(actions.request != nil)
            #expect(actions.count == 2)
        }
        for start in [CallRun.incoming(), .outgoing(), .joining().run, .joined(), .reconnecting(), .leaving()] {
            var run = start
            #expect(run.say(.join(CallRun.join)) == [])
        }
    }

    @Test("U10 a join that succeeds shows the room first, and a host then publishes")
    func joined() {
        var (run, request) = CallRun.joining()
        #expect(
            run.say(.joinSucceeded(request: request, mode: .sendAndReceive))
                == [.applySnapshot, .emit(CallStatus(phase: .joined, wasAttempted: true)), .publishTracks]
        )
        #expect(run.say(.joinSucceeded(request: request, mode: .sendAndReceive)) == [])
        var (watcher, number) = CallRun.joining(CallRun.watch)
        #expect(watcher.effects(of: .joinSucceeded(request: number, mode: .receiveOnly)) == [.applySnapshot])
    }

    @Test("U11 a join that is refused ends with the error")
    func refused() {
        var (run, request) = CallRun.joining()
        #expect(run.effects(of: .joinFailed(request: request, .roomFull)) == [])
        #expect(run.phase == .left(.roomFull))
        #expect(run.machine.status.error == .roomFull)
    }

    @Test("U12 a join that is hung up is cancelled; should it succeed, it is taken back, and one never is in")
    func cancelled() {
        var (run, request) = CallRun.joining()
        #expect(run.effects(of: .hangUp) == [.cancelJoin(request: request)])
        #expect(run.phase == .leaving)
        let late = CallEvent.joinSucceeded(request: request, mode: .sendAndReceive)
        #expect(run.say(late) == [.abandonJoin(request: request)])
        #expect(run.phase == .leaving)
        run.say(.leaveAcknowledged)
        #expect(run.phase == .left(nil))

        var (prompt, number) = CallRun.joining()
        prompt.say(.hangUp)
        prompt.say(.joinFailed(request: number, .callNotConnected))
        #expect(prompt.phase == .left(nil))

        var (slow, last) = CallRun.joining()
        slow.say(.hangUp)
        slow.wait(10)
        #expect(slow.phase == .left(nil))
        #expect(slow.say(.joinSucceeded(request: last, mode: .sendAndReceive)) == [.abandonJoin(request: last)])
        #expect(!slow.phases.contains(.joined))
    }

    @Test("U12 hung up between two tries there is nothing to wait for")
    func cancelledBetweenTries() {
        var (run, request) = CallRun.joining()
        run.say(.joinFailed(request: request, .callNotConnected))
        #expect(run.effects(of: .hangUp) == [.reset])
        #expect(run.phases == [.joining, .leaving, .left(nil)])
    }

    @Test("U13 T16 a lost connection is told with its reason", arguments: [ConnectionLoss.signalling, .media])
    func lost(loss: ConnectionLoss) {
        var run = CallRun.joined()
        run.say(.connectionLost(loss))
        #expect(run.phase == .reconnecting(loss))
        #expect(loss.rawValue == (loss == .media ? 53405 : 53001))
        #expect(run.say(.connectionLost(loss)) == [])
    }

    @Test("U14 a connection that is back shows the room's state and is told")
    func restored() {
        for way in [ReconnectWay.resume, .rejoin] {
            var run = CallRun.reconnecting()
            #expect(
                run.say(.restored(way)) == [.applySnapshot, .emit(CallStatus(phase: .joined, wasAttempted: true))]
            )
        }
    }

    @Test(
        "U15 what the gateway says for good ends the call with that error",
        arguments: [StageError.roomNotFound, .duplicateIdentity, .roomCompleted, .tokenExpired]
    )
    func endedWhileReconnecting(error: StageError) {
        var run = CallRun.reconnecting()
        run.wait(0.08)
        #expect(run.effects(of: .reconnectFailed(error)) == [.stopReconnecting, .reset])
        #expect(run.phase == .left(error))
        var told = CallRun.reconnecting(.media)
        told.say(.sessionDisconnected(error))
        #expect(told.phase == .left(error))
    }

    @Test("U15 after 30 s without a connection the call is over with 53001")
    func abandoned() {
        var run = CallRun.reconnecting()
        run.wait(29.9)
        #expect(run.phase == .reconnecting(.signalling))
        #expect(run.wait(0.1).effects == [.stopReconnecting, .reset])
        #expect(run.phase == .left(.callConnectionLost))
        #expect(run.machine.status.error?.code == 53001)
    }

    @Test("U16 leaving in a call, or while it reconnects, deletes the participant and stops every try")
    func leave() {
        var run = CallRun.joined()
        #expect(run.effects(of: .hangUp) == [.deleteParticipant])
        #expect(run.phase == .leaving)
        var broken = CallRun.reconnecting()
        #expect(broken.effects(of: .hangUp) == [.stopReconnecting, .deleteParticipant])
        #expect(broken.wait(9).effects == [])
        #expect(broken.say(.restored(.resume)) == [])
    }

    @Test("U17 leaving ends with the answer, after 10 s, or at once without a network")
    func leaveEnds() {
        for event in [CallEvent.leaveAcknowledged, .networkUnavailable] {
            var run = CallRun.leaving()
            #expect(run.effects(of: event) == [.reset])
            #expect(run.phase == .left(nil))
        }
        var silent = CallRun.leaving()
        silent.wait(9.9)
        #expect(silent.phase == .leaving)
        #expect(silent.wait(0.1).effects == [.reset])
        #expect(silent.phase == .left(nil))
    }

    @Test("U18 the gateway's last word ends the call, and nothing reconnects")
    func disconnected() {
        for error in [StageError.roomCompleted, .duplicateIdentity, .participantNotFound] {
            var run = CallRun.joined()
            #expect(run.effects(of: .sessionDisconnected(error)) == [.reset])
            #expect(run.phase == .left(error))
            #expect(run.say(.connectionLost(.signalling)) == [])
            #expect(run.machine.deadline == nil)
        }
    }

    @Test("U18 a reader that was cut off for being slow reconnects instead")
    func tooSlow() {
        var run = CallRun.joined()
        run.say(.sessionDisconnected(.readerTooSlow))
        #expect(run.phase == .reconnecting(.signalling))
        #expect(abs((run.untilDeadline ?? 0) - 0.08) < 0.001)
    }

    @Test("U19 what happens in the room is no change of the call")
    func roomChanges() {
        for start in [CallRun.joined(), .reconnecting()] {
            var run = start
            #expect(run.say(.roomChanged) == [])
        }
    }

    @Test("U20 an invitation to the stage while watching is shown, and accepting it changes the mode")
    func stageInvitation() {
        var run = CallRun.joined(CallRun.watch)
        #expect(run.say(.invitationReceived(CallRun.invitation)) == [.stageInvitation(CallRun.invitation)])
        #expect(run.machine.stageInvitation == CallRun.invitation)
        #expect(run.say(.accept) == [.acceptInvitation(sid: "IN1")])
        #expect(
            run.say(.acceptConfirmed(sid: "IN1"))
                == [.stageInvitation(nil), .changeMode(.sendAndReceive, invitation: "IN1")]
        )
        #expect(run.phase == .joined)
    }

    @Test("U20 an invitation to the stage goes away when it is rejected, cancelled, missed, taken elsewhere or too old")
    func stageInvitationEnds() {
        let ends: [CallEvent] = [
            .reject, .invitationCancelled(sid: "IN1"), .invitationMissed(sid: "IN1"),
            .invitationAccepted(CallRun.answer("me")),
        ]
        for event in ends {
            var run = CallRun.joined(CallRun.watch)
            run.say(.invitationReceived(CallRun.invitation))
            #expect(run.say(event).first == .stageInvitation(nil), "\(event)")
            #expect(run.phase == .joined)
        }
        var old = CallRun.joined(CallRun.watch)
        old.say(.invitationReceived(CallRun.invitation))
        #expect(old.wait(30) == [.stageInvitation(nil)])
        var refused = CallRun.joined(CallRun.watch)
        refused.say(.invitationReceived(CallRun.invitation))
        refused.say(.accept)
        #expect(
            refused.say(.acceptRefused(sid: "IN1", .tooManyHosts)) == [.stageInvitation(nil), .report(.tooManyHosts)]
        )
        #expect(refused.phase == .joined)
    }

    @Test("U20 a call to another room does not disturb the one at hand, and leaving drops the invitation")
    func otherRoom() {
        var run = CallRun.joined(CallRun.watch)
        let other = CallInvitation(sid: "IN2", room: "other", inviter: "ann")
        #expect(run.say(.invitationReceived(other)) == [])
        run.say(.invitationReceived(CallRun.invitation))
        #expect(run.effects(of: .hangUp) == [.stageInvitation(nil), .deleteParticipant])
        #expect(run.machine.stageInvitation == nil)
    }
}
