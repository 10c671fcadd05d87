/// Which minute's peak of a group of viewers a figure is.
public struct GroupPeak: Sendable, Hashable {
    /// The broadcast; 0 for all rooms together.
    public var epoch: Int64
    /// Minutes since 1970.
    public var minute: Int64
    /// Whose it is.
    public var group: ViewerGroup

    /// Names a minute of a group.
    public init(epoch: Int64, minute: Int64, group: ViewerGroup) {
        self.epoch = epoch
        self.minute = minute
        self.group = group
    }
}
