import CFFmpeg

/// The installed codec libraries as a whole.
public enum CodecLibraries {
    /// The licence libavcodec was built under; with x264 enabled it is the GPL, and so is a binary shipped with it.
    public static var licence: String { String(cString: avcodec_license()) }

    /// The version of libavcodec, such as `59.37.100`.
    public static var version: String {
        let version = avcodec_version()
        return "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }

    /// Keeps libav* from writing to standard error; call once at start.
    ///
    /// A damaged stream makes it say something for each macroblock row. What matters comes back as `CodecError`.
    public static func quiet() {
        av_log_set_callback(discardLibraryLog)
    }
}

/// The log callback of libav*, called on whichever thread is in the library; takes the line and drops it.
private nonisolated func discardLibraryLog(
    _ source: UnsafeMutableRawPointer?,
    _ level: Int32,
    _ format: UnsafePointer<CChar>?,
    _ arguments: CVaListPointer?
) {}
