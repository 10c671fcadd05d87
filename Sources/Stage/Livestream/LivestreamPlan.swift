/// What a running livestream was told to do, so that it can go on after a restart.
public struct LivestreamPlan: Sendable, Equatable, Codable {
    /// An output with its stream keys.
    private struct Output: Equatable, Codable {
        var name: String
        var url: String
        var streamKey: String
        var rendition: String?
        var backupURL: String?
        var backupStreamKey: String?
        var mustBePublic: Bool
    }

    private var outputs: [Output]
    private var maximumDuration: Int
    private var minimumIdleTimeout: Int
    /// The start in seconds since 1970.
    public var startedAt: Double

    /// Creates a plan from the arguments of a start.
    public init(_ targets: [OutputTarget], _ options: LivestreamOptions, startedAt: Double) {
        outputs = targets.map { target in
            Output(
                name: target.name,
                url: target.url,
                streamKey: target.streamKey,
                rendition: target.rendition,
                backupURL: target.backupURL,
                backupStreamKey: target.backupStreamKey,
                mustBePublic: target.mustBePublic
            )
        }
        maximumDuration = options.maximumDuration
        minimumIdleTimeout = options.minimumIdleTimeout
        self.startedAt = startedAt
    }

    /// The targets; their expected properties are not stored, so that only the running stream is checked.
    public var targets: [OutputTarget] {
        get {
            outputs.map { output in
                var target = OutputTarget(name: output.name, url: output.url, streamKey: output.streamKey)
                target.rendition = output.rendition
                target.backupURL = output.backupURL
                target.backupStreamKey = output.backupStreamKey
                target.mustBePublic = output.mustBePublic
                return target
            }
        }
        set { self = LivestreamPlan(newValue, options, startedAt: startedAt) }
    }

    /// The options of the start.
    public var options: LivestreamOptions {
        LivestreamOptions(maximumDuration: maximumDuration, minimumIdleTimeout: minimumIdleTimeout)
    }

    /// Returns the options for a livestream that goes on, with what is left of its duration; nil when that is over.
    ///
    /// - Parameter now: Seconds since 1970.
    public func options(at now: Double) -> LivestreamOptions? {
        let left = Double(maximumDuration) - max(0, now - startedAt)
        guard left >= 1 else { return nil }
        var options = options
        options.maximumDuration = min(maximumDuration, Int(left))
        return options
    }
}
