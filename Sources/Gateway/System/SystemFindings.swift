import FootlightModel
import Foundation

/// Puts figures of the machine in words, each with what to do.
///
/// Everything is given, so that the words depend on nothing else.
struct SystemFindings {
    /// A program that is not at its full quality.
    struct Degradation {
        var level: Int
        var message: String
        var advice: String
    }

    /// The free bytes beyond the reserve of recordings below which a recording does not last long.
    private static let comfortableBytes: UInt64 = 2 << 30
    /// Days before its expiry at which a certificate should have been renewed.
    private static let renewalDays = 14

    let figures: SystemFigures
    let viewers: Int
    /// The setting `limits.bandwidth_mbps`.
    let link: Int?
    /// The setting `recordings.reserve` in bytes.
    let reserve: UInt64
    let degradations: [String: Degradation]
    let certificate: SystemCertificateResource?
    /// Webhooks whose deliveries fail.
    let failingWebhooks: Int

    /// What is sent to viewers and outputs; nil if unknown.
    var estimate: LinkEstimate? {
        figures.sent.map { sent in
            LinkEstimate(
                bytesPerSecond: sent,
                outputBytesPerSecond: figures.pushed ?? 0,
                viewers: viewers,
                link: link
            )
        }
    }

    /// All findings in the order of the subjects.
    var all: [SystemFindingResource] {
        [processor, memory] + disks + [descriptors, network] + mixers + certificates + webhooks
    }

    private func finding(
        _ subject: String,
        _ message: String,
        problem: Bool = false,
        warning: Bool = false,
        _ advice: String = ""
    ) -> SystemFindingResource {
        let level: SystemFindingLevel = problem ? .problem : warning ? .warning : .ok
        return SystemFindingResource(
            subject: subject,
            level: .known(level),
            message: message,
            advice: level == .ok ? "" : advice
        )
    }

    private var processor: SystemFindingResource {
        let cores = figures.cores == 1 ? "1 core" : "\(figures.cores) cores"
        guard let use = figures.machine else {
            return SystemFindingResource(
                subject: "processor",
                level: .known(.ok),
                message: "CPU: \(cores); the system does not tell how busy"
            )
        }
        let own = figures.gateway.map { ", \(Self.percent($0)) by the gateway itself" } ?? ""
        return finding(
            "processor",
            "CPU \(Self.percent(use)) of \(cores)\(own)",
            problem: use >= 0.97,
            warning: use >= 0.85,
            "Remove renditions or hosts, end what else runs on the machine, or use more cores"
        )
    }

    private var memory: SystemFindingResource {
        guard let memory = figures.memory else {
            return SystemFindingResource(
                subject: "memory",
                level: .known(.ok),
                message: "Memory: the system does not tell how much is in use"
            )
        }
        return finding(
            "memory",
            "Memory \(Self.bytes(memory.used)) of \(Self.bytes(memory.total)) in use",
            problem: memory.usedFraction >= 0.9,
            warning: memory.usedFraction >= 0.75,
            "From 80 % on new viewers are refused: end what else uses memory, or use a machine with more"
        )
    }

    private var disks: [SystemFindingResource] {
        let space = figures.disks.map { disk in
            let name = disk.holds == ["recordings"] ? "The disk of the recordings" : "The disk of the data folder"
            return finding(
                "disk",
                "\(name) has \(Self.bytes(Double(disk.free))) free of \(Self.bytes(Double(disk.total)))",
                problem: disk.free < LivenessMonitor.minimumFreeBytes,
                warning: disk.free < reserve + Self.comfortableBytes,
                "Delete recordings or other files, or recordings end soon"
            )
        }
        guard figures.isDiskLate else { return space }
        let advice = "Look at the disk, or at the network drive that the folder is on"
        return space + [finding("disk", "A disk of the gateway does not answer", problem: true, advice)]
    }

    private var descriptors: SystemFindingResource {
        let (open, limit) = (figures.descriptors ?? 0, figures.descriptorLimit)
        let use = limit > 0 ? Double(open) / Double(limit) : 0
        return finding(
            "descriptors",
            "\(open) of \(limit) open files and connections",
            problem: use >= 0.95,
            warning: use >= 0.8,
            "Raise LimitNOFILE of the service"
        )
    }

    private var network: SystemFindingResource {
        guard let estimate else {
            return SystemFindingResource(
                subject: "network",
                level: .known(.ok),
                message: viewers == 1 ? "1 viewer" : "\(viewers) viewers"
            )
        }
        let use = estimate.use ?? 0
        let level: SystemFindingLevel = use >= 0.95 ? .problem : use >= 0.8 ? .warning : .ok
        let advice = "Offer lower renditions, or let a content network serve the viewers"
        return SystemFindingResource(
            subject: "network",
            level: .known(level),
            message: estimate.sentence,
            advice: level == .ok ? "" : advice
        )
    }

    private var mixers: [SystemFindingResource] {
        figures.mixers.map { mixer in
            let use = [mixer.cores.map { "\(Self.tenths($0)) cores" }, mixer.memory.map { Self.bytes(Double($0)) }]
            let figures = use.compactMap(\.self).joined(separator: ", ")
            let begin = "Mixer of \(mixer.room)" + (figures.isEmpty ? "" : ": \(figures)")
            guard let degradation = degradations[mixer.room], degradation.level > 0 else {
                return SystemFindingResource(subject: "mixer", level: .known(.ok), message: "\(begin), full quality")
            }
            return SystemFindingResource(
                subject: "mixer",
                level: .known(.warning),
                message: "\(begin). \(degradation.message)",
                advice: degradation.advice
            )
        }
    }

    private var certificates: [SystemFindingResource] {
        guard let certificate else { return [] }
        let names = certificate.names.isEmpty ? "" : " for \(certificate.names.joined(separator: ", "))"
        let days = certificate.daysLeft
        guard days >= 0 else {
            return [finding("certificate", "The certificate\(names) has expired", problem: true, "Renew it")]
        }
        return [
            finding(
                "certificate",
                "The certificate\(names) is good for \(days == 1 ? "1 day" : "\(days) days")",
                problem: days < 3,
                warning: days < Self.renewalDays,
                "Renew it; the gateway loads the new files by itself"
            )
        ]
    }

    private var webhooks: [SystemFindingResource] {
        guard failingWebhooks > 0 else { return [] }
        let subject = failingWebhooks == 1 ? "A webhook fails" : "\(failingWebhooks) webhooks fail"
        return [finding("webhooks", subject, warning: true, "The page Access of the dashboard says why")]
    }

    // MARK: Words

    private static func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    /// Bytes with a unit of a thousand million, or of a million.
    static func bytes(_ number: Double) -> String {
        number >= 1e9 ? "\(tenths(number / 1e9)) GB" : "\(Int((number / 1e6).rounded())) MB"
    }
}

extension SystemFindingLevel {
    /// The most serious come first.
    var order: Int {
        switch self {
        case .problem: 0
        case .warning: 1
        case .ok: 2
        }
    }
}
