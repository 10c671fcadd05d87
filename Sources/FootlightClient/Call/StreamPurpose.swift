/// What a connection was opened for, until it has begun.
enum StreamPurpose: Sendable, Equatable {
    /// The join with this request.
    case join(Int)
    /// Going on where the stream broke off.
    case resume
    /// Taking the room's whole state anew.
    case rejoin
}
