/// A viewer counter that can say what its session ids are about.
public protocol PrivateAudience: AudienceObserving {
    /// Returns what an authentic session id of `room` says about itself; nil for any other text.
    func statement(of sid: String, room: String) -> SessionStatement?
    /// Returns what a session id says about itself, without verifying it: for those of open connections, which were.
    func unverifiedStatement(of sid: String) -> SessionStatement?
    /// Whether the session watches, or is about to.
    func isPresent(sid: String, room: String) -> Bool
    /// Returns the region of a numeric address; empty when unknown.
    func region(of address: String) -> String
}
