public import FootlightModel
public import Foundation

/// Stores endpoints, and messages with their deliveries.
///
/// Each operation is one transaction, and blocks until it is on disk. They are called by one thread at a time.
public protocol WebhookStore: Sendable {
    /// The number of failed operations, and of databases that were quarantined, deleted or replaced.
    var faultCounts: (failures: Int, quarantined: Int) { get }

    /// Sets the source of the endpoints to be saved into a database that replaces an unusable one.
    func setKnownEndpoints(_ source: @escaping @Sendable () -> [WebhookEndpoint])

    /// Returns all endpoints with the number of their pending deliveries, in order of creation.
    func endpoints() throws -> [(endpoint: WebhookEndpoint, pending: Int)]

    /// Inserts or updates endpoints.
    func save(_ endpoints: [WebhookEndpoint]) throws

    /// Stores a disabled endpoint, and fails its pending deliveries.
    func disable(_ endpoint: WebhookEndpoint, at now: Double) throws

    /// Deletes an endpoint and its deliveries.
    func remove(_ id: String) throws

    /// Appends messages in order, with a delivery for each existing recipient, and stores their marks.
    ///
    /// A message whose id is stored already is left out.
    ///
    /// - Parameter now: Seconds since 1970. A sequence number is the milliseconds since 1970, or one more than the
    ///   last, whichever is higher, so that it increases even if a database was lost.
    func append(_ messages: [OutboxMessage], now: Double) throws

    /// Returns the oldest pending delivery of an endpoint; nil if there is none.
    func head(of endpoint: String) throws -> PendingDelivery?

    /// Stores the result of an attempt and the endpoint's health; a disabled endpoint loses its pending deliveries.
    func settle(
        _ sequence: Int64,
        of endpoint: WebhookEndpoint,
        as state: WebhookDeliveryState,
        after attempt: DeliveryAttempt
    ) throws

    /// Fails the oldest pending deliveries of an endpoint beyond a limit.
    ///
    /// - Returns: The number of failed deliveries.
    func drop(beyond limit: Int, of endpoint: String, at now: Double) throws -> Int

    /// Deletes deliveries that were settled before a time, and messages without deliveries.
    func deleteSettled(settledBefore: Double) throws

    /// Returns the value of a mark; nil if none was stored.
    func mark(_ name: String) throws -> Int64?

    /// Returns the deliveries of an endpoint, latest first.
    ///
    /// - Parameter before: Returns deliveries with a lower sequence number; nil to start with the latest.
    func deliveries(of endpoint: String, before: Int64?, limit: Int) throws -> [DeliveryRecord]

    /// Checks whether the database could be written at this moment.
    func probe() throws

    /// Closes the database; the next operation reopens it.
    func close()
}

/// The oldest pending delivery of an endpoint.
public struct PendingDelivery: Sendable {
    /// The sequence number of the message.
    public let sequence: Int64
    /// The message id.
    public let messageID: String
    /// The message body.
    public let body: [UInt8]
    /// The number of attempts so far.
    public let tries: Int

    /// Creates a pending delivery.
    public init(sequence: Int64, messageID: String, body: [UInt8], tries: Int) {
        self.sequence = sequence
        self.messageID = messageID
        self.body = body
        self.tries = tries
    }
}

/// An event to be stored in the outbox.
public struct OutboxMessage: Sendable {
    /// The message id.
    public let id: String
    /// The event type.
    public let type: WebhookEventType
    /// The room's unique name; empty for none.
    public let room: String
    /// Seconds since 1970.
    public let at: Double
    /// The resource of the event as JSON.
    public let data: Data
    /// The ids of the endpoints that receive the event.
    public let recipients: [String]
    /// The mark to be stored; nil for none.
    public let mark: (name: String, value: Int64)?
    /// The room's sid, by which a database of several gateways checks that the sender owns the room; nil for none.
    public let roomSID: String?

    /// Creates a message.
    public init(
        id: String,
        type: WebhookEventType,
        room: String,
        at: Double,
        data: Data,
        recipients: [String],
        mark: (name: String, value: Int64)?,
        roomSID: String? = nil
    ) {
        self.id = id
        self.type = type
        self.room = room
        self.at = at
        self.data = data
        self.recipients = recipients
        self.mark = mark
        self.roomSID = roomSID
    }

    /// Returns the message body: the fields of Standard Webhooks and the sequence number.
    public func body(sequence: Int64) -> Data {
        Self.body(type: type, at: at, sequence: sequence, data: data)
    }

    static func body(type: WebhookEventType, at: Double, sequence: Int64, data: Data) -> Data {
        // The formatter truncates, so the fraction is moved inside its millisecond.
        let date = Date(timeIntervalSince1970: ((at * 1000).rounded() + 0.4) / 1000)
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        // A type consists of words and dots, so it needs no escaping.
        return Data(#"{"type":"\#(type.rawValue)","timestamp":"\#(time)","seq":\#(sequence),"data":"#.utf8) + data
            + Data("}".utf8)
    }
}
