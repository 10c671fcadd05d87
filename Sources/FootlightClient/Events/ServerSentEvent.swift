/// One event as it stands in a stream, its data not looked into.
struct ServerSentEvent: Sendable, Equatable {
    /// The stream's last event id when the event was complete; empty without one.
    var id: String
    /// The event's name; `message` without one.
    var name: String
    /// The data, its lines joined by line feeds.
    var data: String
}
