import FootlightClient
import Foundation
import FootlightModel
import Shows
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite("The control API client, on a real gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct ControlClientTests {
    @Test(
        "Rooms: created, read by name and sid, listed in pages, sent backstage, ended; a second of the name is 53113"
    )
    func rooms() async throws {
        let show = try await GatewayFixture(isAlone: true)
        let client = show.operatorClient
        let made = try await client.createRoom(CreateRoomBody(uniqueName: "second", maxHosts: 3, backstage: true))
        #expect(made.uniqueName == "second" && made.maxHosts == 3 && made.backstage)
        #expect(try await client.room(made.sid).uniqueName == "second")
        await #expect(throws: StageError.roomExists) {
            try await client.createRoom(CreateRoomBody(uniqueName: "second"))
        }
        let first = try await client.rooms(pageSize: 1)
        #expect(first.rooms.map(\.uniqueName) == [show.room])
        let next = try await client.rooms(pageSize: 1, pageToken: first.meta.nextPageToken)
        #expect(next.rooms.map(\.uniqueName) == ["second"] && next.meta.nextPageToken == nil)
        #expect(try await client.goLive("second").backstage == false)
        #expect(try await client.stopLive("second").backstage)
        #expect(try await client.endRoom("second").status == "completed")
        #expect(try await client.rooms(status: .completed).rooms.map(\.sid) == [made.sid])
        await #expect(throws: StageError.roomNotFound) { try await client.room("third") }
    }

    @Test("Shows: made, read, changed, opened, put on air and ended; seats with keys, and a diagnosis")
    func shows() async throws {
        let fixture = try await GatewayFixture(isAlone: true)
        let client = fixture.operatorClient
        let body = ShowBody(name: "weekly", title: "Weekly", seats: [SeatBody(identity: "ann")])
        let made = try await client.createShow(body, template: "interview")
        #expect(made.room.maxHosts == 12 && made.seats.map(\.identity) == ["ann"] && made.state == .upcoming)
        #expect(try await client.shows() == [made])
        #expect(try await client.show("weekly") == made)
        #expect(try await client.update(show: "weekly", ShowBody(title: "Monthly")).title == "Monthly")
        let seat = try await client.addSeat(SeatBody(identity: "bo", displayName: "Bo"), to: "weekly")
        #expect(try await client.seat("bo", of: "weekly") == seat)
        #expect(try await client.renewKey(ofSeat: "bo", in: "weekly").ingest != seat.ingest)
        try await client.readmit(seat: "bo", to: "weekly")
        try await client.removeSeat("bo", from: "weekly")
        await #expect(throws: StageError.seatNotFound) { try await client.seat("bo", of: "weekly") }

        let planned = try await client.planEpisode(of: "weekly", EpisodeBody(title: "One"))
        #expect(try await client.nextEpisode(of: "weekly") == planned)
        let renamed = try await client.update(of: "weekly", EpisodeBody(title: "First"))
        #expect(try await client.episode(of: "weekly") == renamed && renamed.title == "First")
        let second = try await client.planEpisode(of: "weekly", EpisodeBody(title: "Two"))
        try await client.deleteEpisode(second.id, of: "weekly")
        #expect(try await client.openEpisode(of: "weekly").state == .backstage)
        #expect(try await client.goLive(withEpisode: planned.id, of: "weekly").state == .live)
        #expect(try await client.showStatus("weekly").state == .live)
        #expect(try await client.diagnosis(of: "weekly").hosts.isEmpty)
        #expect(try await client.endEpisode(of: "weekly").endReason == .ended)
        #expect(try await client.episodes(of: "weekly").map(\.title) == ["First"])
        #expect(try await client.moments(ofEpisode: planned.id, in: "weekly").map(\.kind) == [.known(.wentLive)])
        try await client.deleteShow("weekly")
        await #expect(throws: StageError.showNotFound) { try await client.show("weekly") }
    }

    @Test("Participants: joined, read, renamed, listed by mode, reconnected, removed")
    func participants() async throws {
        let show = try await GatewayFixture()
        let ann = try await show.client("ann", .sendAndReceive)
        let joined = try await ann.join(show.room, JoinBody(displayName: "Ann", mode: "SEND_AND_RECV"))
        #expect(joined.participant.identity == "ann" && joined.ingest?.rtmp.streamKey.hasPrefix("sk_") == true)
        try await ann.heartbeat("ann", in: show.room, sessionID: joined.sessionID, audioLevel: -20)
        let renamed = try await ann.update("ann", in: show.room, UpdateParticipantBody(metadata: ["seat": .number(4)]))
        #expect(renamed.metadata == ["seat": .number(4)])
        let back = try await ann.reconnect("ann", in: show.room, sessionID: joined.sessionID, lastEventID: 1)
        #expect(back.participant.sid == joined.participant.sid && back.ingest == nil)
        let client = show.operatorClient
        #expect(try await client.participants(of: show.room, mode: .sendAndReceive).participants.count == 1)
        #expect(try await client.participants(of: show.room, mode: .receiveOnly).participants.isEmpty)
        #expect(try await client.participants(of: show.room, status: .connected).participants.count == 1)
        #expect(try await client.participant(joined.participant.sid, in: show.room).displayName == "Ann")
        await #expect(throws: StageError.tokenGrantsInvalid) { try await ann.endRoom(show.room) }
        try await client.changeMode(of: "ann", in: show.room, to: .receiveOnly)
        try await client.remove("ann", from: show.room)
        await #expect(throws: StageError.participantNotFound) { try await client.participant("ann", in: show.room) }
        await #expect(throws: StageError.notJoined) { try await ann.leave("ann", in: show.room) }
    }

    @Test("Names are one path segment, whatever they contain")
    func names() async throws {
        let show = try await GatewayFixture()
        for name in ["a/b", "a?b=c", "a b", "ä", "a%2Fb", "#"] {
            await #expect(throws: StageError.roomNotFound, "\(name)") { try await show.operatorClient.room(name) }
        }
    }

    @Test("Layout: read, changed, previewed; invalid values are named")
    func layout() async throws {
        let show = try await GatewayFixture()
        let client = show.operatorClient
        try await client.setLayout(of: show.room, LayoutBody(type: "SIDEBAR", gridSize: 4))
        let layout = try await client.layout(of: show.room)
        #expect(layout.type == "SIDEBAR" && layout.gridSize == 4)
        let preview = try await client.previewLayout(
            of: show.room,
            LayoutPreviewBody(
                layout: LayoutBody(type: "GRID"),
                hosts: [PreviewHost(label: "a"), PreviewHost(label: "b")]
            )
        )
        #expect(preview.tiles.count == 2)
        #expect(try await client.setHostOrder(of: show.room, []).isEmpty)
        let unknown = await #expect(throws: StageError.self) {
            try await client.setHostOrder(of: show.room, ["zoe"])
        }
        #expect(unknown?.code == 3073 && unknown?.message.contains("zoe") ?? false)
        do throws(StageError) {
            try await client.setLayout(of: show.room, LayoutBody(gridSize: 99))
            Issue.record("taken")
        } catch {
            #expect(error.code == 3073 && error.message.contains("grid_size"))
        }
    }

    @Test("Livestream and HLS: HLS started, a livestream refused for its outputs, and stopped without running")
    func programOut() async throws {
        let show = try await GatewayFixture()
        let client = show.operatorClient
        #expect(try await client.egress(of: show.room).livestream.state == "LIVESTREAM_STOPPED")
        do throws(StageError) {
            try await client.startLivestream(of: show.room, StartLivestreamBody(outputs: []))
            Issue.record("started")
        } catch {
            #expect(error.code == 4015)
        }
        await #expect(throws: StageError.livestreamNotRunning) { try await client.stopLivestream(of: show.room) }
        do throws(StageError) {
            try await client.addOutputs(to: show.room, [OutputBody(url: "rtmp://127.0.0.1/x", streamKey: "k")])
            Issue.record("added")
        } catch {
            #expect(error.status >= 400)
        }
        #expect(try await client.startHLS(of: show.room).state.rawValue.hasPrefix("HLS_"))
        #expect(try await client.stopHLS(of: show.room).state.rawValue.hasPrefix("HLS_STOP"))
    }

    @Test("Images and music: stored, listed, read byte for byte, removed; other files are refused")
    func assets() async throws {
        let show = try await GatewayFixture()
        let client = show.operatorClient
        let frame = try #require(Data(base64Encoded: Self.png))
        let stored = try await client.storeAsset(frame, as: "logo", in: show.room)
        #expect(stored.name == "logo" && stored.kind == "image" && stored.contentType == "image/png")
        #expect(stored.size == frame.count)
        #expect(try await client.assets(of: show.room) == [stored])
        #expect(try await client.asset("logo", of: show.room) == frame)
        do throws(StageError) {
            try await client.storeAsset(Data("no picture".utf8), as: "x", in: show.room)
            Issue.record("stored")
        } catch {
            #expect(error.code == 53004 && error.status == 415)
        }
        let ann = try await show.client("ann", .sendAndReceive)
        await #expect(throws: StageError.tokenGrantsInvalid) { try await ann.assets(of: show.room) }
        try await client.removeAsset("logo", from: show.room)
        #expect(try await client.assets(of: show.room).isEmpty)
        await #expect(throws: StageError.assetNotFound) { try await client.asset("logo", of: show.room) }
    }

    /// One red pixel.
    private static let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

    @Test("Audio settings of a room and a host: given fields change, others stay")
    func audio() async throws {
        let show = try await GatewayFixture()
        let client = show.operatorClient
        #expect(try await client.sound(of: show.room) == RoomSoundResource())
        let audio = try await client.setSound(of: show.room, RoomSoundBody(levelling: false, duck: "priority"))
        #expect(audio == RoomSoundResource(levelling: false, duck: "priority"))
        #expect(try await client.sound(of: show.room) == audio)
        #expect(try await client.talkback(of: show.room) == TalkbackResource())
        let ann = try await show.client("ann", .sendAndReceive)
        _ = try await ann.join(show.room, JoinBody(mode: "SEND_AND_RECV"))
        let body = ParticipantSoundBody(gainDB: -3, priority: true)
        let changed = try await client.setSound(of: "ann", in: show.room, body)
        #expect(changed.sound == ParticipantSoundResource(gainDB: -3, priority: true))
        do throws(StageError) {
            try await client.setSound(of: "ann", in: show.room, ParticipantSoundBody(gainDB: 99))
            Issue.record("taken")
        } catch {
            #expect(error.code == 3073)
        }
        await #expect(throws: StageError.tokenGrantsInvalid) { try await ann.setSound(of: "ann", in: show.room, body) }
    }

    @Test("Viewership of one room and of all")
    func viewership() async throws {
        let show = try await GatewayFixture(isAlone: true)
        #expect(try await show.operatorClient.viewership(of: show.room).concurrentViewers == 0)
        #expect(try await show.operatorClient.viewership().rooms.map(\.room) == [show.room])
        let viewer = try await show.client("ann")
        await #expect(throws: StageError.tokenGrantsInvalid) { try await viewer.viewership(of: show.room) }
    }

    @Test("A response that is not the gateway's is an error with the HTTP status, retryable if 5xx")
    func proxies() async throws {
        let server = try ScriptedHTTPServer { request in
            request.contains("bad") ? .whole(status: 502, body: "<html>") : .whole(status: 200, body: "{}")
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t")
        do throws(StageError) {
            _ = try await client.room("bad")
        } catch {
            #expect(error.code == 502 && error.isRetryable && error.name == "UnexpectedAnswerError")
        }
        do throws(StageError) {
            _ = try await client.room("good")
        } catch {
            #expect(error.code == 200 && !error.isRetryable && error.message.contains("is missing"))
        }
    }
}
