/// A short message that goes by itself; one that comes while another is seen is passed over.
struct Toast: Sendable, Equatable {
    /// How long one is seen.
    static let duration = Duration.seconds(3)

    private(set) var message: String?
    private var end = Duration.zero

    /// Shows a message.
    ///
    /// - Returns: Whether it is shown.
    mutating func show(_ message: String, at now: Duration) -> Bool {
        guard self.message == nil || now >= end else { return false }
        self.message = message
        end = now + Self.duration
        return true
    }

    /// Takes away a message whose time is over.
    mutating func timePassed(_ now: Duration) {
        if now >= end { message = nil }
    }
}
