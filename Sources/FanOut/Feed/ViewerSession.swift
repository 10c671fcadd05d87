import Media
import Stage

/// A counted viewer's name in the events it causes.
struct ViewerSession: Sendable {
    let sid: String
    let room: String
    let playback: PlaybackProtocol
    let audience: any AudienceObserving

    func record(_ kind: AudienceEvent.Kind, at time: MonotonicTime) {
        audience.record(AudienceEvent(sid: sid, room: room, playback: playback, kind: kind, at: time))
    }
}
