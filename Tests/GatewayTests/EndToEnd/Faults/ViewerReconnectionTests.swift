import FootlightTesting
import Foundation
import Glibc
import Media
import TestSupport
import Testing

/// A room with a reconnecting host, and players of every kind that Debian packages.
@Suite(
    "Reconnection of players and hosts after a restart",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(3))
)
struct ViewerReconnectionTests {
    private static let room = "back"
    /// Seconds after readiness within which every client reconnects.
    private static let limit = 4.0
    /// Additional seconds for a busy machine.
    private static let grace = 3.0

    private let stage: RoomFixture
    private let browser: HeadlessBrowser

    init() async throws {
        stage = try await RoomFixture(room: Self.room)
        browser = try await HeadlessBrowser()
    }

    /// Repeats a command until the process is ended.
    private func again(_ command: String) throws -> ChildProcess {
        try ChildProcess(["/bin/sh", "-c", "while :; do \(command); sleep 0.3; done"])
    }

    private func beginShow() async throws -> ChildProcess {
        let host = try await stage.join("red")
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let url = stage.gateway.ingestURL(key: host.key)
        let encoder = try again(
            "ffmpeg -nostdin -loglevel error -re -stream_loop -1 -i '\(clip)' -c copy -f flv '\(url)'"
        )
        try await stage.waitUntilOnAir()
        return encoder
    }

    /// Opens the watch page, and records every 50 ms whether it shows a new frame.
    private func watch() async throws {
        try await browser.open("http://127.0.0.1:\(stage.gateway.endpoints.httpPort)/watch/\(Self.room)")
        #expect(try await browser.waits(for: "globalThis.footlight?.program.state === 'playing'", within: .seconds(20)))
        _ = try await browser.evaluate(
            """
            (() => {
                const video = document.querySelector('video');
                let [frames, place] = [0, 0];
                globalThis.shown = [];
                setInterval(() => {
                    const { totalVideoFrames } = video.getVideoPlaybackQuality();
                    if (totalVideoFrames > frames && video.currentTime !== place) shown.push(Date.now());
                    [frames, place] = [totalVideoFrames, video.currentTime];
                }, 50);
            })()
            """
        )
    }

    /// Returns the longest interval without a new frame on the page after a moment, and its end.
    private func longestStop(since moment: Date) async throws -> (seconds: Double, end: Date) {
        // The page still shows new frames.
        let count = try await browser.evaluate("shown.length").int ?? 0
        #expect(try await browser.waits(for: "shown.length > \(count)", within: .seconds(4)), "the page stands still")
        let shown = try await browser.evaluate("shown").elements.compactMap(\.double).map { $0 / 1000 }
        let after = moment.timeIntervalSince1970
        let stops = zip(shown, shown.dropFirst()).filter { $1 > after }
        let longest = stops.max { $0.1 - $0.0 < $1.1 - $1.0 }
        guard let longest else { throw ToolFailure("the page shows nothing any more") }
        return (longest.1 - longest.0, Date(timeIntervalSince1970: longest.1))
    }

    @Test("interrupts the watch page for less than 1.5 seconds when a mixer is killed")
    func mixerDies() async throws {
        let encoder = try await beginShow()
        defer { encoder.end() }
        try await watch()
        try await Task.sleep(for: .seconds(4))
        for round in 1...2 {
            let pid = try #require(stage.gateway.mixers(of: Self.room).first)
            let killed = Date()
            kill(pid, SIGKILL)
            try await Task.sleep(for: .seconds(6))
            let stop = try await longestStop(since: killed)
            print("mixer killed, round \(round): the watch page stood still for", Int(stop.seconds * 1000), "ms")
            #expect(stop.seconds < 1.5, "round \(round): \(stop.seconds) s")
        }
    }

    @Test(
        "watch page, playlists, streams and host reconnect within seconds of a kill or a stop, and are counted once",
        arguments: ["KILL", "TERM"]
    )
    func restart(signal: String) async throws {
        let gateway = stage.gateway
        let encoder = try await beginShow()
        defer { encoder.end() }
        try await watch()
        // These players have no session id, so that each reconnect is a new viewer.
        let flv = "ffmpeg -nostdin -loglevel error -i '\(gateway.flvURL(room: Self.room))' -c copy -f flv -"
        let rtmp = "rtmpdump -q --live -r '\(gateway.rtmpURL(room: Self.room))' -o -"
        let streams = [("FLV", try again(flv)), ("RTMP", try again(rtmp))]
        defer { for (_, child) in streams { child.end() } }
        // This player has a session id.
        let known = try await flvSession()
        let id = try sid(known)
        let index = try await get("/live/\(Self.room)/index.m3u8").text
        let address = "/live/\(Self.room)/" + (index.split(separator: "\n").last.map(String.init) ?? "")
        let listed = try await get(address)
        #expect(listed.status == 200)
        // Without media requests the session would not count.
        let segment = listed.text.split(separator: "\n").last { !$0.hasPrefix("#") } ?? ""
        let folder = address.prefix(through: address.lastIndex(of: "/") ?? address.startIndex)
        #expect(try await get(String(folder) + segment).status == 200)
        try await Task.sleep(for: .milliseconds(2_200))
        #expect(try await get(address).status == 200)
        let isCounted = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            try await figures()["joins"].int == 5
        }
        let present = try await figures()
        #expect(isCounted, "\(present.text)")
        // An open event stream must not delay the shutdown.
        let bearer = "Authorization: Bearer " + (try gateway.operatorToken)
        let events = try ChildProcess([
            "curl", "-sN", "-H", bearer, "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/viewership/events",
        ])
        defer { events.end() }

