import Foundation
import HTTPTypes
import Hummingbird
import Media

/// What the watch page asks about its room.
extension PageSite {
    private struct WatchAnswer: Encodable {
        let isOnAir: Bool
        let viewers: Int
        /// Milliseconds since 1970, by which the page sets its clock for the delay it shows.
        let now: Int

        private enum CodingKeys: String, CodingKey {
            case isOnAir = "on_air"
            case viewers
            case now
        }
    }

    /// What was found out a moment ago, or is now: to count costs everybody who counts, and a crowd of pages asks.
    private func recentAudience(of room: String) -> PageAudience? {
        let now = clock.now
        if let known = watched.with({ $0.audience(of: room, now: now) }) { return known }
        guard let found = audience(room) else { return nil }
        watched.with { $0.keep(found, of: room, now: now) }
        return found
    }

    func addWatching(to router: Router<PageContext>) {
        router.get("watch/:room/status") { _, context in
            guard let audience = recentAudience(of: context.parameters.get("room") ?? "") else {
                return PageReply.text(.notFound)
            }
            return try PageReply.json(
                WatchAnswer(
                    isOnAir: audience.isOnAir,
                    viewers: audience.viewers,
                    now: Int(Date().timeIntervalSince1970 * 1000)
                )
            )
        }
    }
}
