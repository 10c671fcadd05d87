import FootlightTesting
import Foundation
import Testing

/// Keeps the contract of the command line and nothing else: it tells its ports, starts one "mixer", and waits.
///
/// It tells them when the mixer is there under its own arguments, which the system shows a moment after the fork. What
/// the mixer does is all within the shell, for another fork would for a moment look like a second one.
private let standIn = """
    #!/bin/bash
    data=$3 rtmp=$7 http=$9
    [[ " $* " != *" --fail "* ]] || { echo "no such setting" >&2; exit 64; }
    export up="$data/up" never="$data/never"
    rm -f "$up" "$never"
    mkfifo "$never"
    setsid bash -c 'exec 3<>"$never"; : >"$up"; read -t 60 -u 3' mixer --room "stage-1" &
    until [[ -e $up ]]; do sleep 0.01; done
    echo "the-token" > "$data/operator.token"
    printf '{"rtmp_port":%d,"http_port":%d,"admin_port":%d,"pid":%d}' \\
        $((rtmp ? rtmp : 4001)) $((http ? http : 4002)) 4003 $$ > "$data/endpoints.json"
    trap 'exit 3' TERM
    while :; do sleep 0.05; done
    """

@Suite("The gateway as a process") struct GatewayProcessTests {
    private let folder: TemporaryFolder
    private let binary: String

    init() throws {
        folder = try TemporaryFolder("stand-in")
        binary = try folder.write(standIn, to: "footlight")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: binary)
    }

    @Test("Ports, token and addresses are read when it listens")
    func starts() async throws {
        let gateway = try await GatewayProcess(binary: binary)
        #expect(gateway.isRunning && RunningProcess.isAlive(gateway.endpoints.pid))
        #expect(gateway.endpoints.rtmpPort == 4001 && gateway.endpoints.adminPort == 4003)
        #expect(try gateway.operatorToken == "the-token")
        #expect(gateway.hlsURL(room: "a") == "http://127.0.0.1:4002/live/a/index.m3u8")
        #expect(gateway.ingestURL(key: "k") == "rtmp://127.0.0.1:4001/live/k")
        #expect(try await gateway.terminate() == .code(3))
        #expect(!gateway.isRunning)
    }

    @Test("Its mixers are found, and end with it although they left its group")
    func mixers() async throws {
        let gateway = try await GatewayProcess(binary: binary)
        let mixers = gateway.mixers(of: "stage-1")
        #expect(mixers.count == 1 && gateway.mixers() == mixers && gateway.mixers(of: "other").isEmpty)
        gateway.end()
        #expect(!mixers.contains(where: RunningProcess.isAlive))
    }

    @Test("Killed and started again it has the same data and, if asked for, the same ports")
    func restarts() async throws {
        let gateway = try await GatewayProcess(binary: binary)
        let before = gateway.endpoints
        let orphans = gateway.mixers()
        try await gateway.kill9()
        #expect(!gateway.isRunning && orphans.count == 1 && orphans.allSatisfy(RunningProcess.isAlive))
        try await gateway.start(keepsPorts: true)
        #expect(gateway.endpoints.pid != before.pid && gateway.endpoints.httpPort == before.httpPort)
        gateway.end()
        #expect(!orphans.contains(where: RunningProcess.isAlive))
    }

    @Test("One that does not come up says why")
    func fails() async throws {
        let failure = await #expect(throws: ToolFailure.self) {
            try await GatewayProcess(arguments: ["--fail"], binary: binary)
        }
        #expect(failure?.description.contains("no such setting") == true)
    }
}
