import Stage

/// One device of the user: what is wanted of it, and what of that others get.
///
/// Off is unpublished, and interrupted or on hold is disabled: the track stays, and with it the place on stage.
struct DeviceState: Sendable, Equatable {
    /// What is to be done at the gateway.
    enum Step: Sendable, Equatable {
        case publish(isEnabled: Bool)
        case setEnabled(Bool)
        case unpublish
    }

    /// The user wants it.
    var isWanted: Bool
    /// Something else uses it at this moment.
    var isInterrupted = false
    /// The app is out of sight.
    var isHidden = false
    /// A system call holds this one.
    var isOnHold = false
    /// The track as the gateway has it: nil while unpublished, else whether it is enabled.
    private(set) var published: Bool?
    /// A request went out and no answer came back: whether `published` holds, nobody knows.
    private(set) var isUnsure = false

    /// Whether a published track is to be enabled.
    var isEnabled: Bool { !isInterrupted && !isHidden && !isOnHold }

    /// What brings the gateway in line with the wish; nil when it is.
    var step: Step? {
        if isUnsure { return isWanted ? .publish(isEnabled: isEnabled) : .unpublish }
        return switch (isWanted, published) {
        case (true, nil): .publish(isEnabled: isEnabled)
        case (true, .some(let enabled)): enabled == isEnabled ? nil : .setEnabled(isEnabled)
        case (false, .some): .unpublish
        case (false, nil): nil
        }
    }

    /// The gateway did so.
    mutating func done(_ step: Step) {
        switch step {
        case .publish(let isEnabled), .setEnabled(let isEnabled): published = isEnabled
        case .unpublish: published = nil
        }
        isUnsure = false
    }

    /// The gateway has no such track.
    mutating func unpublished() {
        published = nil
        isUnsure = false
    }

    /// What the gateway has is not known any more.
    mutating func becomeUnsure() {
        isUnsure = true
    }
}
