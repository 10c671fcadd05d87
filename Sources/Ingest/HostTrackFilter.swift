import Media
import Stage

/// Forwards or drops a host's packets by track, so that the forwarded ones can always be decoded.
///
/// A closed track resumes with a keyframe. A configuration received while its track was closed is sent before the first
/// media after it.
struct HostTrackFilter {
    /// The decoder state of one track.
    fileprivate struct TrackState {
        var configuration: MediaPacket?
        /// Whether the latest configuration was forwarded.
        var isConfigured = true
        var isWaitingForKey = false
    }

    private let source: PublishSource
    private var video = TrackState()
    private var audio = TrackState()
    /// The number of dropped video frames, including those before a keyframe.
    private(set) var droppedVideoFrames: UInt64 = 0
    /// The number of dropped audio frames.
    private(set) var droppedAudioFrames: UInt64 = 0

    init(_ source: PublishSource) {
        self.source = source
    }

    /// Calls `pass` with the forwarded packets: none, the packet, or a configuration and the packet.
    ///
    /// - Parameter isOpen: Returns whether a track's media may pass now; called at most once.
    mutating func admit(_ packet: MediaPacket, isOpen: (TrackName) -> Bool, pass: (MediaPacket) -> Void) {
        switch packet.content {
        case .metadata:
            pass(packet)
        case .videoConfiguration:
            video.configure(packet, isOpen: isOpen(videoTrack), pass: pass)
        case .videoEnd:
            if isOpen(videoTrack) { pass(packet) }
        case .video(_, let isKey, _):
            let isPassed = video.admit(packet, isKey: isKey, isOpen: isOpen(videoTrack), pass: pass)
            if !isPassed { droppedVideoFrames += 1 }
        case .audioConfiguration:
            // A screen share has no audio track.
            if source != .screen { audio.configure(packet, isOpen: isOpen(.mic), pass: pass) }
        case .audio:
            let isPassed = source != .screen && audio.admit(packet, isKey: true, isOpen: isOpen(.mic), pass: pass)
            if !isPassed { droppedAudioFrames += 1 }
        }
    }

    private var videoTrack: TrackName { source == .screen ? .screen : .camera }
}

extension HostTrackFilter.TrackState {
    fileprivate mutating func configure(_ packet: MediaPacket, isOpen: Bool, pass: (MediaPacket) -> Void) {
        // Encoders repeat their configuration; an unchanged one does not need to be sent again.
        let isKnown = isConfigured && configuration?.content == packet.content && configuration?.body == packet.body
        configuration = packet
        isConfigured = isKnown
        guard isOpen else { return }
        isConfigured = true
        pass(packet)
    }

    /// Returns whether the packet was forwarded.
    fileprivate mutating func admit(
        _ packet: MediaPacket,
        isKey: Bool,
        isOpen: Bool,
        pass: (MediaPacket) -> Void
    ) -> Bool {
        guard isOpen else {
            isWaitingForKey = true
            return false
        }
        guard isKey || !isWaitingForKey else { return false }
        isWaitingForKey = false
        if !isConfigured, var configuration {
            configuration.timestamp = packet.timestamp
            pass(configuration)
        }
        isConfigured = true
        pass(packet)
        return true
    }
}
