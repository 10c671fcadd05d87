import Testing

@testable import Stage

@Suite("Counting")
struct RoomCountTests {
    @Test("V12 counts, tiles, gates and revisions never drift, whatever happens in whatever order")
    func neverDrift() throws {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<40 {
            var run = StageRun(RoomSettings(name: "show", maximumParticipants: 25, maximumHosts: 15))
            var lastRevision = run.room.revision
            var known: [String: (mode: ParticipantMode, revision: UInt64)] = [:]
            for _ in 0..<200 {
                try step(&run, &generator)
                let room = run.room
                let hosts = room.participants.filter(\.isHost)
                #expect(room.counts == recount(room.participants))
                #expect(room.counts.participants <= 25 && room.counts.hosts <= 15)
                #expect(Set(room.participants.map(\.identity)).count == room.participants.count)
                #expect(room.layout.tiles.count == min(hosts.count, 12))
                #expect(Set(room.layout.tiles.map(\.participantSID)).isSubset(of: hosts.map(\.sid)))
                for (index, participant) in room.participants.enumerated() {
                    #expect(participant.isHost || participant.tracks.isEmpty)
                    #expect(participant.isHost || participant.gate.openTracks.isEmpty)
                    #expect(room.index(of: participant.sid) == index)
                    #expect(room.index(ofIdentity: participant.identity) == index)
                    #expect(participant.status != .disconnected)
                }
                for event in run.events() {
                    #expect(event.revision == lastRevision + 1)
                    lastRevision = event.revision
                    follow(event, &known)
                }
                // Whoever follows the events alone arrives at the same numbers.
                #expect(known.count == room.counts.participants)
                #expect(known.values.count { $0.mode == .receiveOnly } == room.counts.receiveOnly)
            }
            for participant in run.room.participants {
                _ = try run.room.leave(participant.sid, reason: .left, at: run.now)
            }
            #expect(run.room.counts == RoomCounts())
            #expect(run.room.layout.tiles.isEmpty)
        }
    }

    private func recount(_ participants: [Participant]) -> RoomCounts {
        RoomCounts(
            hosts: participants.count { $0.mode == .sendAndReceive },
            receiveOnly: participants.count { $0.mode == .receiveOnly },
            signallingOnly: participants.count { $0.mode == .signallingOnly }
        )
    }

    private func step(_ run: inout StageRun, _ generator: inout SeededGenerator) throws {
        let identity = "p\(Int.random(in: 0..<30, using: &generator))"
        let mode = ParticipantMode.allCases.randomElement(using: &generator) ?? .receiveOnly
        let name = TrackName.allCases.randomElement(using: &generator) ?? .mic
        let connection = UInt64.random(in: 1...200, using: &generator)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1, 2: _ = try? run.join(identity, mode)
        case 3: _ = try? run.room.leave(identity, reason: .left, at: run.now)
        case 4: _ = try? run.room.changeMode(identity, to: mode, at: run.now)
        case 5: _ = try? run.encode(identity, .random(using: &generator) ? .camera : .screen)
        case 6: try? run.stopEncoder(identity, connection: connection, isLost: .random(using: &generator))
        case 7: try? run.send(identity, PublishedMedia(hasVideo: .random(using: &generator)), connection: connection)
        case 8: _ = try? run.room.publishTrack(name, of: identity, isEnabled: true, at: run.now)
        case 9: try? run.room.unpublishTrack(name, of: identity, at: run.now)
        case 10: try? run.mix(identity, [name])
        case 11, 12:
            guard let index = try? run.index(identity) else { return }
            if .random(using: &generator) { run.room.streamOpened(at: index, now: run.now) }
            run.room.heartbeat(at: index, now: run.now)
            if .random(using: &generator) { run.room.streamClosed(sid: identity, at: run.now) }
        default: run.wait(Double.random(in: 0...20, using: &generator))
        }
    }

    private func follow(_ event: StageEvent, _ known: inout [String: (mode: ParticipantMode, revision: UInt64)]) {
        func note(_ view: ParticipantView) {
            if let before = known[view.sid]?.revision { #expect(view.revision >= before) }
            known[view.sid] = (view.mode, view.revision)
        }
        switch event.payload {
        case .participantJoined(let view):
            #expect(known[view.sid]?.revision == nil)
            note(view)
        case .participantLeft(let view, _):
            let gone = known.removeValue(forKey: view.sid)
            #expect(gone?.revision != nil)
        case .participantUpdated(let view), .participantModeChanged(let view, _), .participantReconnected(let view),
            .participantReconnecting(let view, _), .trackPublished(_, let view), .trackUnpublished(_, let view, _):
            #expect(known[view.sid]?.revision != nil)
            note(view)
        default:
            break
        }
    }
}
