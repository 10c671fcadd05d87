/// What a player's name for itself tells: its class, and whether it is no viewer at all.
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
    /// Bytes of a name that are looked at.
    private static let length = 512

    let client: ClientClass
    let isUncounted: Bool

    /// - Parameter text: nil and the empty text are of no known class.
    init(_ text: String?, robots: RobotList) {
        guard let text, !text.isEmpty else {
            client = .unknown
            isUncounted = false
            return
        }
        let name = text.utf8.prefix(Self.length).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        isUncounted = robots.names(name)
        client =
            if Self.televisions.isIn(name) {
                .tv
            } else if Self.apple.isIn(name) {
                .ios
            } else if Self.android.isIn(name) {
                .android
            } else if Self.tools.isIn(name) {
                .tool
            } else if Self.browsers.isIn(name) {
                .web
            } else {
                .unknown
            }
    }
}
