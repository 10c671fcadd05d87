import Stage

/// Classifies a user agent: the class of player, and whether it is excluded.
struct UserAgent {
    private static let tools = WordIndex([
        "lavf/", "libavformat", "vlc/", "libvlc", "curl/", "wget/", "gstreamer", "mpv", "mplayer", "python",
        "go-http-client",
        "librtmp", "rtmpdump", "fmle/", "obs/", "okhttp-test", "nsplayer", "streamlink", "ffmpeg", "lnx ",
    ])
    private static let televisions = WordIndex([
        "smarttv", "smart-tv", "tizen", "webos", "web0s", "roku", "appletv", "apple tv", "googletv", "google tv",
        "android tv", "bravia", "; aft", "crkey", "hbbtv", "netcast", "viera", "xbox", "playstation", "tvos",
    ])
    private static let apple = WordIndex(["iphone", "ipad", "ipod", "applecoremedia"])
    private static let android = WordIndex(["android", "exoplayer", "stagefright"])
    private static let browsers = WordIndex(["mozilla/"])
    /// The number of bytes that are examined.
    private static let length = 512

    let client: ClientClass
    let isUncounted: Bool

    /// - Parameter text: The user agent; nil and the empty text are of unknown class.
    init(_ text: String?, robots: RobotList) {
        guard let text, !text.isEmpty else {
            client = .unknown
            isUncounted = false
            return
        }
        let name = text.utf8.prefix(Self.length).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        isUncounted = robots.matches(name)
        client =
            if Self.televisions.matches(name) {
                .tv
            } else if Self.apple.matches(name) {
                .ios
            } else if Self.android.matches(name) {
                .android
            } else if Self.tools.matches(name) {
                .tool
            } else if Self.browsers.matches(name) {
                .web
            } else {
                .unknown
            }
    }
}
