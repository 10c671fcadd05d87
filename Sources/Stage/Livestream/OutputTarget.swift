/// Where an output pushes the program to.
public struct OutputTarget: Sendable, Equatable {
    /// The operator's name for the output, unique within its room, `[A-Za-z0-9_-]{1,64}`.
    public var name: String
    /// `rtmp://` or `rtmps://`, host, optional port, application path; without the stream key.
    public var url: String
    /// The secret part; never shown or logged in clear.
    public var streamKey: String
    /// The rendition that is pushed; nil for the program itself.
    public var rendition: String?
    /// Where to push when `url` fails, written like it; nil for nowhere else.
    public var spareURL: String?
    /// The stream's name at the spare address; nil for the same as at the first.
    public var spareStreamKey: String?
    /// What will be pushed, to be held against the target's rules before it begins; nil to look only once it runs.
    public var figures: StreamFigures?
    /// Whether only public addresses will do, whatever else is allowed: somebody named it who is no operator.
    public var mustBePublic = false

    /// Makes a target; nothing is checked here.
    public init(name: String, url: String, streamKey: String) {
        self.name = name
        self.url = url
        self.streamKey = streamKey
    }
}
