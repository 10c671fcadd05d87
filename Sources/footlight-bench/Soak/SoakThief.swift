import FootlightTesting

/// Takes processor time from everybody else for the second quarter of a show, to see what a program does without.
struct SoakThief {
    private let count: Int
    private let span: Range<Double>
    private let gateway: GatewayProcess
    private let room: String
    private var loops: [ChildProcess] = []
    private var level = 0
    private var highest = 0

    /// - Parameters:
    ///   - count: Loops that do nothing as fast as they can.
    ///   - seconds: How long the show is.
    init(_ count: Int, of seconds: Double, room: String, _ gateway: GatewayProcess) {
        self.count = count
        span = seconds / 6..<seconds / 2
        self.gateway = gateway
        self.room = room
    }

    mutating func tick(at second: Double) async throws {
        if loops.isEmpty, count > 0, span.contains(second) {
            loops = try (0..<count).map { _ in try ChildProcess(["sh", "-c", "while :; do :; done"]) }
            print("at \(second.text(0)) s \(count) busy loops begin")
        } else if !loops.isEmpty, !span.contains(second) {
            end()
            print("at \(second.text(0)) s the busy loops end")
        }
        let load = try await gateway.api("GET", "/v1/rooms/\(room)").json["degradation"]
        let now = load["level"].int ?? 0
        guard now != level else { return }
        level = now
        highest = max(highest, now)
        print(
            "at \(second.text(0)) s the program is at level \(now): \(load["reason"].string ?? "nothing left out"),",
            "\((load["work"].double ?? 0).text(2)) of a picture's time, \((load["cores"].double ?? 0).text(2)) cores"
        )
    }

    mutating func end() {
        for loop in loops { loop.end() }
        loops = []
    }

    /// A program that nothing was taken from has no reason to do without anything, and one that was has.
    var faults: [String] {
        switch (count, highest) {
        case (0, 1...): ["the program did without something, up to level \(highest)"]
        case (1..., 0): ["the program did without nothing"]
        default: level < highest || highest == 0 ? [] : ["nothing was taken back of level \(highest)"]
        }
    }
}
