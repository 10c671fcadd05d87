import CFFmpeg

/// Owns one context of libswresample that ends in 48 kHz stereo Float32 planes.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct Resampler: ~Copyable, @unchecked Sendable {
    private static let outputRate = Int32(AudioBlock.sampleRate)

    private let pointer: OpaquePointer

    /// - Parameters:
    ///   - layout: The source's channels; read only during the call.
    ///   - isElastic: The ratio can be changed while running; see `setRatio`.
    init(
        layout: UnsafeMutablePointer<AVChannelLayout>,
        format: AVSampleFormat,
        rate: Int32,
        isElastic: Bool = false
    ) throws(CodecError) {
        var stereo = AVChannelLayout()
        av_channel_layout_default(&stereo, 2)
        var context: OpaquePointer?
        var status = swr_alloc_set_opts2(
            &context,
            &stereo,
            AV_SAMPLE_FMT_FLTP,
            Self.outputRate,
            layout,
            format,
            rate,
            0,
            nil
        )
        guard status >= 0, let context else { throw CodecError(status, doing: "a resampler") }
        let options = UnsafeMutableRawPointer(context)
        if isElastic {
            // Interpolating between the filter's phases makes any ratio as clean as a simple one, and a full set of
            // phases from the start means that the filter is never rebuilt while it runs.
            av_opt_set(options, "flags", "res", 0)
            av_opt_set_int(options, "linear_interp", 1, 0)
            av_opt_set_int(options, "exact_rational", 0, 0)
        }
        if layout.pointee.nb_channels == 1 {
            // One microphone sounds as loud in each channel as it came; the library's default takes 3 dB off.
            let both: [Double] = [1, 1]
            swr_set_matrix(context, both, 1)
        }
        status = swr_init(context)
        guard status >= 0 else {
            var released: OpaquePointer? = context
            swr_free(&released)
            throw CodecError(status, doing: "a resampler from \(rate) Hz")
        }
        pointer = context
    }

    deinit {
        var released: OpaquePointer? = pointer
        swr_free(&released)
    }

    /// Forgets all audio; what comes next is a beginning.
    mutating func restart() throws(CodecError) {
        let status = swr_init(pointer)
        guard status >= 0 else { throw CodecError(status, doing: "a resampler's new beginning") }
    }

    /// How much audio lies in the filter, in milliseconds.
    var delayMilliseconds: Double { Double(swr_get_delay(pointer, 48_000_000)) / 48_000 }

    /// The most samples that `count` more input samples can bring out.
    func outputCapacity(for count: Int32) -> Int { Int(max(swr_get_out_samples(pointer, count), 0)) }

    /// Resamples what there is; a nil `input` brings out what the filter still holds.
    ///
    /// - Returns: Samples written to `left` and `right`.
    mutating func convert(
        _ input: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        count: Int32,
        left: UnsafeMutablePointer<Float>,
        right: UnsafeMutablePointer<Float>,
        capacity: Int
    ) throws(CodecError) -> Int {
        let status = withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: 2) { planes in
            planes.initializeElement(at: 0, to: UnsafeMutableRawPointer(left).assumingMemoryBound(to: UInt8.self))
            planes.initializeElement(at: 1, to: UnsafeMutableRawPointer(right).assumingMemoryBound(to: UInt8.self))
            return swr_convert(pointer, planes.baseAddress, Int32(capacity), input, count)
        }
        guard status >= 0 else { throw CodecError(status, doing: "resampling") }
        return Int(status)
    }

    /// Resamples `count` samples of two Float32 planes.
    ///
    /// - Returns: Samples written.
    mutating func convert(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int32,
        toLeft: UnsafeMutablePointer<Float>,
        right toRight: UnsafeMutablePointer<Float>,
        capacity: Int
    ) throws(CodecError) -> Int {
        let result = withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 2) { planes in
            planes.initializeElement(at: 0, to: UnsafeRawPointer(left).assumingMemoryBound(to: UInt8.self))
            planes.initializeElement(at: 1, to: UnsafeRawPointer(right).assumingMemoryBound(to: UInt8.self))
            return Result { () throws(CodecError) in
                try convert(planes.baseAddress, count: count, left: toLeft, right: toRight, capacity: capacity)
            }
        }
        return try result.get()
    }

    /// Sets how many samples come out for each one that goes in, on top of the change of rate; from the next sample on.
    mutating func setRatio(_ ratio: Double) throws(CodecError) {
        // The library shortens each output step by delta/distance, and forgets it after `distance` samples: it is set
        // again before each block, long before that.
        let distance: Int32 = 480_000_000
        let delta = Int32((Double(distance) * (1 - 1 / ratio)).rounded())
        // A delta of zero would switch back to another filter.
        let status = swr_set_compensation(pointer, delta == 0 ? 1 : delta, distance)
        guard status >= 0 else { throw CodecError(status, doing: "stretching audio") }
    }
}

/// What a decoded frame of audio is made of, as far as a resampler has to know it.
struct AudioSourceFormat: Equatable, Sendable {
    private var rate: Int32 = 0
    private var format: Int32 = -1
    private var channels: Int32 = 0
    private var mask: UInt64 = 0

    /// No format yet.
    init() {}

    init(of frame: UnsafeMutablePointer<AVFrame>) {
        let layout = frame.pointee.ch_layout
        rate = frame.pointee.sample_rate
        format = frame.pointee.format
        channels = layout.nb_channels
        mask = layout.order == AV_CHANNEL_ORDER_NATIVE ? layout.u.mask : 0
    }

    /// A resampler for frames like `frame`, which is one of this format.
    ///
    /// - Throws: `.badData` for rates and channels that make no sense.
    func makeResampler(for frame: UnsafeMutablePointer<AVFrame>) throws(CodecError) -> Resampler {
        guard (4_000...192_000).contains(rate), (1...64).contains(channels) else {
            throw CodecError(.badData, "audio of \(rate) Hz and \(channels) channels")
        }
        if frame.pointee.ch_layout.order != AV_CHANNEL_ORDER_NATIVE {
            // A channel count without meanings: take them as the usual ones.
            av_channel_layout_uninit(&frame.pointee.ch_layout)
            av_channel_layout_default(&frame.pointee.ch_layout, channels)
        }
        return try Resampler(layout: &frame.pointee.ch_layout, format: AVSampleFormat(format), rate: rate)
    }
}
