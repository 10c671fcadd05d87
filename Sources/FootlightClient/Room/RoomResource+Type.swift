public import GatewayModel
public import Stage

extension RoomResource {
    /// What kind of call it is; of a gateway that does not say, or says something unknown, the default.
    public var roomType: RoomType { type.flatMap { RoomType(rawValue: $0) } ?? .default }
}

extension CreateRoomBody {
    /// Makes a body for a room of a type; what else it says is set afterwards.
    public init(uniqueName: String, type: RoomType) {
        self.init(uniqueName: uniqueName, type: type.rawValue)
    }
}
