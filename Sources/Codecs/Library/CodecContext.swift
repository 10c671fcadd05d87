import CFFmpeg
import NIOCore

/// Owns one opened codec of libavcodec.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner, and libavcodec allows a context to be used from
/// one thread after another as long as never two are inside it.
struct CodecContext: ~Copyable, @unchecked Sendable {
    typealias Pointer = UnsafeMutablePointer<AVCodecContext>

    let pointer: Pointer

    /// Opens a decoder; by name, so that no other decoder can be reached with what a peer sends.
    init(decoder name: String, configure: (Pointer) throws(CodecError) -> Void) throws(CodecError) {
        guard let codec = avcodec_find_decoder_by_name(name) else {
            throw CodecError(.unavailable, "decoder \(name) is not in the installed libavcodec")
        }
        pointer = try Self.open(codec, name: name, options: [], configure: configure)
    }

    /// Opens an encoder; an option that it does not know is an error.
    init(
        encoder name: String,
        options: [(name: String, value: String)] = [],
        configure: (Pointer) throws(CodecError) -> Void
    ) throws(CodecError) {
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw CodecError(.unavailable, "encoder \(name) is not in the installed libavcodec")
        }
        pointer = try Self.open(codec, name: name, options: options, configure: configure)
    }

    deinit {
        var released: Pointer? = pointer
        avcodec_free_context(&released)
    }

    /// A copy of the codec's global header.
    var extradata: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: pointer.pointee.extradata, count: Int(max(pointer.pointee.extradata_size, 0)))
    }

    private static func open(
        _ codec: UnsafePointer<AVCodec>,
        name: String,
        options: [(name: String, value: String)],
        configure: (Pointer) throws(CodecError) -> Void
    ) throws(CodecError) -> Pointer {
        guard let context = avcodec_alloc_context3(codec) else { throw CodecError(.outOfMemory, "opening \(name)") }
        do throws(CodecError) {
            // Parallelism comes from one codec per source; threads inside one cost up to a tenth more CPU and add
            // delay.
            context.pointee.thread_count = 1
            try configure(context)
            var dictionary: OpaquePointer?
            defer { av_dict_free(&dictionary) }
            for option in options {
                av_dict_set(&dictionary, option.name, option.value, 0)
            }
            let status = avcodec_open2(context, codec, &dictionary)
            guard status >= 0 else { throw CodecError(status, doing: "opening \(name)") }
            if let left = av_dict_get(dictionary, "", nil, AV_DICT_IGNORE_SUFFIX), let key = left.pointee.key {
                throw CodecError(.unavailable, "\(name) has no option \(String(cString: key))")
            }
            return context
        } catch {
            var released: Pointer? = context
            avcodec_free_context(&released)
            throw error
        }
    }
}

extension CodecContext {
    /// Gives `context` a padded copy of a decoder configuration, which libavcodec frees.
    static func setExtradata(_ configuration: ByteBuffer, of context: Pointer) throws(CodecError) {
        let size = configuration.readableBytes
        guard size <= 1 << 20 else { throw CodecError(.badConfiguration, "a configuration of \(size) bytes") }
        guard let memory = av_mallocz(size + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw CodecError(.outOfMemory, "a decoder configuration")
        }
        configuration.withUnsafeReadableBytes { bytes in
            UnsafeMutableRawBufferPointer(start: memory, count: size).copyMemory(from: bytes)
        }
        context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = Int32(size)
    }
}

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
