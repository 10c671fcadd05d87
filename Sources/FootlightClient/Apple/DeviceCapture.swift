#if canImport(AVFoundation) && canImport(VideoToolbox)
@preconcurrency public import AVFoundation
import Media
public import Stage
import VideoToolbox

/// The camera and the microphone of an Apple device, encoded as H.264 and AAC.
///
/// Give it to ``LocalMedia`` as its capture, and to ``BroadcastCall/publish(from:isScreen:settings:)`` as the source.
/// The app's Info.plist says what the camera and microphone are used for.
///
/// This file is compiled on Apple platforms only, where the project's own machines do not test it.
@MainActor
public final class DeviceCapture: MediaCapturing {
    /// The camera's and microphone's packets; a source for one publisher at a time.
    public var source: some MediaSource { pipeline }

    /// What ``CameraPreview`` shows.
    public var session: AVCaptureSession { pipeline.session }

    private let pipeline: CapturePipeline

    /// Creates the capture; nothing is captured before ``start(_:camera:)``.
    ///
    /// - Parameters:
    ///   - width: The width of the video in pixels.
    ///   - height: The height of the video in pixels.
    ///   - bitrate: The video's average bit rate in bits per second.
    public init(width: Int = 1280, height: Int = 720, bitrate: Int = 2_500_000) {
        pipeline = CapturePipeline(width: width, height: height, bitrate: bitrate)
    }

    /// Whether the user has authorized a device; asks if this was not asked before.
    ///
    /// A screen cannot be captured.
    public func isAuthorized(for track: TrackName) async -> Bool {
        guard let kind = track.mediaType else { return false }
        return switch AVCaptureDevice.authorizationStatus(for: kind) {
        case .authorized: true
        case .notDetermined: await AVCaptureDevice.requestAccess(for: kind)
        default: false
        }
    }

    /// Starts the capture for a track.
    ///
    /// - Throws: 3073 for a device that is not there, is in use, or was not authorized.
    public func start(_ track: TrackName, camera: CallSettings.CameraPosition) async throws(StageError) {
        guard await isAuthorized(for: track) else { throw .captureMissing }
        try await pipeline.add(track, camera: camera)
    }

    /// Stops the capture for a track; without effect if nothing is captured.
    public func stop(_ track: TrackName) async {
        await pipeline.remove(track)
    }

    /// Switches the camera; the track stays the same.
    public func use(_ camera: CallSettings.CameraPosition) async throws(StageError) {
        try await pipeline.add(.camera, camera: camera)
    }
}

extension TrackName {
    fileprivate var mediaType: AVMediaType? {
        switch self {
        case .camera: .video
        case .mic: .audio
        case .screen: nil
        }
    }
}

/// A capture session and its two encoders.
///
/// `@unchecked Sendable`: everything that changes is used on `queue` only, on which AVFoundation delivers the samples.
private final class CapturePipeline: NSObject, MediaSource, @unchecked Sendable {
    let session = AVCaptureSession()
    private let queue = DispatchQueue(label: "footlight.capture")
    private let width: Int
    private let height: Int
    private let bitrate: Int
    private var inputs: [TrackName: AVCaptureDeviceInput] = [:]
    private let video = AVCaptureVideoDataOutput()
    private let audio = AVCaptureAudioDataOutput()
    private var encoder: VTCompressionSession?
    private var audioEncoder: AACEncoder?
    private var send: (@Sendable (MediaPacket) -> Void)?
    private var needsKeyframe = true
    private var needsConfiguration = true

    init(width: Int, height: Int, bitrate: Int) {
        (self.width, self.height, self.bitrate) = (width, height, bitrate)
        super.init()
        video.alwaysDiscardsLateVideoFrames = true
        video.setSampleBufferDelegate(self, queue: queue)
        audio.setSampleBufferDelegate(self, queue: queue)
        for output in [video, audio] where session.canAddOutput(output) { session.addOutput(output) }
    }

    deinit {
        if let encoder { VTCompressionSessionInvalidate(encoder) }
    }

