/// Whose session a request for playback belongs to.
public enum ViewerAdmission: Sendable, Equatable {
    /// That of a viewer; what it does is to be recorded under this id.
    case viewer(sid: String)
    /// Of something that plays and never counts; the id is for addresses that need one, and may be recorded or not.
    case uncounted(sid: String)
    /// The id that it offers is not one of ours for this room.
    case refused
    /// Its client has as many sessions that are not proven to watch as one may.
    case crowded
}
