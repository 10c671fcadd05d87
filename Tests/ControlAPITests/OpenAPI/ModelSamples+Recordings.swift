import GatewayModel

extension ModelSamples {
    static let renditionResource = RenditionResource(name: "x", width: 1, height: 1, fps: Rate("30"), videoBitrate: 1)

    static let recordedFileResource = RecordedFileResource(
        sid: "x",
        run: "x",
        part: 1,
        roomSID: "x",
        roomName: "x",
        state: "x",
        startedAt: Timestamp(0),
        endedAt: Timestamp(0),
        duration: 1.5,
        bytes: 1,
        width: 1,
        height: 1,
        codecs: "x",
        mediaURL: "x"
    )

    static let recordingList = RecordingList(recordings: [recordedFileResource], meta: pageResource)

    static let recordingResource = RecordingResource(
        state: "x",
        run: "x",
        startedAt: Timestamp(0),
        fileSID: "x",
        droppedPackets: 1,
        error: errorResource
    )
}
