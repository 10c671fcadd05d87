import Foundation

/// What came back for a request, whatever it says.
struct HTTPAnswer: Sendable {
    var status: Int
    /// Seconds from the `Retry-After` field (RFC 9110 section 10.2.3); nil without one, or with a date.
    var retryAfter: Int?
    /// Where a redirect leads to.
    var location: String?
    var body: Data

    var isSuccess: Bool { (200..<300).contains(status) }
}
