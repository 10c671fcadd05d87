import CSeccomp
import Codecs
import Foundation
import Media
import NIOCore
import RTMP

/// The checks of the machine.
extension Doctor {
    /// Texts in the scripts that names and titles are likely to have.
    private static let scripts = [
        ("Latin", "Ž"), ("Greek", "Ω"), ("Cyrillic", "Ж"), ("Arabic", "ع"), ("Hebrew", "ש"), ("Devanagari", "क"),
        ("Thai", "ก"), ("Chinese", "中"), ("Japanese", "あ"), ("Korean", "한"), ("emoji", "😀"),
    ]

    var descriptors: Finding {
        let limit = DescriptorLimit.raise()
        let threads = configuration.resolvedThreads
        let plan = DescriptorPlan(limit: limit, threads: threads, configuration: configuration)
        guard plan.isEnough(for: configuration) else {
            return .warning(
                "open files",
                "The limit of \(limit) leaves \(plan.viewers) connections of viewers and \(plan.hosts) of hosts.",
                "Raise LimitNOFILE of the service, or lower fanout.viewers and hosts.maximum."
            )
        }
        return .ok("open files", "The limit of \(limit) is enough for \(configuration.maximumViewers) viewers.")
    }

    var clock: Finding {
        guard footlight_clock_is_synchronised() else {
            return .warning(
                "clock",
                "The system does not synchronise its clock.",
                "Run chrony or systemd-timesyncd: tokens, logs of content networks and recordings rely on the time."
            )
        }
        return .ok("clock", "The system synchronises its clock.")
    }

    var processor: Finding {
        let cores = System.coreCount
        guard cores > 1 else {
            return .warning("processor", "There is one core.", "A program of four hosts at 720p takes most of one.")
        }
        return .ok("processor", "There are \(cores) cores.")
    }

    /// Opens the encoders and the decoder of a mixer, each of which libavcodec may be built without.
    var codecs: Finding {
        CodecLibraries.quiet()
        do throws(CodecError) {
            _ = try VideoEncoder(VideoEncoderConfiguration(width: 320, height: 180))
            _ = try AudioEncoder()
            _ = try AudioDecoder(codec: .mp3, configuration: nil)
        } catch {
            return .problem("codecs", "A codec is missing: \(error).", "Install Debian's libavcodec with libx264.")
        }
        return .ok("codecs", "H.264, AAC and MP3 are available.")
    }

    var fonts: Finding {
        let style = TextStyle(size: 32)
        let missing = Self.scripts.filter { _, letter in
            let extent = style.extent(of: letter)
            return extent.missing > 0 || extent.width == 0
        }
        guard missing.isEmpty else {
            let all = missing.count == Self.scripts.count
            return .warning(
                "fonts",
                all ? "There are no fonts." : "No font has \(missing.map(\.0).joined(separator: ", ")).",
                "Install fonts-noto-core, fonts-wqy-microhei and fonts-noto-color-emoji; names appear as boxes."
            )
        }
        return .ok("fonts", "There are fonts for \(Self.scripts.count) scripts.")
    }

    /// Asks the kernel; a mixer attempts all of it at its start.
    var confinement: Finding {
        let version = footlight_landlock_version()
        guard configuration.mixerConfinement != "off" else {
            return .warning(
                "confinement",
                "Mixers, which decode what hosts send, are not confined.",
                "Set mixer.confinement to on."
            )
        }
        guard version == 0 else {
            return .ok("confinement", "The kernel restricts mixers' files (Landlock \(version)) and system calls.")
        }
        let text = "The kernel does not restrict mixers' files (no Landlock)."
        let advice = "Use a kernel from 5.13 on with landlock among its lsm."
        return configuration.mixerConfinement == "required"
            ? .problem("confinement", text, advice) : .warning("confinement", text, advice)
    }
}
