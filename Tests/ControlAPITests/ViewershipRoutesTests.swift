import Foundation
import GatewayModel
import Stage
import Testing
import Viewership

@Suite("Viewership by HTTP")
struct ViewershipRoutesTests {
    @Test("V11 the audience of a room is its signalled viewers and the players that belong to none of them")
    func audience() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            _ = try await server.join("show", "eve", "RECV_ONLY")
            server.viewership.set(
                RoomViewership(room: "show", concurrent: 42, anonymous: 41, asOf: Date(timeIntervalSince1970: 0))
            )
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(
                room.counts == CountsResource(hosts: 1, audience: 42, anonymous: 41, signallingOnly: 0, participants: 2)
            )
        }
    }

    @Test("The figures of a room, with every protocol named")
    func room() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let empty = try await server.ask("GET", "/v1/rooms/show/viewership").decode(ViewershipResource.self)
            #expect(empty.concurrentViewers == 0)
            #expect(empty.by.byProtocol == ["sdk": 0, "rtmp": 0, "flv": 0, "hls": 0, "llhls": 0])
            server.viewership.set(
                RoomViewership(
                    room: "show",
                    concurrent: 57,
                    devices: 55,
                    anonymous: 41,
                    peak: 80,
                    peakAt: Date(timeIntervalSince1970: 60),
                    joins: 212,
                    watchTimeSeconds: 91234,
                    asOf: Date(timeIntervalSince1970: 90),
                    staleMs: 40,
                    byProtocol: [.sdk: 16, .hls: 30, .llhls: 8, .rtmp: 2, .flv: 1]
                )
            )
            let figures = try await server.ask("GET", "/v1/rooms/show/viewership").decode(ViewershipResource.self)
            #expect(figures.concurrentViewers == 57 && figures.devices == 55 && figures.peakConcurrentViewers == 80)
            #expect(figures.peakAt == Timestamp(60) && figures.asOf == Timestamp(90) && figures.staleMs == 40)
            #expect(figures.joins == 212 && figures.watchTimeSeconds == 91234 && !figures.recovering)
            #expect(figures.by.byProtocol == ["sdk": 16, "hls": 30, "llhls": 8, "rtmp": 2, "flv": 1])
            #expect(try await server.ask("GET", "/v1/rooms/none/viewership").refusal == "404/53106")
        }
    }

    @Test("All rooms and their sum in one answer")
    func totals() async throws {
        try await ControlServer.run { (server) async throws in
            for (name, count) in [("a", 3), ("b", 4)] {
                server.viewership.set(
                    RoomViewership(room: name, concurrent: count, asOf: Date(), byProtocol: [.rtmp: count])
                )
            }
            let answer = try await server.ask("GET", "/v1/viewership").decode(ViewershipTotalsResource.self)
            #expect(answer.total.concurrentViewers == 7)
            #expect(answer.total.by.byProtocol["rtmp"] == 7)
            #expect(answer.rooms.map(\.room) == ["a", "b"])
            #expect(answer.rooms.map(\.concurrentViewers) == [3, 4])
        }
    }
}
