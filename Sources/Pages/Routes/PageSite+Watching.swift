import Foundation
import HTTPTypes
import Hummingbird

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

    func addWatching(to router: Router<PageContext>) {
        router.get("watch/:room/status") { _, context in
            guard let audience = audience(context.parameters.get("room") ?? "") else {
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
