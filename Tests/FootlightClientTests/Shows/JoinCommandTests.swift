import FootlightClient
import Foundation
import FootlightModel
import Stage
import TestSupport
import Testing

@MainActor
@Suite("The command footlight join", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct JoinCommandTests {
    /// Joins with a token that says who joins and how.
    private func join(
        _ show: GatewayFixture,
        _ identity: String,
        _ mode: ParticipantMode,
        _ more: [String] = [],
        token: String? = nil
    ) async throws -> ChildProcess {
        let token = if let token { token } else { try await show.token(identity, mode) }
        return try ChildProcess(
            [GatewayProcess.findBinary(), "join", show.room, "--server", "http://127.0.0.1:\(show.proxy.port)"] + more,
            environment: ["FOOTLIGHT_TOKEN": token]
        )
    }

    private func lines(_ child: ChildProcess) -> [Substring] { child.standardOutput.split(separator: "\n") }

    @Test("A host sends a file, visible to the audience and a follower; a loss is reported, and Ctrl-C leaves")
    func show() async throws {
        let show = try await GatewayFixture(isAlone: true)
        let folder = try TemporaryFolder("join")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 2, to: folder.file("host.flv"))
        let file = ["--file", folder.file("host.flv"), "--loop", "--name", "Ann"]
        let host = try await join(show, "ann", .sendAndReceive, file)
        let viewer = try await join(show, "bob", .receiveOnly)
        let onlooker = try await join(show, "eve", .signallingOnly)
        let onAir: Substring = "inCall | hosts: ann (mic on, camera on) | audience: 1 | live: on air, HLS_PLAYABLE"
        for child in [viewer, onlooker, host] {
            let isThere = try await soon(every: .milliseconds(50)) { lines(child).last == onAir }
            #expect(isThere, "\(child.standardOutput) \(child.standardError)")
        }
        #expect(lines(viewer).first == "joining" && lines(host).first == "joining")
        #expect(try await show.operatorClient.participant("ann", in: show.room).displayName == "Ann")

        try await show.operatorClient.setEnabled(.mic, false, of: "ann", in: show.room)
        let muted: Substring = "inCall | hosts: ann (mic off, camera on) | audience: 1 | live: on air, HLS_PLAYABLE"
        #expect(try await soon { lines(onlooker).last == muted })

        show.proxy.mode = .cut
        let isCut = try await soon {
            [host, viewer].allSatisfy { child in lines(child).contains { $0.hasPrefix("reconnecting (53001)") } }
        }
        #expect(isCut)
        show.proxy.mode = .pass
        #expect(try await soon { lines(viewer).last == muted && lines(host).last == muted })

        viewer.signal(SIGINT)
        #expect(try await viewer.wait(.seconds(20)) == .code(0))
        #expect(lines(viewer).suffix(2) == ["leaving", "idle"] && viewer.standardError.isEmpty)
        #expect(try await soon { lines(onlooker).last?.contains("audience: 0") == true })
        host.signal(SIGTERM)
        #expect(try await host.wait(.seconds(20)) == .code(0))
        #expect(try await soon { lines(onlooker).last?.contains("hosts: none") == true })
        try await show.operatorClient.endRoom(show.room)
        #expect(try await onlooker.wait(.seconds(20)) == .code(1))
        #expect(onlooker.standardError.hasPrefix("53118 "), "\(onlooker.standardError)")
    }

    @Test("Errors are printed with their code and a non-zero status, and leave nothing behind")
    func refusals() async throws {
        let show = try await GatewayFixture()
        let outsider = try await join(show, "ann", .receiveOnly, token: show.token("ann", .receiveOnly, room: "other"))
        #expect(try await outsider.wait(.seconds(20)) == .code(1))
        #expect(outsider.standardError.hasPrefix("20106 "), "\(outsider.standardError)")
        let onlyViewer = try await join(show, "bob", .receiveOnly, ["--mode", "SEND_AND_RECV", "--identity", "bob"])
        #expect(try await onlyViewer.wait(.seconds(20)) == .code(1))
        #expect(onlyViewer.standardError.hasPrefix("20106 "), "\(onlyViewer.standardError)")
        let unnamed = try await join(show, "", .receiveOnly, token: "no-token")
        #expect(try await unnamed.wait(.seconds(20)) == .code(64))
        #expect(unnamed.standardError.contains("--identity is needed"), "\(unnamed.standardError)")
        let folder = try TemporaryFolder("join")
        _ = try folder.write("no media", to: "host.flv")
        let host = try await join(show, "ann", .sendAndReceive, ["--file", folder.file("host.flv")])
        #expect(try await host.wait(.seconds(20)) == .code(1))
        #expect(host.standardError.hasPrefix("The media ended"), "\(host.standardError)")
        let noOne = try await join(show, "ann", .sendAndReceive, ["--file", folder.file("nowhere.flv")])
        #expect(try await noOne.wait(.seconds(20)) == .code(64))
        #expect(noOne.standardError.contains("--file cannot be read"))
        #expect(try await show.operatorClient.participants(of: show.room).participants.isEmpty)
    }
}
