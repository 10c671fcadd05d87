/// Who an output's target belongs to, as far as its host name tells.
enum Platform: String, Sendable, Equatable, CaseIterable {
    case youtube = "YouTube"
    case twitch = "Twitch"
    case facebook = "Facebook"
    /// Anybody else: what suits all of the others will most likely do.
    case unknown = "every large platform"

    init(host: String) {
        let name = host.lowercased().trimmingSuffix(".")
        func belongs(to domains: String...) -> Bool {
            domains.contains { name == $0 || name.hasSuffix("." + $0) }
        }
        self =
            if belongs(to: "youtube.com") {
                .youtube
            } else if belongs(to: "twitch.tv", "live-video.net") {
                .twitch
            } else if belongs(to: "facebook.com", "fbcdn.net") {
                .facebook
            } else {
                .unknown
            }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        last == suffix ? String(dropLast()) : self
    }
}
