import Codecs
import NIOCore
import Synchronization

/// Caches the files that scenes reference by asset id, undecoded; any thread.
///
/// The size is bounded: the file that was provided longest ago is evicted first.
final class AssetCache: Sendable {
    /// The maximum number of files, and of their bytes.
    static let limits = (count: 96, bytes: 96 << 20)

    /// One file.
    struct Asset: Sendable {
        let bytes: ByteBuffer
        /// Incremented with every provided file: a replacement has another version.
        let version: Int
        /// Whether the file was reported as unusable.
        fileprivate var isUnusable = false
    }

    private struct State {
        var assets: [String: Asset] = [:]
        var bytes = 0
        var version = 0
    }

    private let state = Mutex(State())
    private let onUnusable: @Sendable (_ name: String, _ reason: String) -> Void

    /// - Parameter onUnusable: Called once for each file that cannot be drawn or played, with the reason; on any
    ///   thread.
    init(onUnusable: @escaping @Sendable (_ name: String, _ reason: String) -> Void = { _, _ in }) {
        self.onUnusable = onUnusable
    }

    /// Stores `bytes` under `name`, replacing an earlier file; an empty file removes it.
    func put(_ bytes: ByteBuffer, for name: String) {
        guard bytes.readableBytes <= Self.limits.bytes else { return }
        state.withLock { state in
            state.version += 1
            if let old = state.assets.removeValue(forKey: name) { state.bytes -= old.bytes.readableBytes }
            guard bytes.readableBytes > 0 else { return }
            state.bytes += bytes.readableBytes
            state.assets[name] = Asset(bytes: bytes, version: state.version)
            while state.assets.count > Self.limits.count || state.bytes > Self.limits.bytes,
                let oldest = state.assets.min(by: { $0.value.version < $1.value.version })
            {
                state.assets[oldest.key] = nil
                state.bytes -= oldest.value.bytes.readableBytes
            }
        }
    }

    /// Returns the file of that name; nil when there is none.
    func asset(_ name: String) -> Asset? {
        state.withLock { $0.assets[name] }
    }

    /// Reports, the first time, that a stored file cannot be drawn or played.
    func reportUnusable(_ asset: Asset, of name: String, because error: CodecError) {
        let isFirstReport = state.withLock { state in
            guard state.assets[name]?.version == asset.version else { return false }
            defer { state.assets[name]?.isUnusable = true }
            return state.assets[name]?.isUnusable == false
        }
        if isFirstReport { onUnusable(name, error.message) }
    }

    /// The version of the newest file; 0 before the first.
    var version: Int { state.withLock { $0.version } }
}
