/// Why an asset did not come.
struct AssetError: Error, Equatable, CustomStringConvertible {
    enum Code: Equatable {
        /// Not a URL that is fetched.
        case badAddress
        /// It leads to an address that may not be asked.
        case forbiddenAddress
        /// The other side said no.
        case refused
        /// Larger than what is taken.
        case tooLarge
        /// No answer in time, or the connection broke.
        case unreachable
    }

    let code: Code
    let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// In words, for the log.
    var description: String { reason }

    /// Another try soon would end the same way.
    var isFinal: Bool { code != .unreachable }
}
