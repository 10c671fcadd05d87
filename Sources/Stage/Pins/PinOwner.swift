/// Who sets or takes away a pin.
public enum PinOwner: Sendable, Hashable {
    /// An operator, for everybody and for the program.
    case stage
    /// A participant by sid, for its own view.
    case participant(String)
}
