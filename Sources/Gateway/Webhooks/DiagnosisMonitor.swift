import Stage

/// Detects what keeps hosts from being heard or seen, once it has lasted.
///
/// A host whose encoder connects has no sound and no video for a moment, which is no news.
struct DiagnosisMonitor: Sendable {
    /// Seconds for which a cause must last.
    static let delay = 10.0

    /// The causes of a host's sound and video.
    private struct Causes: Sendable, Equatable {
        var sound = HostDiagnosis.Cause.none
        var video = HostDiagnosis.Cause.none

        init() {}

        init(_ host: HostDiagnosis) {
            // That nobody is heard before the show is as it should be.
            sound = host.sound.cause == .backstage ? .none : host.sound.cause
            video = host.video.cause == .backstage ? .none : host.video.cause
        }
    }

    private struct Known: Sendable {
        var reported = Causes()
        var present = Causes()
        var since: Double
    }

    /// By the host's sid.
    private var hosts: [String: Known] = [:]

    /// Applies the diagnosis of all hosts of all rooms; hosts that are not among them are forgotten.
    ///
    /// - Parameter now: Seconds on any clock that does not go back.
    /// - Returns: The hosts whose causes have changed.
    mutating func update(_ diagnoses: [HostDiagnosis], at now: Double) -> [HostDiagnosis] {
        var next: [String: Known] = [:]
        var changed: [HostDiagnosis] = []
        for host in diagnoses {
            let causes = Causes(host)
            var known = hosts[host.sid] ?? Known(since: now)
            if known.present != causes { (known.present, known.since) = (causes, now) }
            if known.present != known.reported, now - known.since >= Self.delay {
                known.reported = causes
                changed.append(host)
            }
            next[host.sid] = known
        }
        hosts = next
        return changed
    }
}
