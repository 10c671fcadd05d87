import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Talkback", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct TalkbackTests {
    private static let tone = 1500.0

    @Test("is in the return feed of the chosen host only, on air and backstage, and lowers the others there")
    func chosenHost() async throws {
        let stage = try await RoomFixture(room: "talk")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let hosts = [
            try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red),
            try stage.publish(try await stage.clip(HostScript(.blue, tone: 500)), as: blue),
        ]
        for host in ["red", "blue"] {
            try await stage.expect(200, "PUT", stage.path("participants/\(host)/sound"), ["return_feed": true])
        }
        try await stage.waitUntilOnAir()
        try await expectTalkback(to: "red", others: ["blue": 330], hers: 500, in: stage, name: "live")

        try await stage.expect(200, "POST", stage.path("stop_live"))
        try await Task.sleep(for: .seconds(1))
        try await expectTalkback(to: "blue", others: ["red": 500], hers: 330, in: stage, name: "backstage")

        // A host without a return feed is named.
        try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["return_feed": false])
        let state = try await post(0, session: "last", hosts: "red,blue", in: stage)
        #expect(state["hosts"].elements.map(\.string) == ["blue"])
        #expect(state["unreachable"].elements.map(\.string) == ["red"])
        try await stage.expect(204, "DELETE", stage.path("talkback?session=last"))
        let ended = try await stage.expect(200, "GET", stage.path("talkback"))
        #expect(ended["speaker"] == .null)
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// Speaks to `host` for a while, and expects the tone in its return feed, and nowhere else.
    ///
    /// - Parameters:
    ///   - others: The other hosts with a return feed, and a tone that each has in it.
    ///   - hers: The tone of another host in the return feed of `host`.
    private func expectTalkback(
        to host: String,
        others: [String: Double],
        hers: Double,
        in stage: RoomFixture,
        name: String
    ) async throws {
        func record(_ feed: String) throws -> StreamRecorder {
            try FFmpeg.record(
                stage.gateway.rtmpURL(room: feed),
                seconds: 7,
                to: stage.folder.file("\(name)-\(feed.prefix { $0 != "?" }).mkv")
            )
        }
        func returnFeed(_ identity: String) async throws -> StreamRecorder {
            let token = try await stage.gateway.issueToken(room: "talk", identity: identity, mode: "SEND_AND_RECV")
            return try record("talk.return.\(identity)?token=\(token)")
        }
        let spoken = try await returnFeed(host)
        var quiet: [(StreamRecorder, Double)] = []
        for (other, tone) in others { quiet.append((try await returnFeed(other), tone)) }
        let program = try record("talk")
        // For the whole recording and a little longer, because a player begins up to two seconds back.
        let speaking = Task { try await speak(to: host, seconds: 9, in: stage) }
        let received = try await spoken.finish().decodedAudio()
        let level = received.toneLevel(frequency: Self.tone, from: 5, to: 6.5)
        #expect(abs(level + 12) < 1, "\(name): the director's tone: \(level) dB")
        let lowered = received.toneLevel(frequency: hers, from: 5, to: 6.5)
        #expect(abs(lowered + 26) < 1.5, "\(name): the other host's tone: \(lowered) dB")
        for (recorder, tone) in quiet {
            let audio = try await recorder.finish().decodedAudio()
            #expect(audio.toneLevel(frequency: Self.tone, from: 1, to: 6.5) < -60, "\(name)")
            #expect(abs(audio.toneLevel(frequency: tone, from: 5, to: 6.5) + 12) < 1, "\(name)")
        }
        let aired = try await program.finish().decodedAudio()
        #expect(aired.toneLevel(frequency: Self.tone, from: 1, to: 6.5) < -60, "\(name)")
        try await speaking.value
    }

    /// Posts a tone in blocks of 100 ms as it would come from a microphone.
    private func speak(to host: String, seconds: Int, in stage: RoomFixture) async throws {
        let start = ContinuousClock.now
        for sequence in 0..<seconds * 10 {
            let state = try await post(sequence, session: host, hosts: host, in: stage)
            #expect(state["hosts"].elements.map(\.string) == [host] && state["dropped"].int == 0, "\(state)")
            try await Task.sleep(until: start + .milliseconds(100 * (sequence + 1)))
        }
        try await stage.expect(204, "DELETE", stage.path("talkback?session=\(host)"))
    }

    /// Posts a tenth of a second of the tone, amplitude 0.25.
    private func post(_ sequence: Int, session: String, hosts: String, in stage: RoomFixture) async throws -> JSONValue
    {
        let query = "talkback?session=\(session)&sequence=\(sequence)&hosts=\(hosts)"
        let address = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" + stage.path(query)
        var request = URLRequest(url: try #require(URL(string: address)))
        request.httpMethod = "POST"
        request.setValue("Bearer \(try stage.gateway.operatorToken)", forHTTPHeaderField: "Authorization")
        var body = Data()
        for index in 0..<4800 {
            let phase = 2 * Double.pi * Self.tone * Double(sequence * 4800 + index) / 48_000
            withUnsafeBytes(of: Int16(8192 * sin(phase)).littleEndian) { body.append(contentsOf: $0) }
        }
        request.httpBody = body
        let (data, response) = try await URLSession.shared.data(for: request)
        let text = String(decoding: data, as: UTF8.self)
        #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(text)")
        return try JSONValue(parsing: text)
    }
}
