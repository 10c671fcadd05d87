import FootlightTesting

/// What the gateway counts while one player plays.
struct PlayerCount {
    private let gateway: GatewayProcess
    private let room: String
    private let way: String
    private let joinsBefore: Int
    private let sessionsBefore: Set<String>

    /// The most viewers of this way at once.
    private(set) var most = 0
    /// Viewers that joined since it began.
    private(set) var joins = 0

    init(of way: PlayerTrial.Way, room: String, _ gateway: GatewayProcess) async throws {
        self.gateway = gateway
        self.room = room
        self.way = way.rawValue
        joinsBefore = try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json["joins"].int ?? 0
        sessionsBefore = Set(try await Self.sessions(room, gateway).compactMap { $0["id"].string })
    }

    /// How many watch in this way now.
    mutating func look() async throws -> Int {
        let report = try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json
        let now = report["by"]["protocol"][way].int ?? -1
        most = max(most, now)
        joins = (report["joins"].int ?? 0) - joinsBefore
        return now
    }

    /// The sessions that are new in the history, when it has been written.
    func newSessions() async throws -> [(way: String, client: String)] {
        var new: [JSONValue] = []
        _ = try await eventually(within: .seconds(4), every: .milliseconds(200)) {
            new = try await Self.sessions(room, gateway).filter { !sessionsBefore.contains($0["id"].string ?? "") }
            return !new.isEmpty
        }
        return new.map { ($0["protocol"].string ?? "?", $0["client"].string ?? "?") }
    }

    private static func sessions(_ room: String, _ gateway: GatewayProcess) async throws -> [JSONValue] {
        let path = "/v1/rooms/\(room)/viewership/sessions?page_size=10000"
        return try await gateway.api("GET", path).json["sessions"].elements
    }
}
