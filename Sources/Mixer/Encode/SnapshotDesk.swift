import Codecs
import NIOCore
import Synchronization

/// Makes pictures of the program as files, beside the program.
///
/// The encoder's thread copies the newest canvas when one is wanted, which is all that it does for it; a thread of its
/// own makes the file. Nothing is done while nobody asks.
final class SnapshotDesk: Sendable {
    typealias Answer = @Sendable (ByteBuffer?) -> Void

    private struct Order: Sendable {
        let snapshot: Snapshot
        let answer: Answer
    }

    /// Orders that may wait for the next picture; more are answered with nothing.
    private static let mostOrders = 8

    private let orders = Mutex<[Order]>([])
    private let isBusy = Atomic(false)
    private let isWanted = Atomic(false)

    /// Asks for a file; `answer` comes on another thread, with nil when none can be made.
    func order(_ snapshot: Snapshot, answer: @escaping Answer) {
        let isTaken = orders.withLock { orders in
            guard orders.count < Self.mostOrders else { return false }
            orders.append(Order(snapshot: snapshot, answer: answer))
            return true
        }
        guard isTaken else { return answer(nil) }
        isWanted.store(true, ordering: .releasing)
    }

    /// Looks at a finished picture; copies it if somebody waits for one.
    func show(_ canvas: Canvas) {
        guard isWanted.load(ordering: .acquiring), !isBusy.load(ordering: .acquiring) else { return }
        let taken = orders.withLock { orders in
            isWanted.store(false, ordering: .releasing)
            defer { orders.removeAll() }
            return orders
        }
        guard !taken.isEmpty else { return }
        guard let copy = try? Canvas(width: canvas.width, height: canvas.height) else {
            for order in taken { order.answer(nil) }
            return
        }
        copy.copy(copy.bounds, from: canvas)
        isBusy.store(true, ordering: .releasing)
        _ = WorkerThread(name: "snapshot") {
            for order in taken { order.answer(try? Self.file(of: copy, order.snapshot)) }
            self.isBusy.store(false, ordering: .releasing)
        }
    }

    /// Answers whoever still waits; no picture comes any more.
    func close() {
        for order in orders.withLock({ orders in
            defer { orders.removeAll() }
            return orders
        }) { order.answer(nil) }
    }

    private static func file(of canvas: Canvas, _ snapshot: Snapshot) throws(CodecError) -> ByteBuffer {
        var picture = canvas
        if let width = snapshot.width, width < canvas.width {
            let wide = max(width & ~1, 16)
            let high = max((wide * canvas.height / canvas.width + 1) & ~1, 16)
            picture = try Canvas(width: wide, height: high)
            try picture.scale(from: canvas)
        }
        return switch snapshot.format {
        case .jpeg: try picture.jpeg()
        case .png: try picture.png()
        }
    }
}
