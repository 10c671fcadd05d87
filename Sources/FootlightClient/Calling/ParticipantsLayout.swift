/// How participants are laid out.
public enum ParticipantsLayout: Sendable, Hashable, CaseIterable {
    case grid
    case spotlight
    case fullScreen
}
