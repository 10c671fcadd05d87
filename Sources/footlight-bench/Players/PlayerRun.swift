import FootlightTesting
import Foundation
import Glibc
import Media
import TestSupport

/// Runs players in a room, and checks what they decoded and how they were counted.
struct PlayerRun {
    private let gateway: GatewayProcess
    private let room: String
    /// The query of playback addresses; empty for none.
    private let query: String
    private let folder: String

    /// The minimum share of the frames due: a player starts some time after its first request.
    private static let minimumFrameShare = 0.4
    /// The level below which audio is silent, in dB.
    private static let silence = -60.0

    /// - Parameter folder: The parent of the folders for the players' decoded files.
    init(_ gateway: GatewayProcess, room: String, query: String = "", folder: String) {
        self.query = query
        self.gateway = gateway
        self.room = room
        self.folder = folder
    }

    func run(_ trial: PlayerTrial, _ seconds: Int) async -> PlayerOutcome {
        await evaluate(trial.method, trial.client, due: seconds * PlayerTrial.stillsPerSecond) { count in
            guard Self.isInstalled(trial.tool) else { throw ToolFailure("\(trial.tool) is not installed") }
            let folderPath = try makeFolder(trial.name)
            let start = Date()
            let child = try ChildProcess(
                command(trial, folderPath),
                environment: ["HOME": folderPath],
                logFolder: folderPath
            )
            defer { child.end() }
            _ = try await eventually(within: .seconds(seconds + 15), every: .milliseconds(250)) {
                _ = try await count.poll()
                return !child.isRunning
            }
            child.end()
            if trial.isRecorder { try await PlayedMedia.decode("\(folderPath)/out.flv", to: folderPath) }
            return try await PlayedMedia(in: folderPath, since: trial.isRecorder ? nil : start, every: trial.stride)
        }
    }

    func run(_ trial: BrowserTrial, _ seconds: Int) async -> PlayerOutcome {
        // Thirty frames per second, all of them counted.
        await evaluate(trial.method, "web", due: seconds * 30) { count in
            guard Self.isInstalled("chromium") else { throw ToolFailure("chromium is not installed") }
            let folderPath = try makeFolder("Chromium \(trial.name)")
            let media = try await trial.play(
                room: room,
                query: query,
                gateway,
                seconds: seconds,
                still: "\(folderPath)/page.png",
                poll: { _ = try await count.poll() }
            )
            guard try await PlayedMedia.spread(of: "\(folderPath)/page.png") > 10 else {
                throw ToolFailure("the page shows nothing")
            }
            return media
        }
    }

    private func evaluate(
        _ method: PlayerTrial.Method,
        _ client: String,
        due: Int,
        _ play: (inout PlayerCount) async throws -> PlayedMedia
    ) async -> PlayerOutcome {
        var outcome = PlayerOutcome()
        do {
            var others = try await PlayerCount(of: method, room: room, gateway)
            let isFree = try await eventually(within: .seconds(40), every: .milliseconds(250)) {
                try await others.poll() == 0
            }
            guard isFree else { throw ToolFailure("another viewer watches by \(method.rawValue)") }
            var count = try await PlayerCount(of: method, room: room, gateway)
            let media = try await play(&count)
            outcome.media = media
            if method == .rtmp || method == .flv {
                let end = MonotonicTime.now()
                let isGone = try await eventually(within: .seconds(3)) { try await count.poll() == 0 }
                outcome.goneAfter = isGone ? MonotonicTime.now().seconds(since: end) : nil
                if !isGone { outcome.faults.append("is still counted") }
            }
            outcome.sessions = try await count.newSessions()
            (outcome.most, outcome.joins) = (count.most, count.joins)
            if media.frames.good < Int(Double(due) * Self.minimumFrameShare) { outcome.faults.append("too few frames") }
            if media.frames.good < media.frames.all { outcome.faults.append("frames of one colour") }
            if media.level ?? -200 < Self.silence { outcome.faults.append("no audio") }
            if (count.most, count.joins) != (1, 1) { outcome.faults.append("not counted once") }
            if outcome.sessions.map(\.method) != [method.rawValue] {
                outcome.faults.append("not \(method.rawValue) in the history")
            }
            if outcome.sessions.map(\.client) != [client] { outcome.faults.append("not counted as client \(client)") }
        } catch let failure as ToolFailure {
            outcome.faults.append(failure.description.split(separator: "\n").first.map(String.init) ?? "failed")
        } catch {
            outcome.faults.append("\(error)")
        }
        return outcome
    }