    /// Runs a change of the session, which blocks, on the queue.
    private func onQueue<Value: Sendable>(_ change: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in queue.async { done.resume(returning: change()) } }
    }

    func add(_ track: TrackName, camera: CallSettings.CameraPosition) async throws(StageError) {
        let isAdded = await onQueue { [self] in
            session.beginConfiguration()
            defer { session.commitConfiguration() }
            let former = inputs.removeValue(forKey: track)
            if let former { session.removeInput(former) }
            let device =
                track == .camera
                ? Self.camera(camera) : AVCaptureDevice.default(for: .audio)
            guard let device, let input = try? AVCaptureDeviceInput(device: device), session.canAddInput(input) else {
                if let former { session.addInput(former) }
                inputs[track] = former
                return false
            }
            session.addInput(input)
            inputs[track] = input
            return true
        }
        guard isAdded else { throw .captureMissing }
        await onQueue { [session] in if !session.isRunning { session.startRunning() } }
    }

    /// Returns the camera of a position, or the only one of a device whose camera has none.
    private static func camera(_ position: CallSettings.CameraPosition) -> AVCaptureDevice? {
        AVCaptureDevice.default(.builtInWideAngleCamera, for: .video, position: position == .front ? .front : .back)
            ?? AVCaptureDevice.default(for: .video)
    }

    func remove(_ track: TrackName) async {
        await onQueue { [self] in
            if let input = inputs.removeValue(forKey: track) { session.removeInput(input) }
            if inputs.isEmpty { session.stopRunning() }
        }
    }

    /// Sends what is captured until the task is cancelled.
    func produce(_ send: @escaping @Sendable (MediaPacket) -> Void) async throws {
        await onQueue { [self] in
            self.send = send
            (needsKeyframe, needsConfiguration) = (true, true)
            audioEncoder = nil
        }
        // Nothing is ever sent in this stream; it ends when the task is cancelled.
        let (cancellation, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in cancellation {}
        continuation.finish()
        await onQueue { [self] in self.send = nil }
        try Task.checkCancellation()
    }

    func requestKeyframe() {
        queue.async { [self] in needsKeyframe = true }
    }
}

extension CapturePipeline: AVCaptureVideoDataOutputSampleBufferDelegate, AVCaptureAudioDataOutputSampleBufferDelegate {
    func captureOutput(
        _ output: AVCaptureOutput,
        didOutput sample: CMSampleBuffer,
        from connection: AVCaptureConnection
    ) {
        guard let send else { return }
        if output === video {
            encode(sample)
        } else {
            if audioEncoder == nil { audioEncoder = AACEncoder(sample) }
            for packet in audioEncoder?.packets(of: sample) ?? [] { send(packet) }
        }
    }

    private func encode(_ sample: CMSampleBuffer) {
        guard let image = CMSampleBufferGetImageBuffer(sample), let encoder = encoder ?? makeEncoder() else { return }
        let options = needsKeyframe ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] as CFDictionary : nil
        needsKeyframe = false
        VTCompressionSessionEncodeFrame(
            encoder,
            imageBuffer: image,
            presentationTimeStamp: CMSampleBufferGetPresentationTimeStamp(sample),
            duration: .invalid,
            frameProperties: options,
            infoFlagsOut: nil
        ) { [weak self] status, _, encoded in
            guard status == noErr, let self, let encoded else { return }
            // The sample is not changed any more, and the queue is its only user.
            nonisolated(unsafe) let frame = encoded
            queue.async { self.deliver(frame) }
        }
    }

    private func makeEncoder() -> VTCompressionSession? {
        VTCompressionSessionCreate(
            allocator: nil,
            width: Int32(width),
            height: Int32(height),
            codecType: kCMVideoCodecType_H264,
            encoderSpecification: nil,
            imageBufferAttributes: nil,
            compressedDataAllocator: nil,
            outputCallback: nil,
            refcon: nil,
            compressionSessionOut: &encoder
        )
        guard let encoder else { return nil }
        let properties: [CFString: Any] = [
            kVTCompressionPropertyKey_RealTime: true, kVTCompressionPropertyKey_AllowFrameReordering: false,
            kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_Main_AutoLevel,
            kVTCompressionPropertyKey_AverageBitRate: bitrate,
            // The gateway's players join at keyframes.
            kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration: 1,
        ]
        VTSessionSetProperties(encoder, propertyDictionary: properties as CFDictionary)
        return encoder
    }

    /// Sends a frame, and before the first one the decoder configuration.
    private func deliver(_ sample: CMSampleBuffer) {
        guard let send, let data = try? CMSampleBufferGetDataBuffer(sample)?.dataBytes() else { return }
        let time = CMSampleBufferGetPresentationTimeStamp(sample).milliseconds
        let attachments =
            CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
        let isKey = attachments?.first?[kCMSampleAttachmentKey_NotSync] as? Bool != true
        if needsConfiguration {
            guard isKey, let format = CMSampleBufferGetFormatDescription(sample) else { return }
            let atoms = CMFormatDescriptionGetExtension(
                format,
                extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms
            )
            guard let record = (atoms as? [String: Any])?["avcC"] as? Data else { return }
            send(.h264Configuration(data: record, timestamp: time))
            needsConfiguration = false
        }
        send(.h264Frame(data: data, isKey: isKey, timestamp: time))
    }
}

