import GatewayModel
import Stage
import Webhooks

extension WebhookDraft {
    /// - Throws: 3073 for the name of an event that there is not.
    init(_ body: CreateWebhookBody) throws(StageError) {
        self.init()
        url = body.url
        text = body.description
        types = try body.types.map { (types) throws(StageError) in try Self.known(types) }
        room = .some(body.room)
        isEnabled = body.enabled
    }

    /// - Throws: 3073 for the name of an event that there is not.
    init(_ body: UpdateWebhookBody) throws(StageError) {
        self.init()
        url = body.url
        text = body.description
        types = try body.types.map { (types) throws(StageError) in try Self.known(types) }
        room = body.room.map(\.wrappedValue)
        isEnabled = body.enabled
    }

    private static func known(_ types: [String]) throws(StageError) -> [String] {
        for type in types where !EventFilter.isKnown(type, among: WebhookType.all) {
            let name = type.utf8.count <= 64 ? type : "one of them"
            throw .invalidParameter("types", "holds \(name), which is no kind of event")
        }
        return types
    }
}
