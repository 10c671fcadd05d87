/// What kind of player watches.
public enum ClientClass: String, Sendable, Hashable, CaseIterable, Codable {
    case web
    case ios
    case android
    case tv
    /// A library or a command: Lavf, VLC, curl. Counted, and told apart.
    case tool
    case unknown
}