        // Figures are written once per second.
        try await Task.sleep(for: .milliseconds(1_500))
        let ended = MonotonicTime.now()
        if signal == "KILL" {
            try await gateway.kill9()
        } else {
            #expect(try await gateway.terminate(within: .seconds(10)) == .code(0))
            let seconds = MonotonicTime.now().seconds(since: ended)
            #expect(seconds < 5, "stopping took \(seconds) s")
        }
        known.end()
        try await Task.sleep(for: .seconds(1))
        let sizes = streams.map { size($0.1) }
        try await gateway.start(reusesPorts: true)
        let (ready, readyAt) = (MonotonicTime.now(), Date())
        let returned = try ChildProcess(["curl", "-sN", gateway.flvURL(room: Self.room) + "?sid=\(id)"])
        defer { returned.end() }

        let playlist = try untilPlayable(address)
        defer { playlist.end() }
        var back: [String: Double] = [:]
        let deadline = ready.advanced(seconds: Self.limit + Self.grace)
        while MonotonicTime.now() < deadline, back.count < 5 {
            if back["playlist"] == nil, playlist.exit != nil {
                back["playlist"] = MonotonicTime.now().seconds(since: ready)
            }
            for (index, (name, child)) in streams.enumerated() where back[name] == nil {
                if size(child) > sizes[index] + 20_000 { back[name] = MonotonicTime.now().seconds(since: ready) }
            }
            if back["FLV by its sid"] == nil, size(returned) > 20_000 {
                back["FLV by its sid"] = MonotonicTime.now().seconds(since: ready)
            }
            if back["host"] == nil {
                let host = try await stage.expect(200, "GET", stage.path("participants/red"))
                if host["is_camera_on"].bool == true { back["host"] = MonotonicTime.now().seconds(since: ready) }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(back.count == 5, "\(back)")
        let statuses = playlist.standardError.split(separator: "\n")
        #expect(statuses.last == "200" && statuses.dropLast().allSatisfy { $0 == "503" }, "\(statuses)")
        try await Task.sleep(for: .seconds(3))
        let stop = try await longestStop(since: readyAt)
        back["watch page"] = stop.end.timeIntervalSince(readyAt)
        print("SIG\(signal): back after readiness:", back.mapValues { ($0 * 100).rounded() / 100 })
        for (name, seconds) in back { #expect(seconds < Self.limit + Self.grace, "\(name): \(seconds) s") }

        // Five viewers joined; the two streams without an id have joined again and left with the gateway.
        _ = try await get(address)
        // Each counts again after proof of playback.
        _ = try await eventually(within: .seconds(5), every: .milliseconds(200)) {
            try await figures()["concurrent_viewers"].int == 5
        }
        let counted = try await figures()
        #expect(counted["joins"].int == 7, "\(counted.text)")
        #expect(counted["concurrent_viewers"].int == 5, "\(counted.text)")
    }

    // MARK: Players

    /// Requests a playlist until it is served, and prints each status; it may be held or refused with 503, never 404.
    private func untilPlayable(_ address: String) throws -> ChildProcess {
        let url = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)\(address)"
        let ask = "curl -s -o /dev/null -m 12 -w '%{http_code}' '\(url)'"
        let loop = "while :; do status=$(\(ask)); echo $status >&2; [ $status = 503 ] || exit; done"
        return try ChildProcess(["/bin/sh", "-c", loop])
    }

    /// Starts an HTTP-FLV player that keeps the response header.
    private func flvSession() async throws -> ChildProcess {
        let child = try ChildProcess(["curl", "-sNi", stage.gateway.flvURL(room: Self.room)])
        #expect(try await eventually { self.givenID(child) != nil })
        return child
    }

    private func sid(_ child: ChildProcess) throws -> String { try #require(givenID(child)) }

    /// Returns the session id in the response header.
    private func givenID(_ child: ChildProcess) -> String? {
        guard let file = FileHandle(forReadingAtPath: child.outputPath) else { return nil }
        defer { try? file.close() }
        let head = String(decoding: (try? file.read(upToCount: 1024)) ?? Data(), as: UTF8.self)
        return head.firstMatch(of: /X-Footlight-Session: ([A-Za-z0-9_-]+)/).map { String($0.output.1) }
    }

    private func size(_ child: ChildProcess) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: child.outputPath)
        return (attributes?[.size] as? Int) ?? 0
    }

    private func get(_ path: String) async throws -> GatewayResponse {
        try await stage.gateway.request("GET", port: stage.gateway.endpoints.httpPort, path)
    }

    private func figures() async throws -> JSONValue {
        try await stage.gateway.api("GET", stage.path("viewership")).json
    }
}
