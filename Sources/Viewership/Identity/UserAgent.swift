/// What a player's name for itself tells: its class, and whether it is no viewer at all.
struct UserAgent {
    /// Words of link previewers, crawlers and checkers of availability, in small letters.
    ///
    /// Seen in the names that the makers publish. Whoever needs an accredited list has to license one.
    private static let uncounted = [
        "bot/", "bot;", "bot)", "crawler", "spider", "facebookexternalhit", "facebookcatalog", "slackbot", "twitterbot",
        "discordbot", "whatsapp/", "telegrambot", "linkedinbot", "skypeuripreview", "embedly", "quora link preview",
        "pinterest/0", "redditbot", "applebot", "googlebot", "bingpreview", "yandexbot", "baiduspider", "duckduckbot",
        "adsbot-google", "google-inspectiontool", "meta-external", "yahoo! slurp", "snap url preview", "vkshare",
        "viber/", "mastodon/", "iframely", "headlesschrome-lighthouse", "chrome-lighthouse", "pingdom", "uptimerobot",
        "statuscake", "blackbox exporter", "kube-probe", "googlehc/", "elb-healthchecker",
    ]
    private static let tools = [
        "lavf/", "libavformat", "vlc/", "libvlc", "curl/", "wget/", "gstreamer", "mpv", "mplayer", "python",
        "go-http-client",
        "librtmp", "rtmpdump", "fmle/", "obs/", "okhttp-test", "nsplayer", "streamlink", "ffmpeg", "lnx ",
    ]
    private static let televisions = [
        "smarttv", "smart-tv", "tizen", "webos", "web0s", "roku", "appletv", "apple tv", "googletv", "google tv",
        "android tv", "bravia", "; aft", "crkey", "hbbtv", "netcast", "viera", "xbox", "playstation", "tvos",
    ]

    let client: ClientClass
    let isUncounted: Bool

    /// - Parameter text: nil and the empty text are of no known class.
    init(_ text: String?) {
        guard let text, !text.isEmpty else {
            client = .unknown
            isUncounted = false
            return
        }
        let name = String(text.prefix(512)).lowercased()
        func has(_ words: [String]) -> Bool { words.contains { name.contains($0) } }
        isUncounted = has(Self.uncounted)
        client =
            if has(Self.televisions) {
                .tv
            } else if name.contains("iphone") || name.contains("ipad") || name.contains("ipod")
                || name.contains("applecoremedia")
            {
                .ios
            } else if name.contains("android") || name.contains("exoplayer") || name.contains("stagefright") {
                .android
            } else if has(Self.tools) {
                .tool
            } else if name.contains("mozilla/") {
                .web
            } else {
                .unknown
            }
    }
}
