import Media
import Stage

/// A counted viewer's name in the events it causes.
struct ViewerSession: Sendable {
    let sid: String
    let room: String
    let playback: PlaybackProtocol
    /// The rendition that it plays; nil for the program as it is.
    var rendition: String?
    let audience: any AudienceObserving
    /// What it asks for media is seen here as well.
    var isMediaSeen = false
    /// The place that it has until it is proven to watch.
    var place: AudiencePlace?

    func record(_ kind: AudienceEvent.Kind, at time: MonotonicTime, bytes: Int = 0) {
        let event = AudienceEvent(
            sid: sid,
            room: room,
            playback: playback,
            rendition: rendition,
            kind: kind,
            at: time,
            bytes: bytes,
            isMediaSeen: isMediaSeen
        )
        audience.record(event)
    }
}
