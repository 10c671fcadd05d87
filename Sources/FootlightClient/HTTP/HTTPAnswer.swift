import Foundation

/// What came back for a request, whatever it says.
struct HTTPAnswer: Sendable {
    var status: Int
    /// Seconds from the `Retry-After` field (RFC 9110 section 10.2.3); nil without one, or with a date.
    var retryAfter: Int?
    var body: Data

    var isSuccess: Bool { (200..<300).contains(status) }
}
