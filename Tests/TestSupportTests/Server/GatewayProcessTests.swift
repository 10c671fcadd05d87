import Foundation
import TestSupport
import Testing

/// A stand-in for the gateway's command line: writes its ports, starts one "mixer" and waits.
///
/// It reports them once the mixer has its own arguments, which appear shortly after the fork. The mixer uses no further
/// fork, which would briefly look like a second one.
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

@Suite("Gateway process") struct GatewayProcessTests {
    private let folder: TemporaryFolder
    private let binary: String

    init() throws {
        folder = try TemporaryFolder("stand-in")
        binary = try folder.write(standIn, to: "footlight")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: binary)
    }

    @Test("reads ports, token and URLs once the gateway listens")
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

    @Test("finds the mixers and ends them although they left the process group")
    func mixers() async throws {
        let gateway = try await GatewayProcess(binary: binary)
        let mixers = gateway.mixers(of: "stage-1")
        #expect(mixers.count == 1 && gateway.mixers() == mixers && gateway.mixers(of: "other").isEmpty)
        gateway.end()
        #expect(!mixers.contains(where: RunningProcess.isAlive))
    }

    @Test("restarts with the same data and, on request, the same ports")
    func restarts() async throws {
        let gateway = try await GatewayProcess(binary: binary)
        let before = gateway.endpoints
        let orphans = gateway.mixers()
        try await gateway.kill9()
        #expect(!gateway.isRunning && orphans.count == 1 && orphans.allSatisfy(RunningProcess.isAlive))
        try await gateway.start(reusesPorts: true)
        #expect(gateway.endpoints.pid != before.pid && gateway.endpoints.httpPort == before.httpPort)
        gateway.end()
        #expect(!orphans.contains(where: RunningProcess.isAlive))
    }

    @Test("reports the output of a gateway that does not start")
    func fails() async throws {
        let failure = await #expect(throws: ToolFailure.self) {
            try await GatewayProcess(arguments: ["--fail"], binary: binary)
        }
        #expect(failure?.description.contains("no such setting") == true)
    }
}

@Suite("JSON values") struct JSONValueTests {
    @Test("returns members and elements, and null for missing ones")
    func reads() throws {
        let json = try JSONValue(parsing: #"{"a":[1,2.5,"x",true,null],"b":{"c":3}}"#)
        #expect(json["a"][0].int == 1 && json["a"][1].double == 2.5 && json["a"][1].int == nil)
        #expect(json["a"][2].string == "x" && json["a"][3].bool == true && json["a"][4] == .null)
        #expect(json["b"]["c"].int == 3 && json["b"]["d"]["e"] == .null && json["a"].elements.count == 5)
    }

    @Test("encodes a value written as a literal")
    func writes() {
        let value: JSONValue = ["room": "a/b", "list": [1, 2.5, true], "more": ["x": "y"]]
        #expect(value.text == #"{"list":[1,2.5,true],"more":{"x":"y"},"room":"a/b"}"#)
    }
}
