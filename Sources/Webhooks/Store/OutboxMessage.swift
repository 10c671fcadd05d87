import Foundation

/// An event on its way into the outbox.
struct OutboxMessage: Sendable {
    let id: String
    let type: String
    /// The room's unique name; empty for none.
    let room: String
    /// Seconds since 1970.
    let at: Double
    /// The resource it is about as JSON.
    let data: Data
    /// The endpoints that are told.
    let recipients: [String]
    let mark: (name: String, value: Int64)?

    /// What is sent: the parts that Standard Webhooks names, and the place in the order of all events.
    func body(sequence: Int64) -> Data {
        Self.body(type: type, at: at, sequence: sequence, data: data)
    }

    static func body(type: String, at: Double, sequence: Int64, data: Data) -> Data {
        // The formatter cuts off, so the fraction is put safely inside of its millisecond.
        let date = Date(timeIntervalSince1970: ((at * 1000).rounded() + 0.4) / 1000)
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        // A type is words and points, so nothing in it needs to be escaped.
        return Data(#"{"type":"\#(type)","timestamp":"\#(time)","seq":\#(sequence),"data":"#.utf8) + data
            + Data("}".utf8)
    }
}
