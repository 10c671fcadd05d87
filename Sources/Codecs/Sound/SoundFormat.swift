import CFFmpeg

/// What a decoded frame of sound is made of, as far as a resampler has to know it.
struct SoundFormat: Equatable, Sendable {
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
            throw CodecError(.badData, "sound of \(rate) Hz and \(channels) channels")
        }
        if frame.pointee.ch_layout.order != AV_CHANNEL_ORDER_NATIVE {
            // A channel count without meanings: take them as the usual ones.
            av_channel_layout_uninit(&frame.pointee.ch_layout)
            av_channel_layout_default(&frame.pointee.ch_layout, channels)
        }
        return try Resampler(layout: &frame.pointee.ch_layout, format: AVSampleFormat(format), rate: rate)
    }
}
