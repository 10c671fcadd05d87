import FootlightModel
import Stage

extension EgressResource {
    init(livestream: LivestreamStatus, hls: HLSResource) {
        self.init(
            broadcasting: livestream.state == .started || hls.state == .playable,
            livestream: LivestreamResource(livestream),
            hls: hls
        )
    }
}

extension LivestreamResource {
    init(_ status: LivestreamStatus) {
        self.init(
            state: .known(status.state),
            startedAt: status.startedAt.map { Timestamp($0) },
            endReason: status.endReason.map { .known($0) },
            outputs: status.outputs.map { OutputResource($0) }
        )
        if !status.warnings.isEmpty { warnings = status.warnings.map { WarningResource($0) } }
    }
}

extension OutputResource {
    init(_ output: OutputStatus) {
        self.init(
            name: output.name,
            url: output.url,
            streamKey: output.maskedStreamKey,
            state: .known(output.state),
            bytesSent: output.bytesSent,
            droppedFrames: output.droppedFrames,
            reconnects: output.reconnects,
            lastError: output.lastFault.map {
                OutputFaultResource(code: .known($0.code), message: $0.message, retry: .known($0.retry))
            }
        )
        backupURL = output.backupURL
        if backupURL != nil { usesBackup = output.usesBackup }
    }
}

extension WarningResource {
    init(_ warning: LivestreamWarning) {
        self.init(
            code: warning.code,
            reason: .known(warning.reason),
            message: warning.message,
            output: warning.output,
            secondsLeft: warning.secondsLeft
        )
    }
}

extension HLSResource {
    /// Creates the resource of a playlist that was never started.
    init() {
        self.init(state: .known(.stopped), startedAt: nil, playbackHLSURL: nil)
    }

    init(_ status: HLSStatus, room: String, addresses: PlaybackAddresses) {
        self.init(
            state: .known(status.state),
            startedAt: status.playableAt.map { Timestamp($0) },
            playbackHLSURL: status.state == .playable ? addresses.hls(room) : nil
        )
    }
}

extension LivestreamOptions {
    /// Parses a start request; `validate()` checks the ranges.
    ///
    /// - Throws: 3073 for an unknown quality or an invalid frame rate.
    init(_ body: StartLivestreamBody) throws(StageError) {
        self.init()
        if let quality = body.quality { self.quality = try quality.known(in: "quality") }
        if let fps = body.fps {
            guard let rate = FrameRate(fps.text) else { throw .invalidParameter("fps", "must be between 1 and 60") }
            frameRate = rate
        }
        width = body.width
        height = body.height
        videoBitrate = body.videoBitrate
        audioBitrate = body.audioBitrate
        maximumDuration = body.maxDuration ?? maximumDuration
        minimumIdleTimeout = body.minIdleTimeout ?? minimumIdleTimeout
    }
}

extension OutputTarget {
    /// Parses the outputs of a request; given names are checked, missing names generated.
    ///
    /// - Parameters:
    ///   - taken: The names of the existing outputs.
    ///   - program: The configuration of the pushed program.
    ///   - isOperator: Whether an operator made the request; other outputs must have public addresses.
    /// - Throws: 4015.
    static func targets(
        of bodies: [OutputBody],
        beside taken: [String],
        program: ProgramConfiguration,
        isOperator: Bool
    ) throws(StageError) -> [OutputTarget] {
        guard !bodies.isEmpty else { throw .outputInvalid("outputs must name at least one output") }
        var names = Set(taken)
        for name in bodies.compactMap(\.name) {
            guard NameRule.check(name) == nil else {
                throw .outputInvalid("the name of an output must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
            }
            guard names.insert(name).inserted else { throw .outputInvalid("there is an output named \(name) already") }
        }
        var number = 0
        return bodies.map { body in
            var name = body.name
            while name == nil {
                number += 1
                let candidate = "output-\(number)"
                if names.insert(candidate).inserted { name = candidate }
            }
            var target = OutputTarget(name: name ?? "", url: body.url, streamKey: body.streamKey)
            target.mustBePublic = !isOperator
            target.rendition = body.rendition
            target.backupURL = body.backupURL
            target.backupStreamKey = body.backupStreamKey
            target.figures = StreamProperties(program, rendition: body.rendition)
            return target
        }
    }
}

/// The body of `POST /v1/rooms/{room}/livestream/outputs`: one output, or `outputs` with several.
struct AddOutputsBody: Decodable {
    let outputs: [OutputBody]

    private enum CodingKeys: String, CodingKey {
        case outputs
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if container.contains(.outputs) {
            outputs = try container.decode([OutputBody].self, forKey: .outputs)
        } else {
            outputs = [try OutputBody(from: decoder)]
        }
    }
}

extension RecordingResource {
    init(_ status: RecordingStatus, _ addresses: PlaybackAddresses) {
        self.init(
            state: .known(status.state),
            run: status.run,
            startedAt: status.startedAt.map { Timestamp($0) },
            fileSID: status.file?.sid,
            droppedPackets: status.droppedPackets,
            error: status.failure.map { ErrorResource($0, addresses) }
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
            state: .known(file.state),
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
