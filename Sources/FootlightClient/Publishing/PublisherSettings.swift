public import Media
public import RTMP

/// By which rules a publisher drops, waits and tries again.
public struct PublisherSettings: Sendable {
    /// When what is dropped: disposable pictures at 700 ms of waiting media, all others up to the next key picture at
    /// 900 ms, and key pictures at 2 s, so that sound is never dropped.
    public var queue = CongestionQueue.Limits(sound: 60_000, keyPictures: 2_000)
    /// Milliseconds of waiting media above which the line does not even carry the sound and is given up as lost.
    public var hopeless: Int64 = 10_000
    /// For how long a lost connection is tried to be won back, and the first one to be made.
    public var patience = Duration.seconds(30)
    /// The delays from try to try.
    public var delays = ClientLimits()
    /// From one report to the next; changes of the state are told at once.
    public var reportInterval = Duration.seconds(1)
    /// Whom to believe by RTMPS.
    public var trust = RTMPTrust.system

    /// The rules that suit a live host.
    public init() {}
}
