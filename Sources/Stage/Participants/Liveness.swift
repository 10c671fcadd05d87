/// The signs of life of one participant, and what follows from their absence.
///
/// Pure rules: each sign brings its time along, and `state(at:isHost:)` says how things stand at a time. Two clocks run:
/// one for signalling (heartbeats and the event stream), which starts with the first sign of it, and one for a host's
/// media, which starts when media that ought to flow does not. An encoder's connection is a sign that its host is there;
/// that media flows is known with its first packet. A host that is an encoder and nothing else has neither
/// stream nor heartbeat; it is never given up, for its key must wait for its encoder.
struct Liveness: Sendable {
    /// How a participant stands at a time.
    enum State: Sendable, Equatable {
        case connecting
        case connected
        case reconnecting(StageError)
        case gone(LeaveReason)
    }

    /// Seconds without a sign of life until a participant counts as lost, or one that never gave any is let go.
    static let patience = 15.0
    /// Seconds that a lost participant has to come back.
    static let returnPeriod = 30.0
    /// Seconds that a participant may be without event stream as long as its latest sign of life is fresh.
    static let streamGap = 5.0
    /// Seconds until a host that announced a track must send media.
    static let mediaPatience = 15.0
    /// Seconds without media until a host is given up.
    static let mediaReturnPeriod = 30.0
    /// Seconds after which ingest says that a connection is silent.
    static let mediaSilence = 3.0

    /// Whether there ever was an event stream or a heartbeat.
    private(set) var hasSession = false
    /// Whether an encoder is connected that has sent something, or still has time to begin.
    private(set) var isPublishing = false
    /// Whether an encoder ever was since the participant is a host.
    private(set) var wasPublishing = false
    /// Whether media flows now.
    private(set) var isMediaFlowing = false
    /// Since when the present wait for a first sign of life lasts.
    private var waitingSince: Double
    /// The latest heartbeat, or the end of flowing media.
    private var lastBeat: Double?
    private var openStreams = 0
    private var streamOpenedAt: Double?
    private var streamClosedAt: Double?
    /// When the process was restarted; nil once there was a sign of life since.
    private var restoredAt: Double?
    /// Since when a host has announced tracks without any media.
    private var mediaAwaitedSince: Double?
    /// Since when media that was there is missing.
    private var mediaLostSince: Double?

    init(at now: Double) {
        waitingSince = now
    }

    // MARK: Signalling

    mutating func streamOpened(at now: Double) {
        hasSession = true
        openStreams += 1
        streamOpenedAt = now
        streamClosedAt = nil
        restoredAt = nil
    }

    mutating func streamClosed(at now: Double) {
        openStreams = max(openStreams - 1, 0)
        if openStreams == 0 { streamClosedAt = now }
    }

    mutating func heard(at now: Double) {
        hasSession = true
        lastBeat = now
        restoredAt = nil
    }

    /// The participant waits for a first sign of life again, as after a change of the mode.
    mutating func restart(at now: Double) {
        waitingSince = now
        // Media was a sign of life until now.
        if isMediaFlowing { lastBeat = now }
        isMediaFlowing = false
        isPublishing = false
        wasPublishing = false
        mediaAwaitedSince = nil
        mediaLostSince = nil
    }

    /// After a restart of the process everybody is lost until they say otherwise.
    mutating func restored(at now: Double, hadSession: Bool, isHost: Bool) {
        hasSession = hadSession || !isHost
        wasPublishing = isHost
        restoredAt = now
    }

    // MARK: Media

    /// A connection was opened, or is what is left, that has not sent anything yet.
    ///
    /// - Parameter isExpected: Whether there are tracks that want media; the time for its first packet begins.
    mutating func mediaPends(isExpected: Bool, at now: Double) {
        // It was a sign of life until now.
        if isMediaFlowing { lastBeat = now }
        isMediaFlowing = false
        isPublishing = true
        wasPublishing = true
        mediaAwaitedSince = isExpected ? now : nil
        mediaLostSince = nil
    }

    mutating func mediaFlows() {
        restoredAt = nil
        isMediaFlowing = true
        isPublishing = true
        wasPublishing = true
        mediaAwaitedSince = nil
        mediaLostSince = nil
    }

    /// Media stopped.
    ///
    /// - Parameter isMissed: Whether it ought to flow, since `since`.
    mutating func mediaStopped(isMissed: Bool, since: Double, at now: Double) {
        // It was a sign of life until now.
        if isMediaFlowing { lastBeat = now }
        isMediaFlowing = false
        isPublishing = false
        if isMissed { mediaLostSince = mediaLostSince ?? since }
    }

    /// Some track wants media, or none does any more; told after each change of the tracks.
    mutating func mediaIsExpected(_ isExpected: Bool, at now: Double) {
        guard !isMediaFlowing else { return }
        if isExpected {
            if mediaLostSince == nil { mediaAwaitedSince = mediaAwaitedSince ?? now }
        } else {
            mediaAwaitedSince = nil
            mediaLostSince = nil
        }
    }

    // MARK: The verdict

    func state(at now: Double, isHost: Bool) -> State {
        guard hasSession else { return stateWithoutSession(at: now, isHost: isHost) }
        if isHost {
            if let mediaAwaitedSince, now - mediaAwaitedSince >= Self.mediaPatience { return .gone(.mediaTimeout) }
            if let mediaLostSince, now - mediaLostSince >= Self.mediaReturnPeriod { return .gone(.mediaTimeout) }
        }
        if let lost = signallingLost(at: now) {
            return now - lost >= Self.returnPeriod ? .gone(.sessionTimeout) : .reconnecting(.signallingLost)
        }
        return isHost && mediaLostSince != nil ? .reconnecting(.mediaLost) : .connected
    }

    /// The same in the words of `ParticipantStatus`; somebody whose time is up is still here until taken out.
    func status(at now: Double, isHost: Bool) -> ParticipantStatus {
        switch state(at: now, isHost: isHost) {
        case .connecting: .connecting
        case .connected: .connected
        case .reconnecting: .reconnecting
        case .gone: hasSession ? .reconnecting : .connecting
        }
    }

    private func stateWithoutSession(at now: Double, isHost: Bool) -> State {
        if isHost {
            if isPublishing { return .connected }
            return wasPublishing ? .reconnecting(.mediaLost) : .connecting
        }
        return now - waitingSince >= Self.patience ? .gone(.sessionTimeout) : .connecting
    }

    /// Since when signalling is lost; nil while it is not.
    private func signallingLost(at now: Double) -> Double? {
        if isMediaFlowing { return nil }
        if let restoredAt { return restoredAt }
        let lastSign = max(lastBeat ?? -.infinity, streamOpenedAt ?? -.infinity)
        var lost = lastSign + Self.patience
        if openStreams == 0, let streamClosedAt, lastBeat.map({ $0 <= streamClosedAt }) ?? true {
            lost = min(lost, streamClosedAt + Self.streamGap)
        }
        return now >= lost ? lost : nil
    }
}
