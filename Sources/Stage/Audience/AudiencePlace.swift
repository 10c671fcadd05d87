import Synchronization

/// A place in a room of which only so many may be taken, held for a player on its way to count as a viewer.
///
/// It is given back once, at the latest when nobody holds it any more. May be given back on any thread.
public final class AudiencePlace: Sendable {
    private let isGivenBack = Atomic<Bool>(false)
    private let release: @Sendable () -> Void

    /// Makes a place.
    ///
    /// - Parameter release: Called once, when the place is given back.
    public init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    /// A place where there is no end of them.
    public static let unlimited = AudiencePlace {}

    deinit { giveBack() }

    /// Gives the place back: its player counts by itself now, or is gone.
    public func giveBack() {
        guard !isGivenBack.exchange(true, ordering: .relaxed) else { return }
        release()
    }
}
