import FootlightTesting
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Reasons of readyz", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct ReadinessTests {
    /// Returns the names of the reasons in readyz.
    private func reasons(_ gateway: GatewayProcess) async throws -> [String] {
        let reply = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/readyz")
        let reasons = reply.json["reasons"].elements.compactMap { $0["name"].string }
        #expect(reply.status == (reasons.isEmpty ? 200 : 503), "\(reply.text)")
        return reasons
    }

    private func waitFor(_ gateway: GatewayProcess, _ isMeant: @escaping ([String]) -> Bool) async throws -> Bool {
        try await eventually(within: .seconds(15), every: .milliseconds(100)) { isMeant(try await reasons(gateway)) }
    }

    @Test("reports a deleted data folder within seconds, and acknowledges no room")
    func folder() async throws {
        let gateway = try await GatewayProcess()
        let token = try gateway.operatorToken
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "before"]).status == 201)
        #expect(try await reasons(gateway).isEmpty)
        try FileManager.default.removeItem(atPath: gateway.dataFolder)
        let isReceived = try await waitFor(gateway) { Set($0).isSuperset(of: ["data_folder", "store_rooms"]) }
        #expect(isReceived, "\(gateway.log)")
        let refused = try await gateway.api("POST", "/v1/rooms", ["unique_name": "after"], token: token)
        #expect(refused.status >= 500, "\(refused.text)")
        #expect(try await gateway.request("GET", port: gateway.endpoints.adminPort, "/livez").status == 200)
        #expect(gateway.log.contains("a reason not to be ready") && gateway.log.contains("reason=data_folder"))
    }

    @Test(
        "reports and recreates a deleted or overwritten room database, and a restart restores all rooms",
        arguments: [true, false]
    )
    func database(isDeleted: Bool) async throws {
        let gateway = try await GatewayProcess()
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "before"]).status == 201)
        let path = gateway.dataFolder + "/rooms.sqlite"
        if isDeleted {
            try FileManager.default.removeItem(atPath: path)
        } else {
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: Data((0..<20_000).map { _ in UInt8.random(in: .min ... .max) }))
            try file.close()
        }
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "after"]).status == 201)
        #expect(try await waitFor(gateway, \.isEmpty))
        let message = isDeleted ? "were deleted or replaced; recreating them" : "are damaged; quarantined"
        let isReported = gateway.log.contains(message)
        #expect(isReported, "\(gateway.log)")
        try await gateway.kill9()
        try await gateway.start()
        for room in ["before", "after"] {
            #expect(try await gateway.api("GET", "/v1/rooms/\(room)").status == 200, "\(room)")
        }
    }

    @Test("reports a deleted database by the name of its store while it is idle")
    func idleDatabase() async throws {
        let gateway = try await GatewayProcess()
        for store in ["rooms", "viewership", "webhooks"] {
            let before = gateway.log.count
            try FileManager.default.removeItem(atPath: "\(gateway.dataFolder)/\(store).sqlite")
            #expect(
                try await eventually(within: .seconds(10)) {
                    // Figures are written every second, which may detect and repair the loss.
                    let isMended = store == "viewership" && gateway.log.contains("figures were deleted or replaced")
                    return gateway.log.dropFirst(before).split(separator: "\n").contains { line in
                        line.contains("a reason not to be ready") && line.contains("reason=store_\(store)")
                    } || isMended
                },
                "\(store): \(gateway.log)"
            )
        }
        #expect(try await waitFor(gateway, \.isEmpty))
    }

    @Test("reports a locked database as long as the lock is held")
    func locked() async throws {
        let gateway = try await GatewayProcess()
        let script = """
            import sqlite3, sys, time
            base = sqlite3.connect(sys.argv[1], isolation_level=None)
            base.execute('BEGIN IMMEDIATE')
            print('locked', flush=True)
            time.sleep(60)
            """
        let holder = try ChildProcess(["python3", "-c", script, gateway.dataFolder + "/rooms.sqlite"])
        #expect(try await waitFor(gateway) { $0 == ["store_rooms"] }, "\(holder.standardError)")
        holder.end()
        #expect(try await waitFor(gateway, \.isEmpty))
    }

    @Test("notifies the service manager of readiness and of the watchdog, but not while suspended")
    func watchdog() async throws {
        let folder = try TemporaryFolder("notify")
        let script = """
            import socket, sys, time
            end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            end.bind(sys.argv[1])
            while True: print(time.monotonic(), end.recv(4096).decode(), flush=True)
            """
        let path = folder.file("socket")
        let manager = try ChildProcess(["python3", "-c", script, path], logFolder: folder.path)
        #expect(try await eventually { FileManager.default.fileExists(atPath: path) })
        let gateway = try await GatewayProcess(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000000"])
        func beats() -> Int { manager.standardOutput.components(separatedBy: "WATCHDOG=1").count - 1 }
        #expect(try await eventually(within: .seconds(10)) { beats() >= 3 }, "\(manager.standardOutput)")
        #expect(manager.standardOutput.contains("READY=1") && manager.standardOutput.contains("STATUS=ready"))
        kill(gateway.endpoints.pid, SIGSTOP)
        try await Task.sleep(for: .milliseconds(500))
        let before = beats()
        try await Task.sleep(for: .seconds(4))
        #expect(beats() == before)
        kill(gateway.endpoints.pid, SIGCONT)
        #expect(try await eventually(within: .seconds(5)) { beats() > before })
        try await gateway.terminate()
        #expect(manager.standardOutput.contains("STOPPING=1"))
        manager.end()
    }
}
