public import GatewayModel
import Stage

extension CustomEventResource {
    /// What a reaction shows, such as an emoji; nil for an event that is none.
    public var reaction: String? {
        guard type == CustomEvent.reaction, case .string(let text)? = data[Self.reactionField] else { return nil }
        return text
    }

    /// The data of a reaction.
    static func reactionData(_ text: String) -> [String: AnyJSON] { [reactionField: .string(text)] }

    private static let reactionField = "emoji"
}
