import Synchronization

/// Notes the keys of a file that no setting has.
final class UnknownKeys: Sendable {
    private let known: Set<String>
    private let unknown = Mutex<Set<String>>([])

    init(known: Set<String>) {
        self.known = known
    }

    /// In alphabetical order.
    var all: [String] { unknown.withLock { $0.sorted() } }

    /// Takes note of a key; always false, for no value of a setting is a secret by itself.
    func see(_ key: String) -> Bool {
        if !known.contains(key) { _ = unknown.withLock { $0.insert(key) } }
        return false
    }
}
