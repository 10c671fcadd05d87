import Synchronization

/// Numbers noted down from anywhere.
final class Tally: Sendable {
    private let numbers = Mutex<[Int]>([])

    var noted: [Int] { numbers.withLock { $0 } }

    func note(_ number: Int) {
        numbers.withLock { $0.append(number) }
    }
}
