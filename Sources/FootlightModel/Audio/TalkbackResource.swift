/// Who speaks to the hosts of a room by talkback, and which of them receive it.
public struct TalkbackResource: Codable, Sendable, Hashable {
    /// The identity of the speaker; nil while there is none.
    @ExplicitNull public var speaker: String?
    /// The identities of the hosts whose return feeds contain the talkback.
    public var hosts: [String]
    /// The identities of the chosen hosts who do not receive it: they have no return feed, or are not on stage.
    public var unreachable: [String]
    /// The audio blocks of this talk that were not played, because they came too late or too many at once.
    public var dropped: Int

    /// Creates a state; without arguments that of a room without a speaker.
    public init(speaker: String? = nil, hosts: [String] = [], unreachable: [String] = [], dropped: Int = 0) {
        self.speaker = speaker
        self.hosts = hosts
        self.unreachable = unreachable
        self.dropped = dropped
    }
}
