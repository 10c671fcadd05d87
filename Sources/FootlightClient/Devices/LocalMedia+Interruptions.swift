import Stage

/// Devices that are held back for a while: by something else on the device, or by the system.
extension LocalMedia {
    /// Something else uses the camera.
    public func cameraInterruptionBegan() async {
        await hold(.camera) { $0.isInterrupted = true }
    }

    /// The camera is free again.
    public func cameraInterruptionEnded() async {
        await hold(.camera) { $0.isInterrupted = false }
    }

    /// Something else needs the sound, such as an alarm or a telephone call: recording and playback stop.
    public func audioInterruptionBegan() async {
        guard mark(.mic, { $0.isInterrupted = true }) else { return }
        await capture.pauseAudio()
        if isOnStage {
            await run(.mic, device(.mic).isWanted)
        } else if capturing.contains(.mic) {
            await end(.mic)
            awaitsMic = true
        }
    }

    /// The sound is free again: playback resumes, and so does recording unless the user turned the microphone off.
    ///
    /// A microphone that does not start again is told as ``problem``.
    public func audioInterruptionEnded() async {
        guard mark(.mic, { $0.isInterrupted = false }) else { return }
        await capture.resumeAudio()
        if isOnStage {
            await run(.mic, device(.mic).isWanted)
        } else if awaitsMic {
            await preview(.mic)
        }
    }

    /// The app went out of sight: the camera is held back, the microphone goes on.
    public func enteredBackground() async {
        await hold(.camera) { $0.isHidden = true }
    }

    /// The app is in sight again.
    public func enteredForeground() async {
        await hold(.camera) { $0.isHidden = false }
    }

    /// A system call holds this one, or lets it go on.
    public func setOnHold(_ isOnHold: Bool) async {
        self.isOnHold = isOnHold
        await hold(.mic) { $0.isOnHold = isOnHold }
        await hold(.camera) { $0.isOnHold = isOnHold }
    }

    /// Changes what holds a device back, and in a call brings the gateway in line with it.
    private func hold(_ track: TrackName, _ change: (inout DeviceState) -> Void) async {
        guard mark(track, change), isOnStage else { return }
        await run(track, device(track).isWanted)
    }
}
