public import Foundation

/// The address of a room as somebody types it.
public struct MeetingAddress: Sendable, Hashable {
    /// The whole address, with its scheme.
    public let url: URL
    /// The room's name: what follows the host, up to the next slash.
    public var room: String { Self.room(url) ?? "" }

    /// Reads an address; `https://` is put before one without a scheme.
    ///
    /// - Parameter hosts: The gateways that may be called.
    /// - Returns: Nil unless the host is one of these and a room is named.
    public init?(_ text: String, hosts: Set<String>) {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.contains("://") { text = "https://" + text }
        guard
            let url = URL(string: text), ["https", "http"].contains(url.scheme?.lowercased()),
            let host = url.host, hosts.contains(where: { $0.lowercased() == host.lowercased() }),
            Self.room(url) != nil
        else { return nil }
        self.url = url
    }

    /// The room that an address names; nil when it names none.
    static func room(_ url: URL) -> String? {
        url.path.split(separator: "/", omittingEmptySubsequences: true).first.map(String.init)
    }
}
