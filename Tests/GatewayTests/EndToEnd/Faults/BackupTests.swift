import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Backup and restore", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct BackupTests {
    /// Runs `footlight COMMAND` on a data folder; returns its standard error if it fails.
    private func footlight(
        _ command: String,
        _ file: String,
        data: String,
        _ more: [String] = []
    ) async throws -> String? {
        let child = try ChildProcess(
            [GatewayProcess.findBinary(), command, file, "--data-dir", data] + more
        )
        guard try await child.wait(.seconds(20)) != .code(0) else { return nil }
        return child.standardError
    }

    /// The answers of a gateway that depend on its data alone.
    private func answers(of gateway: GatewayProcess) async throws -> [String: JSONValue] {
        var answers: [String: JSONValue] = [:]
        let paths = [
            "/v1/rooms", "/v1/rooms/kept", "/v1/rooms/kept/participants", "/v1/rooms/kept/layout",
            "/v1/rooms/kept/assets",
            "/v1/webhooks", "/v1/tokens", "/v1/tokens/revoked", "/v1/rooms/kept/viewership/sessions",
        ]
        for path in paths {
            let answer = try await gateway.api("GET", path)
            #expect(answer.status == 200, "\(path): \(answer.text)")
            // Addresses name the ports of the process.
            let ports = [gateway.endpoints.httpPort, gateway.endpoints.rtmpPort]
            let text = ports.reduce(answer.text) { $0.replacingOccurrences(of: ":\($1)/", with: ":PORT/") }
            answers[path] = stable(try JSONValue(parsing: text))
        }
        return answers
    }

    /// The part of an answer that a restart does not change.
    private func stable(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(members.filter { !Self.changing.contains($0.key) }.mapValues(stable))
        case .array(let elements): .array(elements.map(stable))
        default: value
        }
    }

    /// What tells that participants have lost their connections, and that the program of the room has begun again.
    private static let changing: Set = ["status", "revision", "date_updated", "egress", "degradation"]

    @Test(
        "a backup of a running gateway, restored into an empty folder, gives the same answers and takes the same keys"
    )
    func roundTrip() async throws {
        let stage = try await RoomFixture(room: "kept")
        let folder = stage.folder
        let host = try await stage.join("red")
        _ = try await stage.join("blue")
        try await stage.storeAsset("logo")
        try await stage.expect(
            200,
            "PUT",
            stage.path("layout"),
            ["logo": ["image": "asset:logo", "position": "top_right", "height": 0.2]]
        )
        try await stage.expect(
            201,
            "POST",
            "/v1/webhooks",
            ["url": "https://hooks.example/in", "types": ["room.*"]]
        )
        let revoked = try await stage.gateway.issueToken(room: "kept", identity: "eve", mode: "RECV_ONLY")
        try await stage.expect(200, "POST", "/v1/tokens/revoke", ["token": .string(revoked)])
        try await stage.expect(201, "POST", "/v1/tokens", ["identity": "wall", "role": "monitor"])
        let before = try await answers(of: stage.gateway)

        let file = folder.file("backup.tar.gz")
        #expect(try await footlight("backup", file, data: stage.gateway.dataFolder) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let listing = try await ChildProcess.run(["tar", "tzf", file])
        #expect(!listing.contains("gateway.lock") && !listing.contains("endpoints.json"))

        // What happens later is not in it.
        _ = try await stage.join("green")
        let restored = folder.file("restored")
        #expect(try await footlight("restore", file, data: restored) == nil)
        let other = try await GatewayProcess(dataFolder: restored)
        let after = try await answers(of: other)
        for (path, answer) in before { #expect(after[path] == answer, "\(path)") }
        let token = try stage.gateway.operatorToken
        #expect(try await other.api("GET", "/v1/rooms", token: token).status == 200)
        #expect(try await other.api("GET", "/v1/rooms/kept", token: revoked).status == 401)

        let clip = try await stage.clip(HostScript(.red, tone: 440), seconds: 4)
        let publisher = try FFmpeg.host(file: clip, to: other.ingestURL(key: host.key), isLooped: true)
        defer { publisher.end() }
        let isOnAir = try await eventually(within: .seconds(30), every: .milliseconds(250)) {
            try await other.request("GET", port: other.endpoints.httpPort, "/live/kept/index.m3u8").status == 200
        }
        #expect(isOnAir)
    }

    @Test("refuses a folder that is not empty, a damaged archive, and one of a later version, and changes nothing")
    func refusals() async throws {
        let gateway = try await GatewayProcess()
        let folder = try TemporaryFolder("backup")
        let file = folder.file("backup.tar.gz")
        #expect(try await footlight("backup", file, data: gateway.dataFolder) == nil)
        let used = try #require(try await footlight("restore", file, data: gateway.dataFolder))
        #expect(used.contains("not empty"), "\(used)")

        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let half = folder.file("half.tar.gz")
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: half))
        #expect(try await footlight("restore", half, data: folder.file("a")) != nil)

        try await ChildProcess.run(["tar", "xzf", file, "-C", folder.path])
        let manifest = try String(contentsOfFile: folder.file("backup.json"), encoding: .utf8)
        try folder.write(manifest.replacingOccurrences(of: "\"format\" : 2", with: "\"format\" : 3"), to: "backup.json")
        let later = folder.file("later.tar.gz")
        try await ChildProcess.run(["tar", "czf", later, "-C", folder.path, "backup.json", "rooms.sqlite"])
        let refused = try #require(try await footlight("restore", later, data: folder.file("b")))
        #expect(refused.contains("later one"), "\(refused)")
        for name in ["a", "b"] { #expect(!FileManager.default.fileExists(atPath: folder.file(name)), "\(name)") }
    }

    @Test("does not start on a data folder of a later version, and says what to do")
    func laterFormat() async throws {
        let gateway = try await GatewayProcess()
        let stamp = gateway.dataFolder + "/format.json"
        #expect(try String(contentsOfFile: stamp, encoding: .utf8).contains("\"format\":2"))
        #expect(try await gateway.terminate() == .code(0))
        try #"{"format":3,"version":"9.0.0"}"#.write(toFile: stamp, atomically: true, encoding: .utf8)
        let child = try ChildProcess(
            [GatewayProcess.findBinary(), "serve", "--data-dir", gateway.dataFolder, "--rtmp-port", "0"]
                + ["--http-port", "0", "--admin-port", "0"]
        )
        let exit = try await child.wait(.seconds(10))
        #expect(exit != nil && exit != .code(0))
        #expect(child.standardError.contains("Footlight 9.0.0"), "\(child.standardError)")
        #expect(try String(contentsOfFile: stamp, encoding: .utf8).contains("9.0.0"))
    }

    @Test("copies a data folder of an earlier format before it changes it, once, and the copy can be restored")
    func earlierFormat() async throws {
        let gateway = try await GatewayProcess()
        let path = "/v1/rooms"
        #expect(try await gateway.api("POST", path, ["unique_name": "old"]).status == 201)
        #expect(try await gateway.terminate() == .code(0))
        let copy = gateway.dataFolder + "/before-upgrade.tar.gz"
        #expect(!FileManager.default.fileExists(atPath: copy), "a new folder needs none")
        let stamp = gateway.dataFolder + "/format.json"
        try #"{"format":1,"version":"0.1.0"}"#.write(toFile: stamp, atomically: true, encoding: .utf8)
        try await gateway.start()
        #expect(try await gateway.api("GET", path + "/old").status == 200)
        #expect(try String(contentsOfFile: stamp, encoding: .utf8).contains("\"format\":2"))
        let made = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(made[.posixPermissions] as? Int == 0o600)
        #expect(try await gateway.terminate() == .code(0))
        try await gateway.start()
        let later = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(later[.modificationDate] as? Date == made[.modificationDate] as? Date)
        let folder = try TemporaryFolder("restored")
        #expect(try await footlight("restore", copy, data: folder.file("data")) == nil)
        let restored = try await GatewayProcess(dataFolder: folder.file("data"))
        #expect(try await restored.api("GET", path + "/old").status == 200)
    }
}
