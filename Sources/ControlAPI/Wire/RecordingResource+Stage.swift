import GatewayModel
import Stage

extension RecordingResource {
    init(_ status: RecordingStatus) {
        self.init(
            state: status.state.rawValue,
            run: status.run,
            startedAt: status.startedAt.map { Timestamp($0) },
            fileSID: status.file?.sid,
            droppedPackets: status.droppedPackets,
            error: status.failure.map { ErrorResource($0) }
        )
    }
}

extension RecordedFileResource {
    init(_ file: RecordedFile, addresses: PlaybackAddresses) {
        self.init(
            sid: file.sid,
            run: file.run,
            part: file.part,
            roomSID: file.roomSID,
            roomName: file.roomName,
            state: file.state.rawValue,
            startedAt: Timestamp(file.startedAt),
            endedAt: file.endedAt.map { Timestamp($0) },
            duration: file.duration,
            bytes: file.bytes,
            width: file.width,
            height: file.height,
            codecs: file.codecs,
            mediaURL: addresses.api("recordings/\(file.sid)/media.mp4")
        )
    }
}