    private func makeFolder(_ name: String) throws -> String {
        let path = folder + "/" + name.replacing(" ", with: "-").replacing(",", with: "")
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func command(_ trial: PlayerTrial, _ folderPath: String) throws -> [String] {
        let url =
            switch trial.method {
            case .rtmp: gateway.rtmpURL(room: room)
            case .flv: gateway.flvURL(room: room)
            case .hls, .llhls: gateway.hlsURL(room: room)
            }
        let command = trial.command?(url + query, folderPath) ?? []
        guard trial.isUnprivileged, getuid() == 0 else { return command }
        // The player refuses to run as root.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folderPath)
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    }

    private static func isInstalled(_ tool: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map { String($0) } + ["/usr/sbin"]
        return folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/" + tool) }
    }
}

/// The result of one player.
struct PlayerOutcome {
    var media: PlayedMedia?
    var most = 0
    var joins = 0
    var sessions: [(method: String, client: String)] = []
    /// Seconds from its end until it was no longer counted; nil when this was not measured.
    var goneAfter: Double?
    /// The failed checks.
    var faults: [String] = []

    var isGood: Bool { faults.isEmpty }

    var cells: [String] {
        [
            media.map { "\($0.frames.good)/\($0.frames.all)" } ?? "-",
            media?.level.map { $0.text(1) } ?? "-",
            media?.join.map { $0.text(2) } ?? "-",
            media.flatMap { $0.ages.isEmpty ? nil : ($0.ages.median / 1000).text(2) } ?? "-",
            "\(most), \(joins) joined",
            sessions.map { "\($0.method) \($0.client)" }.joined(separator: " + "),
            goneAfter.map { $0.text(1) } ?? "-",
            isGood ? "good" : faults.joined(separator: "; "),
        ]
    }
}

/// The gateway's counts while one player plays.
struct PlayerCount {
    private let gateway: GatewayProcess
    private let room: String
    private let method: String
    private let joinsBefore: Int
    private let sessionsBefore: Set<String>

    /// The maximum number of concurrent viewers by this protocol.
    private(set) var most = 0
    /// Viewers that joined since the start of the count.
    private(set) var joins = 0

    init(of method: PlayerTrial.Method, room: String, _ gateway: GatewayProcess) async throws {
        self.gateway = gateway
        self.room = room
        self.method = method.rawValue
        joinsBefore = try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json["joins"].int ?? 0
        sessionsBefore = Set(try await Self.sessions(room, gateway).compactMap { $0["id"].string })
    }

    /// Updates the counts, and returns the number of viewers by this protocol.
    mutating func poll() async throws -> Int {
        let report = try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json
        let now = report["by"]["protocol"][method].int ?? -1
        most = max(most, now)
        joins = (report["joins"].int ?? 0) - joinsBefore
        return now
    }

    /// Returns the new sessions of the history, once written.
    func newSessions() async throws -> [(method: String, client: String)] {
        var new: [JSONValue] = []
        _ = try await eventually(within: .seconds(4), every: .milliseconds(200)) {
            new = try await Self.sessions(room, gateway).filter { !sessionsBefore.contains($0["id"].string ?? "") }
            return !new.isEmpty
        }
        return new.map { ($0["protocol"].string ?? "?", $0["client"].string ?? "?") }
    }

    private static func sessions(_ room: String, _ gateway: GatewayProcess) async throws -> [JSONValue] {
        let path = "/v1/rooms/\(room)/viewership/sessions?page_size=10000"
        return try await gateway.api("GET", path).json["sessions"].elements
    }
}
