import GatewayModel
import Stage

extension CustomEventResource {
    init(_ event: CustomEvent) {
        self.init(
            type: event.type,
            data: MetadataText.metadata(of: event.data),
            participantSID: event.sender?.participantSID,
            identity: event.sender?.identity
        )
    }
}

extension CustomEvent {
    /// Reads a request; the size of its data is checked when it is sent.
    init(_ body: SendEventBody, from sender: Sender?) throws {
        self.init(
            type: body.type,
            data: try body.data.map { try MetadataText.text(of: $0) } ?? Self.emptyData,
            sender: sender
        )
    }
}
