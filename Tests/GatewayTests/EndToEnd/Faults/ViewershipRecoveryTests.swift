import ControlAPI
import FootlightTesting
import Foundation
@testable import Gateway
import Media
import Stage
import TestSupport
import Testing

/// The gateway's process is killed while it writes the viewership history; the test publishes the program in place of a
/// mixer.
@Suite("Kill of the gateway with viewers", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct ViewershipRecoveryTests {
    private static let room = "counted"

    private let gateway: GatewayProcess
    private let folder: TemporaryFolder
    private let clip: String

    init() async throws {
        folder = try TemporaryFolder("audience")
        clip = folder.file("program.flv")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=10", "-f",
                "lavfi",
                "-i", "sine=r=48000", "-t", "16", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a", "aac",
                clip,
            ],
            within: .seconds(20)
        )
        gateway = try await GatewayProcess()
        let made = try await gateway.api("POST", "/v1/rooms", ["unique_name": .string(Self.room)])
        #expect(made.status == 201)
    }

    /// Publishes the program without pacing, as a mixer of this epoch.
    private func publish(epoch: UInt64) async throws {
        let directory = try DataDirectory(gateway.dataFolder)
        let tokens = await AccessTokens(
            signingKey: try directory.secret("signing"),
            kid: try KeyRotation.currentName(in: directory)
        )
        let token = try await tokens.issue(
            identity: "mixer",
            room: Self.room,
            role: .mixer,
            epoch: epoch,
            expiresIn: 600
        )
        let url = "rtmp://127.0.0.1:\(gateway.endpoints.rtmpPort)/live/\(Self.room)?token=\(token)"
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip, "-c", "copy", "-f", "flv", url],
            within: .seconds(10)
        )
    }

    private func get(_ path: String) async throws -> (status: Int, text: String) {
        let answer = try await gateway.request("GET", port: gateway.endpoints.httpPort, path)
        return (answer.status, answer.text)
    }

    /// Returns the media playlist's address of a new viewer.
    private func begin() async throws -> String {
        var address = ""
        let isOn = try await eventually(every: .milliseconds(50)) {
            let index = try await self.get("/live/\(Self.room)/index.m3u8")
            address = index.text.split(separator: "\n").last.map(String.init) ?? ""
            return index.status == 200 && address.hasPrefix("~") && address.hasSuffix("/media.m3u8")
        }
        #expect(isOn, "no program")
        return "/live/\(Self.room)/" + address
    }

    /// Requests a playlist and its latest segment.
    private func play(_ path: String) async throws -> (status: Int, text: String) {
        let answer = try await get(path)
        let segment = answer.text.split(separator: "\n").last { !$0.hasPrefix("#") }
        let folder = String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
        if let segment { #expect(try await get(folder + segment).status == 200) }
        return answer
    }

    private func figures() async throws -> JSONValue {
        try await gateway.api("GET", "/v1/rooms/\(Self.room)/viewership").json
    }

    private func mediaSequence(_ playlist: String) -> Int? {
        playlist.firstMatch(of: /#EXT-X-MEDIA-SEQUENCE:(\d+)/).flatMap { Int($0.output.1) }
    }

    @Test(
        "G1 G8 kill -9 loses and repeats no join, no figure decreases, and segment numbers increase"
    )
    func killed() async throws {
        try await publish(epoch: 1)
        let early = try await begin()
        let first = try await play(early)
        #expect(first.status == 200)
        let began = MonotonicTime.now()
        try await Task.sleep(for: .milliseconds(1200))
        // This session is proven a moment before the kill.
        let late = try await begin()
        _ = try await play(late)
        try await Task.sleep(for: .milliseconds(850))
        _ = try await play(early)
        #expect(try await figures()["joins"].int == 1)
        try await Task.sleep(for: .milliseconds(1200))
        _ = try await play(early)
        let before = try await play(late)
        let lastRequest = MonotonicTime.now().seconds(since: began)
        let last = try await figures()
        #expect(last["joins"].int == 2, "\(last.text)")

        try await gateway.kill9()
        try await gateway.start(reusesPorts: true)
        let found = try await figures()
        #expect(found["recovering"].bool == true, "\(found.text)")
        // One of the two was proven a moment before the kill.
        #expect(found["joins"].int == 2, "\(found.text)")
        #expect(found["by"]["protocol"]["hls"].int == 2, "\(found.text)")
        let watched = found["watch_time_seconds"].double ?? 0
        let reported = last["watch_time_seconds"].double ?? .infinity
        #expect(
            watched >= reported && watched > lastRequest - 2.3,
            "\(found.text) behind \(last.text) of \(lastRequest)"
        )

        try await publish(epoch: 2)
        var after = ""
        let isBack = try await eventually(every: .milliseconds(50)) {
            let answer = try await self.play(early)
            after = answer.text
            return answer.status == 200 && after.contains("#EXTINF")
        }
        #expect(isBack)
        #expect((mediaSequence(after) ?? 0) > (mediaSequence(before.text) ?? .max), "\(before.text)\n\(after)")
        _ = try await play(late)
        for viewer in [early, late] { _ = try await play(viewer) }
        let end = try await figures()
        #expect(end["joins"].int == 2 && end["concurrent_viewers"].int == 2, "\(end.text)")
        #expect(end["leaves"].int == 0 && end["uniques"]["devices"].int == 2, "\(end.text)")
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let counted = metrics.split(separator: "\n").filter {
            $0.hasPrefix("footlight_viewer_joins_total{room=\"\(Self.room)\"") && !$0.hasSuffix(" 0")
        }
        #expect(counted.count == 1 && counted[0].hasSuffix("protocol=\"hls\"} 2"), "\(counted)")
    }
}
