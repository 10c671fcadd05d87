import Stage

extension TrackName {
    /// Reads a track's name as clients and tokens write it, the names of other systems included.
    init?(named wireName: String) {
        switch wireName {
        case "microphone": self = .mic
        case "screen_share": self = .screen
        default: self.init(rawValue: wireName)
        }
    }
}
