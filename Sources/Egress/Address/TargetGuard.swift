import Media
import Synchronization

/// Looks up hosts for those who connect by themselves, under the same rules as outputs.
///
/// Whoever asks connects to one of the numbers in the answer and to nothing else: a name that is resolved a second time
/// may lead elsewhere.
public final class TargetGuard: Sendable {
    private let policy: Mutex<TargetPolicy>

    /// Makes a guard with rules of its own.
    public init(_ policy: TargetPolicy) {
        self.policy = Mutex(policy)
    }

    /// Adds a port that this process itself listens on; no answer leads there.
    public func refuse(ownPort: UInt16) {
        policy.withLock { _ = $0.ownPorts.insert(ownPort) }
    }

    /// The addresses of a host as numbers, each of which may be connected to at `port`.
    ///
    /// The look-up has a thread of its own, so that one that takes long holds up nobody else.
    ///
    /// - Parameter seconds: How long the look-up may take.
    /// - Throws: `forbiddenAddress` when any of them may not, `nameNotFound` when there is none or nobody said in time.
    public func addresses(of host: String, port: UInt16, within seconds: Double) async throws(PushError) -> [String] {
        let policy = policy.withLock { $0 }
        guard policy.allowsPrivateAddresses || policy.allowedPorts.contains(port) else {
            throw PushError(.forbiddenAddress, "port \(port) is not allowed")
        }
        let result: Result<[String], PushError> = await withCheckedContinuation { answer in
            let isRunning = spawnThread(named: "look-up") {
                answer.resume(returning: Self.lookUp(host, port: port, within: seconds, policy))
            }
            if !isRunning { answer.resume(returning: .failure(PushError(.local, "no thread to resolve \(host)"))) }
        }
        return try result.get()
    }

    private static func lookUp(
        _ host: String,
        port: UInt16,
        within seconds: Double,
        _ policy: TargetPolicy
    ) -> Result<[String], PushError> {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: seconds)
            let found = try NameResolver().resolve(host, port: port, deadline: deadline)
            try policy.check(found, of: host)
            return .success(found.map(\.literal))
        } catch {
            return .failure(error)
        }
    }
}
