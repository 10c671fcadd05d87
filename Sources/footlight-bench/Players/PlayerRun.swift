import FootlightTesting
import Foundation
import Glibc
import Media

/// Lets players watch a room, and looks at what they decoded and as what they were counted.
struct PlayerRun {
    private let gateway: GatewayProcess
    private let room: String
    private let folder: String

    /// Pictures of those due that must be there: a player starts a while after its first request.
    private static let leastPictures = 0.4
    /// What is quieter is silence, in dB.
    private static let silence = -60.0

    /// - Parameter folder: What players decode is left below it.
    init(_ gateway: GatewayProcess, room: String, folder: String) {
        self.gateway = gateway
        self.room = room
        self.folder = folder
    }

    func run(_ trial: PlayerTrial, _ seconds: Int) async -> PlayerOutcome {
        await judged(trial.way, trial.client, due: seconds * PlayerTrial.stillsPerSecond) { count in
            guard Self.isThere(trial.tool) else { throw ToolFailure("\(trial.tool) is not installed") }
            let place = try makeFolder(trial.name)
            let start = Date()
            let child = try ChildProcess(call(trial, place), environment: ["HOME": place], logFolder: place)
            defer { child.end() }
            _ = try await eventually(within: .seconds(seconds + 15), every: .milliseconds(250)) {
                _ = try await count.look()
                return !child.isRunning
            }
            child.end()
            if trial.isRecorder { try await PlayedMedia.decode("\(place)/out.flv", to: place) }
            return try await PlayedMedia(in: place, since: trial.isRecorder ? nil : start, every: trial.stride)
        }
    }

    func run(_ trial: BrowserTrial, _ seconds: Int) async -> PlayerOutcome {
        // Thirty pictures a second, all of them counted.
        await judged(trial.way, "web", due: seconds * 30) { count in
            guard Self.isThere("chromium") else { throw ToolFailure("chromium is not installed") }
            let place = try makeFolder("Chromium \(trial.name)")
            let media = try await trial.play(
                room: room,
                gateway,
                seconds: seconds,
                still: "\(place)/page.png",
                look: { _ = try await count.look() }
            )
            guard try await PlayedMedia.spread(of: "\(place)/page.png") > 10 else {
                throw ToolFailure("the page shows nothing")
            }
            return media
        }
    }

    private func judged(
        _ way: PlayerTrial.Way,
        _ client: String,
        due: Int,
        _ play: (inout PlayerCount) async throws -> PlayedMedia
    ) async -> PlayerOutcome {
        var outcome = PlayerOutcome()
        do {
            var others = try await PlayerCount(of: way, room: room, gateway)
            let isFree = try await eventually(within: .seconds(40), every: .milliseconds(250)) {
                try await others.look() == 0
            }
            guard isFree else { throw ToolFailure("somebody else watches by \(way.rawValue)") }
            var count = try await PlayerCount(of: way, room: room, gateway)
            let media = try await play(&count)
            outcome.media = media
            if way == .rtmp || way == .flv {
                let end = MonotonicTime.now()
                let isGone = try await eventually(within: .seconds(3)) { try await count.look() == 0 }
                outcome.goneAfter = isGone ? MonotonicTime.now().seconds(since: end) : nil
                if !isGone { outcome.faults.append("is still counted") }
            }
            outcome.sessions = try await count.newSessions()
            (outcome.most, outcome.joins) = (count.most, count.joins)
            if media.pictures.good < Int(Double(due) * Self.leastPictures) { outcome.faults.append("too few pictures") }
            if media.pictures.good < media.pictures.all { outcome.faults.append("pictures of one colour") }
            if media.level ?? -200 < Self.silence { outcome.faults.append("no sound") }
            if (count.most, count.joins) != (1, 1) { outcome.faults.append("not counted once") }
            if outcome.sessions.map(\.way) != [way.rawValue] {
                outcome.faults.append("not \(way.rawValue) in the history")
            }
            if outcome.sessions.map(\.client) != [client] { outcome.faults.append("not a player of kind \(client)") }
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

    private func call(_ trial: PlayerTrial, _ place: String) throws -> [String] {
        let url =
            switch trial.way {
            case .rtmp: gateway.rtmpURL(room: room)
            case .flv: gateway.flvURL(room: room)
            case .hls, .llhls: gateway.hlsURL(room: room)
            }
        let call = trial.call?(url, place) ?? []
        guard trial.isUnprivileged, getuid() == 0 else { return call }
        // It refuses to run as root.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place)
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + call
    }

    private static func isThere(_ tool: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map { String($0) } + ["/usr/sbin"]
        return folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/" + tool) }
    }
}
