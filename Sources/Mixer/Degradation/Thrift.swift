import Synchronization

/// Carries out what a program does without on its present step, and takes it back.
///
/// Owned by whoever drives the program's core.
struct Thrift {
    private let core: ProgramCore
    private let encoder: ProgramEncoder?
    /// The scene as it was asked for.
    private var whole = Scene()
    private var step = Degradation.none

    init(_ core: ProgramCore, encoder: ProgramEncoder?) {
        self.core = core
        self.encoder = encoder
    }

    /// Puts `scene` into force, as far as the step allows.
    ///
    /// - Parameter inputs: Every host's way in.
    mutating func apply(_ scene: Scene, to inputs: some Sequence<HostInput>) {
        whole = scene
        show(inputs)
    }

    /// Leaves out what `step` does, and nothing else.
    ///
    /// - Parameter inputs: Every host's way in.
    mutating func degrade(to step: Degradation, _ inputs: some Sequence<HostInput>) {
        self.step = step
        encoder?.degrade(to: step)
        core.hasFewerPictures = step >= .fewerPictures
        show(inputs)
    }

    /// Lets a host that comes in leave out what all others of its kind do; its scene may be in force already.
    func admit(_ input: HostInput) {
        let economy = whole.economy(of: input.id, on: step)
        input.economy.withLock { $0 = economy }
    }

    private func show(_ inputs: some Sequence<HostInput>) {
        for input in inputs { admit(input) }
        core.apply(whole.degraded(to: step))
    }
}
