import Codecs
import Synchronization

/// The program's canvases: one is composed while another is being encoded, and a third evens out a slow encoder.
///
/// The program's thread takes a free canvas, paints it and lends it out for each job that shows it; the encoder's
/// thread gives it back. A canvas that is lent out is only read. `@unchecked Sendable`: the canvases are written by the
/// program's thread alone, and only while no loan of them is out, which the lock orders.
final class CanvasRing: @unchecked Sendable {
    static let count = 3

    let canvases: [Canvas]
    /// Two more, for what the program's thread needs while it paints; never lent out.
    let scratches: [Canvas]
    private let loans: Mutex<[Int]>

    init(width: Int, height: Int) throws(CodecError) {
        var canvases: [Canvas] = []
        for _ in 0..<Self.count {
            canvases.append(try Canvas(width: width, height: height))
        }
        self.canvases = canvases
        scratches = [try Canvas(width: width, height: height), try Canvas(width: width, height: height)]
        loans = Mutex(Array(repeating: 0, count: Self.count))
    }

    /// A canvas that nobody reads; nil when all are lent out.
    ///
    /// `last` itself if it can be had: it holds what does not change already, and lies in the processor's cache.
    func free(after last: Int) -> Int? {
        loans.withLock { loans in
            for step in 0..<Self.count {
                let index = (last + step) % Self.count
                if loans[index] == 0 { return index }
            }
            return nil
        }
    }

    /// Lends canvas `index` out once more.
    func lend(_ index: Int) {
        loans.withLock { $0[index] += 1 }
    }

    /// Takes one loan of canvas `index` back.
    func giveBack(_ index: Int) {
        loans.withLock { $0[index] -= 1 }
    }
}
