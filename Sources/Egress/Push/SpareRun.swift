import Media

/// Looks at an output's spare address from time to time, on a thread of its own, so that it is known to be there before
/// it is needed.
///
/// The name is resolved, the addresses are vetted, and one of them is dialled; then come TLS, the RTMP handshake and
/// `connect`, which names the application, and nothing more. A stream is never offered: a key that is published on the
/// spare while the first address has it would end one of the two at some targets, and be twice the bandwidth at the
/// others. So a key that only the spare refuses is found when it is used; all else is found here.
struct SpareRun {
    let core: PushCore
    let address: PushAddress

    /// The thread's body; returns when the push was stopped.
    func run() {
        let dialler = AddressDialler(
            policy: core.policy,
            configuration: core.configuration,
            wake: core.spareWake,
            isStopped: { [core] in core.isStopping }
        )
        while !core.isStopping {
            switch core.spareStep(now: .now()) {
            case .look:
                let error = look(with: dialler)
                guard !core.isStopping else { break }
                core.spareLooked(error, now: .now(), chance: Double.random(in: 0...1))
            case .wait(let until):
                let remaining = until.seconds(since: .now())
                guard remaining > 0 else { continue }
                let milliseconds = Int32(clamping: Int(remaining * 1000) + 1)
                if core.spareWake.wait(milliseconds: milliseconds).isWoken { core.spareWake.clear() }
            case .end:
                return
            }
        }
    }

    /// One look; the error says what would keep a stream away.
    private func look(with dialler: AddressDialler) -> PushError? {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: core.configuration.connectDeadline)
            let socket = try dialler.dial(address, by: deadline)
            let connection = try RTMPConnection(socket: socket, address: address, configuration: core.configuration)
            core.watchSpare(connection.guardian)
            defer {
                core.watchSpare(nil)
                connection.close()
            }
            try connection.greet(address: address, deadline: deadline) { core.isStopping }
            return nil
        } catch {
            return error
        }
    }
}
