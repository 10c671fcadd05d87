import Media
import Stage

/// Lets a host's packets through or drops them, track by track, so that what is let through can always be decoded.
///
/// Once a track is closed its next picture is a key picture: those between refer to what nobody got. A configuration
/// that came while its track was closed is made up for in front of the first media after.
struct GatedMedia {
    /// What a decoder of one track knows.
    fileprivate struct Lane {
        var configuration: MediaPacket?
        /// The latest configuration has been let through.
        var isConfigured = true
        var isWaitingForKey = false
    }

    private let source: PublishSource
    private var pictures = Lane()
    private var sound = Lane()
    /// Pictures dropped, those that waited for a key picture included.
    private(set) var droppedPictures: UInt64 = 0
    /// Frames of sound dropped.
    private(set) var droppedSounds: UInt64 = 0

    init(_ source: PublishSource) {
        self.source = source
    }

    /// Calls `pass` with what goes on: nothing, the packet, or a configuration and the packet.
    ///
    /// - Parameter isOpen: Whether media of a track may pass now; asked once at most.
    mutating func admit(_ packet: MediaPacket, isOpen: (TrackName) -> Bool, pass: (MediaPacket) -> Void) {
        switch packet.content {
        case .metadata:
            pass(packet)
        case .videoConfiguration:
            pictures.configure(packet, isOpen: isOpen(picturesTrack), pass: pass)
        case .videoEnd:
            if isOpen(picturesTrack) { pass(packet) }
        case .picture(_, let isKey, _):
            let isPassed = pictures.admit(packet, isKey: isKey, isOpen: isOpen(picturesTrack), pass: pass)
            if !isPassed { droppedPictures += 1 }
        case .audioConfiguration:
            // A screen's sound is no track and goes nowhere.
            if source != .screen { sound.configure(packet, isOpen: isOpen(.mic), pass: pass) }
        case .sound:
            let isPassed = source != .screen && sound.admit(packet, isKey: true, isOpen: isOpen(.mic), pass: pass)
            if !isPassed { droppedSounds += 1 }
        }
    }

    private var picturesTrack: TrackName { source == .screen ? .screen : .camera }
}

extension GatedMedia.Lane {
    fileprivate mutating func configure(_ packet: MediaPacket, isOpen: Bool, pass: (MediaPacket) -> Void) {
        // Encoders repeat their configuration at will: one that is known already needs no making up for.
        let isKnown = isConfigured && configuration?.content == packet.content && configuration?.body == packet.body
        configuration = packet
        isConfigured = isKnown
        guard isOpen else { return }
        isConfigured = true
        pass(packet)
    }

    /// Returns whether the packet was let through.
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
