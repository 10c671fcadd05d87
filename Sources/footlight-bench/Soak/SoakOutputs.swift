import FootlightTesting

/// A good output, and one whose server dies, comes back, stands still and goes on, again and again.
final class SoakOutputs {
    private enum Mood: Int {
        case well
        case dead
        case back
        case still
    }

    /// Seconds of each mood.
    private static let moodLength = 15.0

    private let gateway: GatewayProcess
    private let room: String
    private let good: NginxRTMP
    private let bad: NginxRTMP
    private var mood = Mood.well
    private var isStarted = false

    init(room: String, _ gateway: GatewayProcess) async throws {
        self.gateway = gateway
        self.room = room
        good = try await NginxRTMP(isRecording: false)
        bad = try await NginxRTMP(isRecording: false)
    }

    func tick(at second: Double) async throws {
        if !isStarted {
            isStarted = true
            let outputs: [JSONValue] = [target("good", good), target("bad", bad)]
            let path = "/v1/rooms/\(room)/livestream/start"
            try expect(try await gateway.api("POST", path, ["outputs": .array(outputs)]), "the livestream")
        }
        guard let next = Mood(rawValue: Int(second / Self.moodLength) % 4), next != mood else { return }
        mood = next
        switch next {
        case .well: bad.resume()
        case .dead: bad.stop()
        case .back: try await bad.start()
        case .still: bad.pause()
        }
    }

    /// Each output's state, reconnects and dropped pictures.
    func states() async throws -> [String: (state: String, reconnects: Int, dropped: Int)] {
        let reply = try await gateway.api("GET", "/v1/rooms/\(room)/egress")
        try expect(reply, "the outputs")
        var states: [String: (state: String, reconnects: Int, dropped: Int)] = [:]
        for output in reply.json["livestream"]["outputs"].elements {
            let (reconnects, dropped) = (output["reconnects"].int ?? -1, output["dropped_frames"].int ?? -1)
            states[output["name"].string ?? ""] = (output["state"].string ?? "", reconnects, dropped)
        }
        return states
    }

    /// What a good output must not do, and a bad one must.
    ///
    /// - Parameter isStarved: The machine had too little time, so that pictures may have been dropped.
    func faults(isStarved: Bool) async throws -> [String] {
        let states = try await states()
        var faults: [String] = []
        guard let good = states["good"], let bad = states["bad"] else {
            return ["of the outputs only \(states.keys.sorted()) are left"]
        }
        if good.state != "connected" || good.reconnects > 0 || (good.dropped > 0 && !isStarved) {
            faults.append("the good output is \(good)")
        }
        if bad.reconnects == 0 { faults.append("the bad output never came back") }
        return faults
    }

    private func target(_ name: String, _ server: NginxRTMP) -> JSONValue {
        ["name": .string(name), "url": .string(server.url), "stream_key": "key"]
    }
}
