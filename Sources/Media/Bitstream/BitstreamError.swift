/// Why the headers of a coded stream could not be read.
///
/// Peers send these bytes, so each is an ordinary outcome.
public enum BitstreamError: Error, Sendable, Equatable {
    /// The data ends before the value does.
    case truncated
    /// A field holds what the format forbids, or more than we are ready to believe; the field is named.
    case invalid(field: String)
    /// A well-formed header of a kind we do not read.
    case unsupported(what: String)
}
