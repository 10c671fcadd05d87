/// Where to push the program to.
public struct OutputBody: Codable, Sendable, Hashable {
    /// The operator's name for the output, `[A-Za-z0-9_-]{1,64}`; made up when left out.
    public var name: String?
    /// `rtmp://` or `rtmps://`, without the stream key.
    public var url: String
    /// The secret part; never shown again.
    public var streamKey: String
    /// The rendition to push, such as `720p`; the program itself when left out.
    public var rendition: String?
    /// Where to push when `url` fails; nowhere else when left out.
    public var spareURL: String?
    /// The stream key there; `stream_key` when left out.
    public var spareStreamKey: String?

    /// Makes a body.
    public init(name: String? = nil, url: String, streamKey: String) {
        self.name = name
        self.url = url
        self.streamKey = streamKey
    }

    private enum CodingKeys: String, CodingKey {
        case name
        case url
        case streamKey = "stream_key"
        case rendition
        case spareURL = "spare_url"
        case spareStreamKey = "spare_stream_key"
    }
}
