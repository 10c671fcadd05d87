/// Who an output's target belongs to, as far as its host name tells.
enum Platform: String, Sendable, Equatable, CaseIterable {
    case youtube = "YouTube"
    case twitch = "Twitch"
    case facebook = "Facebook"
    case x = "X"
    case trovo = "Trovo"
    case nimo = "Nimo TV"
    case dlive = "DLive"
    case mux = "Mux"
    case restream = "Restream"
    case castr = "Castr"
    case livepush = "Livepush"
    /// A channel of one's own, or of a platform that is built on it.
    case ivs = "Amazon IVS"
    /// Anybody else: what suits all of the large ones will most likely do.
    case unknown = "every large platform"

    init(host: String) {
        let name = host.lowercased().trimmingSuffix(".")
        func belongs(to domains: String...) -> Bool {
            domains.contains { name == $0 || name.hasSuffix("." + $0) }
        }
        self =
            if belongs(to: "youtube.com") {
                .youtube
            } else if belongs(to: "live-video.net") {
                Self.liveVideo(name)
            } else if belongs(to: "twitch.tv") {
                .twitch
            } else if belongs(to: "facebook.com", "fbcdn.net") {
                .facebook
            } else {
                Self.others.first { belongs(to: $0.domain) }?.platform ?? .unknown
            }
    }
}

extension Platform {
    /// Where streams are pushed to; a relay in front of a platform has its own rules.
    private static let others: [(domain: String, platform: Platform)] = [
        ("pscp.tv", .x), ("trovo.live", .trovo), ("nimo.tv", .nimo), ("dlive.tv", .dlive), ("mux.com", .mux),
        ("restream.io", .restream), ("castr.io", .castr), ("livepush.io", .livepush),
    ]

    /// Twitch's or IVS's, which are on the same machines.
    ///
    /// A channel of IVS has a name of its own among those that lead to the nearest machine; Twitch has but one there.
    /// Those of a single city take both: Twitch's rules, which are the stricter ones, are meant for them.
    private static func liveVideo(_ name: String) -> Platform {
        let shared = "ingest.global-contribute.live-video.net"
        return name != shared && name.hasSuffix(".global-contribute.live-video.net") ? .ivs : .twitch
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        last == suffix ? String(dropLast()) : self
    }
}
