import FootlightClient
import GatewayModel
import Stage

/// Publishing that is only played: what was asked is noted, and may be refused.
@MainActor
final class PlayedTracks: TrackPublishing {
    var callSettings = CallSettings()
    /// What every request is refused with.
    var failure: StageError?
    /// What single requests are refused with, by their words in the log.
    var refusals: [String: StageError] = [:]
    /// Is asked before each answer, so that a test can do something meanwhile.
    var meanwhile: (@MainActor () async -> Void)?
    private(set) var log: [String] = []

    func publish(_ track: TrackName, isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await note("publish \(track.rawValue)\(isEnabled ? "" : " disabled")")
        return Played.track(track, enabled: isEnabled)
    }

    func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await note("\(isEnabled ? "enable" : "disable") \(track.rawValue)")
        return Played.track(track, enabled: isEnabled)
    }

    func unpublish(_ track: TrackName) async throws(StageError) {
        try await note("unpublish \(track.rawValue)")
    }

    /// What was asked since the last time.
    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    private func note(_ what: String) async throws(StageError) {
        log.append(what)
        let meanwhile = meanwhile
        self.meanwhile = nil
        await meanwhile?()
        if let refusal = refusals[what] ?? failure { throw refusal }
    }
}
