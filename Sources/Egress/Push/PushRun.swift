import Glibc
import Media

/// The life of one push on its own thread: try, stream, wait, until stopped.
///
/// Nothing here outlives the thread, so the connection never crosses to another one.
struct PushRun {
    let core: PushCore
    private let dialler: AddressDialler

    init(core: PushCore) {
        self.core = core
        dialler = AddressDialler(
            policy: core.policy,
            configuration: core.configuration,
            wake: core.wake,
            isStopped: { core.isStopping }
        )
    }

    /// The thread's body.
    func run() {
        core.beginWatchingSpare()
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
        core.endWatchingSpare()
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
            let socket = try dialler.dial(address, by: deadline)
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
}