/// Encodes a microphone's samples as AAC-LC, 48 kHz, one channel.
private final class AACEncoder {
    private let converter: AVAudioConverter
    private let output: AVAudioFormat
    private var isConfigured = false
    /// The time in milliseconds of the first frame since the last gap, and the number of frames since then.
    private var start: Int64?
    private var frames: Int64 = 0

    private static let sampleRate: Int64 = 48_000
    private static let frameLength: Int64 = 1024
    /// The AudioSpecificConfig of that format (ISO/IEC 14496-3, 1.6.2.1).
    private static let configuration: [UInt8] = [0x11, 0x88]
    /// The difference in milliseconds between the samples' clock and the frames' that is taken for a gap.
    private static let gap: Int64 = 200

    init?(_ sample: CMSampleBuffer) {
        guard let description = CMSampleBufferGetFormatDescription(sample) else { return nil }
        let settings: [String: Any] = [
            AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: Double(Self.sampleRate), AVNumberOfChannelsKey: 1,
            AVEncoderBitRateKey: 96_000,
        ]
        let input = AVAudioFormat(cmAudioFormatDescription: description)
        guard let output = AVAudioFormat(settings: settings) else { return nil }
        guard let converter = AVAudioConverter(from: input, to: output) else { return nil }
        (self.converter, self.output) = (converter, output)
    }

    func packets(of sample: CMSampleBuffer) -> [MediaPacket] {
        let count = AVAudioFrameCount(CMSampleBufferGetNumSamples(sample))
        guard count > 0, let pcm = AVAudioPCMBuffer(pcmFormat: converter.inputFormat, frameCapacity: count) else {
            return []
        }
        pcm.frameLength = count
        let status = CMSampleBufferCopyPCMDataIntoAudioBufferList(
            sample,
            at: 0,
            frameCount: Int32(count),
            into: pcm.mutableAudioBufferList
        )
        guard status == noErr else { return [] }
        let now = CMSampleBufferGetPresentationTimeStamp(sample).milliseconds
        let isContinuous = start.map { abs(now - time(from: $0)) < Self.gap } ?? false
        if !isContinuous { (start, frames) = (now, 0) }
        return frames(of: pcm)
    }

    private func time(from start: Int64) -> Int64 { start + frames * Self.frameLength * 1000 / Self.sampleRate }

    private func frames(of pcm: AVAudioPCMBuffer) -> [MediaPacket] {
        guard let start else { return [] }
        let encoded = AVAudioCompressedBuffer(
            format: output,
            packetCapacity: 16,
            maximumPacketSize: converter.maximumOutputPacketSize
        )
        // The converter calls the block before `convert` returns, on the same thread.
        nonisolated(unsafe) var pending: AVAudioPCMBuffer? = pcm
        converter.convert(to: encoded, error: nil) { _, status in
            status.pointee = pending == nil ? .noDataNow : .haveData
            defer { pending = nil }
            return pending
        }
        var packets: [MediaPacket] = []
        if !isConfigured, encoded.packetCount > 0 {
            packets.append(.aacConfiguration(data: Self.configuration, timestamp: start))
            isConfigured = true
        }
        for index in 0..<Int(encoded.packetCount) {
            guard let description = encoded.packetDescriptions?[index] else { break }
            let bytes = UnsafeRawBufferPointer(
                start: encoded.data + Int(description.mStartOffset),
                count: Int(description.mDataByteSize)
            )
            packets.append(.aacFrame(data: bytes, timestamp: time(from: start)))
            frames += 1
        }
        return packets
    }
}

extension CMTime {
    /// The time in milliseconds; 0 for a time that is no number.
    fileprivate var milliseconds: Int64 { isNumeric ? Int64(seconds * 1000) : 0 }
}
#endif
