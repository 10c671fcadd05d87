/// The class of a player.
public enum ClientClass: String, Sendable, Hashable, CaseIterable, Codable {
    case web
    case ios
    case android
    case tv
    /// A library or command-line tool: Lavf, VLC, curl. It counts.
    case tool
    case unknown
}
