import Stage

extension BroadcastCall {
    /// Makes a publisher's losses the call's, until the publisher ends or the task is cancelled.
    ///
    /// The call stands at `reconnecting` with 53405 while a publisher that had its media on the air has lost its
    /// connection, and comes back with it. When the media is not back within 30 s, the call ends with 53405.
    public func follow(_ publisher: RTMPPublisher) async {
        recoverMedia = { [weak publisher] (_) throws(StageError) in
            switch publisher?.currentStatistics.state {
            case .publishing: return
            case .ended(let error?): throw error
            default: throw .mediaLost
            }
        }
        var former = PublisherState.idle
        for await report in publisher.statistics where report.state != former {
            switch report.state {
            case .publishing: mediaRestored()
            case .reconnecting where former == .publishing, .ended(.some): mediaLost()
            case .ended(nil): recoverMedia = nil
            case .idle, .connecting, .reconnecting: break
            }
            former = report.state
            if case .ended = former { return }
        }
    }
}
