import FootlightTesting
import Foundation
import FoundationNetworking
import Media
import Synchronization

/// Pushes the log of a content network to a gateway as such networks do: in bundles as gzip files, late, out of their
/// order, some of them twice, and again where nobody took them.
final class OracleLogPush: Sendable {
    /// What became of it.
    struct Figures: Sendable {
        var bundles = 0
        var pushedTwice = 0
        /// Tries that nobody answered, or that were turned away.
        var failures = 0
        /// Lines by what the gateway says became of them.
        var lines: [String: Int] = [:]
    }

    private struct Bundle {
        var due: MonotonicTime
        /// When the first of its lines may have been written.
        let began: MonotonicTime
        let body: Data
    }

    /// Seconds after which every line has come, and was counted.
    static let longestLag = period + lateness.upperBound + 2

    /// Seconds that a bundle tells of.
    private static let period = 3.0
    /// How late it is beyond that, in seconds.
    private static let lateness = 0.0...8.0
    /// The part of the bundles that come twice.
    private static let repeated = 0.2

    private let log: String
    private let url: URL
    private let token: String
    private let folder: TemporaryFolder
    private let figures = Mutex(Figures())
    private let delivered: Mutex<MonotonicTime>
    private let isStopped = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Begins at once.
    ///
    /// - Parameters:
    ///   - log: The file that the network's server writes.
    ///   - token: The network's.
    init(_ log: String, to gateway: GatewayProcess, token: String) throws {
        guard let url = URL(string: "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/cdn-logs") else {
            throw ToolFailure("no address for logs")
        }
        self.log = log
        self.url = url
        self.token = token
        folder = try TemporaryFolder("oracle-log")
        delivered = Mutex(.now())
        task.withLock { $0 = Task { await self.run() } }
    }

    /// Up to when every line is in a bundle that the gateway took.
    var deliveredUntil: MonotonicTime { delivered.withLock { $0 } }

    /// Pushes what is left, and returns what became of it all.
    func finish() async -> Figures {
        isStopped.store(true, ordering: .relaxed)
        await task.withLock { $0 }?.value
        return figures.withLock { $0 }
    }

    private func run() async {
        guard let file = FileHandle(forReadingAtPath: log) else { return }
        defer { try? file.close() }
        var (rest, waiting) = (Data(), [Bundle]())
        var read = deliveredUntil
        var next = read.advanced(seconds: Self.period)
        while true {
            try? await Task.sleep(for: .milliseconds(100))
            let isLast = isStopped.load(ordering: .relaxed)
            let now = MonotonicTime.now()
            if now >= next || isLast {
                next = now.advanced(seconds: Self.period)
                rest += (try? file.readToEnd()) ?? Data()
                if let end = rest.lastIndex(of: 10) {
                    for wait in waits() {
                        let due = now.advanced(seconds: wait)
                        waiting.append(Bundle(due: due, began: read, body: Data(rest[...end])))
                    }
                    rest = Data(rest[(end + 1)...])
                }
                read = now
            }
            for index in waiting.indices.reversed() where waiting[index].due <= MonotonicTime.now() {
                if await push(waiting[index].body) {
                    waiting.remove(at: index)
                } else {
                    figures.withLock { $0.failures += 1 }
                    waiting[index].due = .now().advanced(seconds: 1)
                }
            }
            let oldest = waiting.map(\.began).min() ?? read
            delivered.withLock { $0 = oldest }
            if isLast, waiting.isEmpty { return }
        }
    }

    /// How long a bundle takes on its way, each time that it is sent.
    private func waits() -> [Double] {
        let isTwice = Double.random(in: 0...1) < Self.repeated
        figures.withLock { figures in
            figures.bundles += 1
            if isTwice { figures.pushedTwice += 1 }
        }
        let first = Double.random(in: Self.lateness)
        return isTwice ? [first, first + .random(in: 1...8)] : [first]
    }

    /// - Returns: Whether the gateway took it.
    private func push(_ body: Data) async -> Bool {
        guard let body = try? await compressed(body) else { return false }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        guard let (data, response) = try? await URLSession.shared.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200,
            let receipt = try? JSONDecoder().decode([String: Int].self, from: data)
        else { return false }
        figures.withLock { $0.lines.merge(receipt, uniquingKeysWith: +) }
        return true
    }

    private func compressed(_ body: Data) async throws -> Data {
        let path = folder.file("bundle")
        try body.write(to: URL(fileURLWithPath: path))
        try await ChildProcess.run(["gzip", "-f", path], within: .seconds(5))
        return try Data(contentsOf: URL(fileURLWithPath: path + ".gz"))
    }
}
