import Glibc
import Media

/// The life of one push on its own thread: try, stream, wait, until stopped.
///
/// Nothing here outlives the thread, so the connection never crosses to another one.
struct PushRun {
    let core: PushCore
    private let resolver = NameResolver()

    init(core: PushCore) {
        self.core = core
    }

    /// The thread's body.
    func run() {
        var action = core.advance { $0.start(now: .now()) }
        while !core.isStopping {
            switch action {
            case .connect:
                let error = tryOnce()
                core.endStreaming()
                let chance = Double.random(in: 0...1)
                action = core.advance { $0.failed(error, now: .now(), chance: chance) }
            case .wait(let until):
                wait(until: until)
                action = core.advance { $0.due() }
            case .end:
                finish()
                return
            }
        }
        finish()
    }

    private func finish() {
        core.announce()
        core.ended.update { $0 = true }
    }

    private func wait(until moment: MonotonicTime) {
        // What was wanted during the try that failed was that try.
        _ = core.takesHurry()
        while !core.isStopping, !core.takesHurry() {
            let remaining = moment.seconds(since: .now())
            guard remaining > 0 else { return }
            let milliseconds = Int32(clamping: Int(remaining * 1000) + 1)
            _ = core.sleep(socket: -1, milliseconds: milliseconds, until: .none)
        }
    }

    /// One connection from name to end; the error says what ended it.
    private func tryOnce() -> PushError {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: core.configuration.connectDeadline)
            let address = core.address
            let socket = try dialAny(of: address, by: deadline)
            let connection = try RTMPConnection(
                socket: socket,
                address: address,
                configuration: core.configuration
            )
            core.watch(connection.guardian)
            defer { core.watch(nil) }
            do throws(PushError) {
                do throws(PushError) {
                    try connection.open(address: address, deadline: deadline) { core.isStopping }
                } catch  where error.code == .closed && connection.hasOffered {
                    throw PushError(.refused, "the target hung up when the stream was offered")
                }
                var stream = PushStream(core: core, connection: connection)
                try stream.run()
            } catch {
                connection.close()
                throw error
            }
            connection.close(farewell: core.configuration.farewell)
            return PushError(.local, "stopped")
        } catch {
            return error
        }
    }

    /// Connects to the first of the host's addresses that answers, all of them vetted before any is tried.
    private func dialAny(of address: PushAddress, by deadline: MonotonicTime) throws(PushError) -> Int32 {
        try core.policy.check(address)
        let candidates =
            if let resolve = core.configuration.resolve {
                try resolve(address.host, address.port, deadline)
            } else {
                try resolver.resolve(address.host, port: address.port, deadline: deadline) { core.isStopping }
            }
        try core.policy.check(candidates, of: address.host)
        var last = PushError(.unreachable, "\(address.host) has no address")
        for candidate in candidates {
            let limit = MonotonicTime.now().advanced(seconds: core.configuration.dialDeadline)
            do throws(PushError) {
                return try dial(
                    candidate,
                    sendBuffer: core.configuration.sendBuffer,
                    progressLimit: core.configuration.progressLimit,
                    deadline: min(limit, deadline),
                    wake: core.wake,
                    isStopped: { core.isStopping }
                )
            } catch {
                last = error
            }
            if core.isStopping || MonotonicTime.now() >= deadline { break }
        }
        throw last
    }
}
