import Synchronization

/// A reader's place in a stream, free again when nobody holds it.
final class ReaderPlace: Sendable {
    private let isLeft = Atomic<Bool>(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    var isGone: Bool { isLeft.load(ordering: .relaxed) }

    func leave() {
        isLeft.store(true, ordering: .relaxed)
    }
}
