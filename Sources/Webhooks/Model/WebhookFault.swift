/// Why a command about endpoints was not followed.
public enum WebhookFault: Error, Equatable {
    /// There is no such endpoint.
    case notFound
    /// There are as many as there may be.
    case tooMany(Int)
    /// A field has a value that is not allowed.
    case invalid(field: String, rule: String)
    /// The database cannot be used at the moment.
    case unavailable
}
