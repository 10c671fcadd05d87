import FanOut
import Stage

/// The previews of rooms that are backstage: what would be on air, for those who direct them.
///
/// The feed and its HLS exist as long as the room is backstage; the room's mixer publishes while they are played.
struct PreviewFeeds: Sendable {
    let feeds: FeedDirectory
    let hls: HLSDirectory

    /// Opens the preview of a room; no effect for one that is open.
    func open(_ name: PreviewFeedName) {
        guard feeds.feed(name.text) == nil else { return }
        feeds.open(name.text).attach(hls.open(name.text))
    }

    /// Ends the preview for its players.
    func close(_ name: PreviewFeedName) {
        guard feeds.feed(name.text) != nil else { return }
        feeds.close(name.text, reason: .roomEnded)
        hls.close(name.text)
    }

    /// Discards the media of a preview whose mixer has stopped it, so that nobody begins with an old frame.
    func mixerStopped(_ name: PreviewFeedName) {
        guard let feed = feeds.feed(name.text), feed.activity.viewers == 0 else { return }
        close(name)
        open(name)
    }

    /// Whether the preview of a room is played.
    func isWatched(room: String) -> Bool {
        let name = PreviewFeedName(room: room).text
        return (feeds.feed(name)?.activity.viewers ?? 0) > 0 || hls.isRequested(name)
    }
}
