/// The connection state of one participant, derived from its signalling and media.
///
/// Pure rules: each call passes its time, and `state(at:isHost:)` returns the state at a time. Two timeouts run: one
/// for signalling (heartbeats and the event stream), which starts with the first of them, and one for a host's media,
/// which starts when expected media does not flow. An encoder's connection shows that its host is present; media flows
/// with its first packet. A host with an encoder alone has neither stream nor heartbeat and is never removed, because
/// its key must stay valid for its encoder.
struct Liveness: Sendable {
    /// The state of a participant at a time.
    enum State: Sendable, Equatable {
        case connecting
        case connected
        case reconnecting(StageError)
        case gone(LeaveReason)
    }

    /// Seconds without signalling until a participant counts as lost, or one that never signalled is removed.
    static let signallingTimeout = 15.0
    /// Seconds that a lost participant has to reconnect.
    static let reconnectTimeout = 30.0
    /// Seconds without an event stream during which a recent heartbeat keeps a participant connected.
    static let streamReopenTimeout = 5.0
    /// Seconds until a host that announced a track must send media.
    static let firstMediaTimeout = 15.0
    /// Seconds without media until a host is removed.
    static let mediaReconnectTimeout = 30.0
    /// Seconds after which ingest reports a connection as silent.
    static let mediaSilence = 3.0

    /// Whether there ever was an event stream or a heartbeat.
    private(set) var hasSession = false
    /// Whether an encoder is connected that has sent media or may still start.
    private(set) var isPublishing = false
    /// Whether an encoder was ever connected since the participant became a host.
    private(set) var wasPublishing = false
    /// Whether media currently flows.
    private(set) var isMediaFlowing = false
    /// The start of the wait for first signalling.
    private var waitingSince: Double
    /// The latest heartbeat, or the end of flowing media.
    private var lastHeartbeat: Double?
    private var openStreams = 0
    private var streamOpenedAt: Double?
    private var streamClosedAt: Double?
    /// The time of the process restart; nil after the first signalling since.
    private var restoredAt: Double?
    /// The time since which a host has announced tracks without media.
    private var mediaAwaitedSince: Double?
    /// The time since which expected media is missing.
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

    mutating func heartbeatReceived(at now: Double) {
        hasSession = true
        lastHeartbeat = now
        restoredAt = nil
    }

    /// Restarts the wait for first signalling, as after a change of the mode.
    mutating func restart(at now: Double) {
        waitingSince = now
        // Flowing media counted as signalling until now.
        if isMediaFlowing { lastHeartbeat = now }
        isMediaFlowing = false
        isPublishing = false
        wasPublishing = false
        mediaAwaitedSince = nil
        mediaLostSince = nil
    }

    /// Marks the participant as lost after a restart of the process.
    mutating func restored(at now: Double, hadSession: Bool, isHost: Bool) {
        hasSession = hadSession || !isHost
        wasPublishing = isHost
        restoredAt = now
    }

    // MARK: Media

    /// Records a connection that has not sent media yet.
    ///
    /// - Parameter isExpected: Whether tracks expect media; then the timeout of the first packet starts.
    mutating func mediaPending(isExpected: Bool, at now: Double) {
        // Flowing media counted as signalling until now.
        if isMediaFlowing { lastHeartbeat = now }
        isMediaFlowing = false
        isPublishing = true
        wasPublishing = true
        mediaAwaitedSince = isExpected ? now : nil
        mediaLostSince = nil
    }

    mutating func mediaStarted() {
        restoredAt = nil
        isMediaFlowing = true
        isPublishing = true
        wasPublishing = true
        mediaAwaitedSince = nil
        mediaLostSince = nil
    }

    /// Records the end of flowing media.
    ///
    /// - Parameter isMissed: Whether media is expected, since `since`.
    mutating func mediaStopped(isMissed: Bool, since: Double, at now: Double) {
        // Flowing media counted as signalling until now.
        if isMediaFlowing { lastHeartbeat = now }
        isMediaFlowing = false
        isPublishing = false
        if isMissed { mediaLostSince = mediaLostSince ?? since }
    }

    /// Updates whether any track expects media; called after each change of the tracks.
    mutating func mediaIsExpected(_ isExpected: Bool, at now: Double) {
        guard !isMediaFlowing else { return }
        if isExpected {
            if mediaLostSince == nil { mediaAwaitedSince = mediaAwaitedSince ?? now }
        } else {
            mediaAwaitedSince = nil
            mediaLostSince = nil
        }
    }

    // MARK: State

    func state(at now: Double, isHost: Bool) -> State {
        guard hasSession else { return stateWithoutSession(at: now, isHost: isHost) }
        if isHost {
            if let mediaAwaitedSince, now - mediaAwaitedSince >= Self.firstMediaTimeout { return .gone(.mediaTimeout) }
            if let mediaLostSince, now - mediaLostSince >= Self.mediaReconnectTimeout { return .gone(.mediaTimeout) }
        }
        if let lost = signallingLost(at: now) {
            return now - lost >= Self.reconnectTimeout ? .gone(.sessionTimeout) : .reconnecting(.signallingLost)
        }
        return isHost && mediaLostSince != nil ? .reconnecting(.mediaLost) : .connected
    }

    /// Returns the state as `ParticipantStatus`; an expired participant is still present until it is removed.
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
        return now - waitingSince >= Self.signallingTimeout ? .gone(.sessionTimeout) : .connecting
    }

    /// Returns the time since which signalling is lost; nil while it is not.
    private func signallingLost(at now: Double) -> Double? {
        if isMediaFlowing { return nil }
        if let restoredAt { return restoredAt }
        let lastSign = max(lastHeartbeat ?? -.infinity, streamOpenedAt ?? -.infinity)
        var lost = lastSign + Self.signallingTimeout
        if openStreams == 0, let streamClosedAt, lastHeartbeat.map({ $0 <= streamClosedAt }) ?? true {
            lost = min(lost, streamClosedAt + Self.streamReopenTimeout)
        }
        return now >= lost ? lost : nil
    }
}
