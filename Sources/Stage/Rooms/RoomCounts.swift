/// How many participants a room has, by mode.
///
/// Players that nobody signalled are not known here.
public struct RoomCounts: Sendable, Hashable {
    /// SEND_AND_RECV.
    public var hosts: Int
    /// RECV_ONLY: the signalled part of the audience.
    public var receiveOnly: Int
    /// SIGNALLING_ONLY.
    public var signallingOnly: Int

    /// All participants, whatever their mode; what `max_participants` limits.
    public var participants: Int { hosts + receiveOnly + signallingOnly }

    /// Makes the counts; nobody by default.
    public init(hosts: Int = 0, receiveOnly: Int = 0, signallingOnly: Int = 0) {
        self.hosts = hosts
        self.receiveOnly = receiveOnly
        self.signallingOnly = signallingOnly
    }

    /// The count of one mode.
    public subscript(mode: ParticipantMode) -> Int {
        get {
            switch mode {
            case .sendAndReceive: hosts
            case .receiveOnly: receiveOnly
            case .signallingOnly: signallingOnly
            }
        }
        set {
            switch mode {
            case .sendAndReceive: hosts = newValue
            case .receiveOnly: receiveOnly = newValue
            case .signallingOnly: signallingOnly = newValue
            }
        }
    }
}
