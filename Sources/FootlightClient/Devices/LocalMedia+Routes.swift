public import Stage

/// By which output the user hears the others.
extension LocalMedia {
    /// ``audioRoute``, now and from now on; only the latest waits.
    public var currentAudioRoutes: AsyncStream<AudioRoute> { routeNews.stream() }

    /// Lets sound be heard by another output; the call's settings say whether that is the loudspeaker.
    ///
    /// - Throws: 3073 for an output that is not there, or what the device says; the output is what it was.
    public func choose(_ route: AudioRoute) async throws(StageError) {
        guard capture.audioRoutes.contains(route) else { throw .audioRouteMissing }
        try await capture.choose(route)
        publisher.callSettings.isSpeakerOn = route.kind == .speaker
        readRoutes()
    }

    /// Takes what the device says of its outputs.
    func readRoutes() {
        audioRoutes = capture.audioRoutes
        audioRoute = capture.audioRoute
        routeNews.sendChange(audioRoute)
    }
}
