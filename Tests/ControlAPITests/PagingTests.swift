import FootlightModel
import Stage
import Testing

@Suite("Paged lists")
struct PagingTests {
    @Test("Rooms are returned page by page, each once, while rooms are created and removed")
    func rooms() async throws {
        try await ControlServer.run(settings: StageSettings(maximumEndedRooms: 1)) { (server) async throws in
            for number in 1...7 { try await server.makeRoom("room\(number)") }
            let first = try await server.ask("GET", "/v1/rooms?page_size=3").decode(RoomList.self)
            #expect(first.rooms.map(\.uniqueName) == ["room1", "room2", "room3"])
            #expect(first.meta.pageSize == 3)
            // The room that the token names is removed, and one more is created.
            try server.directory.end(room: "room3")
            try server.directory.end(room: "room1")
            try await server.makeRoom("room8")
            let token = try #require(first.meta.nextPageToken)
            let second = try await server.ask("GET", "/v1/rooms?page_size=3&page_token=\(token)").decode(RoomList.self)
            #expect(second.rooms.map(\.uniqueName) == ["room4", "room5", "room6"])
            let next = try #require(second.meta.nextPageToken)
            let last = try await server.ask("GET", "/v1/rooms?page_size=3&page_token=\(next)").decode(RoomList.self)
            #expect(last.rooms.map(\.uniqueName) == ["room7", "room8"])
            #expect(last.meta.nextPageToken == nil)
        }
    }

    @Test("Participants are paged by 50 by default, and filters apply before paging")
    func participants() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for number in 1...51 { _ = try await server.join("show", "p\(number)", "RECV_ONLY") }
            _ = try await server.join("show", "host")
            let path = "/v1/rooms/show/participants"
            let first = try await server.ask("GET", path).decode(ParticipantList.self)
            #expect(first.participants.count == 50 && first.meta.pageSize == 50)
            let token = try #require(first.meta.nextPageToken)
            let rest = try await server.ask("GET", "\(path)?page_token=\(token)").decode(ParticipantList.self)
            #expect(rest.participants.map(\.identity) == ["p51", "host"] && rest.meta.nextPageToken == nil)
            let more = try await server.ask("GET", "\(path)?mode=RECV_ONLY&page_size=51")
            let audience = try more.decode(ParticipantList.self)
            #expect(audience.participants.count == 51 && audience.meta.nextPageToken == nil)
            let hosts = try await server.ask("GET", "\(path)?mode=SEND_AND_RECV").decode(ParticipantList.self)
            #expect(hosts.participants.map(\.identity) == ["host"])
        }
    }

    @Test(
        "A page size out of range and a forged token are refused",
        arguments: ["/v1/rooms", "/v1/rooms/show/participants"]
    )
    func faults(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for size in ["0", "101", "-1", "many", ""] {
                let answer = try await server.ask("GET", "\(path)?page_size=\(size)")
                #expect(answer.refusal == "400/3073" && answer.error?.message.contains("page_size") ?? false, "\(size)")
            }
            for token in ["next", "AAAA", "MSAyIDM=", "bm90aGluZw=="] {
                let answer = try await server.ask("GET", "\(path)?page_token=\(token)")
                #expect(answer.refusal == "400/3073", "\(token)")
                #expect(answer.error?.message.contains("page_token") ?? false)
            }
            #expect(try await server.ask("GET", "\(path)?page_size=1&page_token=").status == 200)
        }
    }
}
