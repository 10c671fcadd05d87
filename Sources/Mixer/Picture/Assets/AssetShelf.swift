import Codecs
import NIOCore
import Synchronization

/// The files that scenes name by an asset's id, as they came; any thread.
///
/// Bounded: when there is no room for another, the one that was provided longest ago goes.
final class AssetShelf: Sendable {
    /// Files kept at most, and bytes of all of them.
    static let limits = (count: 96, bytes: 96 << 20)

    /// One file.
    struct Asset: Sendable {
        let bytes: ByteBuffer
        /// Rises with everything that is provided: another file under the same name has another version.
        let version: Int
        /// It was told that it is of no use.
        fileprivate var isUseless = false
    }

    private struct State {
        var assets: [String: Asset] = [:]
        var bytes = 0
        var version = 0
    }

    private let state = Mutex(State())
    private let onUseless: @Sendable (_ name: String, _ reason: String) -> Void

    /// - Parameter onUseless: Told once of each file that cannot be drawn or played, and why; on any thread.
    init(onUseless: @escaping @Sendable (_ name: String, _ reason: String) -> Void = { _, _ in }) {
        self.onUseless = onUseless
    }

    /// Keeps `bytes` under `name`, in place of what was there; an empty file is none.
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

    /// The file of that name; nil when there is none yet.
    func asset(_ name: String) -> Asset? {
        state.withLock { $0.assets[name] }
    }

    /// Tells, the first time, that a file which was here cannot be drawn or played.
    func cannotUse(_ asset: Asset, of name: String, because error: CodecError) {
        let isNews = state.withLock { state in
            guard state.assets[name]?.version == asset.version else { return false }
            defer { state.assets[name]?.isUseless = true }
            return state.assets[name]?.isUseless == false
        }
        if isNews { onUseless(name, error.message) }
    }

    /// The version of the newest file; 0 before the first.
    var version: Int { state.withLock { $0.version } }
}
